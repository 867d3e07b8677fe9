import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// The audit of correct histories, and of histories with each kind of loss.
@Suite struct ScheduleAuditTests {
  private static let start = Instant(seconds: 1_774_828_800)
  private static let id = ReminderID(rawValue: "aaaa")

  private static func reminder(_ schedule: String = "calendar: hourly", jitter: Milliseconds = .zero) throws -> Reminder
  {
    var reminder = Reminder(
      id: id, owner: 1_000, title: "Drink water", schedule: try Schedule(canonical: schedule),
      timezone: .named("UTC"), createdAt: start)
    reminder.jitter = jitter
    return reminder
  }

  private static func version() throws -> ReminderVersion {
    ReminderVersion(reminder: try reminder(), from: start, until: nil, isInForce: true)
  }

  private static func at(_ hour: Int64) -> Instant { start + .hours(hour) }

  private static func fired(_ hour: Int64, after lateness: Milliseconds = .milliseconds(3), late: LateCause? = nil)
    -> Occurrence
  {
    Occurrence(
      id: OccurrenceID(reminder: id, scheduledAt: at(hour)), title: "", owner: 1_000, state: .delivered,
      firedAt: at(hour) + lateness, late: late, rounds: 1)
  }

  private static func missed(_ hour: Int64, _ reason: MissReason, count: Int? = nil, through last: Int64? = nil)
    -> Occurrence
  {
    Occurrence(
      id: OccurrenceID(reminder: id, scheduledAt: at(hour)), title: "", owner: 1_000, state: .missed(reason),
      missedRun: count.map { .init(count: $0, through: at(last ?? hour)) })
  }

  private static func audit(_ hours: some Sequence<Int64>, _ records: [Occurrence]) throws -> ScheduleAudit {
    var audit = ScheduleAudit()
    let version = try version()
    audit.judge(hours.map { (at($0), version) }, against: records)
    return audit
  }

  @Test func eachTimeIsCountedOnce() throws {
    let audit = try Self.audit(
      0..<8,
      [
        Self.fired(0), Self.fired(1, after: .minutes(5), late: .suspend), Self.missed(2, .paused), Self.fired(3),
        Self.missed(4, .downtime, count: 3, through: 6), Self.fired(7, after: .minutes(40)),
      ])
    #expect(audit.times == 8)
    #expect(audit.onTime == 2)
    #expect(audit.late == [.suspend: 1])
    #expect(audit.missed == [.paused: 1, .downtime: 3])
    #expect(audit.moved == 1)
    #expect(audit.unexplained == 0)
    #expect(audit.lateness.counts == [0, 0, 2])
  }

  @Test func timeWithoutARecordIsUnexplained() throws {
    let audit = try Self.audit(0..<4, [Self.fired(0), Self.fired(2), Self.fired(3)])
    #expect(audit.unexplained == 1)
    #expect(audit.unexplainedTimes == [Self.at(1)])
  }

  @Test func missedRunWithTooFewTimesLeavesOneUnexplained() throws {
    let audit = try Self.audit(0..<6, [Self.fired(0), Self.missed(1, .downtime, count: 4, through: 5)])
    #expect(audit.missed == [.downtime: 4])
    #expect(audit.unexplainedTimes == [Self.at(5)])
  }

  @Test func manualFiringIsNoLoss() throws {
    var audit = ScheduleAudit()
    let version = try Self.version()
    let beside = Occurrence(
      id: OccurrenceID(reminder: Self.id, scheduledAt: Self.at(1) + .seconds(7)), title: "", owner: 1_000,
      state: .fired, firedAt: Self.at(1) + .seconds(7))
    audit.judge([(Self.at(1), version)], against: [Self.fired(1), beside])
    #expect(audit.beside == 1 && audit.onTime == 1 && audit.unexplained == 0)
  }

  @Test func doubtfulTimeIsUncertain() throws {
    var audit = ScheduleAudit()
    audit.judge([(Self.at(1), try Self.version())], against: []) { _, _, _ in true }
    #expect(audit.uncertain == 1 && audit.unexplained == 0)
  }

  /// A time that fired while the clock was ahead follows the run, and says nothing about when the run was decided.
  @Test func runIsDecidedAtItsOwnTime() throws {
    var audit = ScheduleAudit()
    let version = try Self.version()
    var run = Self.missed(1, .suspend, count: 1, through: 3)
    run.endedAt = Self.at(40)
    var asked: [[Instant?]] = []
    audit.judge((1...4).map { (Self.at($0), version) }, against: [run, Self.fired(5)]) { first, _, decision in
      asked.append([first, decision])
      return true
    }
    #expect(audit.missed == [.suspend: 1] && audit.uncertain == 3)
    let next = Self.at(5) + .milliseconds(3)
    #expect(asked == [[Self.at(1), Self.at(40)], [Self.at(1), Self.at(40)], [Self.at(4), next]])
  }

