import ChimeSchedule

/// A slow reference implementation of cron expressions, which parses the text anew and checks each day and minute. It
/// shares only `Zone.offset(at:)`, `CivilDate` and `CivilTime` with the library.
struct CronReference {
  var seconds: Set<Int> = [0]
  var minutes: Set<Int>
  var hours: Set<Int>
  /// Whether each minute of the day matches.
  private var isTime: [Bool]
  var months: Set<Int>
  /// The items of the two day fields, as written.
  var dates: [Substring]
  var weekdays: [Substring]
  /// Whether the minute or the hour begins with a star.
  var isWild: Bool
  /// Whether the day of the month or of the week begins with a star.
  var hasDayStar: Bool

  static let monthNames = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
  static let weekdayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]

  init(_ text: String) {
    var fields = text.uppercased().split(separator: " ").map { $0.replacingAll("?", with: "*") }
    if fields.first == "CRON:" { fields.removeFirst() }
    if fields.count == 6 { seconds = Self.numbers(fields.removeFirst(), 0, 59) }
    minutes = Self.numbers(fields[0], 0, 59)
    hours = Self.numbers(fields[1], 0, 23)
    isTime = [Bool](repeating: false, count: 1_440)
    for hour in hours {
      for minute in minutes { isTime[hour * 60 + minute] = true }
    }
    months = Self.numbers(fields[3], 1, 12, Self.monthNames, namesFrom: 1)
    dates = fields[2].split(separator: ",")
    weekdays = fields[4].split(separator: ",")
    isWild = fields[0].hasPrefix("*") || fields[1].hasPrefix("*")
    hasDayStar = fields[2].hasPrefix("*") || fields[4].hasPrefix("*")
  }

  private static func numbers(
    _ field: some StringProtocol, _ low: Int, _ high: Int, _ names: [String] = [], namesFrom first: Int = 0
  ) -> Set<Int> {
    func number(_ text: some StringProtocol) -> Int {
      Int(text) ?? (names.firstIndex(of: String(text)).map { $0 + first } ?? -1)
    }
    var result: Set<Int> = []
    for item in field.split(separator: ",") {
      let parts = item.split(separator: "/")
      let ends = parts[0].split(separator: "-")
      let from = parts[0] == "*" ? low : number(ends[0])
      let to = parts[0] == "*" ? high : number(ends[ends.count - 1])
      for number in stride(from: from, through: to, by: parts.count > 1 ? number(parts[1]) : 1) {
        result.insert(number)
      }
    }
    return result
  }

  func matches(_ date: CivilDate) -> Bool {
    let (year, month, day) = date.fields
    guard months.contains(month) else { return false }
    let length = CivilDate.daysIn(month: month, year: year)
    func weekday(_ day: Int) -> Int { ((Int(date.dayNumber) - date.day + day + 4) % 7 + 7) % 7 }
    func isWorkday(_ day: Int) -> Bool { (1...5).contains(weekday(day)) }
    /// Returns the nearest weekday of the month; of two equally near, the one on the shorter side of the weekend.
    func nearest(_ day: Int) -> Int? {
      guard (1...length).contains(day) else { return nil }
      return [day, day - 1, day + 1, day - 2, day + 2].first { (1...length).contains($0) && isWorkday($0) }
    }
    let isDate = dates.contains { item in
      if item == "L" { return day == length }
      if item.hasSuffix("W") {
        let from = item.dropLast()
        if from == "L" { return nearest(length) == day }
        if from.hasPrefix("L-") { return nearest(length - (Int(from.dropFirst(2)) ?? 99)) == day }
        return nearest(Int(from) ?? 0) == day
      }
      if item.hasPrefix("L-") { return day == length - (Int(item.dropFirst(2)) ?? 99) }
      return Self.numbers(item, 1, 31).contains(day)
    }
    let isWeekday = weekdays.contains { item in
      let today = weekday(day)
      func names(_ text: some StringProtocol) -> Bool {
        let numbers = Self.numbers(text, 0, 7, Self.weekdayNames)
        return numbers.contains(today) || today == 0 && numbers.contains(7)
      }
      if item.hasSuffix("L") { return names(item.dropLast()) && day + 7 > length }
      let parts = item.split(separator: "#")
      return names(parts[0]) && (parts.count < 2 || (day + 6) / 7 == Int(parts[1]))
    }
    return hasDayStar ? isDate && isWeekday : isDate || isWeekday
  }

  /// Returns whether a job starts in a minute of local time, counted from 1970.
  func matches(minute: Int64) -> Bool {
    guard minute >= 0, isTime[Int(minute % 1_440)], let date = CivilDate(dayNumber: Int(minute / 1_440))
    else { return false }
    return matches(date)
  }

  /// Returns local time at an instant and at each minute after it, in minutes from 1970.
  static func clock(_ zone: Zone, from start: Int64, through end: Int64) -> [Int64] {
    stride(from: start, through: end, by: 60).map { second in
      let wall = second + Int64(zone.offset(at: Instant(seconds: second)))
      return (wall - (wall % 60 + 60) % 60) / 60
    }
  }

  /// Returns the runs of Debian's cron after its start, by its daemon's own loop. It wakes each minute of local time,
  /// and compares it with its virtual clock to detect clock changes.
  ///
  /// - Parameter clock: local time at the start and at each minute after it, in minutes from 1970.
  func debianRuns(_ clock: [Int64], from start: Int64) -> [Int64] {
    var runs: [Int64] = []
    func run(_ minute: Int64, wild: Bool, fixed: Bool, at second: Int64) {
      if isWild ? wild : fixed, matches(minute: minute), runs.last != second { runs.append(second) }
    }
    var running = clock[0]
    var virtual = running
    var second = start
    for minute in clock.dropFirst() {
      second += 60
      guard minute != running else { continue }
      running = minute
      switch running - virtual {
      case 1...5:
        while virtual < running {
          virtual += 1
          run(virtual, wild: true, fixed: true, at: second)
        }
      case 6...180:
        run(running, wild: true, fixed: false, at: second)
        while virtual < running {
          virtual += 1
          run(virtual, wild: false, fixed: true, at: second)
        }
      case -179...0: run(running, wild: true, fixed: false, at: second)
      default:
        virtual = running
        run(running, wild: true, fixed: true, at: second)
      }
    }
    return runs
  }
}

