import Glibc

/// A terminal in full-screen mode, which is restored however the program ends: normally, by a signal, or by a crash.
///
/// Full-screen mode means: alternate screen, no cursor, no line wrap, bracketed paste, and single keys without echo.
/// Ctrl-C, Ctrl-\ and Ctrl-Z remain signals.
///
/// Source: termios(3), signal-safety(7); xterm's "Control Sequences" (1049, 25, 7, 2004, 2026).
final class Terminal {
  /// The events other than keys.
  enum Signal: Equatable {
    case resized, interrupted, suspend, resumed
    /// The program must end by this signal.
    case end(Int32)
  }

  private let input: Int32
  private let output: Int32
  private var taken = termios()
  private let pipe: SignalPipe

  private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[?2004h\u{1B}[0m\u{1B}[2J"
  private static let leave = "\u{1B}[0m\u{1B}[?2026l\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  private static let ends: [Int32] = [SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU]
  private static let crashes: [Int32] = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]

  /// The data of the signal handlers, allocated before any handler is installed, and accessed only by plain loads and stores.
  fileprivate struct Saved {
    var input: Int32
    var output: Int32
    var modes: termios
    var isTaken = false
    var leave: UnsafeMutableBufferPointer<UInt8>
    /// The previous action of each signal in `crashes`.
    var earlier: UnsafeMutableBufferPointer<sigaction>
  }

  // Handlers need a global. The command's only thread and its signal handlers share it; handlers only read it, except
  // for `isTaken`, which they set to false.
  fileprivate nonisolated(unsafe) static var saved: UnsafeMutablePointer<Saved>?

  /// Takes over the terminal; `nil` if it is none, or belongs to another process.
  init?(input: Int32, output: Int32) {
    (self.input, self.output) = (input, output)
    var modes = termios()
    guard tcgetattr(input, &modes) == 0,
      let pipe = SignalPipe(Self.ends + [SIGTSTP], always: [SIGINT, SIGWINCH, SIGCONT])
    else { return nil }
    self.pipe = pipe
    let leave = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Self.leave.utf8.count)
    _ = leave.initialize(from: Self.leave.utf8)
    let earlier = UnsafeMutableBufferPointer<sigaction>.allocate(capacity: Self.crashes.count)
    earlier.initialize(repeating: sigaction())
    let saved = UnsafeMutablePointer<Saved>.allocate(capacity: 1)
    saved.initialize(
      to: Saved(
        input: input, output: output, modes: modes, leave: leave, earlier: earlier))
    Self.saved = saved
    taken = modes
    // Single keys without echo; no flow control, since Ctrl-S would freeze the screen.
    taken.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN)
    taken.c_iflag &= ~tcflag_t(IXON | ICRNL)
    listen()
    take()
  }

  deinit { release() }

  /// The descriptor that becomes readable when signals arrive.
  var signals: Int32 { pipe.descriptor }

  var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  // MARK: Full-screen mode

  /// Enters full-screen mode, also after a release.
  func take() {
    Self.saved?.pointee.isTaken = true
    tcsetattr(input, TCSADRAIN, &taken)
    write(Self.enter)
  }

  /// Restores the terminal.
  func release() { giveBack() }

  /// Restores the terminal and stops as on Ctrl-Z; returns when the process is continued, or at once in an orphaned
  /// process group. Call `take` afterwards.
  func suspend() {
    release()
    // Execution stops here until SIGCONT. The handler for SIGTSTP must be removed meanwhile, because a handled signal
    // does not stop.
    var action = sigaction()
    action.__sigaction_handler.sa_handler = SIG_DFL
    var ours = sigaction()
    sigaction(SIGTSTP, &action, &ours)
    raise(SIGTSTP)
    sigaction(SIGTSTP, &ours, nil)
  }

  /// Restores the terminal and ends the process by the signal, so that the parent sees the cause.
  func end(by signal: Int32) -> Never {
    release()
    Glibc.signal(signal, SIG_DFL)
    raise(signal)
    _exit(128 + signal)
  }

  // MARK: Writing and reading

  /// Writes all text, unless a signal arrives while the terminal is blocked.
  ///
  /// - Returns: `false` if the terminal is gone.
  @discardableResult
  func write(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
      if count >= 0 {
        written += count
      } else if errno == EAGAIN || errno == EINTR {
        // A blocked terminal must not keep the program from ending.
        var entries = [
          pollfd(fd: output, events: Int16(POLLOUT), revents: 0),
          pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&entries, 2, -1)
        if entries[0].revents == 0, entries[1].revents != 0 { return true }
      } else {
        return false
      }
    }
    return true
  }

  /// Returns the available bytes; `nil` at the end of the input.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(input, $0.baseAddress, $0.count) }
    if count > 0 { return Array(bytes[..<count]) }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil
  }

  /// Returns the signals since the last call.
  func arrived() -> [Signal] {
    pipe.arrived().reduce(into: [Signal]()) { signals, number in
      let signal: Signal =
        switch number {
        case SIGWINCH: .resized
        case SIGINT: .interrupted
        case SIGTSTP: .suspend
        case SIGCONT: .resumed
        default: .end(number)
        }
      if !signals.contains(signal) { signals.append(signal) }
    }
  }

  // MARK: Signals

  private func listen() {
    var crash = sigaction()
    crash.__sigaction_handler.sa_handler = { number in
      giveBack()
      guard let saved = Terminal.saved else { return }
      for (index, signal) in Terminal.crashes.enumerated() where signal == number {
        sigaction(number, &saved.pointee.earlier[index], nil)
      }
      // A fault recurs when this handler returns, and meets the previous action; `raise` resends a sent signal.
      raise(number)
    }
    // A stack overflow leaves no room for a handler, except on the alternate stack that the runtime may have installed.
    crash.sa_flags = Int32(SA_ONSTACK)
    for (index, signal) in Self.crashes.enumerated() {
      if let saved = Self.saved { sigaction(signal, &crash, &saved.pointee.earlier[index]) }
    }
    // For every normal exit.
    atexit { giveBack() }
  }
}

/// Restores the terminal. It calls only async-signal-safe functions.
private func giveBack() {
  guard let saved = Terminal.saved, saved.pointee.isTaken else { return }
  saved.pointee.isTaken = false
  // Wait only briefly for a blocked terminal.
  var entry = pollfd(fd: saved.pointee.output, events: Int16(POLLOUT), revents: 0)
  _ = poll(&entry, 1, 200)
  if entry.revents & Int16(POLLOUT) != 0 {
    _ = write(saved.pointee.output, saved.pointee.leave.baseAddress, saved.pointee.leave.count)
  }
  _ = tcsetattr(saved.pointee.input, TCSANOW, &saved.pointee.modes)
}
