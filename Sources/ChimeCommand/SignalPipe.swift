import Glibc

/// Signals as numbers that can be waited for beside other descriptors. A process has one.
final class SignalPipe {
  // One a process. The handler only reads it.
  private nonisolated(unsafe) static var writeEnd: Int32 = -1

  /// It is readable when signals have come.
  let descriptor: Int32

  /// - Parameters:
  ///   - signals: those that are listened for; what was to be ignored stays so, as nohup(1) wants it.
  ///   - always: those that are listened for even then.
  /// - Returns: nil when no pipe can be made, with the reason in `errno`.
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
      // SIG_IGN is the address 1, which a function's type has no name for: only its bits can be compared.
      let isIgnored = unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1
      if !isIgnored { sigaction(signal, &note, nil) }
    }
    for signal in always { sigaction(signal, &note, nil) }
  }

  /// The numbers of the signals that have come since, in their order.
  func arrived() -> [Int32] {
    var numbers: [Int32] = []
    var byte: UInt8 = 0
    while Glibc.read(descriptor, &byte, 1) == 1 { numbers.append(Int32(byte)) }
    return numbers
  }
}
