import ChimeSchedule
import Foundation
import Testing

/// Compares random rules with PyPI's dateutil.
///
/// Where dateutil interprets RFC 5545 differently, `docs/schedules.md` says so, and the generator avoids the case;
/// comments with "dateutil" mark these places.
@Suite(.disabled(if: RecurrenceOracle.isLeftOut, "CHIME_SKIP_PEERS=1"))
struct RecurrenceOracleTests {
  /// The number of rules; `CHIME_RRULE_ROUNDS` sets another, and `CHIME_RRULE_SEED` chooses other rules.
  static let rounds =
    ProcessInfo.processInfo.environment["CHIME_RRULE_ROUNDS"].flatMap(Int.init)
    ?? ProofTier.amount(quick: 100, proof: 5_000)
  static let seed = ProcessInfo.processInfo.environment["CHIME_RRULE_SEED"].flatMap(UInt64.init) ?? 5_545

  @Test func randomRulesMatchDateutil() throws {
    var generator = SeededGenerator(seed: Self.seed)
    let questions = (0..<Self.rounds).map { _ in RandomRule.question(&generator) }
    let answers = try RecurrenceOracle.answers(to: questions)
    var compared = 0
    var unanswered = 0
    var zones: [String: Zone] = [:]
    for (question, answer) in zip(questions, answers) {
      guard let expected = answer.next else {
        unanswered += 1
        continue
      }
      let zone = try zones[question.zone] ?? ChimeScheduleTests.zone(question.zone)
      zones[question.zone] = zone
      let schedule = try Schedule(canonical: "DTSTART:\(question.start) RRULE:\(question.rule)")
      #expect(try Schedule(canonical: schedule.canonical) == schedule)
      let timetable = schedule.timetable(in: zone)
      let found = timetable.occurrences(after: Instant(seconds: question.after)).prefix(question.count)
        .map(\.seconds)
      #expect(
        found == expected,
        "DTSTART:\(question.start) RRULE:\(question.rule) in \(question.zone) after \(question.after)")
      compared += 1
    }
    #expect(compared > Self.rounds * 3 / 4, "\(unanswered) of \(questions.count) were not answered")
  }
}

/// Generates rules of all shapes.
enum RandomRule {
  static let weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