  // MARK: With a store

  private struct Zones: ZoneSource {
    var local: Zone { .utc }
    func zone(_ name: String) -> Zone? { name == "UTC" ? .utc : nil }
  }

  private static let context = ReminderContext(zones: Zones())

  private static func audit(
    _ store: any StoreTransaction, from start: Instant = start, now: Instant,
    log: ScheduleContextLog = ScheduleContextLog()
  ) throws -> ScheduleAudit {
    try ScheduleAudit.of(
      store.versions(of: id), from: start, before: now, in: store, context, log, now: now)
  }

  /// Fires due reminders, as a permanently running daemon does.
  private static func fire(_ store: any StoreTransaction, until end: Instant) throws {
    var generator = SeededGenerator(seed: 1)
    while let due = try store.claimDue(now: end, limit: 1).first {
      let decision = FiringDecision(now: due.dueAt, uptime: Uptime(runningSince: start))
      let timetable = context.timetable(of: due.reminder)
      try store.record([decision.decide(due, timetable: timetable, using: &generator)])
    }
  }

  @Test func historyWithEditsIsExplained() async throws {
    let store = MemoryStore()
    let (whole, cut, removed) = try await store.write { store in
      try store.upsert(Self.reminder(), next: Self.at(1))
      try Self.fire(store, until: Self.at(5) + .minutes(1))
      var edited = try Self.reminder("calendar: *-*-* 6..19:0/30")
      edited.generation = 1
      let next = Self.context.timetable(of: edited).next(after: Self.at(5) + .minutes(2))
      try store.upsert(edited, next: next)
      try Self.fire(store, until: Self.at(30))
      let whole = try Self.audit(store, now: Self.at(30) + .seconds(1))
      let cut = try Self.audit(store, from: Self.at(4), now: Self.at(6))
      try store.remove(Self.id, now: Self.at(30) + .minutes(2))
      return (whole, cut, try Self.audit(store, now: Self.at(300)))
    }
    #expect(whole.times == 5 + 28 + 1)
    #expect(whole.onTime == whole.times && whole.unexplained == 0)
    #expect(cut.times == 2 && cut.unexplained == 0)
    #expect(removed == whole)
  }

  @Test func forgottenTimeIsFound() async throws {
    let store = MemoryStore()
    let audit = try await store.write { store in
      try store.upsert(Self.reminder(), next: Self.at(1))
      // It is due, but does not fire.
      return (
        try Self.audit(store, now: Self.at(1) + .seconds(30)), try Self.audit(store, now: Self.at(3) + .minutes(2))
      )
    }
    #expect(audit.0.waiting == 1 && audit.0.unexplained == 0)
    #expect(audit.1.unexplained == 3)
  }

  @Test func timeSkippedByAnEditIsFound() async throws {
    let store = MemoryStore()
    let audit = try await store.write { store in
      try store.upsert(Self.reminder(), next: Self.at(1), since: Self.start)
      try Self.fire(store, until: Self.at(3))
      var edited = try Self.reminder()
      (edited.tags, edited.generation) = (["home"], 1)
      // Its next time should be 4.
      try store.upsert(edited, next: Self.at(6), since: Self.at(3) + .minutes(1))
      try Self.fire(store, until: Self.at(8))
      return try Self.audit(store, now: Self.at(8) + .minutes(1))
    }
    #expect(audit.unexplainedTimes == [4, 5].map(Self.at))
    #expect(audit.onTime == 6)
  }

  @Test func heldTimesAreWaiting() async throws {
    let store = MemoryStore()
    let audit = try await store.write { store in
      try store.upsert(Self.reminder(), next: Self.at(1), nextDueAt: Self.at(8))
      return try Self.audit(store, now: Self.at(3) + .minutes(2))
    }
    #expect(audit.waiting == 3 && audit.unexplained == 0 && audit.times == 3)
  }

  @Test func formerLocalZoneApplies() throws {
    let log = ScheduleContextLog([
      (name: "context@10", value: "at 7200000\nlocal UTC 1\ndatabase 1\ncalendars b"),
      (name: "context@1", value: "at 0\nlocal UTC 1\ndatabase 1\ncalendars a"),
      (name: "context@2", value: "at 3600000\nlocal Europe/Prague 2\ndatabase 1\ncalendars b"),
      (name: "context@11", value: "local X 1"),
    ])
    #expect(log.localZones.map(\.name) == ["UTC", "Europe/Prague", "UTC"])
    #expect(log.localZones[1].from == Instant(seconds: 3_600))
    #expect(log.lastChange(of: [.calendars]) == Instant(seconds: 3_600))
    #expect(log.lastChange(of: [.database]) == nil)
    #expect(log.lastSetBack == nil)
  }

