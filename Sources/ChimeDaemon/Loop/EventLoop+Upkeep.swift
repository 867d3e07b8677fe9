import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule
import ChimeTracking
import Dispatch
import Glibc

/// The line about the store's contents.
struct SummaryState {
  fileprivate var isStale = false
  /// The duration of the last query.
  fileprivate var took = Milliseconds.zero
  fileprivate(set) var text = "starting"

  init(isStale: Bool = false) { self.isStale = isStale }
}

// The daemon's status for `systemctl status` and `chime status`, and the handling of a failing store.
extension EventLoop {
  func staleSummary() {
    guard !summaryState.isStale, !isStopping else { return }
    summaryState.isStale = true
    // Reminders are due on whole seconds, so a delay of a whole second would read the summary together with the next
    // firing. The delay grows with the cost of the summary, which stays below a twentieth of the work.
    arm(summaryAfter: max(.milliseconds(700), .milliseconds(summaryState.took.rawValue * 20)))
  }

  func summaryIsDue() {
    guard summaryState.isStale, !isStopping else { return }
    spawn { [self] in
      await refreshSummary()
      ServiceManager.status(summaryState.text)
    }
  }

  func refreshSummary() async {
    summaryState.isStale = false
    let begin = SystemClock.monotonicMicroseconds
    defer { summaryState.took = .milliseconds(Int64(min((SystemClock.monotonicMicroseconds - begin) / 1_000, 60_000))) }
    do {
      summaryState.text = try await Summary.read(
        store, context, isShared: paths.isSystem || !tenants.seats.isEmpty,
        now: SystemClock.now)
      drive { $0.storeWasRead() }
    } catch {
      drive { $0.storeWasRead(error) }
    }
    if core.trouble.problem != nil { summaryState.text = troubleSummary }
    for notice in notices { summaryState.text += "; \(notice.sentence)" }
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

  /// What a status needs of the loop.
  struct Status: Sendable {
    var snapshot: Snapshot
    /// The tenants that the caller may see.
    var seats: [Tenants.TenantState]
    /// The reminders that reach nobody; nil if they have to be found out.
    var undeliverable: UndeliverableReminders?
  }

  /// Returns all that a status needs of the loop, in one visit.
  ///
  /// - Parameter looksAtStore: whether a store that failed is tried, and a stale summary read anew.
  func status(for caller: Caller, looksAtStore: Bool) async -> Status {
    let snapshot = looksAtStore ? await snapshot() : present()
    return Status(
      snapshot: snapshot, seats: seats(for: caller), undeliverable: knownUndeliverableReminders(owner: caller.sees))
  }

  func snapshot() async -> Snapshot {
    // Try the store now: nothing else may have tried it since it failed.
    if core.trouble.writing != nil { await tryStore() }
    if summaryState.isStale || core.trouble.problem != nil {
      await refreshSummary()
      ServiceManager.status(summaryState.text)
    }
    return present()
  }

  /// Returns the status from the loop's own state.
  func present() -> Snapshot {
    Snapshot(
      pid: ProcessFacts.pid, isSystem: paths.isSystem, startedAt: startedAt, storePath: paths.storePath,
      storeProblem: core.trouble.problem, unrecorded: core.degradedMode.unrecorded, connections: clients.count,
      clockEvents: clockEvents, residentBytes: ProcessFacts.residentBytes, summary: summaryState.text, notices: notices,
      lastSnapshot: snapshots.latest, rests: rests(), replies: replyStatuses(),
      heartbeat: configuration.heartbeat.isEnabled ? heartbeat.value : nil)
  }

  // MARK: A failing store

  var troubleSummary: String {
    core.trouble.summary(unrecorded: core.degradedMode.unrecorded, showsMeanwhile: !store.isShared)
  }

  /// Notes that a client's change was refused.
  func changeRefused(_ failure: StoreFailure) { drive { $0.changeRefused(failure) } }
}

/// A SnapshotTiming decides when a snapshot is due. It is a value; the loop passes the time in.
struct SnapshotTiming: Sendable {
  /// The time of the newest snapshot, by the clock as it was then.
  var latest: Instant?
  private var notBefore: Instant?

