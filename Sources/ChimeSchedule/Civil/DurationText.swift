/// DurationText parses and formats durations: as people write them, and in ISO 8601 as on the wire.
///
///     try DurationText.parse("1h30m")            // 5 400 000 ms
///     DurationText.format(.minutes(90))          // "90m"
///     try DurationText.parseISO8601("P1DT2H")    // 26 hours
///     DurationText.formatISO8601(.minutes(10))   // "PT10M"
///
/// A day is 24 hours and a week seven such days. Months and years are refused, because they have no fixed length.
public enum DurationText {
  /// Parses numbers with units, each unit once, in any order: `90m`, `1h30m`, `2 days`, `1 week and 2 days`. Units:
  /// `ms`, `s`, `m`, `h`, `d`, `w` and their English names.
  ///
  /// - Throws: ``FormatError``; `outOfRange` beyond 8 030 years.
  public static func parse(_ text: String) throws(FormatError) -> Milliseconds {
    var lexer = Lexer(text)
    do throws(Fault) {
      try lexer.start()
      let duration = try lexer.duration(article: false)
      try need(
        lexer.token.kind == .end, at: lexer.token.range, "\(lexer.quoted) is not allowed in a duration",
        expected: "its end")
      return duration
    } catch {
      throw FormatError(error, in: lexer.bytes)
    }
  }

  /// Formats the shortest plain form: one unit if the number is below 120 (`90m`, `36h`, `2d`), else units from the
  /// largest (`2h5m`, `1h30m15s`). Negative durations begin with `-`; zero is `0s`.
  public static func format(_ duration: Milliseconds) -> String {
    guard duration.rawValue != 0 else { return "0s" }
    var rest = duration.rawValue.magnitude
    let sign = duration.rawValue < 0 ? "-" : ""
    for unit in DurationUnit.descending where rest % unit.milliseconds == 0 && rest / unit.milliseconds < 120 {
      return "\(sign)\(rest / unit.milliseconds)\(unit.symbol)"
    }
    var text = sign
    for unit in DurationUnit.descending where rest >= unit.milliseconds {
      text += "\(rest / unit.milliseconds)\(unit.symbol)"
      rest %= unit.milliseconds
    }
    return text
  }

  /// Parses an ISO 8601 duration of weeks, or of days, hours, minutes and seconds: `P2W`, `P1DT2H`, `PT0.5S`, `-PT10M`.
  /// Only seconds may have a fraction, with point or comma. Digits past the millisecond are cut off.
  ///
  /// Source: ISO 8601-1 section 5.5.2.2; RFC 3339 appendix A.
  public static func parseISO8601(_ text: String) throws(FormatError) -> Milliseconds {
    var reader = ISO8601DurationReader(bytes: Array(text.utf8))
    do {
      return try reader.read()
    } catch {
      throw FormatError(error, in: reader.bytes)
    }
  }

  /// Formats days, hours, minutes and seconds in ISO 8601: `PT10M`, `P1DT2H`, `PT0S`.
  public static func formatISO8601(_ duration: Milliseconds) -> String {
    var rest = duration.rawValue.magnitude
    guard rest != 0 else { return "PT0S" }
    var text = duration.rawValue < 0 ? "-P" : "P"
    let days = rest / 86_400_000
    rest %= 86_400_000
    if days > 0 { text += "\(days)D" }
    guard rest > 0 else { return text }
    text += "T"
    if rest >= 3_600_000 { text += "\(rest / 3_600_000)H" }
    rest %= 3_600_000
    if rest >= 60_000 { text += "\(rest / 60_000)M" }
    rest %= 60_000
    guard rest > 0 else { return text }
    let thousandths = Int(rest % 1_000)
    guard thousandths > 0 else { return text + "\(rest / 1_000)S" }
    var fraction = padded(thousandths, 3)
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return text + "\(rest / 1_000).\(fraction)S"
  }
}

