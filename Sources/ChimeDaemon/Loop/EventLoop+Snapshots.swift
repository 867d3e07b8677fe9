import ChimeCore
import ChimeSchedule
import Dispatch
import Glibc

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
    let settling = min(HistoryState.settling, interval)
    if let start, now < start + settling, now >= start { return false }
    // If the clock was set back, either time may be years ahead.
    if let notBefore, now < notBefore, notBefore - now <= max(Self.retry, settling) { return false }
    guard let latest else { return true }
    return now - latest >= interval || latest - now > interval
  }

  mutating func failed(at now: Instant) { notBefore = now + Self.retry }

  mutating func clockWasSet(at now: Instant) { notBefore = now + HistoryState.settling }
}

/// The loop's state about snapshots and about a restoration of the store.
struct SnapshotState {
  var timing = SnapshotTiming()
  var latest: StoreSnapshot? { didSet { timing.latest = latest?.takenAt } }
  /// The snapshot in progress.
  var task: Task<StoreSnapshot, any Error>?
  /// The reason why the latest attempt failed.
  var problem: String?
  var restoration: Restoration?

  /// The time for which a restoration stays in the status.
  static let reminding = Milliseconds.days(14)
}

// A snapshot is taken on a write when a day has passed since the last one. No timer does it: an idle machine is not
// woken, and an unchanged store needs no copy.
extension EventLoop {
  /// The name of the store's note that says for which restoration a notice was given.
  private static let toldNote = Restoration.note + ".told"

  /// Subscribes to incidents of the store, including those that happened while it was opened.
  func watchStore() {
    snapshots.latest = snapshotManager?.snapshots().first
    snapshotManager?.watch { [weak self] incident in
      guard let self else { return }
      executor.queue.async { self.assumeIsolated { $0.heard(incident) } }
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

  private func heard(_ incident: StoreIncident) {
    switch incident {
    case .restored(let restoration):
      snapshots.restoration = restoration
      tell(of: restoration)
      // During the start everything is read afterwards anyway.
      guard isReady, !isStopping else { return }
      Task { await withTaskExecutorPreference(executor) { await resumeAfterRestoration() } }
    case .spared(let sentence):
      publish([
        DaemonEvent(
          kind: .store, id: .storeFailed,
          message: "chimed met damage that is not in the file, and continues with the file: \(sentence); check the "
            + "machine's memory and disk")
      ])
      handle(.awake)
    case .ended(let failure):
      log(.error, "the store cannot be used any more: \(failure.advice)", id: .storeQuarantined)
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
    if !restoration.passedOver.isEmpty { sentence += " (\(restoration.passedOver.joined(separator: "; ")))" }
    return sentence + "; changes from then until \(clock(restoration.at)) are lost"
  }

  private func clock(_ instant: Instant) -> String {
    let text = RFC3339.format(instant, in: zones.local)
    return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
  }

  /// Resumes after the store was replaced: drops what belongs to the old store and repeats the reads of a start.
  private func resumeAfterRestoration() async {
    drop { _ in true }
    degradedMode.storeIsAnother()
    snapshots.latest = snapshotManager?.snapshots().first
    do {
      // The disk may still be full, so that the store takes no changes.
      let (wakeups, known, _, _) = try await firstLook()
      adopt(known)
      if degradedMode.needsStart { handle(.kept) }
      handle(.wakeups(wakeups))
    } catch {
      storeFailed(error, "the restored data could not be read")
    }
    await reviewRestoration()
    await reviewScheduleContext()
    await surveyCalendars()
    staleSummary()
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
      let told = String(found.at.milliseconds)
      let (notice, wakeups) = try await store.write { transaction -> (Occurrence?, NextWakeups?) in
        guard try transaction.note(Self.toldNote) != told else { return (nil, nil) }
        var generator = PooledRandom()
        let notice = try owner.map {
          try DesktopNotice.record(
            title, body, to: $0, in: transaction, context, urgency: .critical, now: now, using: &generator)
        }
        try transaction.setNote(Self.toldNote, told)
        return (notice, try wakeupsReader.read(transaction))
      }
      guard let wakeups else { return }
      // The daemon ended between the restoration and its notice.
      if !wasDelivered { tell(of: found) }
      if let notice { publish([DaemonEvent(kind: .fired, occurrence: notice, message: notice.title)]) }
      handle(.wakeups(wakeups))
    } catch {
      storeFailed(error, "the notice of the restoration could not be created")
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
