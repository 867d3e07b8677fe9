import ChimeSchedule
import Testing

/// A slow reference implementation of rules by days, weeks, months or years, which assigns each day of some years to
/// its period and checks it. It covers cases that dateutil does not support (SKIP) or interprets differently.
struct RecurrenceReference {
  private var parts: [String: String] = [:]
  private let start: CivilDateTime
  private let weekStart: Int

  init(rule: String, start: CivilDateTime) {
    for part in rule.split(separator: ";") {
      let pair = part.split(separator: "=")
      parts[String(pair[0])] = String(pair[1])
    }
    self.start = start
    weekStart = RandomRule.weekdays.firstIndex(of: parts["WKST"] ?? "MO") ?? 0
  }

  private func list(_ name: String) -> [Int]? { parts[name].map { $0.split(separator: ",").compactMap { Int($0) } } }

  private func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
    Int(CivilDate(year: year, month: month, day: day)?.dayNumber ?? 0)
  }

  private func weekday(_ day: Int) -> Int { (day % 7 + 7 + 3) % 7 }
  private func weekBeginning(_ day: Int) -> Int { day - (weekday(day) - weekStart + 7) % 7 }
  private func length(_ year: Int) -> Int { CivilDate.isLeap(year) ? 366 : 365 }
  private func date(_ day: Int) -> CivilDate { CivilDate(dayNumber: day) ?? .earliest }

  /// Returns the year that contains most of a day's week, and the week's number from the beginning and from the end.
  private func weekOfYear(_ day: Int) -> (year: Int, number: Int, fromEnd: Int) {
    let middle = weekBeginning(day) + 3
    let year = date(middle).year
    let before = (middle - self.day(year, 1, 1)) / 7
    let after = (self.day(year, 12, 31) - middle) / 7
    return (year, before + 1, -after - 1)
  }

  private func period(_ day: Int) -> Int {
    let date = date(day)
    switch parts["FREQ"] {
    case "YEARLY": return parts["BYWEEKNO"] != nil ? weekOfYear(day).year : date.year
    case "MONTHLY": return date.year * 12 + date.month
    case "WEEKLY": return weekBeginning(day) / 7
    default: return day
    }
  }

  private func isNamedByWeekday(_ day: Int) -> Bool {
    guard let names = parts["BYDAY"] else { return true }
    let date = date(day)
    let isYear = parts["FREQ"] == "YEARLY" && parts["BYMONTH"] == nil
    let first = isYear ? self.day(date.year, 1, 1) : self.day(date.year, date.month, 1)
    let last = isYear ? self.day(date.year, 12, 31) : first + CivilDate.daysIn(month: date.month, year: date.year) - 1
    return names.split(separator: ",").contains { name in
      guard name.suffix(2) == RandomRule.weekdays[weekday(day)] else { return false }
      guard let number = Int(name.dropLast(2)) else { return true }
      return number > 0 ? (day - first) / 7 + 1 == number : (last - day) / 7 + 1 == -number
    }
  }

  /// Returns the rule's days if all months and years were long enough; `SKIP` moves the missing ones.
  private func monthDays() -> [Int]? {
    if let days = list("BYMONTHDAY") { return days }
    let named = ["BYDAY", "BYYEARDAY", "BYWEEKNO"].contains { parts[$0] != nil }
    return named || !["YEARLY", "MONTHLY"].contains(parts["FREQ"] ?? "") ? nil : [start.date.day]
  }

  private func isInMonths(_ month: Int) -> Bool {
    if let months = list("BYMONTH") { return months.contains(month) }
    let named = ["BYDAY", "BYYEARDAY", "BYWEEKNO", "BYMONTHDAY"].contains { parts[$0] != nil }
    return named || parts["FREQ"] != "YEARLY" || month == start.date.month
  }

  private func isNamed(_ day: Int) -> Bool {
    let date = date(day)
    let length = CivilDate.daysIn(month: date.month, year: date.year)
    guard isInMonths(date.month), isNamedByWeekday(day) else { return false }
    if let days = monthDays(), !days.contains(date.day), !days.contains(date.day - length - 1) { return false }
    let place = day - self.day(date.year, 1, 1) + 1
    if let days = list("BYYEARDAY"), !days.contains(place), !days.contains(place - self.length(date.year) - 1) {
      return false
    }
    if let weeks = list("BYWEEKNO") {
      let week = weekOfYear(day)
      guard weeks.contains(week.number) || weeks.contains(week.fromEnd) else { return false }
    }
    let namesDay = ["BYDAY", "BYYEARDAY", "BYMONTHDAY"].contains { parts[$0] != nil }
    let takesWeekday = parts["FREQ"] == "WEEKLY" || parts["BYWEEKNO"] != nil
    return namesDay || !takesWeekday || weekday(day) == weekday(Int(start.date.dayNumber))
  }

  /// Returns the days that replace missing ones, with their periods.
  private func moved(_ years: ClosedRange<Int>) -> [(day: Int, period: Int)] {
    let skip = parts["SKIP"] ?? "OMIT"
    let isYear = parts["FREQ"] == "YEARLY"
    guard skip != "OMIT", isYear || parts["FREQ"] == "MONTHLY", parts["BYWEEKNO"] == nil else { return [] }
    var result: [(Int, Int)] = []
    for year in years {
      for month in 1...12 where isInMonths(month) && parts["BYYEARDAY"] == nil {
        let first = day(year, month, 1)
        let length = CivilDate.daysIn(month: month, year: year)
        let period = isYear ? year : year * 12 + month
        for named in monthDays() ?? [] {
          if named > length { result.append((first + length - (skip == "FORWARD" ? 0 : 1), period)) }
          if -named > length { result.append((first - (skip == "FORWARD" ? 0 : 1), period)) }
        }
      }
      for named in list("BYYEARDAY") ?? [] where parts["BYMONTHDAY"] == nil && length(year) == 365 {
        let first = day(year, 1, 1)
        if named == 366, isInMonths(12) { result.append((first + (skip == "FORWARD" ? 365 : 364), year)) }
        if named == -366, isInMonths(1) { result.append((first - (skip == "FORWARD" ? 0 : 1), year)) }
      }
    }
    return result.filter { isNamedByWeekday($0.0) }
  }

  /// Returns all occurrences from the start to the end of a year, in seconds of local time.
  func occurrences(through lastYear: Int) -> [Int64] {
    let years = start.date.year...lastYear
    let interval = parts["INTERVAL"].flatMap { Int($0) } ?? 1
    let origin = period(Int(start.date.dayNumber))
    var periods: [Int: Set<Int>] = [:]
    for day in day(years.lowerBound, 1, 1) - 7...day(lastYear, 12, 31) + 7 where isNamed(day) {
      periods[period(day), default: []].insert(day)
    }
    for (day, period) in moved(years) { periods[period, default: []].insert(day) }
    var times: [Int64] = []
    for hour in list("BYHOUR") ?? [start.time.hour] {
      for minute in list("BYMINUTE") ?? [start.time.minute] {
        for second in list("BYSECOND") ?? [start.time.second] {
          times.append(Int64(hour * 3_600 + minute * 60 + second))
        }
      }
    }
    times = Set(times).sorted()
    var result: Set<Int64> = []
    for (period, days) in periods where period >= origin && (period - origin) % interval == 0 {
      let all = days.sorted().flatMap { day in times.map { Int64(day) * 86_400 + $0 } }
      guard let places = list("BYSETPOS") else {
        result.formUnion(all)
        continue
      }
      for place in places {
        let index = place > 0 ? place - 1 : all.count + place
        if all.indices.contains(index) { result.insert(all[index]) }
      }
    }
    let first = start.wallSecondsForTests
    let ordered = result.filter { $0 >= first }.sorted()
    return parts["COUNT"].flatMap { Int($0) }.map { Array(ordered.prefix($0)) } ?? ordered
  }
}

