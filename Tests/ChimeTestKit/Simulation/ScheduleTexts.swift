/// Generates random schedule texts in every dialect, across the whole grammar. Some have no future time and are
/// rejected by the parser.
struct ScheduleTexts {
  var random: SeededGenerator

  private mutating func pick<Element>(_ list: [Element]) -> Element {
    list[Int.random(in: list.indices, using: &random)]
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func chance(_ one: Int) -> Bool { number(1...one) == 1 }

  /// Returns one to `most` different texts, joined.
  private mutating func some(_ most: Int, _ separator: String = ",", _ make: (inout Self) -> String) -> String {
    var seen: [String] = []
    for _ in 0..<number(1...most) {
      let text = make(&self)
      if !seen.contains(text) { seen.append(text) }
    }
    return seen.joined(separator: separator)
  }

  mutating func next() -> String {
    switch number(0...19) {
    case 0...8: phrase()
    case 9...11: cron()
    case 12...14: calendar()
    case 15...17: recurrence()
    default: solar()
    }
  }

  private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  // Prefer the hours around DST changes.
  private mutating func hour() -> Int { chance(2) ? number(0...4) : number(0...23) }
  private mutating func minute() -> Int { pick([0, 0, 15, 30, 30, 45, number(0...59)]) }

  private mutating func time() -> String {
    let (hour, minute) = (hour(), minute())
    let text = "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
    return chance(10) ? "\(text):\(number(10...59))" : text
  }

  private mutating func weekdays() -> String {
    if chance(4) { return "\(pick(Self.days))-\(pick(Self.days))" }
    return some(3) { $0.pick(Self.days) }
  }

  mutating func phrase() -> String {
    var text: String
    switch number(0...15) {
    case 0: return "in \(number(1...300))\(pick(["s", "m", "h", "d"]))"
    case 1: return "at \(time())"
    case 2: return "\(pick(["tomorrow", "friday", "mon"])) at \(time())"
    case 3: text = "\(pick(["daily", "weekdays", "weekends", "every day"])) at \(some(3) { $0.time() })"
    case 4: text = "every \(weekdays()) at \(some(2) { $0.time() })"
    case 5: text = "every \(number(2...9)) days at \(time())"
    case 6: text = "every \(number(2...5)) weeks on \(some(3) { $0.pick(Self.days) }) at \(time())"
    case 7: text = "day \(some(3) { "\($0.number(1...31))" }) of month at \(time())"
    case 8: text = "\(pick(["first", "second", "third", "last"])) \(pick(Self.days)) of month at \(time())"
    case 9: text = "every \(pick(Self.months)) \(number(1...28)) at \(time())"
    case 10: text = "every \(number(2...6)) months on day \(number(1...28)) at \(time())"
    case 11: text = "every \(pick([20, 30, 45, 60, 90, 150, 400]))m"
    case 12:
      text = "every \(pick([20, 30, 45, 60, 90]))m from \(time()) to \(time())"
      if chance(2) { text += " on \(weekdays())" }
    case 13: return "every \(number(1...9)) days after done at \(time())"
    case 14: return "every \(number(2...90))h after done"
    default: text = "daily at \(some(4) { $0.time() })"
    }
    switch number(0...11) {
    case 0: text += " \(number(1...40)) times"
    case 1: text += " except \(pick(Self.months)) \(number(1...28))"
    case 2: text += " except on holidays"
    default: break
    }
    return text
  }

  private mutating func field(_ low: Int, _ high: Int) -> String {
    switch number(0...6) {
    case 0, 1: return "*"
    case 2: return "*/\(pick([2, 3, 5, 6, 8]))"
    case 3:
      let from = number(low...high)
      return "\(from)-\(number(from...high))"
    default: return some(3) { "\($0.number(low...high))" }
    }
  }

  mutating func cron() -> String {
    if chance(10) { return pick(["@daily", "@hourly", "@weekly", "@monthly"]) }
    let minute = chance(6) ? "*/\(pick([15, 20, 30]))" : some(2) { "\($0.minute())" }
    let hour = chance(3) ? field(0, 23) : some(2) { "\($0.hour())" }
    let day = chance(3) ? pick(["L", "15W", "LW", "L-3", "1,15", "\(number(1...31))"]) : "*"
    let month = chance(5) ? field(1, 12) : "*"
    let week = chance(3) ? pick(["1-5", "0", "6,0", "mon#2", "friL", "2-4"]) : "*"
    return "cron: \(minute) \(hour) \(day) \(month) \(week)"
  }

  mutating func calendar() -> String {
    let days = chance(2) ? "" : pick(["Mon..Fri ", "Sat,Sun ", "Wed ", "Mon,Thu "])
    let date = pick(["*-*-*", "*-*-*", "*-*-01", "*-*~01", "*-*-1,15", "*-03,10-*", "*-*-10..20"])
    let hour = pick(["\(hour())", "\(hour())", "2", "0/6", "1..3", "8,20", "*"])
    let minute = pick(["00", "30", "00,30", "0/20", "15"])
    let zone = chance(5) ? " \(pick(["Europe/Prague", "America/New_York", "UTC"]))" : ""
    return "calendar: \(days)\(date) \(hour):\(minute)\(zone)"
  }

  mutating func recurrence() -> String {
    let (hour, minute) = (hour(), minute())
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
    let zone = chance(4) ? ";TZID=\(pick(["Europe/Prague", "America/New_York", "Australia/Lord_Howe"]))" : ""
    let start = "DTSTART\(zone):2024\(two(number(1...12)))\(two(number(1...28)))T\(two(hour))\(two(minute))00"
    var rule: String
    switch number(0...7) {
    case 0: rule = "FREQ=DAILY;INTERVAL=\(number(1...5))"
    case 1: rule = "FREQ=WEEKLY;BYDAY=\(some(3) { $0.pick(["MO", "TU", "WE", "TH", "FR", "SA", "SU"]) })"
    case 2: rule = "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR"
    case 3: rule = "FREQ=MONTHLY;BYMONTHDAY=\(some(2) { "\($0.pick([1, 10, 15, 28, -1, -2]))" })"
    case 4: rule = "FREQ=MONTHLY;BYDAY=\(pick(["1MO", "2TU", "-1FR", "3SU"]))"
    case 5: rule = "FREQ=DAILY;BYHOUR=\(some(3) { "\($0.number(0...23))" })"
    case 6: rule = "FREQ=HOURLY;INTERVAL=\(number(2...36))"
    default: rule = "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=0,30"
    }
    if chance(8) { rule += ";COUNT=\(number(200...1_500))" }
    return "\(start) RRULE:\(rule)"
  }

  mutating func solar() -> String {
    let event = pick(["sunrise", "sunset", "solar noon", "dawn", "dusk"])
    let shift = chance(2) ? "" : " \(pick(["+", "-"])) \(number(5...90))m"
    return "\(event)\(shift)" + (chance(3) ? " on \(weekdays())" : "")
  }
}
