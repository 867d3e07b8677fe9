import Synchronization

/// A worker thread with its mailbox, started by its first command, so that a channel nobody uses costs no thread.
///
/// The body owns everything it works with as local values; nothing but the mailbox is shared with it.
package final class Worker<Command: Sendable>: Sendable {
  private enum State {
    case idle
    case running(Mailbox<Command>)
    /// With the mailbox of the thread that ends, if there was one.
    case stopped(Mailbox<Command>?)
  }

  private let name: String
  private let body: @Sendable (Mailbox<Command>) -> Void
  /// Behind a mutex because any thread may send the first command; held while the thread is started, so that it is
  /// started once.
  private let state = Mutex(State.idle)

  /// - Parameter body: takes commands until it has closed the mailbox, then returns.
  package init(name: String, body: @escaping @Sendable (Mailbox<Command>) -> Void) {
    self.name = name
    self.body = body
  }

  /// Whether the command was taken: false after the stop.
  ///
  /// - Throws: `SystemError` when there is no thread or descriptor to be had; a later command tries again.
  package func post(_ command: Command) throws(SystemError) -> Bool {
    try state.withLock { (state) throws(SystemError) -> Bool in
      switch state {
      case .stopped: return false
      case .running(let mailbox) where mailbox.post(command): return true
      // A thread that found no descriptors to begin with has closed its mailbox: the next one may be luckier.
      case .running, .idle:
        let mailbox = try Mailbox<Command>()
        let body = body
        // Before there is a thread: one that cannot begin closes its mailbox, and tells whoever is in it.
        let taken = mailbox.post(command)
        try WorkerThread.start(name: name) { body(mailbox) }
        state = .running(mailbox)
        return taken
      }
    }
  }

  /// Sends the last command, to a thread that runs; one that never did will not be started any more.
  ///
  /// - Returns: whether the thread will read it.
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
