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
    let wantsWake = (try? await store.read { try $0.horizon().nextWake != nil })
    // Somebody else may have begun while the store was asked.
    if let task = examinations[sees] { return await task.value }
    let examiner = Examiner(site: site, inForce: configuration, zones: zones, sees: sees)
    let problem = wakeAlarm.problem
    let task = Task {
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "io.chime.examination").async {
          continuation.resume(returning: examiner.run(wakeProblem: problem, wantsWake: wantsWake))
        }
      }
    }
    examinations[sees] = task
    let examination = await task.value
    examinations[sees] = nil
    return examination
  }
}