extension StringProtocol {
  fileprivate func replacingAll(_ sign: Character, with other: Character) -> String {
    String(map { $0 == sign ? other : $0 })
  }
}

/// Generates random cron expressions.
struct CronGenerator {
  var random: SeededGenerator
  /// Whether to include `L`, `W`, `#`, `?` and names.
  var hasSpecials: Bool

  mutating func pick<Item>(_ items: [Item]) -> Item { items[Int.random(in: 0..<items.count, using: &random)] }
  mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  /// Returns a field; `near` are the relevant numbers.
  mutating func field(_ low: Int, _ high: Int, near: ClosedRange<Int>, names: [String] = [], first: Int = 0) -> String {
    var items: [String] = []
    for _ in 0..<pick([1, 1, 1, 2, 3]) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: items.append("*")
      case 2: items.append("*/\(pick([1, 2, 3, 5, 7, 10, 15, 20, 24, 30, 31, 60]))")
      case 3, 4:
        let from = Int.random(in: low...high, using: &random)
        let to = Int.random(in: from...high, using: &random)
        items.append("\(from)-\(to)" + (chance(2) ? "/\(Int.random(in: 1...9, using: &random))" : ""))
      case 5 where !names.isEmpty && hasSpecials:
        let name = pick(names)
        items.append(chance(2) ? name : name.lowercased())
      default: items.append("\(Int.random(in: chance(4) ? low...high : near, using: &random))")
      }
    }
    if items.count > 1, items[0] == "*", !chance(8) { items.removeFirst() }
    return items.joined(separator: ",")
  }

  mutating func dayOfMonth(near: ClosedRange<Int>) -> String {
    if chance(3) { return "*" }
    if hasSpecials, chance(2) {
      let day = Int.random(in: 1...31, using: &random)
      var items = [pick(["L", "l", "LW", "L-\(min(day, 30))", "\(day)W", "15w", "L-\(min(day, 9))W", "?"])]
      if chance(3) { items.insert(pick(["1", "10-12", "*/9", "31W", "L"]), at: Int.random(in: 0...1, using: &random)) }
      return items.joined(separator: ",")
    }
    return field(1, 31, near: near)
  }

  mutating func dayOfWeek() -> String {
    if chance(2) { return "*" }
    if hasSpecials, chance(2) {
      let name = pick(CronReference.weekdayNames)
      let number = Int.random(in: 0...7, using: &random)
      var items = [pick(["\(name)L", "\(number)l", "\(name)#\(pick([1, 2, 3, 4, 5]))", "\(number)#2", "?"])]
      if chance(3) { items.insert(pick(["1", "4-7", "*/3", "sun", "5#5"]), at: Int.random(in: 0...1, using: &random)) }
      return items.joined(separator: ",")
    }
    return field(0, 7, near: 0...7, names: CronReference.weekdayNames)
  }

  /// Returns five fields near a local time.
  mutating func expression(near wall: Int64) -> String {
    let time = CivilDateTime(
      date: CivilDate(dayNumber: Int(wall / 86_400)) ?? .earliest,
      time: CivilTime(hour: Int(wall / 3_600 % 24), minute: Int(wall / 60 % 60)) ?? .midnight)
    let minute = max(0, time.time.minute - 5)...min(59, time.time.minute + 35)
    let hour = max(0, time.time.hour - 2)...min(23, time.time.hour + 2)
    let day = max(1, time.date.day - 1)...min(31, max(1, time.date.day - 1) + 2)
    let month = chance(3) ? field(1, 12, near: time.date.month...time.date.month, names: CronReference.monthNames) : "*"
    return [
      field(0, 59, near: minute), field(0, 23, near: hour), dayOfMonth(near: day), month, dayOfWeek(),
    ].joined(separator: " ")
  }
}
