package import ChimeCore
package import Glibc

/// A thread that runs one closure and ends.
package enum StoreThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Starts a detached thread.
  ///
  /// - Parameters:
  ///   - name: for ps and top (proc(5)).
  ///   - nice: its priority (setpriority(2): on Linux a nice value belongs to a thread).
  package static func start(
    _ name: String, nice: Int32 = 0, _ run: @escaping @Sendable () -> Void
  ) throws(StoreFailure) {
    // pthread_create takes only a raw pointer. The new thread is the only user of the body and releases it.
    let body = Unmanaged.passRetained(
      Body {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        if file >= 0 {
          write(file, name, name.utf8.count)
          close(file)
        }
        if nice != 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, nice) }
        run()
      })
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, body.toOpaque())
    guard code == 0 else {
      body.release()
      throw .unavailable("no thread can be started (\(String(cString: strerror(code)))): see TasksMax= of the service")
    }
    pthread_detach(thread)
  }
}

/// Returns the time of a clock (clock_gettime(2)) in nanoseconds.
package func nanoseconds(_ clock: clockid_t) -> Int64 {
  var now = timespec()
  clock_gettime(clock, &now)
  return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
}
