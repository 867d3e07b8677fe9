import ChimeSchedule
import ChimeWords

/// An amount on the command line: `250ml`, `82.4 kg`, `180.4`, `82,4`.
enum AmountText {
  struct Amount: Equatable {
    var value: Double
    /// The unit as typed; nil means the tracker's own.
    var unit: String?
  }

  /// Parses an amount; returns nil if the text does not begin with a number.
  ///
  /// The decimal mark is a point or a comma. A comma before exactly three digits is rejected, because it could be a
  /// thousands separator.
  static func parse(_ text: String) throws -> Amount? {
    let text = trimmed(text)
    let digits = text.prefix { $0.isASCII && ($0.isNumber || ".,+-".contains($0)) }
    guard digits.contains(where: \.isNumber) else { return nil }
    let unit = trimmed(String(text[digits.endIndex...]))
    guard unit.allSatisfy({ $0.isLetter || $0 == "%" }) else { return nil }
    guard let value = try number(String(digits)) else { return nil }
    // The liter has two symbols, l and L (SI Brochure, table 8).
    return Amount(value: value, unit: unit.isEmpty ? nil : unit == "L" ? "l" : unit)
  }

  /// Parses a number; returns nil if the text is none.
  static func number(_ text: String) throws -> Double? {
    guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isNumber || ".,+-".contains($0)) }) else { return nil }
    let commas = text.count { $0 == "," }
    if commas == 0 { return Double(text).flatMap { $0.isFinite ? $0 : nil } }
    guard commas == 1, !text.contains(".") else { throw ambiguous(text) }
    if text.split(separator: ",").last?.count == 3 { throw ambiguous(text) }
    // By character: any other misplaced comma makes `Double` return nil.
    return Double(text.replacing(",", with: "."))
  }

  private static func ambiguous(_ text: String) -> Failure {
    .usage(
      localized("\"%1\" is ambiguous", text),
      hint: localized("write thousands without a separator and fractions after a point: 1500, 1.5"))
  }

  /// Parses an option's amount and converts it to the unit: `3l` where the unit is ml.
  static func value(_ text: String, option: String, unit: String?) throws -> Double {
    let amount = try required(text, option: option)
    guard let named = amount.unit, named != unit else { return amount.value }
    guard let unit, let value = converted(amount.value, from: named, to: unit) else {
      throw Failure.usage(
        unit.map { localized("--%1 is in %2, not in %3", option, $0, named) }
          ?? localized("--%1 needs a number without a unit, not \"%2\"", option, text))
    }
    return value
  }

  /// Converts a value, rounded to three decimals; nil if the units have different dimensions.
  static func converted(_ value: Double, from named: String, to unit: String) -> Double? {
    guard let from = units[named], let to = units[unit], from.measures == to.measures else { return nil }
    return (value * from.size / to.size * 1_000).rounded() / 1_000
  }

  private enum Dimension { case mass, volume, length, time, energy }

  private static let units: [String: (measures: Dimension, size: Double)] = [
    "ml": (.volume, 1), "cl": (.volume, 10), "dl": (.volume, 100), "l": (.volume, 1_000),
    "floz": (.volume, 29.5735295625),
    "mg": (.mass, 0.001), "g": (.mass, 1), "kg": (.mass, 1_000), "oz": (.mass, 28.349523125),
    "lb": (.mass, 453.59237), "st": (.mass, 6_350.29318),
    "mm": (.length, 1), "cm": (.length, 10), "m": (.length, 1_000), "km": (.length, 1_000_000), "in": (.length, 25.4),
    "ft": (.length, 304.8), "mi": (.length, 1_609_344),
    "s": (.time, 1), "min": (.time, 60), "h": (.time, 3_600),
    "J": (.energy, 1), "kJ": (.energy, 1_000), "kcal": (.energy, 4_184),
  ]

  /// Parses an option's amount; throws if it is none.
  static func required(_ text: String, option: String) throws -> Amount {
    guard let amount = try parse(text) else {
      throw Failure.usage(localized("--%1 needs an amount such as 250 or 82.4, not \"%2\"", option, text))
    }
    return amount
  }
}

/// A moment in the past, as users write when they did something.
///
/// Accepts `21:00` (today), `yesterday 21:00`, `mon 8:00` (the last Monday), `2026-03-26 7am`, `20m` or `2 hours ago`,
/// and RFC 3339 timestamps. A day without a time means noon, or now if noon has not come.
enum PastMoment {
  static func parse(_ text: String, option: String, now: Instant, zone: Zone) throws -> Instant {
    let text = trimmed(text)
    let moment = try read(text, option: option, now: now, zone: zone)
    // Allow a minute for clock differences and for timestamps generated just now.
    try need(
      moment.milliseconds <= now.milliseconds + 60_000, localized("--%1 %2 is in the future", option, text),
      hint: localized("a day may stand before the time: --%1 \"yesterday 21:00\"", option))
    return moment
  }

  private static func read(_ text: String, option: String, now: Instant, zone: Zone) throws -> Instant {
    if let instant = try? RFC3339.parse(text) { return instant }
    let lower = text.lowercased()
    if lower == "now" { return now }
    let length = lower.hasSuffix(" ago") ? String(lower.dropLast(4)) : lower
    if let length = try? DurationText.parse(length) { return now - length }
    var words = lower.split(whereSeparator: { $0 == " " || $0 == "t" && lower.first?.isNumber == true }).map(
      String.init)
    var date = zone.civil(at: now).date
    var hasDay = false
    if let first = words.first, let day = day(first, today: date) {
      (date, hasDay) = (day, true)
      words.removeFirst()
    }
    if words.first == "at" { words.removeFirst() }
    if words.isEmpty, hasDay {
      let noon = zone.instant(CivilDateTime(date: date, time: .noon))
      return date == zone.civil(at: now).date ? min(noon, now) : noon
    }
    let time = words.joined(separator: " ")
    let schedule = try? Schedule.parse("at \(date) \(time)", now: .earliest, zone: zone)
    if let schedule, schedule.isOneOff, !words.isEmpty,
      let instant = schedule.timetable(in: zone).next(after: .earliest)
    {
      return instant
    }
    throw Failure.usage(
      localized("--%1 needs a time such as 21:00, \"yesterday 21:00\" or \"20m ago\", not \"%2\"", option, text))
  }

  private static func day(_ word: String, today: CivilDate) -> CivilDate? {
    if word == "today" { return today }
    if word == "yesterday" { return today.adding(days: -1) }
    if let weekday = WeekdayText.day(word) {
      return today.adding(days: -((today.weekday.rawValue - weekday.rawValue + 7) % 7))
    }
    return CivilDate(word)
  }

  /// Parses a day that has come, and returns it as `YYYY-MM-DD`.
  static func day(_ text: String, option: String, today: CivilDate) throws -> String {
    guard let day = day(trimmed(text).lowercased(), today: today) else {
      throw Failure.usage(
        localized("--%1 needs a day such as 2026-05-01, yesterday or mon, not \"%2\"", option, text))
    }
    return day.description
  }
}

extension Zone {
  /// Returns the first instant at which a clock shows this time; for a DST gap, the transition.
  fileprivate func instant(_ civil: CivilDateTime) -> Instant {
    switch resolve(civil) {
    case .unique(let instant): instant
    case .gap(_, _, let transition): transition
    case .fold(let first, _): first
    }
  }
}
