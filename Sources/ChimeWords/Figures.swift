public import ChimeSchedule

/// Numbers and dates as the user's locale writes them: for the screen, never for JSON.
public enum Figures {
  /// A number with so many digits after the point; `grouped`: thousands apart.
  public static func number(_ value: Double, decimals: Int = 0, grouped: Bool = true) -> String {
    let scale = [1.0, 10, 100, 1_000][min(max(decimals, 0), 3)]
    let scaled = (value * scale).rounded()
    let digits = String(Int64(scaled.magnitude))
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    let whole = padded.dropLast(decimals)
    return (scaled < 0 ? "-" : "") + whole + (decimals > 0 ? "." + padded.suffix(decimals) : "")
  }

  /// `2026-03-29`, or as the locale has it.
  public static func date(_ date: CivilDate) -> String { date.description }
  /// `Mon`
  public static func weekday(_ day: Weekday) -> String {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][(day.rawValue - Weekday.monday.rawValue + 7) % 7]
  }
  /// `March`, as it stands by itself.
  public static func month(_ month: Int) -> String {
    [
      "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
      "December",
    ][(month - 1) % 12]
  }
}
