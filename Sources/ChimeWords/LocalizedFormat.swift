public import ChimeSchedule

/// LocalizedFormat formats numbers and dates for the user's locale. Use it for the screen, never for JSON.
public enum LocalizedFormat {
  /// Returns a number with `decimals` digits (0 to 3) after the point. `grouped` separates thousands if the locale does.
  ///
  ///     LocalizedFormat.number(2_500, decimals: 1)    // 2500.0, and in Czech 2 500,0
  public static func number(_ value: Double, decimals: Int = 0, grouped: Bool = true) -> String {
    LocaleForms.current.number(value, decimals: decimals, grouped: grouped)
  }

  /// Returns `2026-03-29`, and in Czech `29.3.2026`.
  public static func date(_ date: CivilDate) -> String { LocaleForms.current.date(date) }

  /// Returns the date without its year: `03-29`, and in Czech `29.3.`.
  public static func dateOfYear(_ date: CivilDate) -> String {
    let separators: Set<Character> = ["-", "/", " ", ","]
    var text = Self.date(date).replacing("\(date.year)", with: "")[...]
    while let first = text.first, separators.contains(first) { text.removeFirst() }
    while let last = text.last, separators.contains(last) { text.removeLast() }
    return String(text)
  }

  /// Returns `Mon`, and in Czech `Po`.
  public static func weekday(_ day: Weekday) -> String { LocaleForms.current.weekdays[day.rawValue - 1] }

  /// Returns `March`, in the form that stands alone.
  ///
  /// - Parameter month: 1 to 12.
  public static func month(_ month: Int) -> String { LocaleForms.current.months[(month + 11) % 12] }

  /// Returns `Mar`.
  public static func shortMonth(_ month: Int) -> String { LocaleForms.current.shortMonths[(month + 11) % 12] }
}
