import ChimeCore
import ChimeSchedule
import Dispatch
import Glibc

/// When snapshots are due. A value: the loop gives it the time.
struct SnapshotTiming: Sendable {
  /// When the newest was taken, by the clock of then.
  var latest: Instant?
  private var notBefore: Instant?

  /// How long after a failure none is tried.
  static let retry = Milliseconds.hours(1)

  /// Whether one is due now that something was written.
  ///
  /// - Parameter start: when the daemon started; nil: it is just starting.
  func isDue(at now: Instant, every interval: Milliseconds, runningSince start: Instant?) -> Bool {
    // As long as the clock of a machine that has just started may be another's.
    let settling = min(HistoryState.settling, interval)
    if let start, now < start + settling, now >= start { return false }
    // After the clock was set back either may be years away.
    if let notBefore, now < notBefore, notBefore - now <= max(Self.retry, settling) { return false }
    guard let latest else { return true }
    return now - latest >= interval || latest - now > interval
  }

  mutating func failed(at now: Instant) { notBefore = now + Self.retry }

  mutating func clockWasSet(at now: Instant) { notBefore = now + HistoryState.settling }
}

/// What the loop knows of snapshots, and of what the store was restored from.
struct SnapshotState {
  var timing = SnapshotTiming()
  var latest: StoreSnapshot? { didSet { timing.latest = latest?.takenAt } }
  /// The one that is being taken.
  var task: Task<StoreSnapshot, any Error>?
  /// Why the latest attempt failed.
  var problem: String?
  var restoration: Restoration?

  /// How long a restoration is told of.
  static let reminding = Milliseconds.days(14)
}

// A snapshot is taken when something is written anyway and a day has passed since the last, not by a timer: an idle
// machine is not woken for it, and what is not written needs no copy.
extension EventLoop {
  /// Under this name the store keeps of which restoration a notice was given.
  private static let toldNote = Restoration.note + ".told"

  /// Hears of what befalls the store from now on, and of what has befallen it while it was opened.
  func watchStore() {
    snapshots.latest = snapshotManager?.snapshots().first
    snapshotManager?.watch { [weak self] incident in
      guard let self else { return }
      executor.queue.async { self.assumeIsolated { $0.heard(incident) } }
    }
  }

  // MARK: Taking them

  /// - Parameter atStart: whether the daemon has just started: then one is taken only of what has changed since the last.
  func considerSnapshot(atStart: Bool = false) {
    guard let snapshotManager, configuration.snapshots > 0, !isStopping, snapshots.task == nil else { return }
    let start = atStart ? nil : startedAt
    guard snapshots.timing.isDue(at: SystemClock.now, every: configuration.snapshotEvery, runningSince: start) else {
      return
    }
    guard !atStart || snapshotManager.wasChangedSinceSnapshot else { return }
    _ = takeSnapshot()
  }

  /// Takes one, or joins in one that is being taken. Nil when the store keeps none.
  func takeSnapshot() -> Task<StoreSnapshot, any Error>? {
    if let task = snapshots.task { return task }
    guard let snapshotManager else { return nil }
    // Where none is to be taken, one that is asked for does not end others.
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
    // The store has been closed, or another was put in its place.
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
      // While the daemon starts, all is read afterwards anyway.
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

  /// Another store stands in the place of the one that this loop knew: what it holds of that one is let go, and all that
  /// is read at a start is read again.
  private func resumeAfterRestoration() async {
    drop { _ in true }
    degradedMode.storeIsAnother()
    snapshots.latest = snapshotManager?.snapshots().first
    do {
      // It may be as full a disk as before, which takes no changes.
      let (wakeups, known, _, _) = try await firstLook()
      adopt(known)
      if degradedMode.owesStart { handle(.kept) }
      handle(.wakeups(wakeups))
    } catch {
      storeFailed(error, "the restored data could not be read")
    }
    await reviewRestoration()
    await reviewScheduleContext()
    await surveyCalendars()
    staleSummary()
  }

  /// Finds out whether the store was restored not long ago, and gives notice of it on the desktop once.
  func reviewRestoration() async {
    let (now, context, wakeupsReader) = (SystemClock.now, context, wakeupsReader)
    // The system's daemon has no desktop of its own.
    let owner = paths.isSystem ? nil : paths.uid
    do {
      guard let text = try await store.read({ try $0.note(Restoration.note) }), let found = Restoration(text: text)
      else { return }
      let wasHeard = snapshots.restoration == found
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
      // Ended between the restoration and its notice.
      if !wasHeard { tell(of: found) }
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

  /// What a person should know, in sentences. A restoration is told of until the damaged file has been taken away, or for
  /// two weeks.
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
