import CLinux
import Glibc
import Synchronization

/// Commands from any thread to one worker thread, which waits on `descriptor` among its other descriptors.
///
/// The queue is behind a mutex because senders are on any thread; it is held only to append or to take all. Once
/// closed, the mailbox takes nothing more, so whoever posts knows whether a worker will ever read it.
package final class Mailbox<Command: Sendable>: Sendable {
  private struct State {
    var commands: [Command] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  /// An eventfd: readable while there are commands.
  package let descriptor: Int32

  /// - Throws: `SystemError` when the process has no descriptor left.
  package init() throws(SystemError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError("eventfd", errno) }
  }

  deinit { Glibc.close(descriptor) }

  /// Whether the command was taken: false once the mailbox is closed.
  package func post(_ command: Command) -> Bool {
    let (taken, isFirst) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      state.commands.append(command)
      return (true, state.commands.count == 1)
    }
    // Whoever put the first one there rings for all that come until they are taken.
    if isFirst { eventfd_write(descriptor, 1) }
    return taken
  }

  /// All commands so far, for the worker.
  package func take() -> [Command] {
    var count: eventfd_t = 0
    eventfd_read(descriptor, &count)
    return state.withLock { state in
      defer { state.commands.removeAll() }
      return state.commands
    }
  }

  /// Refuses what comes from now on, and gives what had come.
  package func close() -> [Command] {
    state.withLock { state in
      state.isClosed = true
      defer { state.commands.removeAll() }
      return state.commands
    }
  }
}

/// A system call that failed, and why.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  let call: String
  let number: Int32

  init(_ call: String, _ number: Int32) {
    self.call = call
    self.number = number
  }

  /// Whether there was no descriptor, process or memory to be had, which may be otherwise in a moment.
  var isShortage: Bool { [EMFILE, ENFILE, EAGAIN, ENOMEM, ENOBUFS].contains(number) }

  package var description: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(number, &buffer, buffer.count) == 0 else { return "\(call): error \(number)" }
    return "\(call): " + String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// A thread that lives until its body returns.
enum WorkerThread {
  private final class Body: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// Starts a detached thread with every signal blocked, so that the process's signals go to whoever waits for them
  /// and a peer that hangs up cannot end the process by SIGPIPE.
  ///
  /// - Parameter name: at most 15 bytes, as the kernel keeps no more.
  static func start(name: String, _ run: @escaping @Sendable () -> Void) throws(SystemError) {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    // A new thread inherits the mask: set around its creation there is no moment without it.
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    // Retained here and released by the thread, which is the only one to use it after: pthread_create takes a raw
    // pointer only.
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
