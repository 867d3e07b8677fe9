import ChimeCore
import ChimeSchedule
import Dispatch

// Commits of requests, and what follows from them.
extension EventLoop {
  /// Tells the loop that a transaction of a request has committed. It hears so before all that it is asked from then on,
  /// and nobody waits for that.
  nonisolated func hasCommitted(_ wakeups: NextWakeups, _ effects: [PostCommitEffect], with context: ReminderContext) {
    executor.queue.async { self.assumeIsolated { $0.committed(wakeups, effects, with: context) } }
  }

  /// A transaction of a request has committed.
  ///
  /// - Parameter bearings: those that it computed with.
  func committed(_ wakeups: NextWakeups, _ effects: [PostCommitEffect], with context: ReminderContext) {
    let effects = effects.filter { !isOvertaken($0) }
    for effect in effects {
      switch effect {
      case .event(let daemonEvent) where [.changed, .removed].contains(daemonEvent.kind):
        guard let id = daemonEvent.reminder else { break }
        degradedMode.forget(id)
        // What has just come from memory of one that is gone has no place in the store.
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
    // It may have missed the computing anew that followed a change.
    guard context.version != self.context.version else { return }
    recompute(
      effects.compactMap { effect in
        if case .event(let daemonEvent) = effect { daemonEvent.reminder } else { nil }
      })
  }

  /// Whether what was put off has come again from memory meanwhile, and stands on the screen.
  private func isOvertaken(_ effect: PostCommitEffect) -> Bool {
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
    // A reminder that went on without its calendar may have been changed.
    if !missingCalendars.isEmpty, daemonEvents.contains(where: { [.changed, .removed].contains($0.kind) }) {
      Task { await withTaskExecutorPreference(executor) { await surveyCalendars() } }
    }
  }

  /// Tells the log and those who watch.
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