  /// The minimum wait after a failed snapshot.
  static let retry = Milliseconds.hours(1)

  /// Returns whether a snapshot is due, given that something was written.
  ///
  /// - Parameter start: the daemon's start time; nil if it is just starting.
  func isDue(at now: Instant, every interval: Milliseconds, runningSince start: Instant?) -> Bool {
    // Shortly after boot the clock may still be wrong.
    let settling = min(HistoryUpkeep.settling, interval)
    if let start, now < start + settling, now >= start { return false }
    // If the clock was set back, either time may be years ahead.
    if let notBefore, now < notBefore, notBefore - now <= max(Self.retry, settling) { return false }
    guard let latest else { return true }
    return now - latest >= interval || latest - now > interval
  }

  mutating func failed(at now: Instant) { notBefore = now + Self.retry }

  mutating func clockWasSet(at now: Instant) { notBefore = now + HistoryUpkeep.settling }
}

/// The loop's state about snapshots and about a restoration of the store.
struct SnapshotState {
  var timing = SnapshotTiming()
  fileprivate var latest: StoreSnapshot? { didSet { timing.latest = latest?.takenAt } }
  /// The snapshot in progress.
  fileprivate var task: Task<StoreSnapshot, any Error>?
  /// The reason why the latest attempt failed.
  fileprivate var problem: String?
  fileprivate var restoration: Restoration?

  /// The time for which a restoration stays in the status.
  static let reminding = Milliseconds.days(14)
}

// A snapshot is taken on a write when a day has passed since the last one. No timer does it: an idle machine is not
// woken, and an unchanged store needs no copy.
extension EventLoop {
  /// The name of the store's note that says for which restoration a notice was given.
  private static let reportedNote = Restoration.note + ".reported"

  /// Subscribes to incidents of the store, including those that happened while it was opened.
  func watchStore() {
    snapshots.latest = snapshotManager?.snapshots().first
    snapshotManager?.watch { [weak self] incident in
      guard let self else { return }
      executor.queue.async { self.assumeIsolated { $0.received(incident) } }
    }
  }

  // MARK: Taking snapshots

  /// Takes a snapshot if one is due. With `atStart` it takes one only if the store has changed since the last.
  func considerSnapshot(atStart: Bool = false) {
    guard let snapshotManager, configuration.snapshots > 0, !isStopping, snapshots.task == nil else { return }
    let start = atStart ? nil : startedAt
    guard snapshots.timing.isDue(at: SystemClock.now, every: configuration.snapshotEvery, runningSince: start) else {
      return
    }
    guard !atStart || snapshotManager.wasChangedSinceSnapshot else { return }
    _ = takeSnapshot()
  }

  /// Starts a snapshot or joins the one in progress. Returns nil if the store keeps none.
  func takeSnapshot() -> Task<StoreSnapshot, any Error>? {
    if let task = snapshots.task { return task }
    guard let snapshotManager else { return nil }
    // If automatic snapshots are off, a manual one removes no older ones.
    let count = configuration.snapshots > 0 ? configuration.snapshots : .max
    let task = Task {
      try await withTaskExecutorPreference(executor) {
        defer { snapshots.task = nil }
        do {
          let snapshot = try await snapshotManager.takeSnapshot(keeping: count)
          tookSnapshot(snapshot)
          return snapshot
        } catch {
          snapshotFailed(error)
          throw error
        }
      }
    }
    snapshots.task = task
    return task
  }

  private func tookSnapshot(_ snapshot: StoreSnapshot) {
    snapshots.latest = snapshot
    snapshots.problem = nil
    publish([
      DaemonEvent(kind: .store, id: .snapshotTaken, message: "a snapshot of the store was taken: \(snapshot.path)")
    ])
  }

