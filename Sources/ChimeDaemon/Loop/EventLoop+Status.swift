import ChimeControl
import ChimeCore
import ChimeSchedule

// The daemon's status for `systemctl status` and `chime status`, and the handling of a failing store.
extension EventLoop {
  func staleSummary() {
    guard !summaryIsStale, !isStopping else { return }
    summaryIsStale = true
    // Reminders are due on whole seconds, so a delay of a whole second would read the summary together with the next
    // firing. The delay grows with the cost of the summary, which stays below a twentieth of the work.
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
    /// The number of fired times that are not in the store.
    var unrecorded: Int
    var connections: Int
    var clockEvents: Int
    var residentBytes: Int
    var summary: String
    var notices: [DaemonInterface.Notice]
    var lastSnapshot: StoreSnapshot?
    /// Queues that rest after repeated failures, with the end of the rest.
    var rests: [DeliveryQueue: Instant]
    /// The status of each reply source.
    var replies: [DeliveryQueue: ReplySource.Status] = [:]
    /// The heartbeat; nil if none is configured.
    var heartbeat: Heartbeat?
  }

  func snapshot() async -> Snapshot {
    // Try the store now: nothing else may have tried it since it failed.
    if trouble.writing != nil { await tryStore() }
    if summaryIsStale || trouble.problem != nil {
      await refreshSummary()
      ServiceManager.status(summary)
    }
    return present()
  }

  /// Returns the status from the loop's own state.
  func present() -> Snapshot {
    Snapshot(
      pid: ProcessFacts.pid, isSystem: paths.isSystem, startedAt: startedAt, storePath: paths.storePath,
      storeProblem: trouble.problem, unrecorded: degradedMode.unrecorded, connections: clients.count,
      clockEvents: clockEvents, residentBytes: ProcessFacts.residentBytes, summary: summary, notices: notices,
      lastSnapshot: snapshots.latest, rests: rests(), replies: replyStatuses(),
      heartbeat: configuration.heartbeat.isTold ? heartbeat.value : nil)
  }

  // MARK: A failing store

  /// What happens to reminders while the store takes no changes.
  var meanwhile: String {
    store.isShared
      ? "due reminders wait, and changes are refused"
      : "reminders are shown on the desktop from memory, and changes are refused"
  }

  private var troubleSummary: String {
    trouble.summary(unrecorded: degradedMode.unrecorded, showsMeanwhile: !store.isShared)
  }

  /// Notes that a change failed. Each reason is logged once until the store works again.
  func storeFailed(_ error: any Error, _ consequence: String) {
    let sentence = (error as? StoreFailure)?.sentence ?? "\(error)"
    trouble.writing = sentence
    if trouble.isNew(sentence) {
      publish([DaemonEvent(kind: .store, message: "the store failed: \(sentence); \(consequence)")])
    }
    ServiceManager.status(troubleSummary)
    // With a shared store another daemon may be able to fire, so this one does not enter degraded mode.
    if !store.isShared, (error as? StoreFailure)?.isPassing ?? false { handle(.refused) }
  }

  /// Notes that a client's change was refused.
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

  /// Ends the store's trouble after a transaction that wrote has committed.
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
    if before.needsWake { wakeQueues { _ in true } }
  }

  /// Tries whether the store takes changes again. If it does, the buffer is recorded.
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
