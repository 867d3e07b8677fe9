import Dispatch
import Glibc

/// The resources that the daemon needs from its process, checked before anything else.
enum ProcessMeans {
  /// With fewer descriptors none are left for clients and programs.
  static let leastDescriptors: rlim_t = 32
  /// The threads of the loop, the request handler, the store's two queues, a channel and the log.
  private static let leastThreads = 6

  /// Opens `/dev/null` for closed standard descriptors. Otherwise the next opened file would get the number, and output
  /// to standard error would go into the store's lock or a client's connection.
  static func openStandardDescriptors() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // open(2) uses the lowest free number, which is this one.
      _ = open("/dev/null", O_RDWR)
    }
  }

  /// The missing resource with advice, as a sentence; nil if nothing is missing.
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

  /// The errno if the needed number of threads cannot run at once; nil if it can.
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