  private func snapshotFailed(_ error: any Error) {
    // The store was closed or replaced.
    if case StoreFailure.closed = error { return }
    let sentence = (error as? StoreFailure)?.sentence ?? "\(error)"
    snapshots.problem = sentence
    snapshots.timing.failed(at: SystemClock.now)
    publish([
      DaemonEvent(kind: .store, id: .snapshotFailed, message: "no snapshot of the store could be taken: \(sentence)")
    ])
  }

  // MARK: Incidents

  private func received(_ incident: StoreIncident) {
    switch incident {
    case .restored(let restoration):
      snapshots.restoration = restoration
      tell(of: restoration)
      // During the start everything is read afterwards anyway.
      guard isReady, !isStopping else { return }
      drive { $0.storeWasReplaced() }
    case .spared(let sentence):
      publish([
        DaemonEvent(
          kind: .store, id: .storeFailed,
          message:
            "chimed read damaged data, but the file is intact, and chimed continues with it: \(sentence); check the "
            + "machine's memory and disk")
      ])
      handle(.awake)
    case .ended(let failure):
      log(.error, "the store is no longer usable: \(failure.advice)", id: .storeQuarantined)
      stop(status: failure.exitStatus)
    }
  }

  private func tell(of restoration: Restoration) {
    let place = restoration.damagedPath.map { "; the damaged file is \($0)" } ?? ""
    publish([
      DaemonEvent(
        kind: .store, id: .storeQuarantined, message: "the store was damaged: \(restoration.reason)\(place)"),
      DaemonEvent(kind: .store, id: .storeRestored, message: restored(restoration)),
    ])
  }

  private func restored(_ restoration: Restoration) -> String {
    if restoration.isWhole { return "the store's log was lost, but all of it was still in memory: nothing is lost" }
    if restoration.snapshotPath.isEmpty {
      return "the store continues without its log; changes from \(clock(restoration.snapshotTakenAt)) until "
        + "\(clock(restoration.at)) may be lost"
    }
    var sentence = "the store was restored from the snapshot of \(clock(restoration.snapshotTakenAt))"
    if !restoration.rejected.isEmpty { sentence += " (\(restoration.rejected.joined(separator: "; ")))" }
    return sentence + "; changes from then until \(clock(restoration.at)) are lost"
  }

  private func clock(_ instant: Instant) -> String {
    let text = RFC3339.format(instant, in: zones.local)
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
  }

  /// Resumes after the store was replaced, once it was read.
  func resumeAfterRestoration(_ found: LoopCore.Start) {
    snapshots.latest = snapshotManager?.snapshots().first
    adopt(found.endpoints)
    drive { $0.begin(found, noticeChannels: nil) }
    spawn { [self] in
      await reviewRestoration()
      reviewContext()
      await surveyCalendars()
      staleSummary()
    }
  }

  /// Checks for a recent restoration, and records a desktop notice of it once.
  func reviewRestoration() async {
    let (now, context, wakeupsReader) = (SystemClock.now, context, wakeupsReader)
    // The system daemon has no desktop.
    let owner = paths.isSystem ? nil : paths.uid
    do {
      guard let text = try await store.read({ try $0.note(Restoration.note) }), let found = Restoration(text: text)
      else { return }
      let wasDelivered = snapshots.restoration == found
      snapshots.restoration = found
      let title = context.wording.notice("The store was damaged and restored")
      let body = context.wording.notice(Self.body(found, from: clock(found.snapshotTakenAt), to: clock(found.at)))
      let time = String(found.at.milliseconds)
      let (notice, wakeups) = try await store.write { transaction -> (Occurrence?, NextWakeups?) in
        guard try transaction.note(Self.reportedNote) != time else { return (nil, nil) }
        var generator = PooledRandom()
        let notice = try owner.map {
          try DesktopNotice.record(
            title, body, to: $0, in: transaction, context, urgency: .critical, now: now, using: &generator)
        }
        try transaction.setNote(Self.reportedNote, time)
        return (notice, try wakeupsReader.read(transaction))
      }
      guard let wakeups else { return }
      // The daemon ended between the restoration and its notice.
      if !wasDelivered { tell(of: found) }
      if let notice { publish([DaemonEvent(kind: .fired, occurrence: notice, message: notice.title)]) }
      handle(.wakeups(wakeups))
    } catch {
      drive { $0.storeFailed(error, .changesAreRefused) }
    }
  }

