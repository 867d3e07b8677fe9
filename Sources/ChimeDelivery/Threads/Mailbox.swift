import CLinux
import Glibc
import Synchronization

/// A Mailbox passes commands from any thread to one worker thread, which polls `descriptor`.
///
/// A mutex guards the queue because any thread may send. It is held only to append or to take all. A closed mailbox
/// refuses commands, so the sender knows that no worker will read them.
package final class Mailbox<Command: Sendable>: Sendable {
  private struct State {
    var commands: [Command] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  /// An eventfd, readable while commands are waiting.
  package let descriptor: Int32

  /// - Throws: `SystemError` if the process has no descriptor left.
  package init() throws(SystemError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError("eventfd", errno) }
  }

  deinit { Glibc.close(descriptor) }

  /// Appends a command. Returns false if the mailbox is closed.
  package func post(_ command: Command) -> Bool {
    let (taken, isFirst) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      state.commands.append(command)
      return (true, state.commands.count == 1)
    }
    // Only the first command signals the eventfd, for all commands until the next `take`.
    if isFirst { eventfd_write(descriptor, 1) }
    return taken
  }

  /// Removes and returns all waiting commands. Called by the worker.
  package func take() -> [Command] {
    var count: eventfd_t = 0
    eventfd_read(descriptor, &count)
    return state.withLock { state in
      defer { state.commands.removeAll() }
      return state.commands
    }
  }

  /// Refuses all later commands and returns the waiting ones.
  package func close() -> [Command] {
    state.withLock { state in
      state.isClosed = true
      defer { state.commands.removeAll() }
      return state.commands
    }
  }
}

/// A failed system call and its errno.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  let call: String
  let number: Int32

  init(_ call: String, _ number: Int32) {
    self.call = call
    self.number = number
  }

  /// Whether descriptors, processes or memory ran out. Such a failure may be temporary.
  var isShortage: Bool { [EMFILE, ENFILE, EAGAIN, ENOMEM, ENOBUFS].contains(number) }

  package var description: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(number, &buffer, buffer.count) == 0 else { return "\(call): error \(number)" }
    return "\(call): " + String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// A thread that runs one closure and ends.
enum WorkerThread {
  private final class Body: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// Starts a detached thread with all signals blocked. Signals of the process then go to the thread that waits for
  /// them, and a peer that hangs up cannot end the process by SIGPIPE.
  ///
  /// - Parameter name: At most 15 bytes, the kernel's limit.
  static func start(name: String, _ run: @escaping @Sendable () -> Void) throws(SystemError) {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    // A new thread inherits the signal mask. Setting it before creation leaves no gap.
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    // pthread_create takes only a raw pointer. The new thread is the only user of the body and releases it.
    let body = Unmanaged.passRetained(Body(name: name, run: run))
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        chime_name_thread(body.name)
        body.run()
        return nil
      }, body.toOpaque())
    guard failure == 0 else {
      body.release()
      throw SystemError("pthread_create", failure)
    }
    pthread_detach(thread)
  }
}
