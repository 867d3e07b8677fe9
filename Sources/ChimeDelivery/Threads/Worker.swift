import Synchronization

/// A Worker runs a thread with a mailbox. The first command starts the thread, so an unused channel costs no thread.
///
/// The body keeps its state in local variables and shares only the mailbox.
package final class Worker<Command: Sendable>: Sendable {
  private enum State {
    case idle
    case running(Mailbox<Command>)
    /// The mailbox of the ending thread, if one was started.
    case stopped(Mailbox<Command>?)
  }

  private let name: String
  private let body: @Sendable (Mailbox<Command>) -> Void
  /// A mutex guards the state because any thread may send the first command. It is held while the thread starts, so
  /// that only one starts.
  private let state = Mutex(State.idle)

  /// - Parameter body: Takes commands until it closes the mailbox, then returns.
  package init(name: String, body: @escaping @Sendable (Mailbox<Command>) -> Void) {
    self.name = name
    self.body = body
  }

  /// Posts a command and starts the thread if necessary. Returns false after `stop`.
  ///
  /// - Throws: `SystemError` if no thread or descriptor is available. A later command tries again.
  package func post(_ command: Command) throws(SystemError) -> Bool {
    try state.withLock { (state) throws(SystemError) -> Bool in
      switch state {
      case .stopped: return false
      case .running(let mailbox) where mailbox.post(command): return true
      // A thread that could not open its descriptors closed its mailbox. A new thread may succeed.
      case .running, .idle:
        let mailbox = try Mailbox<Command>()
        let body = body
        // The command is posted before the thread starts. A thread that cannot begin closes its mailbox and reports the
        // failure.
        let taken = mailbox.post(command)
        try WorkerThread.start(name: name) { body(mailbox) }
        state = .running(mailbox)
        return taken
      }
    }
  }

  /// Posts the last command to a running thread. A thread that never started stays unstarted.
  ///
  /// - Returns: Whether the thread will read the command.
  package func stop(_ command: Command) -> Bool {
    state.withLock { state in
      switch state {
      case .idle:
        state = .stopped(nil)
        return false
      case .running(let mailbox):
        state = .stopped(mailbox)
        return mailbox.post(command)
      case .stopped(let mailbox): return mailbox?.post(command) ?? false
      }
    }
  }
}