  private static func body(_ restoration: Restoration, from start: String, to end: String) -> String {
    let place = restoration.damagedPath.map { " The damaged file is kept: \($0)" } ?? ""
    if restoration.isWhole { return "Another program has damaged its log. Nothing is lost.\(place)" }
    return "Changes between \(start) and \(end) are lost; check chime list.\(place)"
  }

  /// Sentences for the user about snapshots. A restoration is listed for two weeks, or until the damaged file is removed.
  var snapshotAttention: [String] {
    var sentences: [String] = []
    if let restoration = snapshots.restoration, isRecent(restoration) {
      let place = restoration.damagedPath.map { "; the damaged file is \($0): remove it when you no longer need it" }
      sentences.append(restored(restoration) + (place ?? ""))
    }
    if let problem = snapshots.problem { sentences.append("no snapshot of the store could be taken: \(problem)") }
    return sentences
  }

  private func isRecent(_ restoration: Restoration) -> Bool {
    guard SystemClock.now - restoration.at < SnapshotState.reminding else { return false }
    return restoration.damagedPath.map { access($0, F_OK) == 0 } ?? true
  }
}

// What the core asks for when it prunes the history.
extension EventLoop {
  /// Drops whole expired months from a shared store, and lets the core remove the rest.
  func dropMonths(_ edge: HistoryEdge?, begunAt: Instant) {
    guard let shared = store as? any SharedStore else {
      return drive { $0.prune(edge, rest: edge, begunAt: begunAt) }
    }
    spawn { [self] in
      do {
        let kept = try await shared.maintainPartitions(edge)
        if kept.months > 0 {
          log(
            .info,
            "\(kept.months) \(kept.months == 1 ? "month was" : "months were") dropped from the history, with about "
              + "\(kept.count) times")
        }
        for problem in kept.problems {
          log(
            .warning,
            "the months of the history could not be kept in order; trying again in an hour: \(problem.sentence)")
        }
        drive { $0.prune(edge, rest: kept.rest, begunAt: begunAt) }
      } catch {
        drive { $0.pruningFailed(error) }
      }
    }
  }

  /// Removes the files that belong to what is gone.
  func historyWasPruned(_ count: Int, begunAt: Instant) {
    if count > 0 { log(.info, "\(count) old \(count == 1 ? "time was" : "times were") removed from the history") }
    secrets.forgetAside(before: begunAt - TrackingChange.keptFor)
    spawn { [self] in
      do { try await cleanPhotos(now: begunAt) } catch { historyWasNotPruned(error) }
    }
  }

  func historyWasNotPruned(_ error: any Error) {
    log(.warning, "the history could not be pruned; ignoring: \(error)")
  }
}

/// The loop's state about the metrics file.
struct MetricsState {
  /// The file that is written periodically; nil if none is configured, and then no timer runs.
  fileprivate var file: MetricsFile?
  /// The reason why the last write failed.
  var problem: String?
  /// The write in flight.
  fileprivate var task: Task<Void, Never>?
}

// Counters, and the file that exposes them.
extension EventLoop {
  func count(_ daemonEvents: [DaemonEvent]) {
    for daemonEvent in daemonEvents { meters.count(daemonEvent, transport: transport(of: daemonEvent)) }
  }

  private func transport(of daemonEvent: DaemonEvent) -> Meters.Transport {
    guard let channel = daemonEvent.channel, channel != .desktop else { return .desktop }
    guard commands.book.commands[channel] == nil else { return .command }
    let endpoint = daemonEvent.owner.flatMap { core.outbox.endpoints[DeliveryQueue(owner: $0, channel: channel)] }
    switch endpoint?.kind {
    case nil, .webhook: return .webhook
    case .email: return .email
    case .mqtt: return .mqtt
    case .matrix: return .matrix
    }
  }

