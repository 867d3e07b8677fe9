import Dispatch

/// Runs jobs on one serial Dispatch queue.
///
/// As an actor's executor it lets timer and descriptor handlers of that queue enter the actor by `assumeIsolated`
/// (SE-0392, SE-0424); Linux has no `DispatchSerialQueue`. As a task's preferred executor (SE-0417) it keeps code that
/// belongs to no actor off the global pool: the first job there makes libdispatch look after its pool once a second,
/// for good, and so wake up an idle process. Tasks of the daemon that are not the loop's own prefer one of these.
final class DispatchExecutor: SerialExecutor, TaskExecutor {
  let queue: DispatchQueue

  /// The default quality of service: for a higher one libdispatch would ask for a better nice value, which an ordinary
  /// user does not get, and log a line for each thread that was refused.
  init(label: String) { queue = DispatchQueue(label: label, qos: .default) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      job.runSynchronously(isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
