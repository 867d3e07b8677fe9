import ChimeSchedule
import Foundation
import Testing

/// Compares random calendar expressions with the machine's `systemd-analyze calendar`.
///
/// `CHIME_CALENDAR_SEED` and `CHIME_CALENDAR_COUNT` choose other expressions and their number.
@Suite(.enabled(if: CalendarOracle.isExpected))
struct CalendarAgainstSystemdTests {
  static func setting(_ name: String, _ usual: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? usual
  }
  static let seed = setting("CHIME_CALENDAR_SEED", 252)
  static let count = Int(setting("CHIME_CALENDAR_COUNT", ProofTier.amount(quick: 1, proof: 16)))

  /// Returns the canonical form without its prefix; `nil` if the text is invalid. An expression that never occurs is
  /// read without its zone, so its label keeps its letter case.
  static func normalized(_ text: String, in scheduleContext: ScheduleContext) -> (text: String?, isExact: Bool) {
    let text = "calendar: " + text
    do {
      return (String(try Schedule.parse(text, now: .earliest, in: scheduleContext).canonical.dropFirst(10)), true)
    } catch {
      guard error.code == .neverOccurs else { return (nil, true) }
      return ((try? Schedule(canonical: text)).map { String($0.canonical.dropFirst(10)) }, false)
    }
  }

