import Dispatch

/// Runs an actor's jobs on one serial Dispatch queue, so that timer and descriptor handlers of that queue may enter
/// the actor by `assumeIsolated` (SE-0392, SE-0424). Linux has no `DispatchSerialQueue`.
final class DispatchExecutor: SerialExecutor {
  let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