  @Test func zoneChangeAppliesFromItsDetection() async throws {
    let store = MemoryStore()
    @Sendable func at(_ seconds: Int64) -> Instant { Instant(seconds: seconds) }
    var renewal = Renewal()
    let begun90 = renewal.begin([], now: at(90))
    #expect(begun90.isEmpty)
    let begun100 = renewal.begin([.localZone], now: at(100))
    #expect(begun100 == [.localZone])
    renewal.end()
    renewal.owe([.localZone], now: at(101))
    let marked = try await store.write { [renewal] store in
      try renewal.note("local B 1", in: store, now: at(150))
      return try Renewal.known(in: store)
    }
    // The daemon after that one continues from there.
    var next = Renewal()
    let wentOn = next.goOn(from: try #require(marked))
    #expect(wentOn)
    let begun500 = next.begin(Recompute.all, now: at(500))
    #expect(begun500 == Recompute.all)
    next.end()
    let (known, log) = try await store.write { [next] store in
      try ScheduleContextLog.keep("local A 1", since: at(1), in: store, now: at(1))
      try next.note("local B 1", in: store, now: at(510))
      return (try Renewal.known(in: store), ScheduleContextLog(try store.notes(named: ScheduleContextLog.notePrefix)))
    }
    #expect(known == "local B 1")
    #expect(log.localZones.map(\.from) == [at(1), at(510)])
    #expect(log.zoneChanges == [at(100)...at(510)])
    next.noted()
    let goesOn = next.goOn(from: "local B 1")
    #expect(!goesOn)
  }

  @Test func fingerprintIsStoredOnceUnlessTheClockGoesBack() async throws {
    let store = MemoryStore()
    let (notes, log) = try await store.write { store in
      for (time, text) in [(1, "local A 1"), (2, "local A 1"), (90, "local B 1"), (40, "local B 1"), (50, "local A 1")]
      {
        try ScheduleContextLog.keep(
          text, since: Instant(seconds: Int64(time)), in: store, now: Instant(seconds: Int64(time)))
      }
      let notes = try store.notes(named: ScheduleContextLog.notePrefix)
      return (notes.map(\.value), ScheduleContextLog(notes))
    }
    #expect(notes.count == 4, "\(notes)")
    #expect(log.localZones.map(\.name) == ["A", "B", "A"])
    #expect(log.localZones.map(\.from) == [1, 40, 50].map { Instant(seconds: $0) })
    #expect(log.lastSetBack == Instant(seconds: 90))
  }

  @Test func contextOlderThanTheHistoryIsPruned() async throws {
    let store = MemoryStore()
    func zones(before end: Int64) async throws -> [String] {
      try await store.write { store in
        try ScheduleAudit.forget(before: Instant(seconds: end), in: store)
        return ScheduleContextLog(try store.notes(named: ScheduleContextLog.notePrefix)).localZones.map(\.name)
      }
    }
    try await store.write { store in
      for (time, text) in [(1_000, "local A 1"), (2_000, "local B 1"), (9_000, "local C 1"), (3_000, "local D 1")] {
        try ScheduleContextLog.keep(
          text, since: Instant(seconds: Int64(time)), in: store, now: Instant(seconds: Int64(time)))
      }
    }
    #expect(try await zones(before: 900) == ["A", "B", "D"])
    #expect(try await zones(before: 2_030) == ["A", "B", "D"], "A was in force shortly before")
    #expect(try await zones(before: 4_000) == ["B", "D"], "B is, until C")
    // The clock went back: until it passes that time again, the zone of a time is unknown.
    #expect(try await zones(before: 8_000) == ["B", "D"])
    #expect(try await zones(before: 9_060) == ["D"])
    #expect(try await zones(before: 90_000) == ["D"], "what is in force stays")
  }

  @Test func durationCountsAddUp() {
    var counts = DurationCounts()
    for length in [0, 1, 3, 3, 1_000] { counts.add(.milliseconds(Int64(length))) }
    #expect(counts.counts.prefix(3) == [1, 1, 2])
    #expect(counts.total == 5)
    #expect(counts.limit(of: 0.5) == .milliseconds(4))
    #expect(counts.limit(of: 1) == .milliseconds(1_024))
    var more = DurationCounts(counts: [1])
    more.add(counts)
    #expect(more.total == 6 && DurationCounts().limit(of: 0.5) == nil)
  }
}