  @Test func acceptsAndNormalizesLikeSystemd() throws {
    var generator = CalendarGenerator(seed: Self.seed)
    var accepted = 0
    var refused = 0
    for round in 0..<2 * Self.count {
      let zoneName = round % 2 == 0 ? "Europe/Prague" : generator.zone()
      let scheduleContext = ScheduleContext(
        zone: try #require(CalendarOracle.zones(zoneName)), zones: { CalendarOracle.zones($0) })
      var texts: Set<String> = []
      while texts.count < 500 {
        var text = generator.expression(near: generator.number(1970...2199))
        if generator.chance(15) {
          text += " " + generator.pick(["UTC", "utc", "CET", "cest", "EST", generator.zone()])
        }
        if generator.chance(60) { text = generator.damaged(text) }
        text = text.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty { texts.insert(text) }
      }
      let run = try CalendarOracle.Run(texts.sorted(), zone: zoneName, base: 0, count: 1)
      for (text, answer) in zip(run.expressions, try run.answers()) {
        let (ours, isExact) = Self.normalized(text, in: scheduleContext)
        if ours == nil { refused += 1 } else { accepted += 1 }
        // The C library keeps historical labels of a zone ("cet" in Europe/Lisbon); Chime accepts only future ones.
        let label = answer?.normalized.split(separator: " ").last ?? ""
        let isOfThePast =
          ours == nil && label.allSatisfy(\.isUppercase) && !text.hasSuffix(label)
          && text.lowercased().hasSuffix(label.lowercased()) && zoneName != "Europe/Prague"
        let isSame =
          isOfThePast || ours != nil && answer?.isAbandoned == true || ours == answer?.normalized
          || !isExact && ours?.lowercased() == answer?.normalized.lowercased()
        #expect(isSame, "\(text) in \(zoneName): \(ours ?? "refused"), not \(answer?.normalized ?? "refused")")
      }
    }
    print("compared \(accepted) accepted and \(refused) refused calendar expressions with systemd")
    #expect(accepted > 200 * Self.count && refused > 200 * Self.count)
  }

  @Test func findsTheTimesOfSystemd() throws {
    var generator = CalendarGenerator(seed: Self.seed &+ 1)
    var compared = 0
    var explained = 0
    var times = 0
    for round in 0..<15 * Self.count {
      let zoneName = generator.zone()
      let zone = try #require(CalendarOracle.zones(zoneName))
      let scheduleContext = ScheduleContext(zone: zone, zones: { CalendarOracle.zones($0) })
      // From 1971 to 2150.
      var base = Int64(generator.number(31_536_000...5_680_281_600))
      if round.isMultiple(of: 2), let change = zone.nextTransition(after: Instant(seconds: base)) {
        base = change.instant.seconds + Int64(generator.number(-172_800...172_800))
      }
      let now = Instant(seconds: base)
      // Each schedule with its zone.
      var cases: [String: (Schedule, Zone)] = [:]
      while cases.count < 12 {
        var text = generator.expression(near: now.utcYear)
        if generator.chance(15) { text += " " + generator.zone() }
        guard let schedule = try? Schedule(canonical: "calendar: " + text) else { continue }
        let own = schedule.zoneIdentifier.flatMap { CalendarOracle.zones($0) }
        cases[text] = (schedule, own ?? zone)
      }
      let run = try CalendarOracle.Run(cases.keys.sorted(), zone: zoneName, base: base, count: 8)
      for (text, answer) in zip(run.expressions, try run.answers()) {
        let (schedule, zone) = try #require(cases[text])
        let answer = try #require(answer, "\(text)")
        let timetable = schedule.timetable(in: scheduleContext)
        let ours = timetable.occurrences(after: now).prefix(8).map(\.seconds)
        compared += 1
        times += ours.count
        switch CalendarComparison(schedule: schedule, zone: zone, base: base).verdict(ours, answer) {
        case .same: break
        case .explained: explained += 1
        case .different(let times): Issue.record("\(text) in \(zoneName) after @\(base):\(times)")
        }
      }
    }
    print(
      "compared \(times) times of \(compared) calendar expressions with systemd; \(explained) touch a line of the manual"
    )
    // Excluded differences must be rare.
    #expect(explained * 20 < compared)
  }

  /// With a label, systemd's search ends at the next clock change, so compare only times before it.
  @Test func readsLabelsLikeSystemd() throws {
    var generator = CalendarGenerator(seed: Self.seed &+ 2)
    var compared = 0
    for round in 0..<6 * Self.count {
      let zoneName = generator.pick([
        "Europe/Prague", "America/New_York", "Europe/London", "Europe/Dublin", "Australia/Lord_Howe", "America/Nuuk",
      ])
      let zone = try #require(CalendarOracle.zones(zoneName))
      let scheduleContext = ScheduleContext(zone: zone, zones: { CalendarOracle.zones($0) })
      var base = Int64(generator.number(1_767_225_600...4_000_000_000))
      let change = try #require(zone.nextTransition(after: Instant(seconds: base)))
      if round.isMultiple(of: 2) { base = change.instant.seconds - Int64(generator.number(1...172_800)) }
      let now = Instant(seconds: base)
      let label = zone.abbreviation(at: now)
      let written = round % 3 == 0 ? label.lowercased() : label
      var cases: [String: Schedule] = [:]
      for _ in 0..<60 where cases.count < 12 {
        let text = generator.expression(near: now.utcYear) + " " + written
        // An epoch is in UTC, whatever follows.
        guard !text.contains("@") else { continue }
        guard let schedule = try? Schedule.parse("calendar: " + text, now: now, in: scheduleContext) else { continue }
        cases[text] = schedule
      }
      let run = try CalendarOracle.Run(cases.keys.sorted(), zone: zoneName, base: base, count: 8)
      for (text, answer) in zip(run.expressions, try run.answers()) {
        let schedule = try #require(cases[text])
        // The labels of the C library depend on the years of earlier expressions.
        guard let answer, !answer.isAbandoned else { continue }
        #expect(schedule.canonical == "calendar: " + answer.normalized)
        let timetable = schedule.timetable(in: scheduleContext)
        // systemd computes the end of the month with the label too, and may be off by a day if the change comes earlier.
        let end = change.instant.seconds - (schedule.canonical.contains("~") ? 31 * 86_400 : 0)
        let ours = timetable.occurrences(after: now).prefix(8).map(\.seconds).filter { $0 < end }
        let comparison = CalendarComparison(schedule: schedule, zone: zone, base: base, pass: .any)
        func verdict(_ answer: CalendarOracle.Answer) -> CalendarComparison.Verdict {
          let theirs = answer.elapses.filter { $0 < end && $0 > base }
          return comparison.verdict(ours, .init(normalized: "", elapses: theirs, ends: theirs.count < 8))
        }
        compared += 1
        for time in ours { #expect(zone.abbreviation(at: Instant(seconds: time)) == label, "\(text)") }
        switch verdict(answer) {
        case .same, .explained: continue
        case .different: break
        }
        // Ask again alone, because the labels may have come from another year.
        let alone = try CalendarOracle.Run([text], zone: zoneName, base: base, count: 8).answers().first ?? nil
        switch verdict(try #require(alone)) {
        case .same, .explained: break
        case .different(let times): Issue.record("\(text) in \(zoneName) after @\(base):\(times)")
        }
      }
    }
    print("compared \(compared) calendar expressions with labels with systemd")
    #expect(compared > 40 * Self.count)
  }
}

extension Instant {
  fileprivate var utcYear: Int { Zone.utc.civil(at: self).date.year }
}
