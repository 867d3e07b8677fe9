/// The parsers that take bytes nobody vouches for, each with what must hold whatever they are given.
///
/// libFuzzer runs one of them for minutes (`make fuzz`); the tests run each over the corpus in the tree.
public enum FuzzTarget: String, CaseIterable, Sendable {
  case phrase, cron, calendar, rrule, solar
  /// Time zone files, and schedules in the zones they make.
  case tzif
  /// RFC 3339, durations, civil dates and times, spans of quiet hours.
  case moments
  /// The cutting of a stream into messages.
  case framer
  /// iCalendar files, for reminders and for lists of days.
  case icalendar
  /// Whole crontabs.
  case crontab
  /// Values in JSON.
  case json
  /// All that a peer may send to a Varlink service.
  case connection
  /// Varlink's interface definitions.
  case interface
  /// The configuration, from TOML.
  case configuration
  /// Packs of trackers, from TOML.
  case pack
  /// Templates and headers of webhooks, with the values that messages bring.
  case template
  /// What receivers of webhooks answer.
  case answer
  /// What notify-send writes.
  case popup
  /// Files of secrets.
  case secrets
  /// Addresses: of endpoints, of proxies, of the net.
  case network
  /// Files of reminders, endpoints and trackers, read and written.
  case apply
  /// The lines of a backup, judged and put in place.
  case restore
  /// Certificates in PEM.
  case certificates

  /// Feeds bytes to the parser.
  ///
  /// - Throws: ``BrokenProperty`` when something does not hold. A trap is a finding too.
  public func run(_ bytes: [UInt8]) throws(BrokenProperty) {
    switch self {
    case .phrase: try checkSchedule(String(decoding: bytes, as: UTF8.self))
    case .cron: try checkSchedule(String(decoding: bytes, as: UTF8.self), prefix: "cron: ", unless: ["cron:", "@"])
    case .calendar: try checkSchedule(String(decoding: bytes, as: UTF8.self), prefix: "calendar: ", unless: ["cal"])
    case .rrule:
      try checkSchedule(
        String(decoding: bytes, as: UTF8.self), prefix: "RRULE:", unless: ["rrule", "dtstart", "rdate", "exdate"])
    case .solar: try checkSchedule(String(decoding: bytes, as: UTF8.self))
    case .tzif: try checkZone(bytes)
    case .moments: try checkMoments(String(decoding: bytes, as: UTF8.self))
    case .framer: try checkFramer(bytes)
    case .icalendar: try checkCalendarFile(bytes)
    case .crontab: try checkCrontab(bytes)
    case .connection: try checkConnection(bytes)
    case .json: try checkJSON(bytes)
    case .interface: try checkInterface(String(decoding: bytes, as: UTF8.self))
    case .configuration: try checkConfiguration(bytes)
    case .pack: try checkPack(bytes)
    case .template: try checkTemplate(bytes)
    case .answer: try checkAnswer(bytes)
    case .popup: try checkPopup(bytes)
    case .secrets: try checkSecrets(String(decoding: bytes, as: UTF8.self))
    case .network: try checkNetwork(String(decoding: bytes, as: UTF8.self))
    case .apply: try checkApply(String(decoding: bytes, as: UTF8.self))
    case .restore: try checkRestore(bytes)
    case .certificates: try checkCertificates(bytes)
    }
  }
}

/// What was found not to hold.
public struct BrokenProperty: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// What a record, a log or a terminal is given of a fault: one sentence that ends, without control characters.
func requireSentence(_ text: String, atMost limit: Int = 2_000) throws(BrokenProperty) {
  try require(!text.isEmpty, "a refusal without a sentence")
  try require(text.utf8.count <= limit, "a refusal of \(text.utf8.count) bytes")
  try require(
    !text.unicodeScalars.contains { $0.properties.generalCategory == .control },
    "a refusal with a control character in it: \(text.debugDescription)")
}

/// The parts of an input between its NULs, at least `count` of them.
func parts(_ bytes: [UInt8], _ count: Int) -> [[UInt8]] {
  let parts = bytes.split(separator: 0, maxSplits: count - 1, omittingEmptySubsequences: false).map(Array.init)
  return parts + Array(repeating: [], count: max(0, count - parts.count))
}

/// Whether some bytes stand within others; unlike a comparison of texts, whatever combines with what.
func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
  guard let first = part.first, bytes.count >= part.count else { return part.isEmpty }
  return bytes.indices.dropLast(part.count - 1).contains { bytes[$0] == first && bytes[$0...].starts(with: part) }
}

func require(_ holds: Bool, _ property: @autoclosure () -> String) throws(BrokenProperty) {
  if !holds { throw BrokenProperty(property()) }
}