@Suite struct RecurrenceReferenceTests {
  @Test func randomRulesMatchTheReference() throws {
    var generator = SeededGenerator(seed: 7_529)
    func pick<Element>(_ values: [Element]) -> Element { values[Int.random(in: 0..<values.count, using: &generator)] }
    func numbers(_ range: ClosedRange<Int>, _ most: Int, signed: Bool = true) -> String {
      (0..<Int.random(in: 1...most, using: &generator)).map { _ in
        let number = Int.random(in: range, using: &generator)
        return "\(signed && Bool.random(using: &generator) ? -number : number)"
      }.joined(separator: ",")
    }
    var compared = 0
    let rounds = ProofTier.amount(quick: 40, proof: 2_000)
    for _ in 0..<rounds {
      let frequency = pick(["YEARLY", "YEARLY", "MONTHLY", "MONTHLY", "WEEKLY"])
      let isYear = frequency == "YEARLY"
      var parts = ["FREQ=\(frequency)"]
      if frequency != "WEEKLY" { parts += ["RSCALE=GREGORIAN", "SKIP=\(pick(["OMIT", "BACKWARD", "FORWARD"]))"] }
      if Bool.random(using: &generator) { parts.append("INTERVAL=\(Int.random(in: 2...4, using: &generator))") }
      let before = parts.count
      if pick([true, false, false]) { parts.append("BYMONTH=\(numbers(1...12, 4, signed: false))") }
      let hasWeeks = isYear && pick([true, false, false])
      if hasWeeks { parts.append("BYWEEKNO=\(pick([numbers(1...53, 4), numbers(50...53, 2), "1", "-1,2"]))") }
      if isYear, pick([true, false, false]) {
        parts.append("BYYEARDAY=\(pick(["366", "-366,100", numbers(1...366, 40)]))")
      }
      if frequency != "WEEKLY", pick([true, true, false]) {
        parts.append("BYMONTHDAY=\(pick([numbers(28...31, 3), numbers(1...31, 8)]))")
      }
      if pick([true, false]) {
        let counted = !hasWeeks && frequency != "WEEKLY" && Bool.random(using: &generator)
        let days = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
          counted && Bool.random(using: &generator)
            ? numbers(1...5, 1) + pick(RandomRule.weekdays) : pick(RandomRule.weekdays)
        }
        parts.append("BYDAY=" + days.joined(separator: ","))
      }
      if pick([true, false, false]) { parts.append("BYHOUR=\(numbers(0...23, 3, signed: false))") }
      if parts.count > before, pick([true, false, false]) { parts.append("BYSETPOS=\(numbers(1...5, 3))") }
      parts.append("WKST=\(pick(RandomRule.weekdays))")
      if Bool.random(using: &generator) { parts.append("COUNT=\(Int.random(in: 1...40, using: &generator))") }
      let start = Int64.random(in: 0...1_500_000_000, using: &generator)
      let text = "DTSTART:\(RandomRule.text(start)) RRULE:\(parts.joined(separator: ";"))"
      let civil = Zone.utc.civil(at: Instant(seconds: start))
      let lastYear = civil.date.year + 9
      let expected = RecurrenceReference(rule: parts.joined(separator: ";"), start: civil).occurrences(
        through: lastYear)
      // What the last period moves past its year is left out of the comparison.
      let searchLimit = Int64(CivilDate(year: lastYear, month: 12, day: 1)?.dayNumber ?? 0) * 86_400
      let timetable = try Schedule(canonical: text).timetable(in: .utc)
      var found: [Int64] = []
      var last = Instant(seconds: start) - .seconds(1)
      while let next = timetable.next(after: last), next.seconds < searchLimit {
        found.append(next.seconds)
        last = next
      }
      if start == 0 { continue }
      #expect(found == expected.filter { $0 < searchLimit }, "\(text)")
      compared += found.count
    }
    #expect(compared > rounds * 12)
  }
}