  /// Returns counters and gauges in the text format.
  func metrics() async -> String {
    let (zones, now, numbers) = (zones, SystemClock.now, tenants.seats.values.compactMap(\.number))
    let members = try? await fleet.store?.members()
    let months = try? await fleet.store?.partitionCounts()
    let undeliverable = try? await undeliverableReminders(owner: nil)
    let readings = try? await store.read { transaction in
      MetricsText.Readings(
        counts: try transaction.counts(owner: nil), gauges: try transaction.gauges(),
        dueToday: try transaction.dueCount(before: Summary.endOfDay(now, zones.local)),
        nextDue: try transaction.wakeups().nextDue, overdue: try transaction.dueCount(before: now),
        undeliverable: undeliverable?.count ?? 0,
        tenants: Dictionary(
          uniqueKeysWithValues: try numbers.map { ($0, try transaction.reminderCount(of: $0)) }))
    }
    return MetricsText(
      meters: meters, snapshot: present(), transactions: wakeupsReader.transactions,
      storeBytes: ["", "-wal"].reduce(0) { $0 + (SystemFiles.size(paths.storePath + $1) ?? 0) }, readings: readings,
      endpoints: Array(core.outbox.endpoints.values), members: members ?? [], months: months,
      tenants: Array(tenants.seats.values),
      now: now
    ).text
  }

  /// Starts, continues or stops writing the file after a change of the configuration.
  func renewMetricsFile() {
    let path = configuration.metricsFile
    if let old = metricsState.file, old.path != path { old.remove() }
    metricsState.file = path.isEmpty ? nil : MetricsFile(path: path)
    guard metricsState.file != nil else {
      metricsState.problem = nil
      timers?.metrics.disarm()
      return
    }
    metricsAreDue()
  }

  func metricsAreDue() {
    guard let file = metricsState.file, !isStopping else { return }
    timers?.metrics.arm(after: configuration.metricsEvery)
    // Only one write is in flight at a time, even if the disk hangs.
    guard metricsState.task == nil else { return }
    let handler = requestExecutor
    metricsState.task = spawn { [self] in
      let text = await metrics()
      let failure = await Task(executorPreference: handler) { () -> SystemError? in
        do throws(SystemError) {
          try file.write(text)
          return nil
        } catch {
          return error
        }
      }.value
      metricsState.task = nil
      wroteMetrics(to: file, failure)
    }
  }

  private func wroteMetrics(to file: MetricsFile, _ failure: SystemError?) {
    // The configuration may name another file by now, or the daemon is shutting down.
    guard metricsState.file?.path == file.path, !isStopping else { return file.remove() }
    let problem = failure.map { "the metrics cannot be written: \($0.call): \($0.reason)" }
    if let problem, problem != metricsState.problem { log(.warning, problem) }
    if problem == nil, metricsState.problem != nil { log(.notice, "the metrics are written again: \(file.path)") }
    metricsState.problem = problem
  }

  /// Removes the file at shutdown: stale numbers would look current.
  func endMetricsFile() async {
    await metricsState.task?.value
    metricsState.file?.remove()
  }
}

/// The loop's state about the heartbeat.
struct HeartbeatState {
  var value = Heartbeat()
  /// Whether a probe of the store is in flight.
  fileprivate var isProbing = false
  /// The heartbeat message in flight.
  fileprivate var task: Task<Void, Never>?
  /// The generation of the configuration. Results of an earlier one are ignored.
  fileprivate var generation = 0
}

// The daemon sends heartbeats to an external monitor for as long as it can fire. Without a configured address no timer is armed.
extension EventLoop {
  /// Starts, continues or stops heartbeats after a change of the configuration.
  func renewHeartbeat(from former: Configuration.Heartbeat) {
    guard configuration.heartbeat != former else { return }
    heartbeat.value = Heartbeat()
    heartbeat.generation += 1
    staleSummary()
    guard configuration.heartbeat.isEnabled else {
      timers?.heartbeat.disarm()
      return
    }
    heartbeatIsDue()
  }

