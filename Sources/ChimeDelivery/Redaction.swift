/// Takes secrets out of what a receiver says: it may send back what it was sent, and its answer is stored and shown.
///
/// The endpoint's token goes, plain or as JSON, HTML and addresses write it, and every text that looks like a signing
/// secret, whosever it is.
///
///     Redaction(token: "tk_1").clean("no such key: tk_1")   // no such key: <redacted>
package struct Redaction: Sendable {
  package static let mark = "<redacted>"

  /// The ways in which the token may be written, the longest first: a shorter one may be part of it.
  private let forms: [[UInt8]]

  /// - Parameter token: what was sent; nil when there was none.
  package init(token: String? = nil) {
    guard let token, !token.isEmpty else {
      forms = []
      return
    }
    func replacing(_ table: [UInt8: String]) -> [UInt8] {
      token.utf8.flatMap { byte in table[byte].map { Array($0.utf8) } ?? [byte] }
    }
    let json = [UInt8(ascii: "\""): #"\""#, UInt8(ascii: "\\"): #"\\"#]
    let html = [
      UInt8(ascii: "&"): "&amp;", UInt8(ascii: "<"): "&lt;", UInt8(ascii: ">"): "&gt;", UInt8(ascii: "\""): "&quot;",
    ]
    let percent = Dictionary(
      uniqueKeysWithValues: (UInt8(0x21)...0x7E).filter { !Self.isUnreserved($0) }.map {
        ($0, "%" + String($0, radix: 16, uppercase: true))
      })
    let written = [
      Array(token.utf8), replacing(json), replacing(json.merging([UInt8(ascii: "/"): #"\/"#]) { $1 }), replacing(html),
      replacing(percent),
    ]
    forms = Set(written).sorted { $0.count > $1.count }
  }

  /// - Parameter isWhole: whether all that was said is there; where not, a token at the end may be cut.
  package func clean(_ bytes: [UInt8], isWhole: Bool = true) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var place = 0
    while place < bytes.count {
      if let length = secret(in: bytes[place...], isWhole: isWhole) {
        result += Self.mark.utf8
        place += length
      } else {
        result.append(bytes[place])
        place += 1
      }
    }
    return result
  }

  package func clean(_ text: String) -> String { String(decoding: clean(Array(text.utf8)), as: UTF8.self) }

  /// How many bytes at the beginning are a secret; nil for none.
  private func secret(in rest: ArraySlice<UInt8>, isWhole: Bool) -> Int? {
    for form in forms {
      if rest.starts(with: form) { return form.count }
      if !isWhole, form.starts(with: rest) { return rest.count }
    }
    for kind in Secret.Kind.allCases where rest.starts(with: kind.prefix.utf8) {
      let length = rest.dropFirst(kind.prefix.utf8.count).prefix(while: Self.isOfSecret).count
      if length > 0 { return kind.prefix.utf8.count + length }
    }
    return nil
  }

  /// Base64, and what JSON and addresses make of it.
  private static func isOfSecret(_ byte: UInt8) -> Bool { isUnreserved(byte) || "+/=%\\".utf8.contains(byte) }

  /// RFC 3986, section 2.3.
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }
}
