import ChimeCore
import ChimeSchedule
import Dispatch

// Commits of requests, and their effects.
extension EventLoop {
  /// Tells the loop that a transaction of a request has committed. The loop handles this before any later call; nobody
  /// waits for it.
  nonisolated func hasCommitted(_ wakeups: NextWakeups, _ effects: [PostCommitEffect], with context: ReminderContext) {
    executor.queue.async { self.assumeIsolated { $0.committed(wakeups, effects, with: context) } }
  }

  /// Applies the commit of a request. `context` is the one that the transaction used.
  func committed(_ wakeups: NextWakeups, _ effects: [PostCommitEffect], with context: ReminderContext) {
    let effects = effects.filter { !isSuperseded($0) }
    for effect in effects {
      switch effect {
      case .event(let daemonEvent) where [.changed, .removed].contains(daemonEvent.kind):
        guard let id = daemonEvent.reminder else { break }
        degradedMode.forget(id)
        // Degraded mode may have shown a reminder that was removed since. Its messages must not be recorded.
        if daemonEvent.kind == .removed { drop { $0.delivery.occurrence.reminder == id && $0.delivery.event == nil } }
      case .event(let daemonEvent) where daemonEvent.kind == .pinged:
        daemonEvent.reminder.map(degradedMode.awaited)?.forEach { degradedMode.forget($0) }
      case .withdraw(let occurrence, _): degradedMode.forget(occurrence)
      default: break
      }
    }
    handle(.wakeups(wakeups))
    take(effects)
    if !effects.isEmpty { storeWorks() }
    pruneHistory()
    considerSnapshot()
    // The transaction may have missed a recomputation that followed a change.
    guard context.version != self.context.version else { return }
    recompute(
      effects.compactMap { effect in
        if case .event(let daemonEvent) = effect { daemonEvent.reminder } else { nil }
      })
  }

  /// Returns whether a snoozed occurrence has already fired again from memory and is visible.
  private func isSuperseded(_ effect: PostCommitEffect) -> Bool {
    guard case .withdraw(let id, let until?) = effect else { return false }
    return degradedMode.hasFired(id, atEndOfSnoozeUntil: until)
  }

  func take(_ effects: [PostCommitEffect]) {
    var daemonEvents: [DaemonEvent] = []
    var withdrawn: Set<OccurrenceID> = []
    for effect in effects {
      switch effect {
      case .event(let daemonEvent): daemonEvents.append(daemonEvent)
      case .withdraw(let occurrence, _):
        channels.withdraw(occurrence)
        withdrawn.insert(occurrence)
      case .cancelled(let ids): drop { ids.contains($0.delivery.id) }
      case .opened(let queue): handle(.opened(queue))
      case .endpointsChanged: reloadEndpoints()
      }
    }
    if !withdrawn.isEmpty { drop { withdrawn.contains($0.occurrence.id) && $0.delivery.event == nil } }
    publish(daemonEvents)
    // The change may concern a reminder whose calendar is missing.
    if !missingCalendars.isEmpty, daemonEvents.contains(where: { [.changed, .removed].contains($0.kind) }) {
      Task { await withTaskExecutorPreference(executor) { await surveyCalendars() } }
    }
  }

  /// Publishes events to the log, the counters and the watchers.
  func publish(_ daemonEvents: [DaemonEvent]) {
    guard !daemonEvents.isEmpty else { return }
    count(daemonEvents)
    log(
      daemonEvents.lazy.map { daemonEvent in
        Log.Entry(level: daemonEvent.level, message: daemonEvent.message, id: daemonEvent.id) { daemonEvent.fields }
      })
    streamToWatchers(daemonEvents)
    staleSummary()
  }
}
