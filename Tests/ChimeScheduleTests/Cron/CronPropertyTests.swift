import ChimeSchedule
import Foundation
import Testing

/// Compares random cron expressions with a reference implementation, and with the loop of Debian's daemon.
@Suite struct CronPropertyTests {
  /// Covers every distinct zone of the machine, or some: a few of its offset changes, and all those of two hours or more.
  @Test func timesMatchTheLoopOfDebiansCron() throws {
    var names: [Data: String] = [:]
    for name in try ZoneAgainstZdumpTests.identifiers() where !name.hasPrefix("right/") {
      names[try Data(contentsOf: URL(fileURLWithPath: "\(ZoneAgainstZdumpTests.root)/\(name)"))] = name
    }
    let end = instant("2040-01-01T00:00:00Z")
    var generator = CronGenerator(random: SeededGenerator(seed: 8), hasSpecials: false)
    var compared = 0
    var runs = 0
    let zones = names.values.sorted()
    let step = ProofTier.amount(quick: 10, proof: 1)
    for name in stride(from: 0, to: zones.count, by: step).map({ zones[$0] }) {
      let zone = try zone(name)
      var changes: [Transition] = []
      var at = instant("1970-01-05T00:00:00Z")
      while let change = zone.nextTransition(after: at), change.instant < end {
        changes.append(change)
        at = change.instant
      }
      // Cron's minutes align with the clock's: Monrovia's change of 1972 by 44 minutes and 30 seconds has no such second.
      changes.removeAll { ($0.offsetAfter - $0.offsetBefore) % 60 != 0 || $0.instant.seconds % 60 != 0 }
      let large = changes.filter { abs($0.offsetAfter - $0.offsetBefore) >= 7_200 }
      let some = changes.shuffled(using: &generator.random).prefix(3)
      for change in large + some {
        let start = change.instant.seconds - 6 * 3_600
        let last = change.instant.seconds + 8 * 3_600
        let clock = CronReference.clock(zone, from: start, through: last)
        for _ in 0..<3 {
          let text = generator.expression(near: change.instant.seconds + Int64(change.offsetBefore))
          let wanted = CronReference(text).debianRuns(clock, from: start)
          guard let schedule = try? Schedule(canonical: text) else { continue }
          let found = schedule.timetable(in: zone).occurrences(after: Instant(seconds: start))
            .prefix { $0.seconds <= last }.map(\.seconds)
          compared += 1
          runs += wanted.count
          if found != wanted {
            let first = zip(found + [-1], wanted + [-1]).first { $0 != $1 }
            Issue.record(
              "\(name) at \(change): \(text) (\(schedule)): \(String(describing: first)), \(found.count) for \(wanted.count)"
            )
            return
          }
        }
      }
    }
    print("compared \(compared) jobs with the loop of Debian's cron, \(runs) runs")
    #expect(compared > 2_500 / step)
  }

  /// Checks the set of days against each single day, and that each meaning has one canonical form.
  @Test func daySetMatchesEachSingleDay() throws {
    var generator = CronGenerator(random: SeededGenerator(seed: 80), hasSpecials: true)
    var accepted = 0
    let rounds = ProofTier.amount(quick: 60, proof: 2_000)
    for round in 0..<rounds {
      let first = Int.random(in: 0..<40_000, using: &generator.random)
      let text = generator.expression(near: Int64(first) * 86_400)
      let reference = CronReference(text)
      let days = (first..<first + 200).compactMap { CivilDate(dayNumber: $0) }.filter(reference.matches)
      guard let schedule = try? Schedule(canonical: text) else {
        #expect(days.isEmpty, "\(text)")
        continue
      }
      accepted += 1
      let again = try Schedule(canonical: schedule.canonical)
      #expect(again == schedule && again.canonical == schedule.canonical, "\(text)")
      let canonical = CronReference(schedule.canonical)
      #expect(canonical.minutes == reference.minutes && canonical.hours == reference.hours, "\(text): \(schedule)")
      #expect(canonical.isWild == reference.isWild, "\(text): \(schedule)")
      let timetable = schedule.timetable(in: .utc)
      var found: [CivilDate] = []
      var day = Int64(first)
      while let next = timetable.next(after: Instant(seconds: day * 86_400 - 1)),
        next.seconds < Int64(first + 200) * 86_400
      {
        found.append(Zone.utc.civil(at: next).date)
        day = next.seconds / 86_400 + 1
      }
      if found != days {
        Issue.record("round \(round): \(text) from \(first): \(found.prefix(9)) instead of \(days.prefix(9))")
      }
    }
    #expect(accepted > rounds * 9 / 10)
  }

  /// Checks the times of one day, to the second.
  @Test func timesOfADayMatchEachSecond() throws {
    var generator = CronGenerator(random: SeededGenerator(seed: 81), hasSpecials: false)
    for _ in 0..<ProofTier.amount(quick: 8, proof: 200) {
      let (seconds, minutes, hours) = (
        generator.field(0, 59, near: 0...59), generator.field(0, 59, near: 0...59), generator.field(0, 23, near: 0...23)
      )
      let reference = CronReference("\(seconds) \(minutes) \(hours) * * *")
      let timetable = try Schedule(canonical: "cron: \(seconds) \(minutes) \(hours) * * *").timetable(in: .utc)
      var wanted = Set<Int64>()
      for hour in reference.hours {
        for minute in reference.minutes {
          for second in reference.seconds { wanted.insert(Int64(hour * 3_600 + minute * 60 + second) + 864_000_000) }
        }
      }
      let sorted = wanted.sorted()
      var found: [Int64] = []
      for occurrence in timetable.occurrences(after: Instant(seconds: 864_000_000 - 1)) {
        guard occurrence.seconds < 864_086_400, found.count < 4_000 else { break }
        found.append(occurrence.seconds)
      }
      #expect(found == Array(sorted.prefix(4_000)), "\(seconds) \(minutes) \(hours)")
    }
  }

  /// Random spellings of one meaning give one value.
  @Test func spellingsOfOneMeaningAreEqual() throws {
    var generator = CronGenerator(random: SeededGenerator(seed: 82), hasSpecials: false)
    for _ in 0..<ProofTier.amount(quick: 100, proof: 2_000) {
      let text = generator.expression(near: 1_774_746_000)
      guard let schedule = try? Schedule(canonical: text) else { continue }
      let fields = text.split(separator: " ").map(String.init)
      let reference = CronReference(text)
      func respelt(_ field: String, _ numbers: Set<Int>, _ names: [String] = [], from first: Int = 0) -> String {
        var items = numbers.shuffled(using: &generator.random).map { number in
          generator.chance(3) && names.indices.contains(number - first) ? names[number - first] : "\(number)"
        }
        if let extra = numbers.randomElement(using: &generator.random) { items.append("\(extra)-\(extra)/7") }
        // Keep the star in front, in a form that adds no numbers.
        if field.hasPrefix("*") { items.insert("*/99", at: 0) }
        return items.joined(separator: ",")
      }
      let months = respelt("", reference.months, CronReference.monthNames, from: 1)
      let other =
        "\(respelt(fields[0], reference.minutes)) \(respelt(fields[1], reference.hours)) \(fields[2]) \(months) \(fields[4])"
      #expect(try Schedule(canonical: other) == schedule, "\(text), \(other)")
    }
  }
}
