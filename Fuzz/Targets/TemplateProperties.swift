import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Varlink

/// A template is refused in a sentence, or makes requests of its own shape, whatever a message says: JSON that differs in
/// its strings only, headers of one line each, and an address below the endpoint's own.
///
/// The input is a template, a header's value, a token, and the title, body, address and tag of a message, with a NUL
/// between them.
func checkTemplate(_ bytes: [UInt8]) throws(BrokenProperty) {
  let parts = parts(bytes, 7).map { String(decoding: $0, as: UTF8.self) }
  let settings = EndpointSettings(
    headers: parts[1].isEmpty ? nil : [EndpointSettings.Header(name: "X-Fuzz", value: parts[1])], template: parts[0])
  do {
    try HeaderRules.check(settings.headers ?? [])
    _ = try Template(parts[0])
  } catch {
    return try requireSentence(error.description, atMost: 4_000)
  }
  let token = try? Token(parts[2])
  let queue = DeliveryQueue(owner: 0, channel: ChannelName(rawValue: "fuzz"))
  let base = "https://example.org/base"
  let access = EndpointAccess(
    endpoint: Endpoint(queue: queue, url: base, settings: settings, createdAt: Ground.now), secrets: [], token: token)
  if let fault = access.fault { return try requireSentence(fault) }
  let message = message(in: queue, parts[3], parts[4], parts[5], parts[6])
  let request: HTTPRequest
  do {
    request = try SignedRequest(
      access: access, id: message.delivery.id.rawValue, version: "0",
      values: { TemplateValues(message) { _ in "08:30" } }, usual: { [] }
    ).make(at: Ground.now, token: token?.stored)
  } catch {
    return try requireSentence("\(error)")
  }
  try check(request, base)
  try check(token, isOutOf: request, parts[0] + parts[3...].joined())
  guard let template = try? JSON(parsing: parts[0]), let pattern = template["body"] else { return }
  guard let made = try? JSON(parsing: String(decoding: request.body, as: UTF8.self)) else {
    throw BrokenProperty("no JSON: \(String(decoding: request.body, as: UTF8.self))")
  }
  try require(fits(made, pattern), "\(made) is not of the shape of \(pattern)")
}

/// A token is in headers only. One of a few characters may stand there by chance, or in the input itself.
private func check(
  _ token: Token?, isOutOf request: HTTPRequest, _ others: String
) throws(BrokenProperty) {
  guard let token = token.map({ Array($0.stored.utf8) }), token.count >= 16, !contains(Array(others.utf8), token) else {
    return
  }
  try require(!contains(request.body, token) && !contains(Array(request.url.utf8), token), "the token is shown")
}

private func check(_ request: HTTPRequest, _ base: String) throws(BrokenProperty) {
  // Six bytes for each that JSON escapes, over what the template has itself.
  try require(request.body.count <= 6 << 20 + 1 << 20, "a body of \(request.body.count) bytes")
  for line in request.headers {
    try require(line.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "a header \(line.debugDescription)")
    try require(line.utf8.count <= 16_384, "a header of \(line.utf8.count) bytes")
  }
  let url = request.url
  try require(url.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an address \(url.debugDescription)")
  try require(url.hasPrefix(base) && !url.contains("#"), "\(url) is not below \(base)")
}

private func message(
  in queue: DeliveryQueue, _ title: String, _ body: String, _ url: String, _ tag: String
) -> OutboundMessage {
  let id = ReminderID(rawValue: "r7k2")
  let schedule: Schedule
  do { schedule = try Schedule(canonical: "daily at 08:00") } catch { fatalError("\(error)") }
  let reminder = Reminder(
    id: id, owner: 0, title: title, body: body.isEmpty ? nil : body, schedule: schedule,
    tags: tag.isEmpty ? [] : [tag, "tea"], url: url.isEmpty ? nil : url, createdAt: Ground.now)
  let occurrence = OccurrenceID(reminder: id, scheduledAt: Ground.now)
  return OutboundMessage(
    delivery: Delivery(
      id: DeliveryID(rawValue: "msg_1"), occurrence: occurrence, queue: queue, round: 1, createdAt: Ground.now),
    occurrence: Occurrence(
      id: occurrence, title: title, owner: 0, state: .fired, firedAt: Ground.now + .seconds(90)),
    reminder: reminder)
}

/// Whether a value can have come of a part of a template, by what the documentation says of templates.
private func fits(_ value: JSON, _ pattern: JSON) -> Bool {
  switch (pattern, value) {
  case (.string(let text), _) where text.contains("{{"):
    switch value {
    case .string: return true
    case .int: return text.hasPrefix("{{") && text.hasSuffix("}}")
    case .array(let items):
      return text.hasPrefix("{{") && items.allSatisfy { if case .string = $0 { true } else { false } }
    // The whole body may be a value that is missing.
    case .null: return text.hasPrefix("{{")
    default: return false
    }
  case (.array(let patterns), .array(let values)):
    var rest = patterns[...]
    return values.allSatisfy { value in
      while let pattern = rest.popFirst() { if fits(value, pattern) { return true } }
      return false
    }
  case (.object(let members), _) where members.count == 1 && members.keys.allSatisfy({ $0.contains("{{") }):
    guard case .object(let cases)? = members.values.first else { return false }
    return value == .null || cases.values.contains { fits(value, $0) }
  case (.object(let members), .object(let made)):
    return made.allSatisfy { key, value in members[key].map { fits(value, $0) } ?? false }
  default: return value == pattern
  }
}
