import Dispatch
import Glibc

/// What a daemon cannot do without of its process, asked for before anything is begun.
enum ProcessMeans {
  /// Fewer descriptors leave none for clients and programs.
  static let leastDescriptors: rlim_t = 32
  /// The loop, the request handler, the two queues of the store, a channel and the log.
  private static let leastThreads = 6

  /// Opens `/dev/null` where standard input, output or error is closed: what is opened first would have their numbers, and
  /// what is written to standard error would get into the store's lock or a client's connection.
  static func openStandardDescriptors() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // The lowest that is free: this one.
      _ = open("/dev/null", O_RDWR)
    }
  }

  /// What is missing, as a sentence that says what to do; nil when everything is there.
  static var problem: String? {
    var descriptors = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    if getrlimit(kind, &descriptors) == 0, descriptors.rlim_cur < leastDescriptors {
      return
        "chimed may open \(descriptors.rlim_cur) files and needs at least \(leastDescriptors): raise LimitNOFILE= "
        + "of the unit, or ulimit -n"
    }
    guard let code = threadFailure else { return nil }
    return "chimed cannot start its threads (\(SystemError("pthread_create", code: code).reason)): raise TasksMax= or "
      + "LimitNPROC= of the unit, or ulimit -u"
  }

  /// Why not as many threads can run at once as are needed; nil when they can.
  private static var threadFailure: Int32? {
    let gate = DispatchSemaphore(value: 0)
    let waiting = Unmanaged.passUnretained(gate).toOpaque()
    var threads: [pthread_t] = []
    var failure: Int32?
    while failure == nil, threads.count < leastThreads {
      var thread = pthread_t()
      let code = pthread_create(
        &thread, nil,
        { gate in
          if let gate { Unmanaged<DispatchSemaphore>.fromOpaque(gate).takeUnretainedValue().wait() }
          return nil
        }, waiting)
      if code == 0 { threads.append(thread) } else { failure = code }
    }
    for _ in threads { gate.signal() }
    for thread in threads { pthread_join(thread, nil) }
    return failure
  }
}
