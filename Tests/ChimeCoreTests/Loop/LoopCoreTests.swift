import ChimeSchedule
import Synchronization
import Testing

@testable import ChimeCore
@testable import ChimeTestKit

/// The core of the loop, driven by hand: each transaction runs at once, and may be refused.
struct LoopCoreTests {
  @Test func dueTimeFiresAndItsOutcomeIsRecorded() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    let message = try #require(shell.sent.first)
    #expect(shell.sent.count == 1 && message.occurrence.id.reminder.rawValue == "r1")
    shell.end(message)
    #expect(try shell.state(of: message) == .delivered(at: shell.now))
    #expect(shell.core.outbox.isNothingUnderWay)
  }

  /// The core sees the due time as the present, then a request a moment before it.
  @Test func firingThatBeginsAheadFiresOnce() throws {
    let shell = try Shell(due: [])
    shell.start()
    let due = shell.begin + .minutes(1)
    try shell.transaction.upsert(Shell.reminder(ReminderID(rawValue: "r1")), next: due)
    try shell.somethingIsCommitted(after: .seconds(59))
    #expect(shell.core.mayBeginAhead)
    shell.delaysFiring = true
    shell.now = due
    shell.drive { $0.handle(.awake) }
    #expect(shell.delayed.count == 1 && !shell.core.mayBeginAhead)
    shell.now = due - .milliseconds(2)
    try shell.somethingIsCommitted(after: .zero)
    #expect(shell.delayed.count == 1 && shell.sent.isEmpty)
    shell.now = due
    shell.runDelayed()
    #expect(shell.sent.map(\.occurrence.id) == [OccurrenceID(reminder: ReminderID(rawValue: "r1"), scheduledAt: due)])
    shell.end(shell.sent[0])
    #expect(shell.core.mayBeginAhead)
  }

  @Test func firingBeginsAheadOnlyWhileNothingElseIsInProgress() throws {
    let shell = try Shell(due: ["r1", "r2", "r3"], concurrency: 1)
    _ = try shell.startWithOneHeld()
    #expect(!shell.core.mayBeginAhead, "one is under way, one is held")
    shell.end(shell.sent[1])
    shell.end(shell.sent[2])
    #expect(shell.core.mayBeginAhead)
    shell.drive { $0.sleep(.sleeps) }
    #expect(!shell.core.mayBeginAhead, "the machine is about to sleep")

    let buffering = try Shell(due: ["r1"])
    buffering.start()
    buffering.refusal = .unavailable("the disk is full")
    buffering.end(buffering.sent[0])
    #expect(!buffering.core.mayBeginAhead, "an outcome is not recorded yet")
    let sharing = try Shell(due: [], leases: Leases())
    sharing.start()
    #expect(!sharing.core.mayBeginAhead, "another daemon may fire")
  }

  @Test func refusedOutcomesAreRecordedLaterInOrder() throws {
    let shell = try Shell(due: ["r1", "r2"])
    shell.start()
    #expect(shell.sent.count == 2)
    shell.refusal = .unavailable("the disk is full")
    for message in shell.sent { shell.end(message) }
    #expect(shell.core.degradedMode.entries.count == 2 && shell.core.trouble.writing == "the disk is full")
    let failures = shell.reports.count { if case .storeFailed(_, _, isNew: true) = $0 { true } else { false } }
    #expect(failures == 1, "each reason is reported once")
    shell.refusal = nil
    shell.drive { $0.tryStore() }
    #expect(shell.core.degradedMode.isEmpty && shell.core.trouble.problem == nil)
    for message in shell.sent { #expect(try shell.state(of: message) == .delivered(at: shell.now)) }
  }

  @Test func unrecordableOutcomeIsLostAndTheDeliveryRetried() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    shell.refusal = .internalError("a bug")
    let message = try #require(shell.sent.first)
    shell.end(message)
    #expect(shell.core.degradedMode.isEmpty && shell.core.outbox.isNothingUnderWay)
    guard case .storeFailed(_, .resultsAreLost, _)? = shell.reports.last else {
      return #expect(Bool(false), "\(shell.reports.map { "\($0)" })")
    }
  }

  @Test func refusedAnswerIsBufferedAndRecordedLater() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    let message = try #require(shell.sent.first)
    shell.end(message)
    shell.refusal = .unavailable("the disk is full")
    shell.drive { $0.take(OutboxTransaction.Answer(answer: .done, occurrence: message.occurrence.id)) }
    #expect(shell.core.degradedMode.entries.count == 1)
    shell.refusal = nil
    shell.drive { $0.tryStore() }
    #expect(try shell.transaction.occurrence(message.occurrence.id)?.state == .done)
  }

  /// A daemon that stood still between a commit and its report may have lost its leases meanwhile.
  @Test func whatWasClaimedBeforeTheLeasesEndedIsNotSent() throws {
    let leases = Leases()
    let shell = try Shell(due: ["r1"], leases: leases)
    shell.delaysReports = true
    shell.start()
    shell.now = shell.now + .seconds(10)
    leases.end()
    shell.runDelayed()
    #expect(shell.sent.isEmpty && shell.core.outbox.held.isEmpty)
    let pending = try #require(try shell.transaction.wakeups().outbox.values.first)
    #expect(pending <= shell.now, "the claim is released")
    // It claims again once it holds its leases.
    shell.drive { $0.checkOtherDaemons(shown: []) }
    #expect(shell.sent.isEmpty)
    leases.renew()
    shell.drive { $0.checkOtherDaemons(shown: []) }
    #expect(shell.sent.count == 1)
  }

  /// The heartbeat has a thread of its own, which may renew the leases before the report is heard.
  @Test func whatWasClaimedBeforeTheLeasesWereRenewedIsClaimedAgain() throws {
    let leases = Leases()
    let shell = try Shell(due: ["r1"], leases: leases)
    shell.delaysReports = true
    shell.start()
    leases.end()
    leases.renew()
    shell.runDelayed()
    // It was released and claimed again before it left.
    let commits = shell.reports.compactMap { if case .outcomes(_, let commit) = $0 { commit } else { nil } }
    #expect(commits.flatMap(\.claims).count == 1 && shell.sent.count == 1)
  }

  @Test func replacedStoreIsReadOnceItCanBe() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    shell.end(try #require(shell.sent.first))
    try shell.transaction.upsert(Shell.reminder(ReminderID(rawValue: "r2")), next: shell.now - .seconds(1))
    shell.absence = .unavailable("the disk is gone")
    shell.drive { $0.storeWasReplaced() }
    #expect(shell.sent.count == 1 && shell.core.trouble.problem != nil)
    #expect(shell.retryAfter == Scheduler.storeRetry)
    shell.absence = nil
    shell.drive { $0.retry() }
    #expect(shell.sent.map(\.occurrence.id.reminder.rawValue) == ["r1", "r2"])
  }

  @Test func beforeSleepRunningAttemptsEndAndNoneBegins() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    shell.drive { $0.sleep(.sleeps) }
    #expect(!shell.letsSleep, "an attempt is in flight")
    try shell.transaction.upsert(Shell.reminder(ReminderID(rawValue: "r2")), next: shell.now - .seconds(1))
    shell.end(try #require(shell.sent.first))
    #expect(shell.letsSleep && shell.sent.count == 1)
    shell.now = shell.now + .hours(8)
    shell.drive { $0.clockHasStepped(by: .zero, slept: .hours(8)) }
    shell.drive { $0.sleep(.wakes) }
    #expect(shell.sent.dropFirst().contains { $0.occurrence.id.reminder.rawValue == "r2" })
    let resumptions = shell.reports.compactMap { report -> LoopCore.Resumption? in
      if case .resumed(let resumption) = report { resumption } else { nil }
    }
    #expect(resumptions == [.slept(.hours(8))], "the clock and logind report the same waking")
  }

  @Test func refusedRecomputationIsRetried() throws {
    let shell = try Shell(due: [])
    let id = ReminderID(rawValue: "late")
    // Not the time that the schedule gives.
    let wrong = shell.now + .days(40)
    try shell.transaction.upsert(Shell.reminder(id), next: wrong)
    shell.start()
    shell.refusal = .unavailable("the disk is full")
    shell.drive { $0.recomputeDueTimes([.backwardStep]) }
    #expect(shell.retryAfter == Scheduler.storeRetry)
    shell.refusal = nil
    shell.drive { $0.retry() }
    let next = try #require(try shell.transaction.reminder(id)?.next)
    #expect(next < wrong)
    #expect(shell.core.trouble.problem == nil)
  }

  @Test func stoppingDaemonRecordsBufferedEvents() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    shell.refusal = .unavailable("the disk is full")
    let message = try #require(shell.sent.first)
    shell.end(message)
    #expect(!shell.core.degradedMode.isEmpty)
    shell.refusal = nil
    shell.drive { $0.stop() }
    shell.drive { $0.finish() }
    guard case .finished(unrecorded: nil)? = shell.reports.last else {
      Issue.record("something is left")
      return
    }
    #expect(try shell.state(of: message) == .delivered(at: shell.now))
  }

  @Test func stoppingDaemonReportsUnrecordedEvents() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    shell.refusal = .unavailable("the disk is full")
    shell.end(try #require(shell.sent.first))
    shell.drive { $0.stop() }
    shell.drive { $0.finish() }
    guard case .finished(unrecorded: .some)? = shell.reports.last else {
      Issue.record("it has not ended")
      return
    }
  }

  @Test func cancelledSleepResumesWork() throws {
    let shell = try Shell(due: [])
    shell.start()
    shell.drive { $0.sleep(.sleeps) }
    try shell.transaction.upsert(Shell.reminder(ReminderID(rawValue: "r1")), next: shell.now - .seconds(1))
    shell.drive { $0.tryStore() }
    #expect(shell.sent.isEmpty, "nothing begins before sleep")
    shell.drive { $0.sleep(.lost) }
    #expect(shell.sent.count == 1)
  }

  @Test func clockSetBackDoesNotProlongARetry() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    let message = try #require(shell.sent.first)
    shell.end(message, .failed, next: .retryAfter(.hours(2)))
    #expect(shell.sent.count == 1)
    shell.now = shell.now - .hours(1)
    shell.drive { $0.clockHasStepped(by: .zero - .hours(1), slept: .zero) }
    #expect(shell.sent.count == 2, "it would have waited for three hours")
  }

  @Test func smallStepsBackAddUp() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    shell.end(try #require(shell.sent.first), .failed, next: .retryAfter(.hours(2)))
    for (step, sent) in [(-45, 1), (30, 1), (-40, 1), (-45, 2)] as [(Int64, Int)] {
      shell.now = shell.now + .seconds(step)
      shell.drive { $0.clockHasStepped(by: .seconds(step), slept: .zero) }
      #expect(shell.sent.count == sent, "after a step of \(step) s")
    }
  }

  @Test func answerDropsTheHeldMessageOfItsOccurrence() throws {
    let shell = try Shell(due: ["r1", "r2", "r3"], concurrency: 1)
    let held = try shell.startWithOneHeld()
    try shell.answer(held.occurrence)
    shell.end(try #require(shell.sent.last))
    #expect(shell.sent.count == 2 && shell.core.outbox.held.isEmpty)
  }

  @Test func answerBeforeTheFiringIsReportedPreventsTheMessage() throws {
    let shell = try Shell(due: ["r1"])
    shell.delaysReports = true
    shell.start()
    let occurrence = try #require(shell.transaction.contents.occurrences.values.first { _ in true })
    try shell.answer(occurrence)
    shell.runDelayed()
    #expect(shell.sent.isEmpty && shell.core.outbox.held.isEmpty)
  }

  @Test func heldMessageIsReleasedBeforeSleep() throws {
    let shell = try Shell(due: ["r1", "r2", "r3"], concurrency: 1)
    let held = try shell.startWithOneHeld()
    shell.drive { $0.sleep(.sleeps) }
    let entry = try #require(shell.transaction.contents.outbox[held.delivery.id])
    #expect(shell.core.outbox.held.isEmpty && entry.visibleAt == entry.delivery.ownTime, "it stays claimed in sleep")
  }

  @Test func firingThatOverlapsAZoneChangeIsRecomputed() throws {
    let shell = try Shell(due: ["r1"])
    shell.delaysFiring = true
    shell.start()
    #expect(shell.delayed.count == 1)
    shell.move(to: "Europe/Prague")
    shell.runDelayed()
    let record = try #require(try shell.transaction.reminder(ReminderID(rawValue: "r1")))
    #expect(record.next == shell.core.context.timetable(of: record.reminder).next(after: shell.now))
  }

  @Test func oldHistoryIsPrunedInBatchesOnceTheClockIsTrusted() throws {
    let shell = try Shell(due: [])
    shell.start()
    let id = ReminderID(rawValue: "old")
    for number in 1...7 {
      let time = shell.now - .days(40) + .hours(Int64(number))
      shell.transaction.contents.put(
        Occurrence(
          id: OccurrenceID(reminder: id, scheduledAt: time), title: "Tea", owner: 1_000,
          state: number == 7 ? .snoozed(until: shell.now + .days(1)) : .done, firedAt: time, endedAt: time))
    }
    try shell.somethingIsCommitted(after: .minutes(9))
    #expect(shell.transaction.contents.occurrences.count == 7, "the clock may still be wrong")
    try shell.somethingIsCommitted(after: .minutes(2))
    #expect(shell.transaction.contents.occurrences.values.map(\.state) == [.snoozed(until: shell.begin + .days(1))])
    guard case .historyPruned(6, _)? = shell.reports.last else {
      Issue.record("nobody is told")
      return
    }
  }

  /// What is due by the new time may be committed before the loop hears that the clock was set.
  @Test func clockThatWasJustSetRemovesNoHistory() throws {
    let shell = try Shell(due: [])
    shell.start()
    let time = shell.now - .days(10)
    shell.transaction.contents.put(
      Occurrence(
        id: OccurrenceID(reminder: ReminderID(rawValue: "old"), scheduledAt: time), title: "Tea", owner: 1_000,
        state: .done, firedAt: time, endedAt: time))
    try shell.somethingIsCommitted(after: .days(500), waits: false)
    #expect(shell.retryAfter == .seconds(1))
    shell.drive { $0.clockHasStepped(by: .days(500), slept: .zero) }
    shell.retryTimerFires()
    #expect(shell.transaction.contents.occurrences.count == 1)
    shell.now = shell.now - .days(500)
    shell.drive { $0.clockHasStepped(by: .days(-500), slept: .zero) }
    try shell.somethingIsCommitted(after: .minutes(20))
    #expect(shell.transaction.contents.occurrences.count == 1)
  }

  @Test func refusedPruningIsRetriedAnHourLater() throws {
    let shell = try Shell(due: [])
    shell.start()
    let time = shell.now - .days(40)
    shell.transaction.contents.put(
      Occurrence(
        id: OccurrenceID(reminder: ReminderID(rawValue: "old"), scheduledAt: time), title: "Tea", owner: 1_000,
        state: .dismissed, firedAt: time, endedAt: time))
    shell.refusal = .unavailable("the disk is full")
    try shell.somethingIsCommitted(after: .minutes(11))
    guard case .historyNotPruned? = shell.reports.last else {
      Issue.record("it was not tried")
      return
    }
    shell.refusal = nil
    try shell.somethingIsCommitted(after: .minutes(59))
    #expect(shell.transaction.contents.occurrences.count == 1)
    try shell.somethingIsCommitted(after: .minutes(2))
    #expect(shell.transaction.contents.occurrences.isEmpty)
  }

  @Test func storeTroubleSummaryStatesItsEffects() {
    var trouble = StoreTrouble()
    let isNew = trouble.writingFailed("the disk is full: free some space")
    #expect(
      trouble.summary(unrecorded: 0)
        == "the disk is full: free some space; reminders are shown on the desktop from memory; changes are refused")
    let isNewAgain = trouble.writingFailed("the disk is full: free some space")
    let isNewToo = trouble.readingFailed("I/O error")
    #expect([isNew, isNewAgain, isNewToo] == [true, false, true])
    #expect(trouble.summary(unrecorded: 3) == "the store cannot be read, and nothing can fire until it can: I/O error")
    trouble.isReadable()
    #expect(trouble.problem == "the disk is full: free some space")
  }
}

