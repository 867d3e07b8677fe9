/// A CalendarComponent is a component of an iCalendar text, from `BEGIN` to `END`, with its properties and subcomponents.
struct CalendarComponent: Sendable, Hashable {
  /// The line of `BEGIN`, from 1.
  var line: Int
  /// The name in capitals: `VEVENT`.
  var name: String
  var properties: [ContentLine] = []
  var components: [CalendarComponent] = []

  subscript(name: String) -> ContentLine? { properties.first { $0.name == name } }
  func all(_ name: String) -> [ContentLine] { properties.filter { $0.name == name } }
  func components(_ name: String) -> [CalendarComponent] { components.filter { $0.name == name } }
}

/// A CalendarFile holds the calendars of an iCalendar text.
///
/// The structure must follow RFC 5545. Invalid lines are skipped and listed, because real files contain them.
struct CalendarFile: Sendable, Hashable {
  /// The `VCALENDAR` components. A text may have several.
  var calendars: [CalendarComponent] = []
  /// The numbers of the invalid lines; at most ``maximumFaults``.
  var faultyLines: [Int] = []

  /// The longest text that is read, in bytes.
  static let maximumLength = 16 << 20
  /// The deepest nesting of components. RFC 5545 needs three levels.
  static let maximumNesting = 8
  static let maximumFaults = 100

  /// - Throws: ``ExchangeError`` if the text is not iCalendar, is truncated, or exceeds a limit.
  init(_ bytes: [UInt8]) throws(ExchangeError) {
    try need(bytes.count <= Self.maximumLength, line: nil, "the text is longer than \(Self.maximumLength >> 20) MiB")
    var lines = LineReader(bytes)
    var open: [CalendarComponent] = []
    while let (bytes, number) = lines.next() {
      guard let line = ContentLine(bytes, line: number) else {
        guard !open.isEmpty else { throw Self.noCalendar(number) }
        if faultyLines.count < Self.maximumFaults { faultyLines.append(number) }
        continue
      }
      switch line.name {
      case "BEGIN":
        let name = Self.capitals(line.value)
        guard !open.isEmpty || name == "VCALENDAR" else { throw Self.noCalendar(number) }
        try need(
          open.count < Self.maximumNesting, line: number, "components are nested more than \(Self.maximumNesting) deep")
        open.append(CalendarComponent(line: number, name: name))
      case "END":
        let name = Self.capitals(line.value)
        guard let done = open.popLast(), done.name == name else {
          throw ExchangeError(line: number, "END:\(Self.shown(name)) has no matching BEGIN")
        }
        if open.isEmpty { calendars.append(done) } else { open[open.count - 1].components.append(done) }
      default:
        guard !open.isEmpty else { throw Self.noCalendar(number) }
        open[open.count - 1].properties.append(line)
      }
    }
    if let unfinished = open.last {
      throw ExchangeError(
        line: unfinished.line, "the text ends before the END of this \(Self.shown(unfinished.name)): it is cut off")
    }
    try need(!calendars.isEmpty, line: nil, "the text is empty; expected BEGIN:VCALENDAR")
    for calendar in calendars {
      guard let version = calendar["VERSION"], version.value == "1.0" else { continue }
      throw ExchangeError(line: version.line, "this is vCalendar 1.0; expected iCalendar (VERSION:2.0)")
    }
  }

  private static func noCalendar(_ line: Int) -> ExchangeError {
    ExchangeError(line: line, "this is not iCalendar; expected BEGIN:VCALENDAR")
  }

  static func capitals(_ text: String) -> String {
    String(
      decoding: text.utf8.filter { $0 > 0x20 }.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
  }

  private static func shown(_ name: String) -> String { String(name.prefix(32)) }
}
