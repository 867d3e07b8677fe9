import ChimeControl
import ChimeCore
import ChimeSchedule
import Dispatch

extension EventLoop {
  /// Looks at what this daemon stands on. It takes a while on other threads; who asks meanwhile for the same gets the same.
  ///
  /// - Parameter sees: whose secrets may be named; nil: everybody's.
  func examine(for sees: UInt32?) async -> DaemonInterface.Examination {
    if let task = examinations[sees] { return await task.value }
    let wantsWake = (try? await store.read { try $0.wakeups().nextWake != nil })
    let needsDesktop = paths.isSystem ? false : await needsDesktop()
    // Somebody else may have begun while the store was asked.
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

  /// Whether a reminder that still comes, or is open, is shown on the desktop; nil where too many had to be looked at.
  ///
  /// On most machines the first says it. Those that come next are asked first, and no more than fit into the time that a
  /// person waits.
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