/// Leases that a test ends and renews.
private final class Leases: LeaseView {
  private let state = Mutex((areValid: true, lapses: 0))
  var holdsQueues: Bool { state.withLock { $0.areValid } }
  var lapses: Int { state.withLock { $0.lapses } }
  let isAlone = false

  func end() { state.withLock { $0.areValid = false } }
  func renew() { state.withLock { $0 = (true, $0.lapses + 1) } }
}

/// A shell that performs each effect at once.
private final class Shell {
  let transaction = MemoryTransaction(MemoryContents(), isReadOnly: false)
  let begin = Instant(seconds: 1_800_000_000)
  var now: Instant
  private(set) var core: LoopCore
  private(set) var sent: [OutboundMessage] = []
  private(set) var reports: [LoopCore.Report] = []
  private(set) var retryAfter: Milliseconds?
  /// Why writing transactions fail; nil if they do not.
  var refusal: StoreFailure?
  /// Why no transaction can be made; nil if one can.
  var absence: StoreFailure?
  private(set) var letsSleep = false
  /// Whether firing transactions wait for `runDelayed`.
  var delaysFiring = false
  private(set) var delayed: [StoreJob] = []
  /// Whether firing transactions commit, and are reported with `runDelayed`.
  var delaysReports = false
  private var unreported: [StoreJob.Continuation] = []
  private var sequence: UInt64 = 0

