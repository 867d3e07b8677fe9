import Dispatch

/// Runs an actor's jobs on one serial Dispatch queue, so that timer and descriptor handlers of that queue may enter
/// the actor by `assumeIsolated` (SE-0392, SE-0424). Linux has no `DispatchSerialQueue`.
final class DispatchExecutor: SerialExecutor {
  let queue: DispatchQueue

  /// The default quality of service: for a higher one libdispatch would ask for a better nice value, which an ordinary
  /// user does not get, and log a line for each thread that was refused.
  init(label: String) { queue = DispatchQueue(label: label, qos: .default) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
