internal import CIntl
internal import ChimeSchedule
internal import Glibc

/// LocaleForms are the formats of numbers and dates in a locale.
struct LocaleForms: Sendable, Equatable {
  /// The decimal separator.
  var point = "."
  /// The separator of groups of three digits.
  var thousands = ""
  /// The date format of strftime(3); `nil` for ISO 8601.
  var dateFormat: String?
  /// The abbreviated weekdays, from Monday.
  var weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  var months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]
  var shortMonths = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Makes the forms of C.
  init() {}

  /// The forms of the environment, if the catalogs have begun; otherwise those of C.
  static let current: LocaleForms = Catalogs.isSpeaking ? LocaleForms(named: "") : LocaleForms()

  /// Makes the forms of a locale of the system. What the locale lacks is as in C.
  init(named name: String) {
    if let numbers = newlocale(1 << LC_NUMERIC, name, nil) {
      point = Self.text(CHIME_LOCALE_POINT, 0, numbers)
      thousands = Self.text(CHIME_LOCALE_THOUSANDS, 0, numbers)
      freelocale(numbers)
    }
    if let times = newlocale(1 << LC_TIME | 1 << LC_CTYPE, name, nil) {
      let format = Self.text(CHIME_LOCALE_DATE, 0, times)
      // The C format, with a two-digit year and the month first, suits no user.
      dateFormat = format == "%m/%d/%y" ? nil : format
      weekdays = (1...7).map { Self.text(CHIME_LOCALE_DAY, UInt32($0 % 7), times) }
      months = (0..<12).map { Self.text(CHIME_LOCALE_MONTH, $0, times) }
      shortMonths = (0..<12).map { Self.text(CHIME_LOCALE_SHORT_MONTH, $0, times) }
      freelocale(times)
    }
  }

  private static func text(_ item: chime_locale_item, _ offset: UInt32, _ locale: locale_t) -> String {
    chime_locale_text(locale, Int32(item.rawValue + offset)).map { String(cString: $0) } ?? ""
  }

  func number(_ value: Double, decimals: Int, grouped: Bool) -> String {
    let decimals = min(max(decimals, 0), 3)
    let scaled = (value * [1.0, 10, 100, 1_000][decimals]).rounded()
    // A larger `Double` has no fraction to show.
    guard scaled.magnitude < 9e15 else { return "\(value)" }
    let digits = String(Int64(scaled.magnitude))
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    var whole = Array(padded.dropLast(decimals))
    if grouped, !thousands.isEmpty {
      for place in stride(from: whole.count - 3, to: 0, by: -3) { whole.insert(contentsOf: thousands, at: place) }
    }
    return (scaled < 0 ? "-" : "") + String(whole) + (decimals > 0 ? point + padded.suffix(decimals) : "")
  }

  /// Returns the date in `dateFormat`, or in ISO 8601 if that has anything but days, months and years.
  func date(_ date: CivilDate) -> String {
    guard let dateFormat else { return date.description }
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    var text = ""
    var rest = dateFormat[...]
    while let sign = rest.popFirst() {
      guard sign == "%" else {
        text.append(sign)
        continue
      }
      let plain = rest.first == "-"
      if plain { rest.removeFirst() }
      switch rest.popFirst() {
      case "d": text += plain ? "\(date.day)" : two(date.day)
      case "e": text += "\(date.day)"
      case "m": text += plain ? "\(date.month)" : two(date.month)
      case "Y": text += "\(date.year)"
      case "y": text += two(date.year % 100)
      case "b", "h": text += shortMonths[date.month - 1]
      case "F": text += date.description
      case "D": return date.description
      default: return date.description
      }
    }
    return text
  }
}
