import Glibc

/// Delivers signals as numbers over a pipe, so that poll(2) can wait for them. A process has one at most.
final class SignalPipe {
  // A signal handler has no context, so the pipe is global. It is written once here; the handler only reads it.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  /// The read end; it becomes readable when signals arrive.
  let descriptor: Int32

  /// - Parameters:
  ///   - signals: the signals to handle; those that the process already ignores stay ignored, as nohup(1) requires.
  ///   - always: the signals to handle even if ignored.
  /// - Returns: nil when no pipe can be created, with the reason in `errno`.
  init?(_ signals: [Int32], always: [Int32]) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    descriptor = ends[0]
    Self.writeEnd = ends[1]
    var note = sigaction()
    note.__sigaction_handler.sa_handler = { number in
      let before = errno
      var byte = UInt8(truncatingIfNeeded: number)
      _ = Glibc.write(SignalPipe.writeEnd, &byte, 1)
      errno = before
    }
    for signal in signals {
      var old = sigaction()
      sigaction(signal, nil, &old)
      // SIG_IGN is address 1, which Swift cannot express as a function value: only its bits can be compared.
      let isIgnored = unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1
      if !isIgnored { sigaction(signal, &note, nil) }
    }
    for signal in always { sigaction(signal, &note, nil) }
  }

  /// Returns the numbers of the signals received since the last call, in order.
  func arrived() -> [Int32] {
    var numbers: [Int32] = []
    var byte: UInt8 = 0
    while Glibc.read(descriptor, &byte, 1) == 1 { numbers.append(Int32(byte)) }
    return numbers
  }
}
