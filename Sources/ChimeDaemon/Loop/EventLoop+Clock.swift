import ChimeCore
import ChimeSchedule
import Glibc

extension EventLoop {
  func watchClock(_ poller: Poller) {
    if let problem = zones.localProblem { log(.warning, problem) }
    do {
      let watch = try ClockWatch(localLink: paths.localLink)
      watched[try poller.add(watch.clock, .readable)] = .clock
      watched[try poller.add(watch.link, .readable)] = .link
      clockWatch = watch
    } catch {
      log(.warning, "steps of the clock will not be noticed at once; ignoring \(error.call): \(error.reason)")
    }
  }

  func clockIsReady() {
    guard let change = clockWatch?.clockChange(), case .stepped(let step, let slept) = change else { return }
    // While the loop follows the database's clock, a step of the local clock does not matter.
    clockHasStepped(by: SystemClock.isFollowing ? .zero : step, slept: slept)
  }

  /// Handles a step of the reference clock, or a sleep of the machine.
  func clockHasStepped(by step: Milliseconds, slept: Milliseconds, ofDatabase: Bool = false) {
    if step > .seconds(1) || step < .seconds(-1) {
      clockEvents += 1
      let way = step > .zero ? "forward" : "back"
      let size = DurationText.format(whole(max(step, .zero - step)))
      let message =
        ofDatabase ? "the database's clock was set \(way) by \(size)" : "the clock was set \(way) by \(size)"
      publish([DaemonEvent(kind: .clock, message: message)])
      outbox.seenFailing = [:]
      history.clockWasSet(at: SystemClock.now)
      snapshots.timing.clockWasSet(at: SystemClock.now)
    }
    if step < .zero { uptime.clockWentBack(to: SystemClock.now) }
    if slept > .seconds(1) {
      carryOut(sleep.cycle.handle(.slept), saying: "the machine slept for \(DurationText.format(whole(slept)))")
    } else {
      handle(step < .zero ? .clockWentBack(by: .zero - step) : .awake)
    }
    if step < .seconds(-1) { recomputeDueTimes([.backwardStep]) }
    if step > .seconds(1) { rememberClock() }
    // Later attempts would otherwise wait longer by the size of the step.
    if step < .minutes(-1) { wakeQueues { _ in true } }
  }

