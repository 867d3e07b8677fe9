import ChimeControl
import ChimeCore
import ChimeSchedule
import Dispatch

extension EventLoop {
  /// Runs diagnostics on another thread. Concurrent calls with the same argument share one run.
  ///
  /// - Parameter sees: the owner whose secrets may be named; nil for all.
  func examine(for sees: UInt32?) async -> DaemonInterface.Examination {
    if let task = examinations[sees] { return await task.value }
    let wantsWake = (try? await store.read { try $0.wakeups().nextWake != nil })
    let needsDesktop = paths.isSystem ? false : await needsDesktop()
    // Another call may have started a run while the store was read.
    if let task = examinations[sees] { return await task.value }
    let examiner = DiagnosticsCollector(paths: paths, inForce: configuration, zones: zones, sees: sees)
    let problem = wakeAlarm.problem
    let task = Task {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "io.chime.examination").async {
          continuation.resume(
            returning:
              examiner.run(wakeProblem: problem, wantsWake: wantsWake, needsDesktop: needsDesktop))
        }
      }
    }
    examinations[sees] = task
    let examination = await task.value
    examinations[sees] = nil
    return examination
  }

  /// Returns whether an active reminder uses the desktop; nil if the search stopped before it was certain.
  ///
  /// On most machines the first reminder decides. The search reads the next due ones first, at most 10,000, because a
  /// person waits for it.
  private func needsDesktop() async -> Bool? {
    let size = 500
    for part in 0..<20 {
      let page = Page(limit: size, offset: part * size)
      let found = try? await store.read { transaction in
        let records = try transaction.reminders(ReminderFilter(includesFinished: false), page: page)
        return (
          isNeeded: records.contains { $0.reminder.channels(atRepeat: .max).contains(.desktop) },
          isLast: records.count + transaction.unreadable.count < size
        )
      }
      guard let found else { return nil }
      if found.isNeeded { return true }
      if found.isLast { return false }
    }
    return nil
  }
}
