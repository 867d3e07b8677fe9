import ChimeSchedule
import Testing

/// Compares random days of all kinds over some years with a day-by-day reference.
@Suite struct DayPropertyTests {
  @Test(arguments: [
    "1970-01-05", "1999-12-31", "2000-02-28", "2024-02-29", "2026-11-20", "2027-05-31", "2096-02-29", "2399-12-31",
    "2400-02-29", "9990-06-30",
  ])
  func randomDaysMatchTheReference(_ place: String) throws {
    guard let center = CivilDate(place) else { return }
    var generator = SeededGenerator(seed: UInt64(center.dayNumber) &* 31 &+ 5)
    let days = DayGenerator(near: Int64(center.dayNumber), spread: 40)
    for _ in 0..<ProofTier.amount(quick: 4, proof: 100) {
      let (words, kind) = days.make(&generator)
      let start = max(0, Int64(center.dayNumber) + Int64.random(in: -300...30, using: &generator))
      let starting = CivilDate(dayNumber: Int(start))?.description ?? ""
      let yearly = Int.random(in: 0..<3, using: &generator) == 0
      // Half of August is left out, and the days around New Year.
      let except = yearly ? " except aug 1..aug 15,dec 30..jan 2" : ""
      let text = "\(words) at 12:00 starting \(starting)\(except)"
      let schedule: Schedule
      do {
        schedule = try Schedule(canonical: text)
      } catch {
        Issue.record("\(text): \(error)")
        continue
      }
      #expect(try Schedule(canonical: schedule.canonical) == schedule, "\(text)")
      let reference = DayReference(kind: kind, start: start)
      let first = start
      let last = min(Int64(CivilDate.latest.dayNumber), start + 900)
      var expected: [Int64] = []
      for day in first...last where reference.contains(day) {
        guard let date = CivilDate(dayNumber: Int(day)) else { continue }
        let isOut =
          date.month == 8 && date.day <= 15 || date.month == 12 && date.day >= 30 || date.month == 1 && date.day <= 2
        if !yearly || !isOut { expected.append(day) }
      }
      let timetable = schedule.timetable(in: .utc)
      var walked: [Int64] = []
      for instant in timetable.occurrences(after: Instant(seconds: first * 86_400)) {
        guard instant.seconds / 86_400 <= last else { break }
        walked.append(instant.seconds / 86_400)
      }
      #expect(walked == expected, "\(text)")
      // Start from random days, not only from the previous occurrence.
      for _ in 0..<5 {
        let after = Int64.random(in: first...last, using: &generator)
        let next = timetable.next(after: Instant(seconds: after * 86_400 + 50_000)).map { $0.seconds / 86_400 }
        guard let wanted = expected.first(where: { $0 > after }) else { continue }
        #expect(next == wanted, "\(text) after \(after)")
      }
    }
  }
}
