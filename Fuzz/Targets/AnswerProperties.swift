import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// What a receiver answers is kept without the token, in few words, and acts on the occurrence only as the documentation
/// says.
///
/// The input is a status, a content type, a token and a body, with a NUL between them.
func checkAnswer(_ bytes: [UInt8]) throws(BrokenProperty) {
  let parts = parts(bytes, 4)
  let token = (try? Token(String(decoding: parts[2], as: UTF8.self)))?.stored ?? ""
  let redaction = Redaction(token: token)
  try checkRedaction(redaction, token, parts[3])
  // Of three digits, as HTTP has them: a longer one might be the token.
  let status = Int(String(decoding: parts[0].prefix(3), as: UTF8.self))
  let result = HTTPResult(
    answering: status, Array(parts[3].prefix(4_096)), isWhole: parts[3].count <= 4_096,
    contentType: parts[1].isEmpty ? nil : String(decoding: parts[1], as: UTF8.self),
    retryAfter: status.map { Milliseconds.seconds(Int64($0)) }, redaction: redaction)
  let verdict = WebhookVerdict(result, channel: ChannelName(rawValue: "fuzz"))
  if let error = verdict.error {
    try requireSentence(error, atMost: 500)
    // The example of a snooze is said of any answer, and a token may be a part of it.
    let said = error.replacing(#"{"action":"snooze","for":"10m"}"#, with: "")
    try require(token.utf8.count < 12 || !contains(Array(said.utf8), Array(token.utf8)), "the token is in \(error)")
  }
  if let answer = verdict.answer {
    try require(verdict.outcome == .delivered && verdict.error == nil, "\(answer) of an attempt that failed")
    if case .snooze(let length) = answer {
      try require(length >= .minutes(1) && length <= .days(366), "a snooze of \(length)")
    }
  }
  if case .disable = verdict.next { try require(status == 410, "disabled by \(status ?? 0)") }
  try require((verdict.next == .settled) == (verdict.outcome == .delivered), "\(verdict)")
}

private func checkRedaction(_ redaction: Redaction, _ token: String, _ bytes: [UInt8]) throws(BrokenProperty) {
  let cleaned = redaction.clean(bytes)
  try require(cleaned.count <= bytes.count * Redaction.mark.utf8.count, "\(bytes.count) became \(cleaned.count)")
  // A token may be made of the mark.
  if token.utf8.count >= 12, !token.contains("redacted") {
    try require(!contains(cleaned, Array(token.utf8)), "the token is in \(cleaned)")
  }
  for prefix in ["whsec_", "whsk_"] {
    for place in cleaned.indices where cleaned[place...].starts(with: prefix.utf8) {
      let next = cleaned[place...].dropFirst(prefix.utf8.count).first ?? 0
      try require(
        !(0x30...0x39).contains(next) && !(0x61...0x7A).contains(next | 0x20),
        "a secret is in \(String(decoding: cleaned, as: UTF8.self))")
    }
  }
}

/// However notify-send's words are cut into pieces, they mean the same: one report at most, in few words, and answers only
/// to what has been shown.
///
/// The input is a byte for how it is called and ends, then its standard error, a NUL and its standard output.
func checkPopup(_ bytes: [UInt8]) throws(BrokenProperty) {
  guard let first = bytes.first else { return }
  let said = parts(Array(bytes.dropFirst()), 2)
  let whole = popup(first, said[0], said[1], piece: max(1, bytes.count))
  for piece in [1, 7] {
    let pieces = popup(first, said[0], said[1], piece: piece)
    try require(pieces == whole, "\(pieces) in pieces of \(piece), instead of \(whole)")
  }
  var reports = 0
  var isShown = false
  for action in whole {
    switch action {
    case .report(let outcome, _, _, let error):
      reports += 1
      isShown = outcome == .delivered
      if let error { try requireSentence(error, atMost: 500) }
    case .answer(let answer):
      try require(isShown, "\(answer) to what is not on screen")
      if case .item(let id) = answer, Occurrence.Answer(item: id) == answer { continue }
      try require([.done, .snooze(for: .minutes(10))].contains(answer), "\(answer)")
    case .showPlain: try require(first & 1 == 0, "it is plain already")
    case .waitForAnswer, .end: break
    }
  }
  try require(reports <= 1, "\(reports) reports")
  try checkActionKey(String(decoding: said[1], as: UTF8.self))
}

private func popup(_ how: UInt8, _ errors: [UInt8], _ output: [UInt8], piece: Int) -> [Popup.Action] {
  var popup = Popup(isPlain: how & 1 != 0, snooze: .minutes(10))
  var actions: [Popup.Action] = []
  func feed(_ bytes: [UInt8], _ event: ([UInt8]) -> Supervisor.Event) {
    var rest = bytes[...]
    while !rest.isEmpty {
      actions += popup.handle(event(Array(rest.prefix(piece))))
      rest = rest.dropFirst(piece)
    }
  }
  feed(errors) { .errors($0) }
  feed(output) { .output($0) }
  if how & 2 != 0 { actions += popup.handle(.deadline) }
  actions += popup.handle(.ended(how & 4 != 0 ? .signal(15) : .status(Int32(how >> 3))))
  // Nothing is said after the end.
  actions += popup.handle(.ended(.status(0))) + popup.handle(.output(Array("1\ndone\n".utf8)))
  return actions
}

/// The words of a button, which any program on the bus may say.
private func checkActionKey(_ text: String) throws(BrokenProperty) {
  guard let key = ActionKey(text) else { return }
  try require(ActionKey(key.text) == key, "\(text) became \(key.text)")
}