  func heartbeatIsDue() {
    guard configuration.heartbeat.isEnabled, !isStopping else { return }
    timers?.heartbeat.arm(after: configuration.heartbeat.every)
    // A probe that starts before sleep would be answered only after waking.
    guard !core.scheduler.isDrowsy else { return }
    guard !heartbeat.isProbing else {
      beat(Heartbeat.Signs(storeProblem: "the store does not answer", nextDue: core.scheduler.nextDue))
      return
    }
    heartbeat.isProbing = true
    spawn { [self] in
      // A successful write proves that the store takes changes. It also brings due times to the scheduler that it may
      // have missed.
      await tryStore()
      heartbeat.isProbing = false
      guard !core.scheduler.isDrowsy else { return }
      beat(
        Heartbeat.Signs(
          storeProblem: core.trouble.problem, nextDue: core.scheduler.nextDue, isAwaited: core.scheduler.awaitsNextDue
        ))
    }
  }

  private func beat(_ signs: Heartbeat.Signs) {
    let settings = configuration.heartbeat
    guard settings.isEnabled, !isStopping else { return }
    let step = loggingChanges { $0.step(signs, at: SystemClock.now) }
    if step != .beat { meters.heartbeats[.suppressed, default: 0] += 1 }
    var message = HeartbeatMessage(url: settings.url, method: settings.method, limit: settings.timeout)
    switch step {
    case .beat: break
    case .fail(let why) where !settings.failURL.isEmpty: (message.url, message.problem) = (settings.failURL, why)
    case .fail, .nothing: return
    }
    // Only one message is in flight at a time, even if it hangs.
    guard heartbeat.task == nil else { return }
    let (unsigned, secrets, handler, generation) = (message, secrets, requestExecutor, heartbeat.generation)
    let (webhook, commands) = (channels.webhook, commands)
    heartbeat.task = spawn { [self] in
      let outcome = await Task(executorPreference: handler) { () -> HeartbeatMessage.Outcome in
        if !settings.command.isEmpty { return await commands.beat(ChannelName(rawValue: settings.command)) }
        var message = unsigned
        if !settings.secretFile.isEmpty {
          switch secrets.named(settings.secretFile) {
          case .success(let found): message.secrets = found
          case .failure(let error): return .refused("it cannot be signed: \(error)")
          }
        }
        return await webhook.send(message)
      }.value
      heartbeat.task = nil
      if generation == heartbeat.generation { ended(step, outcome) }
    }
  }

  private func ended(_ step: Heartbeat.Step, _ outcome: HeartbeatMessage.Outcome) {
    switch outcome {
    case .taken:
      if step == .beat { meters.heartbeats[.accepted, default: 0] += 1 }
      loggingChanges { $0.taken(step, at: SystemClock.now) }
    case .refused(let why):
      if step == .beat { meters.heartbeats[.failed, default: 0] += 1 }
      loggingChanges { $0.refused(why) }
    case .cutShort: break
    }
  }

  /// Changes the heartbeat's value, and logs its sentence if that changed.
  @discardableResult
  private func loggingChanges<Value>(_ body: (inout Heartbeat) -> Value) -> Value {
    let before = heartbeat.value.sentence
    let value = body(&heartbeat.value)
    let after = heartbeat.value.sentence
    guard before != after else { return value }
    if let after { log(.warning, after) } else { log(.notice, "heartbeats are sent again") }
    staleSummary()
    return value
  }
}

/// The cached results of earlier checks, each with the time of the check (monotonic, in microseconds).
struct HearingState {
  /// For how long the result of a look at the desktop is used, in microseconds.
  fileprivate static let desktopSpan: UInt64 = 1_000_000

  struct Found {
    var undeliverable: UndeliverableReminders
    var transactions: UInt64
    var desktopProblem: String?
    var at: UInt64
    var took: UInt64
  }

  fileprivate var desktop: (task: Task<String?, Never>, at: UInt64)?
  /// The result of `desktop`; nil as long as it is awaited.
  fileprivate var desktopProblem: String??
  /// The results by owner; nil as a key: everybody's reminders.
  fileprivate var found: [UInt32?: Found] = [:]
}

extension EventLoop {
  func reachability() async -> Reachability {
    Reachability(desktopProblem: await desktopProblem(), endpoints: endpoints, commands: commands)
  }

