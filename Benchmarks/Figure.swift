import FoundationEssentials

/// One line of the results table.
struct Figure: Encodable {
  /// A reference value.
  struct Beside: Encodable {
    /// Such as `limit` or `C echo`.
    var name: String
    var value: Double
    /// A limit, measured in this run, or known from elsewhere.
    var kind: Kind

    enum Kind: String, Encodable { case limit, peer, known }

    static func limit(_ value: Double) -> Beside { Beside(name: "limit", value: value, kind: .limit) }
    static func peer(_ name: String, _ value: Double) -> Beside { Beside(name: name, value: value, kind: .peer) }
    static func known(_ name: String, _ value: Double) -> Beside { Beside(name: name, value: value, kind: .known) }
  }

  var name: String
  var value: Double
  var unit: String
  var beside: Beside?
  /// The value divided by the reference; nil without one.
  var ratio: Double?

  init(_ name: String, _ value: Double, _ unit: String, beside: Beside? = nil) {
    self.name = name
    self.value = value
    self.unit = unit
    self.beside = beside
    ratio = beside.flatMap { $0.value == 0 ? nil : value / $0.value }
  }

  static let heading = row("", "value", "unit", "beside", "ratio")

  var line: String {
    let besideText = beside.map { "\($0.name) \(Self.number($0.value))" + ($0.kind == .known ? " (known)" : "") }
    return Self.row(name, Self.number(value), unit, besideText ?? "", ratio.map { Self.number($0, digits: 2) } ?? "")
  }

  static func json(_ figures: [Figure]) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(figures)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
  }

  private static func row(_ name: String, _ value: String, _ unit: String, _ beside: String, _ ratio: String) -> String
  {
    let line =
      padded(name, 46) + leading(value, 10) + " " + padded(unit, 6) + " " + padded(beside, 34) + leading(ratio, 7)
    return String(line.reversed().drop { $0 == " " }.reversed())
  }

  private static func leading(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// Formats a number with `digits` decimals; by default with about three significant digits.
  static func number(_ value: Double, digits: Int? = nil) -> String {
    guard value.isFinite else { return "none" }
    let size = value.magnitude
    let digits = digits ?? (size == 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3)
    let scale = [1.0, 10, 100, 1_000][digits]
    let scaled = Int64((size * scale).rounded())
    let whole = scaled / Int64(scale)
    let part = digits == 0 ? "" : ".\(zeroPadded(scaled % Int64(scale), digits))"
    return (value < 0 && scaled > 0 ? "-" : "") + grouped(whole) + part
  }

  private static func zeroPadded(_ number: Int64, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  private static func grouped(_ number: Int64) -> String {
    number < 1_000 ? String(number) : grouped(number / 1_000) + "," + zeroPadded(number % 1_000, 3)
  }
}

/// A series of measurements.
struct Series {
  private let sorted: [Double]

  init(_ values: [Double]) { sorted = values.sorted() }

  var count: Int { sorted.count }
  var median: Double { percentile(50) }
  var max: Double { sorted.last ?? .nan }

  /// Returns the smallest value that at least this share of all values does not exceed (nearest rank).
  func percentile(_ percent: Double) -> Double {
    guard !sorted.isEmpty else { return .nan }
    let rank = Int((percent / 100 * Double(sorted.count)).rounded(.up))
    return sorted[min(sorted.count, Swift.max(1, rank)) - 1]
  }
}
