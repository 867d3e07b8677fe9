import ChimeControl
import ChimeCore
import ChimeSchedule

// What the daemon says of itself: `systemctl status`, `chime status`, and what it makes of a store that fails.
extension EventLoop {
  func staleSummary() {
    guard !summaryIsStale, !isStopping else { return }
    summaryIsStale = true
    // Reminders are due on whole seconds: a whole second later the summary would be read beside the next ones. One that
    // takes long to count comes the more rarely, so that it is never more than a twentieth of the work.
    arm(summaryAfter: max(.milliseconds(700), .milliseconds(summaryTook.rawValue * 20)))
  }

  func summaryIsDue() {
    guard summaryIsStale, !isStopping else { return }
    Task {
      await withTaskExecutorPreference(executor) {
        await refreshSummary()
        ServiceManager.status(summary)
      }
    }
  }

  func refreshSummary() async {
    summaryIsStale = false
    let begin = SystemClock.monotonicMicroseconds
    defer { summaryTook = .milliseconds(Int64(min((SystemClock.monotonicMicroseconds - begin) / 1_000, 60_000))) }
    do {
      summary = try await Summary.read(
        store, context, isShared: paths.isSystem || !tenants.seats.isEmpty,
        now: SystemClock.now)
      trouble.isReadable()
    } catch {
      trouble.reading = (error as? StoreFailure)?.sentence ?? "\(error)"
    }
    if trouble.problem != nil { summary = troubleSummary }
    for notice in notices { summary += "; \(notice.sentence)" }
  }

  struct Snapshot: Sendable {
    var pid: Int
    var isSystem: Bool
    var startedAt: Instant
    var storePath: String
    var storeProblem: String?
    /// Times that have fired and are not in the store.
    var unrecorded: Int
    var connections: Int
    var clockEvents: Int
    var residentBytes: Int
    var summary: String
    var notices: [DaemonInterface.Notice]
    var lastSnapshot: StoreSnapshot?
    /// Queues that are not tried before then, because they failed again and again.
    var rests: [DeliveryQueue: Instant]
    /// How the topics stand that answers are read from.
    var replies: [DeliveryQueue: ReplySource.Status] = [:]
    /// Nil: nobody is told.
    var heartbeat: Heartbeat?
  }

  func snapshot() async -> Snapshot {
    // Whoever asks wants to know how it is now: nobody else may have tried since.
    if trouble.writing != nil { await tryStore() }
    if summaryIsStale || trouble.problem != nil {
      await refreshSummary()
      ServiceManager.status(summary)
    }
    return present()
  }

  /// What the loop knows by itself.
  func present() -> Snapshot {
    Snapshot(
      pid: ProcessFacts.pid, isSystem: paths.isSystem, startedAt: startedAt, storePath: paths.storePath,
      storeProblem: trouble.problem, unrecorded: degradedMode.unrecorded, connections: clients.count,
      clockEvents: clockEvents, residentBytes: ProcessFacts.residentBytes, summary: summary, notices: notices,
      lastSnapshot: snapshots.latest, rests: rests(), replies: replyStatuses(),
      heartbeat: configuration.heartbeat.isTold ? heartbeat.value : nil)
  }

  // MARK: A store that fails

  /// What becomes of reminders while the store takes no changes.
  var meanwhile: String {
    store.isShared
      ? "due reminders wait, and changes are refused"
      : "reminders are shown on the desktop from memory, and changes are refused"
  }

  private var troubleSummary: String {
    trouble.summary(unrecorded: degradedMode.unrecorded, showsMeanwhile: !store.isShared)
  }

  /// A change failed. The log is told once for each reason, until the store works again.
  func storeFailed(_ error: any Error, _ consequence: String) {
    let sentence = (error as? StoreFailure)?.sentence ?? "\(error)"
    trouble.writing = sentence
    if trouble.isNew(sentence) {
      publish([DaemonEvent(kind: .store, message: "the store failed: \(sentence); \(consequence)")])
    }
    ServiceManager.status(troubleSummary)
    // Another daemon may be firing what this one cannot.
    if !store.isShared, (error as? StoreFailure)?.isPassing ?? false { handle(.refused) }
  }

  /// A client's change was refused.
  func changeRefused(_ failure: StoreFailure) { storeFailed(failure, "changes are refused") }

  func readingFailed(_ error: any Error) {
    let sentence = (error as? StoreFailure)?.sentence ?? "\(error)"
    trouble.reading = sentence
    if trouble.isNew(sentence) {
      publish([
        DaemonEvent(kind: .store, message: "the store cannot be read: \(sentence); nothing can fire until it can")
      ])
    }
    ServiceManager.status(troubleSummary)
  }

  /// A transaction that changed something has committed, and so the store works.
  func storeWorks() {
    guard trouble.problem != nil, degradedMode.isEmpty else { return }
    let before = trouble
    trouble.end()
    let times =
      switch before.recorded {
      case 0: "changes are accepted"
      case 1: "1 time that had fired meanwhile was recorded"
      case let count: "\(count) times that had fired meanwhile were recorded"
      }
    publish([DaemonEvent(kind: .store, id: .storeRecovered, message: "the store can be written again: \(times)")])
    recomputeDueTimes([])
    if before.owesWake { wakeQueues { _ in true } }
  }

  /// Finds out whether the store takes changes again, and if so brings what is kept to it.
  func tryStore() async {
    do {
      let wakeups = try await store.write { [wakeupsReader] transaction in
        try Downtime.noteAlive(in: transaction, now: SystemClock.now)
        return try wakeupsReader.read(transaction)
      }
      handle(.wakeups(wakeups))
      await settleRecord()
      storeWorks()
    } catch {
      storeFailed(error, "changes are refused")
    }
  }
}
