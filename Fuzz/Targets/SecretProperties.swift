import ChimeDaemon
import ChimeDelivery

/// A file of secrets is refused without a word of it, or is written so that it is read as the same; and no description
/// shows any of it.
func checkSecrets(_ text: String) throws(BrokenProperty) {
  let sheet: EndpointSecretFile
  do {
    sheet = try EndpointSecretFile(parsing: text)
  } catch {
    try requireSentence(error.description, atMost: 200)
    return try requireNothing(of: text, in: error.description)
  }
  let again: EndpointSecretFile
  do {
    again = try EndpointSecretFile(parsing: sheet.text)
  } catch {
    throw BrokenProperty("what was written is refused: \(error)")
  }
  try require(
    again.text == sheet.text && again.token == sheet.token
      && again.secrets.map(\.signing) == sheet.secrets.map(\.signing), "it is read differently the second time")
  for line in sheet.secrets {
    let secret = line.signing.secret
    var dumped = ""
    dump(secret, to: &dumped)
    try require(
      "\(secret)" == "whsec_<redacted>" || "\(secret)" == "whsk_<redacted>", "a secret describes itself: \(secret)")
    try requireNothing(of: line.text, in: dumped)
    try require((secret.publicKey == nil) == (secret.kind == .hmac), "a public key of \(secret.kind)")
  }
  if let token = sheet.token { try require("\(token)" == "<redacted>", "a token describes itself") }
}

/// No dozen bytes of it in a row, but for those that a sentence has anyhow.
private func requireNothing(of text: String, in sentence: String) throws(BrokenProperty) {
  let (bytes, said) = (Array(text.utf8), Array(sentence.utf8))
  guard bytes.count >= 12, said.count >= 12 else { return }
  var known: Set<ArraySlice<UInt8>> = []
  for sentence in fixed { for start in sentence.indices.dropLast(11) { known.insert(sentence[start..<start + 12]) } }
  let windows = Set(said.indices.dropLast(11).map { said[$0..<$0 + 12] }).subtracting(known)
  for start in bytes.indices.dropLast(11) {
    try require(!windows.contains(bytes[start..<start + 12]), "it repeats what is secret: \(sentence)")
  }
}

/// What is said of any text.
private let fixed: [[UInt8]] = {
  let texts: [String] = [
    "whsec_", "whsk_", "whpk_", "x", "whsec_AAAA", "whsk_AAAA", "whsec_ until", "whsec_ until 2026", "a b c d",
    "token \u{E9}", "token " + String(repeating: "x", count: 5_000), "whsec_" + String(repeating: "AAAA", count: 30),
    "whsk_" + String(repeating: "AAAA", count: 20) + "AAAAAA==", "whsec_!!!!", "whsk_!!!!",
  ]
  var sentences = ["whsec_<redacted>", "whsk_<redacted>"]
  for text in texts {
    do throws(EndpointSecretFileError) { _ = try EndpointSecretFile(parsing: text) } catch {
      sentences.append(error.description)
    }
  }
  return sentences.map { Array($0.utf8) }
}()

/// An address is refused without what may be a password in it; what is taken names a host over HTTP. An address of the net
/// has one text, and a rule that denies it is not got round by another way to write it.
func checkNetwork(_ text: String) throws(BrokenProperty) {
  do {
    try EndpointURL.validate(text)
    try require(text.lowercased().hasPrefix("http"), "\(text) is taken")
    try require(!text.utf8.contains { $0 < 0x21 || $0 == 0x7F }, "\(text.debugDescription) is taken")
  } catch let error as DeliveryError {
    try requireSentence(error.description, atMost: 3_000)
    if let at = text.lastIndex(of: "@") {
      let start = text.firstRange(of: "://").map { min($0.upperBound, at) } ?? text.startIndex
      let login = Array(text[start..<at].utf8)
      // It may be a word of what is said of any address.
      let said = "https://example.org:8443/hook https://[2001:db8::1]/hook user name or password"
      try require(
        login.count < 8 || contains(Array(said.utf8), login)
          || !contains(Array(error.description.utf8), login), "it repeats what may be a password: \(error)")
    }
  } catch let error as BrokenProperty {
    throw error
  } catch {
    throw BrokenProperty("\(error)")
  }
  if let proxy = try? ProxyServer(text) {
    try require((try? ProxyServer(proxy.url)) == proxy, "\(text) became \(proxy.url)")
    try require(!proxy.url.contains("@"), "a proxy with a password: \(text)")
  }
  if let block = AddressBlock(text) {
    try require(AddressBlock(block.description) == block, "\(text) became \(block)")
  }
  guard let address = NetworkAddress(text) else { return }
  try require(NetworkAddress(address.description) == address, "\(text) became \(address)")
  guard let own = AddressBlock(address.description) else { throw BrokenProperty("\(address) is no block") }
  let denied = NetworkPolicy(isPersonal: true, allow: [own], deny: [own])
  try require(denied.refusal(of: address) != nil, "\(address) is dialled though it is denied")
  if let refusal = NetworkPolicy(isPersonal: false).refusal(of: address) {
    try requireSentence(refusal.description)
    // Where the system's daemon may not dial an address, it may not dial it in any of its disguises either.
    if case .v4(let bits) = address {
      let (high, low) = (UInt64(bits), UInt64(bits))
      let disguises: [NetworkAddress] = [
        .v6(0x0064_FF9B_0000_0000, low), .v6(0x2002_0000_0000_0000 | high << 16, 0),
        .v6(0x2001_0000_0000_0000 | high, 0),
      ]
      for disguise in disguises {
        try require(
          NetworkPolicy(isPersonal: false).refusal(of: disguise) != nil, "\(address) is dialled as \(disguise)")
      }
    }
  }
}
