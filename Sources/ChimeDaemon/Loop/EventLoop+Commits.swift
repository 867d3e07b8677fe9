import ChimeCore
import ChimeSchedule
import Dispatch

// Commits of requests, and what follows from them.
extension EventLoop {
  /// Tells the loop that a transaction of a request has committed. It hears so before all that it is asked from then on,
  /// and nobody waits for that.
  nonisolated func hasCommitted(_ horizon: Horizon, _ notices: [LoopNotice], with bearings: Bearings) {
    executor.queue.async { self.assumeIsolated { $0.committed(horizon, notices, with: bearings) } }
  }

  /// A transaction of a request has committed.
  ///
  /// - Parameter bearings: those that it computed with.
  func committed(_ horizon: Horizon, _ notices: [LoopNotice], with bearings: Bearings) {
    let notices = notices.filter { !isOvertaken($0) }
    for notice in notices {
      switch notice {
      case .event(let happening) where [.changed, .removed].contains(happening.kind):
        guard let id = happening.reminder else { break }
        standby.forget(id)
        // What has just come from memory of one that is gone has no place in the store.
        if happening.kind == .removed { drop { $0.delivery.occurrence.reminder == id && $0.delivery.event == nil } }
      case .event(let happening) where happening.kind == .pinged:
        happening.reminder.map(standby.awaited)?.forEach { standby.forget($0) }
      case .withdraw(let occurrence, _): standby.forget(occurrence)
      default: break
      }
    }
    handle(.horizon(horizon))
    take(notices)
    if !notices.isEmpty { storeWorks() }
    pruneHistory()
    considerSnapshot()
    // It may have missed the computing anew that followed a change.
    guard bearings.version != self.bearings.version else { return }
    recompute(
      notices.compactMap { notice in
        if case .event(let happening) = notice { happening.reminder } else { nil }
      })
  }

  /// Whether what was put off has come again from memory meanwhile, and stands on the screen.
  private func isOvertaken(_ notice: LoopNotice) -> Bool {
    guard case .withdraw(let id, let until?) = notice else { return false }
    return standby.hasFired(id, atEndOfSnoozeUntil: until)
  }

  func take(_ notices: [LoopNotice]) {
    var happenings: [Happening] = []
    var withdrawn: Set<OccurrenceID> = []
    for notice in notices {
      switch notice {
      case .event(let happening): happenings.append(happening)
      case .withdraw(let occurrence, _):
        channels.withdraw(occurrence)
        withdrawn.insert(occurrence)
      case .cancelled(let ids): drop { ids.contains($0.delivery.id) }
      case .opened(let lane): handle(.opened(lane))
      case .endpointsChanged: reloadEndpoints()
      }
    }
    if !withdrawn.isEmpty { drop { withdrawn.contains($0.occurrence.id) && $0.delivery.event == nil } }
    publish(happenings)
    // A reminder that went on without its calendar may have been changed.
    if !missingCalendars.isEmpty, happenings.contains(where: { [.changed, .removed].contains($0.kind) }) {
      Task { await withTaskExecutorPreference(executor) { await surveyCalendars() } }
    }
  }

  /// Tells the log and those who watch.
  func publish(_ happenings: [Happening]) {
    guard !happenings.isEmpty else { return }
    count(happenings)
    log(
      happenings.lazy.map { happening in
        Log.Entry(level: happening.level, message: happening.message, id: happening.id) { happening.fields }
      })
    streamToWatchers(happenings)
    staleSummary()
  }
}
