import Dispatch

/// A DispatchExecutor runs jobs on one serial Dispatch queue.
///
/// As an actor's executor it lets timer and descriptor handlers of that queue enter the actor by `assumeIsolated`
/// (SE-0392, SE-0424). Linux has no `DispatchSerialQueue`. As a task's preferred executor (SE-0417) it keeps code
/// outside actors off the global pool. The first job in that pool makes libdispatch check the pool once a second
/// forever, which would wake an idle process. All tasks of the daemon outside the loop prefer such an executor.
final class DispatchExecutor: SerialExecutor, TaskExecutor {
  let queue: DispatchQueue

  /// Uses the default quality of service. For a higher one libdispatch would request a better nice value, which an
  /// ordinary user is refused, and log a line for each thread.
  init(label: String) { queue = DispatchQueue(label: label, qos: .default) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      job.runSynchronously(isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