  /// Notes the time in the store, so that the next daemon detects a clock that was set back meanwhile.
  func rememberClock() {
    let store = store
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          try await store.write { try Recompute.rememberClock(in: $0, now: SystemClock.now) }
        } catch {
          log(.info, "the time could not be noted; ignoring: \(error)")
        }
      }
    }
  }

  /// Retries the waiting deliveries of these queues at once.
  func wakeQueues(_ isMeant: @escaping @Sendable (DeliveryQueue) -> Bool) {
    let (store, wakeupsReader) = (store, wakeupsReader)
    Task {
      await withTaskExecutorPreference(executor) {
        // Deliveries that are being recorded now get a retry time, which may lie in the future after a step back.
        for _ in 0..<3 { await outboxTask?.value }
        do {
          let wakeups = try await store.write { transaction in
            let now = SystemClock.now
            for queue in try transaction.wakeups().outbox.keys where isMeant(queue) {
              try transaction.wake(queue: queue, now: now)
            }
            return try wakeupsReader.read(transaction)
          }
          // Clear the unavailable state of queues, and arm timers that a step of the clock would delay.
          handle(.policies(scheduler.policies, renewed: []))
          handle(.wakeups(wakeups))
        } catch {
          trouble.needsWake = true
          arm(arrearsAfter: Scheduler.storeRetry)
          storeFailed(error, "deliveries wait")
        }
      }
    }
  }

  private func whole(_ span: Milliseconds) -> Milliseconds { .seconds(span.rawValue / 1_000) }

  func linkIsReady() {
    guard clockWatch?.linkChanged() == true else { return }
    recomputeDueTimes(refreshZones())
  }

  /// Recomputes due times in pages, so that a million reminders need no more memory and block no longer than a hundred.
  /// A reminder that is already due stays due.
  func recomputeDueTimes(_ reasons: Set<Recompute>) {
    let reasons = renewal.begin(reasons, now: SystemClock.now)
    guard let first = reasons.first else { return }
    let selection = reasons.count == 1 ? first.selection : .all
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          do {
            defer { renewal.end() }
            if reasons.contains(where: \.concernsQuiet) { try await reevaluateHeld() }
            // Quiet hours do not change scheduled times, so no reminder has to be read.
            if reasons != [.quietHours] { try await recomputeDueTimes(selection, reasons) }
          }
          try await noteScheduleContext { try Recompute.rememberClock(in: $0, now: SystemClock.now) }
        } catch {
          renewal.owe(reasons, now: SystemClock.now)
          arm(arrearsAfter: Scheduler.storeRetry)
          storeFailed(error, "due times could not be recomputed")
        }
      }
    }
  }

  /// Retries a store that refused a recomputation or a wake-up. On an idle machine nothing else would, and due times
  /// would stay wrong.
  func makeUp() {
    guard !isStopping, !renewal.pending.isEmpty || trouble.needsWake else { return }
    Task {
      await withTaskExecutorPreference(executor) {
        await tryStore()
        if !renewal.pending.isEmpty || trouble.needsWake { arm(arrearsAfter: Scheduler.storeRetry) }
      }
    }
  }

  private func recomputeDueTimes(_ selection: ReminderSelection, _ reasons: Set<Recompute>) async throws {
    var last: ReminderID?
    repeat {
      let (ids, end) = try await store.read { [last] transaction in
        let ids = try transaction.reminderIDs(selection, after: last, limit: 1_000)
        let concerned = try ids.filter { id in
          guard let record = try transaction.readableReminder(id) else { return false }
          return reasons.contains { $0.concerns(record.reminder) }
        }
        return (concerned, ids.last)
      }
      try await reschedule(ids, wentBack: reasons.contains(.backwardStep))
      last = end
    } while last != nil
  }

  func noteScheduleContext(
    _ more: @escaping @Sendable (any StoreTransaction) throws -> Void = { _ in }
  ) async throws {
    let (renewal, text) = (renewal, surroundingsText)
    try await store.write {
      try renewal.note(text, in: $0, now: SystemClock.now)
      try more($0)
    }
    self.renewal.noted()
  }

  /// Recomputes the due times of these reminders.
  func recompute(_ ids: [ReminderID]) {
    guard !ids.isEmpty else { return }
    renewal.begin(now: SystemClock.now)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          do {
            defer { renewal.end() }
            // The clock may have gone back after they were decided.
            try await reschedule(ids, wentBack: true)
            // A decision made meanwhile may have used the old quiet hours.
            try await reevaluateHeld()
          }
          try await noteScheduleContext()
        } catch {
          // The ids are not kept, so all reminders are recomputed.
          renewal.owe(Recompute.all, now: SystemClock.now)
          arm(arrearsAfter: Scheduler.storeRetry)
          storeFailed(error, "due times could not be recomputed")
        }
      }
    }
  }

  /// Re-evaluates occurrences that quiet hours hold, against the present quiet hours.
  func lookAround() {
    Task {
      await withTaskExecutorPreference(executor) {
        do { try await reevaluateHeld() } catch { storeFailed(error, "due reminders wait") }
      }
    }
  }

  private func reevaluateHeld() async throws {
    let wakeupsReader = wakeupsReader
    let wakeups = try await store.write { transaction in
      try transaction.reevaluateHeld(now: SystemClock.now)
      return try wakeupsReader.read(transaction)
    }
    handle(.wakeups(wakeups))
  }

  private func reschedule(_ ids: [ReminderID], wentBack: Bool) async throws {
    let wakeupsReader = wakeupsReader
    for start in stride(from: 0, to: ids.count, by: 200) {
      let batch = ids[start..<min(start + 200, ids.count)]
      let (context, renewal) = (context, renewal)
      let wakeups = try await store.write { transaction in
        let now = SystemClock.now
        try renewal.mark(transaction, now: now)
        for id in batch { try Recompute.reschedule(id, in: transaction, context, now: now, wentBack: wentBack) }
        return try wakeupsReader.read(transaction)
      }
      handle(.wakeups(wakeups))
    }
  }
}