/// A DurationUnit is a unit of fixed length.
enum DurationUnit: Sendable, Hashable {
  case millisecond, second, minute, hour, day, week

  static let descending: [DurationUnit] = [.week, .day, .hour, .minute, .second, .millisecond]

  var milliseconds: UInt64 {
    switch self {
    case .millisecond: 1
    case .second: 1_000
    case .minute: 60_000
    case .hour: 3_600_000
    case .day: 86_400_000
    case .week: 604_800_000
    }
  }

  var symbol: String {
    switch self {
    case .millisecond: "ms"
    case .second: "s"
    case .minute: "m"
    case .hour: "h"
    case .day: "d"
    case .week: "w"
    }
  }
}

/// An ISO8601DurationReader parses the designators of an ISO 8601 duration in their order.
private struct ISO8601DurationReader {
  let bytes: [UInt8]
  var position = 0

  /// The byte at the position, with letters in lower case.
  private var next: UInt8? {
    guard position < bytes.count else { return nil }
    return (0x41...0x5A).contains(bytes[position]) ? bytes[position] | 0x20 : bytes[position]
  }

  private func fault(_ expected: String) -> Fault {
    Fault(range: position..<position, problem: "this is not an ISO 8601 duration", expected: expected)
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  mutating func read() throws(Fault) -> Milliseconds {
    let isNegative = skip("-")
    if !isNegative { _ = skip("+") }
    guard skip("p") else { throw fault("a duration like PT10M or P1DT2H") }
    var total: Int64 = 0
    var designators: [(letter: Unicode.Scalar, unit: DurationUnit)] = [("w", .week), ("d", .day)]
    var isTime = false
    var parts = 0
    while position < bytes.count {
      if !isTime, skip("t") {
        isTime = true
        designators = [("h", .hour), ("m", .minute), ("s", .second)]
        guard position < bytes.count else { throw fault("hours, minutes or seconds after T") }
      }
      let start = position
      let (whole, thousandths) = try number()
      guard let index = designators.firstIndex(where: { next == UInt8(ascii: $0.letter) }) else {
        throw fault(isTime ? "H, M or S, in this order" : "W or D; months and years have no fixed length")
      }
      let unit = designators[index].unit
      position += 1
      guard thousandths == nil || unit == .second else { throw fault("a fraction on the seconds only") }
      designators.removeFirst(index + 1)
      let (product, overflow) = whole.multipliedReportingOverflow(by: Int64(unit.milliseconds))
      let (sum, tooLarge) = total.addingReportingOverflow(product)
      try need(
        !overflow && !tooLarge && sum <= Instant.latest.milliseconds, .outOfRange, at: start..<position,
        "this is too long", expected: "less than 8030 years")
      total = sum + (thousandths ?? 0)
      parts += 1
    }
    guard parts > 0 else { throw fault("a number and W, D, H, M or S") }
    return .milliseconds(isNegative ? -total : total)
  }

  /// Reads digits, and the thousandths after a point or comma.
  private mutating func number() throws(Fault) -> (Int64, Int64?) {
    let start = position
    var whole: Int64 = 0
    while let byte = next, (0x30...0x39).contains(byte) {
      let (product, overflow) = whole.multipliedReportingOverflow(by: 10)
      let (sum, tooLarge) = product.addingReportingOverflow(Int64(byte - 0x30))
      try need(
        !overflow && !tooLarge, .outOfRange, at: start..<position, "this number is too large",
        expected: "a smaller number")
      whole = sum
      position += 1
    }
    guard position > start else { throw fault("a number") }
    guard skip(".") || skip(",") else { return (whole, nil) }
    var thousandths: Int64 = 0
    var weight: Int64 = 100
    let fraction = position
    while let byte = next, (0x30...0x39).contains(byte) {
      thousandths += Int64(byte - 0x30) * weight
      weight /= 10
      position += 1
    }
    guard position > fraction else { throw fault("digits after the point") }
    return (whole, thousandths)
  }
}