  static func question(_ generator: inout SeededGenerator) -> RecurrenceOracle.Question {
    let frequency = pick(
      ["YEARLY", "YEARLY", "MONTHLY", "MONTHLY", "WEEKLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"],
      &generator)
    let isSubDaily = ["HOURLY", "MINUTELY", "SECONDLY"].contains(frequency)
    // One in three is near an offset change.
    let isZoned = Int.random(in: 0..<3, using: &generator) == 0
    let place = isZoned ? pick(PropertyTests.places.filter { $0.near < "2100" }, &generator) : nil
    let near = place.map { instant($0.near).seconds }
    var start: Int64
    if let near {
      switch frequency {
      case "SECONDLY": start = near - Int64.random(in: -3_600...10_000, using: &generator)
      case "MINUTELY", "HOURLY": start = near - Int64.random(in: -90_000...200_000, using: &generator)
      default: start = near - Int64.random(in: -90_000...300_000_000, using: &generator)
      }
    } else {
      start = Int64.random(in: 0...2_000_000_000, using: &generator)
    }
    start = max(start, 0)
    if Bool.random(using: &generator) { start = start / 60 * 60 }

    var parts = ["FREQ=\(frequency)"]
    var interval = 1
    if Bool.random(using: &generator) {
      interval = pick([2, 2, 3, 3, 4, 5, 6, 7, 10, 12, 15, 18, 24, 30, 45, 90, 100], &generator)
      if frequency == "YEARLY" { interval = min(interval, 10) }
    }
    let by = byParts(frequency, &interval, &start, &generator)
    if interval > 1 { parts.append("INTERVAL=\(interval)") }
    parts += by

    var after = start - 1
    if let near {
      after = near - Int64.random(in: 0...(frequency == "SECONDLY" ? 7_200 : 172_800), using: &generator)
    } else if frequency == "SECONDLY" {
      after += Int64.random(in: 0...7_200, using: &generator)
    } else if Bool.random(using: &generator) {
      after +=
        isSubDaily
        ? Int64.random(in: 0...200_000, using: &generator) : Int64.random(in: 0...600_000_000, using: &generator)
    }
    after = max(after, 0)
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: parts.append("COUNT=\(Int.random(in: 1...(isSubDaily ? 300 : 60), using: &generator))")
    case 1:
      let until = after + Int64.random(in: 0...(isSubDaily ? 300_000 : 100_000_000), using: &generator)
      parts.append("UNTIL=\(text(until))")
    default: break
    }
    return .init(
      start: text(start), rule: parts.joined(separator: ";"), zone: place?.zone ?? "UTC", after: after, count: 8)
  }

  static func text(_ wall: Int64) -> String {
    RFC3339.format(Instant(seconds: wall), in: .utc).filter { $0 != "-" && $0 != ":" && $0 != "Z" }
  }

  private static func pick<Element>(_ values: [Element], _ generator: inout SeededGenerator) -> Element {
    values[Int.random(in: 0..<values.count, using: &generator)]
  }

  private static func list(
    _ name: String, _ range: ClosedRange<Int>, signed: Bool = false, upTo most: Int = 3,
    _ generator: inout SeededGenerator
  ) -> String {
    let values = (0..<Int.random(in: 1...most, using: &generator)).map { _ in
      let value = Int.random(in: range, using: &generator)
      return "\(signed && Int.random(in: 0..<3, using: &generator) == 0 ? -value : value)"
    }
    return "\(name)=\(values.joined(separator: ","))"
  }

  private static func byParts(
    _ frequency: String, _ interval: inout Int, _ start: inout Int64, _ generator: inout SeededGenerator
  ) -> [String] {
    func chance(_ share: Int, _ generator: inout SeededGenerator) -> Bool {
      Int.random(in: 0..<share, using: &generator) == 0
    }
    var parts: [String] = []
    let isSubDaily = ["HOURLY", "MINUTELY", "SECONDLY"].contains(frequency)
    var hasWeeks = false
    if chance(isSubDaily ? 6 : 3, &generator) { parts.append(list("BYMONTH", 1...12, upTo: 4, &generator)) }
    if frequency == "YEARLY", chance(4, &generator) {
      // dateutil counts weeks within the calendar year, treats -52 and -53 as never week 1, and confuses the weeks 52
      // and 53 in some Januaries.
      parts.append(list("BYWEEKNO", 1...51, upTo: 4, &generator))
      if chance(3, &generator) { parts[parts.count - 1] += ",52,53" }
      if chance(3, &generator) { parts[parts.count - 1] = "BYWEEKNO=-\(Int.random(in: 1...51, using: &generator)),1" }
      hasWeeks = true
      interval = 1
    }
    if frequency == "YEARLY" || isSubDaily, chance(isSubDaily ? 8 : 4, &generator) {
      parts.append(list("BYYEARDAY", 1...366, signed: true, upTo: isSubDaily ? 60 : 8, &generator))
    }
    if frequency != "WEEKLY", chance(isSubDaily ? 6 : 3, &generator) {
      parts.append(list("BYMONTHDAY", 1...31, signed: true, upTo: 6, &generator))
    }
    let needsDay =
      hasWeeks && parts.count == 1
      || hasWeeks && !parts.contains { $0.hasPrefix("BYMONTHDAY") || $0.hasPrefix("BYYEARDAY") }
    // dateutil takes each day of the week if BYWEEKNO stands without days.
    if needsDay || chance(2, &generator) {
      // dateutil reads 1MO,TU as days that are both.
      let counted = !hasWeeks && (frequency == "MONTHLY" || frequency == "YEARLY") && Bool.random(using: &generator)
      let isYear = frequency == "YEARLY" && !parts.contains { $0.hasPrefix("BYMONTH=") }
      let days = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
        let number = Int.random(in: 1...(isYear ? 53 : 5), using: &generator)
        let sign = Bool.random(using: &generator) ? "-" : ""
        return (counted ? "\(sign)\(number)" : "") + pick(weekdays, &generator)
      }
      parts.append("BYDAY=" + days.joined(separator: ","))
    }
    if chance(3, &generator) { parts.append(list("BYHOUR", 0...23, upTo: 4, &generator)) }
    if chance(4, &generator) { parts.append(list("BYMINUTE", 0...59, upTo: 4, &generator)) }
    if chance(6, &generator) { parts.append(list("BYSECOND", 0...59, upTo: 4, &generator)) }
    var weekStart = 0
    if chance(3, &generator) {
      weekStart = Int.random(in: 0..<7, using: &generator)
      parts.append("WKST=\(weekdays[weekStart])")
    }
    // dateutil applies BYSETPOS within the calendar year if BYWEEKNO is present.
    if !parts.isEmpty, parts.contains(where: { $0.hasPrefix("BY") }), !hasWeeks, chance(4, &generator) {
      parts.append(list("BYSETPOS", 1...(chance(8, &generator) ? 40 : 2), signed: true, upTo: 3, &generator))
      if frequency == "WEEKLY" {
        // dateutil applies BYSETPOS in the first week from the start instead of from the week's beginning.
        let day = start / 86_400
        start -= ((day + 3 - Int64(weekStart)) % 7 + 7) % 7 * 86_400
        start = max(start, Int64(4 + weekStart) * 86_400)
        let moved = start / 86_400
        start += (7 - ((moved + 3 - Int64(weekStart)) % 7 + 7) % 7) % 7 * 86_400
      }
    }
    return parts
  }
}