  init(due ids: [String], concurrency: Int = 8, leases: Leases? = nil) throws {
    now = begin
    core = LoopCore(
      startedAt: now, context: ReminderContext(zones: InUTC()),
      policies: DeliveryQueuePolicies(desktop: DeliveryQueuePolicy(concurrency: concurrency)), leases: leases,
      pages: LoopCore.PageSizes(history: 2), random: SeededGenerator(seed: 1))
    core.historyLimits = HistoryLimits(age: .days(30))
    for id in ids { try transaction.upsert(Self.reminder(ReminderID(rawValue: id)), next: now - .seconds(5)) }
  }

  static func reminder(_ id: ReminderID) throws -> Reminder {
    Reminder(
      id: id, owner: 1_000, title: "Tea", schedule: try Schedule(canonical: "daily at 08:30"),
      createdAt: Instant(seconds: 1_700_000_000))
  }

  func start() { drive { $0.start() } }

  /// Starts with three due times for a queue that takes one at a time: the first is sent, the second under way.
  ///
  /// - Returns: the third, which is claimed and held.
  func startWithOneHeld() throws -> OutboundMessage {
    start()
    end(try #require(sent.first))
    try #require(sent.count == 2 && core.outbox.held.count == 1)
    return try #require(core.outbox.held.values.first).message
  }

  /// Answers an occurrence in the store, as a request does.
  func answer(_ occurrence: Occurrence) throws {
    var generator = SeededGenerator(seed: 1)
    let reminder = try transaction.reminder(occurrence.id.reminder)?.reminder
    let work = try AnswerTransaction.run(
      .done, to: occurrence, reminder: reminder, in: transaction, core.context, now: now, using: &generator)
    let wakeups = try wakeups(in: transaction)
    drive { $0.committed(CommitChanges(work), wakeups, contextVersion: $0.context.version) }
  }

  func retryTimerFires() {
    now = now + (retryAfter ?? .zero)
    retryAfter = nil
    drive { $0.retry() }
  }

  /// Lets time pass, then a request commit, and unless the test does more before it, the timer that follows.
  func somethingIsCommitted(after time: Milliseconds, waits: Bool = true) throws {
    now = now + time
    let wakeups = try wakeups(in: transaction)
    drive { $0.committed(CommitChanges(), wakeups, contextVersion: $0.context.version) }
    if waits, retryAfter != nil { retryTimerFires() }
  }

  /// Moves the machine to another zone.
  func move(to zone: String) {
    core.context.zones = SimulatedZones(local: zone)
    core.context.version += 1
    drive { $0.recomputeDueTimes([.localZone]) }
  }

  func runDelayed() {
    (delaysFiring, delaysReports) = (false, false)
    let (jobs, reports) = (delayed, unreported)
    (delayed, unreported) = ([], [])
    for job in jobs { run(job) }
    for report in reports { drive(report) }
  }

  private func wakeups(in transaction: any StoreTransaction) throws -> NextWakeups {
    var wakeups = try transaction.wakeups()
    sequence += 1
    wakeups.sequence = sequence
    return wakeups
  }

  func end(
    _ message: OutboundMessage, _ outcome: Attempt.Outcome = .delivered, next: ChannelReport.NextStep = .settled
  ) {
    let attempt = Attempt(number: 0, startedAt: now, took: .zero, outcome: outcome)
    drive { $0.take([Outcome(attempt: attempt, next: next, message: message)], []) }
  }

  func state(of message: OutboundMessage) throws -> Delivery.State? {
    try transaction.delivery(message.delivery.id)?.state
  }

  func drive(_ body: (inout LoopCore) -> Void) {
    for effect in core.run(at: now, body) {
      switch effect {
      case .send(let message): sent.append(message)
      case .armRetry(let wait): retryAfter = wait
      case .releaseSleep: letsSleep = true
      case .inhibitSleep: letsSleep = false
      case .run(let job): run(job)
      case .answer(let answer):
        if let refusal { drive { $0.answerFailed(answer, refusal) } }
      case .report(let report):
        reports.append(report)
        if case .started(let found) = report { drive { $0.begin(found, noticeChannels: nil) } }
      default: break
      }
    }
  }

  private func run(_ job: StoreJob) {
    if delaysFiring, case .fire = job.kind { return delayed.append(job) }
    let next: StoreJob.Continuation
    do {
      if let absence { throw absence }
      if job.writes, let refusal { throw refusal }
      var setting = StoreJob.Setting(now: now, random: SeededGenerator(seed: UInt64(reports.count + sent.count))) {
        [self] in
        try wakeups(in: $0)
      }
      next = try job.run(in: transaction, &setting)
    } catch {
      next = job.failed(error)
    }
    if delaysReports, case .fire = job.kind { return unreported.append(next) }
    drive(next)
  }
}
