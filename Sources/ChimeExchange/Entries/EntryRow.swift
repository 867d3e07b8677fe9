import ChimeSchedule
public import ChimeTracking

/// An EntryRow is an entry as a file writes it, before parsing: the columns of CSV, or the members of a JSON object.
///
///     EntryRow(line: 2, tracker: "weight", at: "2026-03-01T07:10:00+01:00", value: "82.4", unit: "kg")
public struct EntryRow: Sendable, Hashable {
  /// The line in the file, or the number of the row, from 1.
  public var line: Int
  public var tracker: String?
  /// The time in RFC 3339.
  public var at: String?
  /// The tracker's day as `YYYY-MM-DD`. Without `at`, it means noon of that day.
  public var day: String?
  public var value: String?
  /// The unit of the value; `nil` for the tracker's unit.
  public var unit: String?
  /// The id or title of an item.
  public var item: String?
  public var note: String?
  /// The further values, in the units of the tracker's fields.
  public var fields: [String: String]

  public init(
    line: Int, tracker: String? = nil, at: String? = nil, day: String? = nil, value: String? = nil,
    unit: String? = nil, item: String? = nil, note: String? = nil, fields: [String: String] = [:]
  ) {
    self.line = line
    self.tracker = tracker
    self.at = at
    self.day = day
    self.value = value
    self.unit = unit
    self.item = item
    self.note = note
    self.fields = fields
  }

  /// Makes the row of an entry, in the tracker's units.
  ///
  /// The time has the offset of the wall clock at the time of logging, even if the machine's zone changed since. So
  /// parsing it gives the same day and minute.
  public init(_ entry: Entry, of tracker: Tracker) {
    func text(_ quantity: Quantity?, _ unit: Unit?) -> String? {
      quantity.flatMap { quantity in unit.map { NumberText.text(quantity.value(in: $0)) } }
    }
    self.init(
      line: 0, tracker: entry.tracker.rawValue, at: Self.time(of: entry, tracker), day: entry.day.description,
      value: text(entry.quantity, tracker.unit), unit: entry.quantity == nil ? nil : tracker.unit?.symbol,
      item: entry.item?.rawValue, note: entry.note,
      fields: entry.fields.reduce(into: [:]) { $0[$1.key] = text($1.value, tracker.fields[$1.key]) })
  }

  private static func time(of entry: Entry, _ tracker: Tracker) -> String {
    let minutes = entry.at.seconds / 60
    // After midnight the previous day continues until the hour at which the next begins.
    let usual = entry.minute < tracker.dayStartsAt ? 1 : 0
    let ways = [usual, 1 - usual].map { Int64(entry.day.dayNumber) + Int64($0) }
    let wall = ways.map { $0 * 1_440 + Int64(entry.minute) }.first { abs($0 - minutes) <= 18 * 60 } ?? minutes
    let offset = wall - minutes
    guard let date = CivilDate(dayNumber: Int(wall / 1_440)) else { return RFC3339.format(entry.at, in: .utc) }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let milliseconds = entry.at.milliseconds % 1_000
    let fraction = milliseconds == 0 ? "" : "." + String("00\(milliseconds)".suffix(3))
    let time = "\(date)T\(two(wall % 1_440 / 60)):\(two(wall % 60)):\(two(entry.at.seconds % 60))\(fraction)"
    return time + (offset < 0 ? "-" : "+") + "\(two(abs(offset) / 60)):\(two(abs(offset) % 60))"
  }
}

enum NumberText {
  /// Returns the shortest text with the same value, without a trailing point.
  static func text(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// Parses an optional sign, digits with an optional point, and an optional exponent. It refuses other Swift syntax.
  static func number(_ text: String) -> Double? {
    var rest = text.utf8[...]
    func digits() -> Int {
      let count = rest.prefix { (0x30...0x39).contains($0) }.count
      rest = rest.dropFirst(count)
      return count
    }
    if rest.first == 0x2D || rest.first == 0x2B { rest.removeFirst() }
    let whole = digits()
    var part = 0
    if rest.first == 0x2E {
      rest.removeFirst()
      part = digits()
    }
    guard whole + part > 0, whole + part <= 40 else { return nil }
    if rest.first == 0x65 || rest.first == 0x45 {
      rest.removeFirst()
      if rest.first == 0x2D || rest.first == 0x2B { rest.removeFirst() }
      guard (1...3).contains(digits()) else { return nil }
    }
    return rest.isEmpty ? Double(text) : nil
  }
}