  /// Returns the reminders that reach nobody, among the first 10,000 that have a time to come.
  ///
  /// The result is cached while the store and the channels do not change, for 20 times as long as the check took, so that
  /// frequent callers do not keep the store busy.
  func undeliverableReminders(owner: UInt32?) async throws -> UndeliverableReminders {
    let reachability = await reachability()
    if let known = knownUndeliverableReminders(owner: owner) { return known }
    let (begin, transactions) = (SystemClock.monotonicMicroseconds, wakeupsReader.transactions)
    var undeliverable = UndeliverableReminders()
    var filter = ReminderFilter(owner: owner, includesFinished: false)
    for _ in 0..<20 {
      let (found, next) = try await store.read { [filter] transaction -> (UndeliverableReminders, ReminderPlace?) in
        let records = try transaction.reminders(filter, page: Page(limit: 500))
        var undeliverable = UndeliverableReminders()
        for reminder in records.filter({ $0.coming != nil }).map(\.reminder) {
          guard let problem = reachability.problem(of: reminder) else { continue }
          undeliverable.count += 1
          undeliverable.first = undeliverable.first ?? (reminder.id, reminder.title, problem)
        }
        return (undeliverable, records.count + transaction.unreadable.count < 500 ? nil : transaction.listedThrough)
      }
      undeliverable.count += found.count
      undeliverable.first = undeliverable.first ?? found.first
      filter.after = next
      if next == nil { break }
    }
    let end = SystemClock.monotonicMicroseconds
    hearingState.found[owner] = HearingState.Found(
      undeliverable: undeliverable, transactions: transactions, desktopProblem: reachability.desktopProblem, at: end,
      took: end - begin)
    return undeliverable
  }

  /// Returns the cached result of `undeliverableReminders`; nil if it has to be found out anew.
  func knownUndeliverableReminders(owner: UInt32?) -> UndeliverableReminders? {
    let now = SystemClock.monotonicMicroseconds
    guard let desktop = hearingState.desktop, now < desktop.at + HearingState.desktopSpan,
      let desktopProblem = hearingState.desktopProblem, let found = hearingState.found[owner],
      found.transactions == wakeupsReader.transactions, found.desktopProblem == desktopProblem,
      now < found.at + found.took * 20
    else { return nil }
    return found.undeliverable
  }

  /// Returns why popups cannot be shown: no bus, no notification server, or no program. Calls within one second share a result.
  private func desktopProblem() async -> String? {
    let now = SystemClock.monotonicMicroseconds
    if let known = hearingState.desktop, now < known.at + HearingState.desktopSpan { return await known.task.value }
    let (environment, channels) = (paths.environment, configuration.channels)
    let task: Task<String?, Never> = Task(executorPreference: executor) {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "io.chime.reachability").async {
          continuation.resume(returning: Self.desktopProblem(environment, channels))
        }
      }
    }
    (hearingState.desktop, hearingState.desktopProblem) = ((task, now), nil)
    let problem = await task.value
    if hearingState.desktop?.at == now { hearingState.desktopProblem = .some(problem) }
    return problem
  }

  private static func desktopProblem(_ environment: [String: String], _ channels: Configuration.Channels) -> String? {
    if channels.desktopTransport == .program {
      var desktop = DesktopConfiguration(environment: environment)
      desktop.program = channels.desktopProgram
      guard desktop.programPath != nil else { return "\(desktop.program) does not exist, or may not be run" }
      // A replacement of notify-send may show popups without a bus.
      guard desktop.program == "notify-send" else { return nil }
    }
    let bus = BusProbe.look(in: environment, within: .milliseconds(500))
    if let problem = bus.problem {
      return bus.address == nil ? "there is no session bus" : "the session bus: \(problem)"
    }
    if bus.server == .missing { return "no program on the session bus shows notifications" }
    return bus.serverProblem.map { "the notification server: \($0)" }
  }
}
