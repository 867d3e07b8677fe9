import ChimeSchedule
import Testing

@testable import ChimeCore
@testable import ChimeTestKit

/// The core of the loop, driven by hand: each transaction runs at once, and may be refused.
struct LoopCoreTests {
  @Test func aDueTimeFiresAndItsOutcomeIsRecorded() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    let message = try #require(shell.sent.first)
    #expect(shell.sent.count == 1 && message.occurrence.id.reminder.rawValue == "r1")
    shell.end(message)
    #expect(try shell.state(of: message) == .delivered(at: shell.now))
    #expect(shell.core.outbox.isNothingUnderWay)
  }

  @Test func outcomesThatTheStoreRefusesAreRecordedInTheirOrder() throws {
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

  @Test func outcomesThatCannotBeRecordedAreLostAndTheDeliveryIsTriedAgain() throws {
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

  @Test func anAnswerWhileTheStoreRefusesIsBufferedAndRecordedLater() throws {
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

  @Test func beforeSleepWhatIsUnderWayEndsAndNothingBegins() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    shell.drive { $0.sleep(.sleeps) }
    #expect(!shell.letsSleep, "an attempt is under way")
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

  @Test func aRecomputationThatTheStoreRefusesIsTriedAgain() throws {
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

  @Test func aDaemonThatStopsRecordsWhatItBuffered() throws {
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

  @Test func aDaemonWhoseStoreStillRefusesSaysWhatIsLeft() throws {
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

  @Test func aMachineThatDoesNotSleepAfterAllGoesOn() throws {
    let shell = try Shell(due: [])
    shell.start()
    shell.drive { $0.sleep(.sleeps) }
    try shell.transaction.upsert(Shell.reminder(ReminderID(rawValue: "r1")), next: shell.now - .seconds(1))
    shell.drive { $0.tryStore() }
    #expect(shell.sent.isEmpty, "nothing begins before sleep")
    shell.drive { $0.sleep(.lost) }
    #expect(shell.sent.count == 1)
  }

  @Test func aStepBackOfTheClockLetsNoAttemptWaitLonger() throws {
    let shell = try Shell(due: ["r1"])
    shell.start()
    let message = try #require(shell.sent.first)
    shell.end(message, .failed, next: .retryAfter(.hours(2)))
    #expect(shell.sent.count == 1)
    shell.now = shell.now - .hours(1)
    shell.drive { $0.clockHasStepped(by: .zero - .hours(1), slept: .zero) }
    #expect(shell.sent.count == 2, "it would have waited for three hours")
  }

  @Test func theLineOfATroubledStoreSaysWhatGoesOn() {
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

/// A shell that performs each effect at once.
private final class Shell {
  let transaction = MemoryTransaction(MemoryContents(), isReadOnly: false)
  var now = Instant(seconds: 1_800_000_000)
  private(set) var core: LoopCore
  private(set) var sent: [OutboundMessage] = []
  private(set) var reports: [LoopCore.Report] = []
  private(set) var retryAfter: Milliseconds?
  /// Why writing transactions fail; nil if they do not.
  var refusal: StoreFailure?
  private(set) var letsSleep = false
  private var sequence: UInt64 = 0

  init(due ids: [String]) throws {
    core = LoopCore(
      startedAt: now, context: ReminderContext(zones: InUTC()), policies: DeliveryQueuePolicies(),
      random: SeededGenerator(seed: 1))
    for id in ids { try transaction.upsert(Self.reminder(ReminderID(rawValue: id)), next: now - .seconds(5)) }
  }

  static func reminder(_ id: ReminderID) throws -> Reminder {
    Reminder(
      id: id, owner: 1_000, title: "Tea", schedule: try Schedule(canonical: "daily at 08:30"),
      createdAt: Instant(seconds: 1_700_000_000))
  }

  func start() { drive { $0.start() } }

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
    let next: StoreJob.Continuation
    do {
      if job.writes, let refusal { throw refusal }
      var setting = StoreJob.Setting(now: now, random: SeededGenerator(seed: UInt64(reports.count + sent.count))) {
        [self] in
        var wakeups = try $0.wakeups()
        sequence += 1
        wakeups.sequence = sequence
        return wakeups
      }
      next = try job.run(in: transaction, &setting)
    } catch {
      next = job.failed(error)
    }
    drive(next)
  }
}
