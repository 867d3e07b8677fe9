/// Generates random calendar expressions, valid and damaged.
struct CalendarGenerator {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  static let zones = [
    "Europe/Prague", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "Europe/Dublin",
    "America/Sao_Paulo", "Asia/Kathmandu", "America/Nuuk", "Asia/Tehran", "Asia/Beirut", "Africa/Cairo",
    "America/Havana", "America/Santiago", "Asia/Gaza", "Antarctica/Troll", "UTC", "Asia/Kolkata", "Pacific/Chatham",
    "America/St_Johns", "Pacific/Kwajalein", "America/Caracas", "Europe/Lisbon", "Asia/Pyongyang", "Europe/London",
    "Pacific/Kiritimati", "Africa/Monrovia", "Asia/Amman", "America/Asuncion", "Europe/Istanbul",
  ]

  mutating func pick<Element>(_ list: [Element]) -> Element { list[Int.random(in: 0..<list.count, using: &random)] }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

  /// Returns a zone name to append to an expression.
  mutating func zone() -> String { pick(Self.zones) }

  private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let fullDays = ["Monday", "Tuesday", "wednesday", "THURSDAY", "Friday", "Saturday", "sunday"]
  static let shorthands = [
    "minutely", "hourly", "daily", "weekly", "monthly", "quarterly", "yearly", "annually", "anually", "semiannually",
    "semi-annually", "biannually", "bi-annually", "DAILY", "Weekly",
  ]

  private mutating func weekdays() -> String {
    var parts: [String] = []
    for _ in 0..<number(1...3) {
      let first = number(0...6)
      let name = chance(20) ? Self.fullDays[first] : Self.days[first]
      if chance(40) {
        parts.append(name + (chance(80) ? ".." : "-") + Self.days[number(first...6)])
      } else {
        parts.append(name)
      }
    }
    return parts.joined(separator: ",") + (chance(3) ? "," : "")
  }

  private mutating func digits(_ value: Int, _ width: Int) -> String {
    let text = String(value)
    return chance(80) && text.count < width ? String(repeating: "0", count: width - text.count) + text : text
  }

  private mutating func fraction() -> String {
    guard chance(15) else { return "" }
    return "." + (0..<number(1...8)).map { _ in String(pick([0, 0, 5, 5, 9, 9, number(0...9)])) }.joined()
  }

  /// Returns a list of values, ranges and repetitions.
  private mutating func list(_ bounds: ClosedRange<Int>, width: Int = 2, fractions: Bool = false, star: Int = 30)
    -> String
  {
    if chance(star) { return "*" }
    func part(_ own: inout CalendarGenerator) -> String {
      func value(_ number: Int) -> String { own.digits(number, width) + (fractions ? own.fraction() : "") }
      let low = own.number(bounds)
      switch own.number(1...10) {
      case 1...5: return value(low)
      case 6: return value(low) + ".." + value(own.number(low...bounds.upperBound))
      case 7...8:
        return value(own.chance(50) ? bounds.lowerBound : low) + "/"
          + (own.chance(90) ? "\(own.number(1...max(1, (bounds.upperBound - bounds.lowerBound) / 2)))" : "1")
          + (fractions ? own.fraction() : "")
      default:
        return value(low) + ".." + value(own.number(low...bounds.upperBound)) + "/\(own.number(1...9))"
          + (fractions ? own.fraction() : "")
      }
    }
    return (0..<(chance(70) ? 1 : number(2...4))).map { _ in part(&self) }.joined(separator: ",")
  }

  /// Returns a date; its years are near `year`.
  private mutating func date(near year: Int) -> String {
    var text = ""
    if chance(80) {
      let years = max(1970, year - 2)...min(2199, year + 12)
      text = chance(5) ? "\(number(0...99))-" : list(years, width: 4, star: 75) + "-"
    }
    text += list(1...12, star: 45)
    return text + (chance(25) ? "~" + list(1...28, star: 5) : "-" + list(1...31, star: 35))
  }

  private mutating func time() -> String {
    let hours = list(0...23, star: 25)
    let minutes = list(0...59, star: 15)
    return hours + ":" + minutes + (chance(60) ? "" : ":" + list(0...59, fractions: true, star: 5))
  }

  /// Returns an expression without a zone that is probably valid.
  mutating func expression(near year: Int) -> String {
    if chance(4) { return pick(Self.shorthands) }
    if chance(1) { return "@\(number(0...7_258_118_399))" }
    var parts: [String] = []
    if chance(35) { parts.append(weekdays()) }
    if chance(60) { parts.append(date(near: year)) }
    if chance(85) || parts.isEmpty { parts.append(time()) }
    return parts.joined(separator: chance(97) ? " " : "  ")
  }

  private static let pieces = [
    "*", "/", "..", ".", ",", "-", "~", ":", " ", "0", "1", "7", "9", "12", "31", "59", "60", "2199", "2200", "1969",
    "69", "70", "100", "Mon", "fri", "Sunday", "Mo", "daily", "@", "+", "-1", "UTC", " utc", " CET", " cest", " EST",
    " Europe/Prague", " europe/prague", " Nowhere/City", "1..5", "5..1", "0/1", "*/2", "0.5", "1/0", "240",
    "99999999999",
    "18446744073709551616", "T", "Z", "x", "!", "%", "00", "24", "28", "29", "~1", "9999999", "0.0000001", "0.9999999",
  ]

  /// Damages an expression in some places.
  mutating func damaged(_ text: String) -> String {
    var text = Array(text)
    for _ in 0..<number(1...3) {
      let place = number(0...text.count)
      switch number(1...4) {
      case 1 where place < text.count: text.remove(at: place)
      case 2 where place < text.count: text[place] = pick(Array("0123456789*/.,-~: aMFtuUTC@"))
      case 3 where place < text.count: text.swapAt(place, number(0...text.count - 1))
      default: text.insert(contentsOf: pick(Self.pieces), at: place)
      }
    }
    return String(text)
  }
}
