import Glibc

/// A terminal that is taken for a full screen and given back as it was, however the program ends: by its own end, by a
/// signal, or by a crash.
///
/// While it is taken: the alternate screen, no cursor, no line wrap, pastes in brackets; keys come as they are pressed, and
/// without being shown. Ctrl-C, Ctrl-\ and Ctrl-Z stay signals.
///
/// Source: termios(3), signal-safety(7); xterm's "Control Sequences" (1049, 25, 7, 2004, 2026).
final class Terminal {
  /// What comes beside keys.
  enum Signal: Equatable {
    case resized, interrupted, suspend, resumed
    /// The program is to end by this signal.
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

  /// What a signal handler needs, made before there is one, and by itself untouched by anything but plain stores and loads.
  fileprivate struct Saved {
    var input: Int32
    var output: Int32
    var modes: termios
    var isTaken = false
    var leave: UnsafeMutableBufferPointer<UInt8>
    /// What was in force for each of `crashes`.
    var earlier: UnsafeMutableBufferPointer<sigaction>
  }

  // One terminal a process. The handlers and the one thread of the command are the two parties; handlers only read, except
  // for `isTaken`, which they set to false.
  fileprivate nonisolated(unsafe) static var saved: UnsafeMutablePointer<Saved>?

  /// Takes the terminal; `nil` when it is none, or another process's.
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
    // Keys as they come, unseen; a flow that Ctrl-S has stopped would stop the screen.
    taken.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN)
    taken.c_iflag &= ~tcflag_t(IXON | ICRNL)
    listen()
    take()
  }

  deinit { release() }

  /// The descriptor that is readable when there are signals.
  var signals: Int32 { pipe.descriptor }

  /// The size in columns and rows.
  var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  // MARK: Taking and giving back

  /// Takes the terminal, again after it was given back.
  func take() {
    Self.saved?.pointee.isTaken = true
    tcsetattr(input, TCSADRAIN, &taken)
    write(Self.enter)
  }

  /// Gives the terminal back as it was.
  func release() { giveBack() }

  /// Stops like any program that Ctrl-Z is pressed for, and returns when it is told to go on; at once where nobody could
  /// tell it. The terminal is to be taken again.
  func suspend() {
    release()
    // Until it is continued, this stands here: SIGTSTP cannot be handled and stop too.
    var action = sigaction()
    action.__sigaction_handler.sa_handler = SIG_DFL
    var ours = sigaction()
    sigaction(SIGTSTP, &action, &ours)
    raise(SIGTSTP)
    sigaction(SIGTSTP, &ours, nil)
  }

  /// Gives the terminal back and ends the process by the signal, so that whoever started it sees by what.
  func end(by signal: Int32) -> Never {
    release()
    Glibc.signal(signal, SIG_DFL)
    raise(signal)
    _exit(128 + signal)
  }

  // MARK: Writing and reading

  /// Writes all of it, unless a signal comes while the screen takes nothing.
  ///
  /// - Returns: `false` when there is no terminal any more.
  @discardableResult
  func write(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
      if count >= 0 {
        written += count
      } else if errno == EAGAIN || errno == EINTR {
        // A screen that takes nothing must not keep the program from ending.
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

  /// The bytes of keys that are there; `nil` when there will be none any more.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(input, $0.baseAddress, $0.count) }
    if count > 0 { return Array(bytes[..<count]) }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil
  }

  /// The signals that have come since.
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
      // A fault comes again as soon as this returns, and finds what was in force before; what was sent is sent again.
      raise(number)
    }
    // A stack that has run out leaves no room for a handler but on a stack of its own, which the runtime may have made.
    crash.sa_flags = Int32(SA_ONSTACK)
    for (index, signal) in Self.crashes.enumerated() {
      if let saved = Self.saved { sigaction(signal, &crash, &saved.pointee.earlier[index]) }
    }
    // Whichever way the process ends by itself.
    atexit { giveBack() }
  }
}

/// Gives the terminal back, from wherever: it calls nothing that a signal handler may not.
private func giveBack() {
  guard let saved = Terminal.saved, saved.pointee.isTaken else { return }
  saved.pointee.isTaken = false
  // A screen that takes nothing is not waited for long.
  var entry = pollfd(fd: saved.pointee.output, events: Int16(POLLOUT), revents: 0)
  _ = poll(&entry, 1, 200)
  if entry.revents & Int16(POLLOUT) != 0 {
    _ = write(saved.pointee.output, saved.pointee.leave.baseAddress, saved.pointee.leave.count)
  }
  _ = tcsetattr(saved.pointee.input, TCSANOW, &saved.pointee.modes)
}
