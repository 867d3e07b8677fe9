package import ChimeSchedule
import Glibc

/// The environment of one run of the command: the process builds them once at the top, tests build them by hand.
package struct CommandProcess {
  package var environment: [String: String]
  package var userID: UInt32
  package var now: () -> Instant
  package var input: TextSource
  package var output: TextSink
  package var errors: TextSink
  /// Whether standard input and output are both this process's terminal, and the terminal can be drawn on.
  var hasScreen = false
  /// Writes a query to the terminal and returns its reply up to the terminating byte.
  ///
  /// Returns an empty array if the terminal stays silent for a third of a second, or if there is none.
  var askTerminal: (_ question: String, _ end: UInt8) -> [UInt8] = { _, _ in [] }
  /// Returns the output of another program; nil if the program does not exist or fails.
  var runProgram: (_ arguments: [String]) -> [UInt8]? = { _ in nil }
  /// The time since the start, independent of clock changes.
  var elapsed: () -> Duration = { ContinuousClock.now - CommandProcess.begun }
  private static let begun = ContinuousClock.now

  /// Whether a person can be asked.
  var isInteractive: Bool { input.isTerminal && errors.isTerminal }

  /// Asks a question and waits for one key; returns nil at the end of the input.
  func key(after question: String) -> UInt8? {
    output.flush()
    errors.write(question)
    errors.flush()
    let key = input.key()
    errors.line(key.map { 0x21...0x7E ~= $0 ? String(decoding: [$0], as: UTF8.self) : "" } ?? "")
    errors.flush()
    return key
  }

  /// Returns the environment of the current process.
  static func process() -> CommandProcess {
    let output = TextSink(descriptor: STDOUT_FILENO) { code in
      // The reader has closed the pipe because it has read enough: `chime list
      //
      // head -1`.
      if code == EPIPE { exit(ExitCode.success.rawValue) }
      let message = "chime: cannot write: \(describe(errno: code))\n"
      _ = Files.write(Array(message.utf8), to: STDERR_FILENO)
      exit(ExitCode.failed.rawValue)
    }
    let errors = TextSink(descriptor: STDERR_FILENO) { _ in exit(ExitCode.failed.rawValue) }
    var process = CommandProcess(
      environment: processEnvironment(), userID: getuid(), now: wallClock,
      input: TextSource(descriptor: STDIN_FILENO), output: output, errors: errors)
    let term = process.environment["TERM"] ?? ""
    process.hasScreen = process.input.isTerminal && output.isTerminal && !term.isEmpty && term != "dumb"
    if process.hasScreen {
      process.askTerminal = { question, end in TerminalAnswer.read(after: question, upTo: end) }
    }
    process.runProgram = { arguments in (try? ExternalTool.output(arguments, hint: "")) ?? nil }
    return process
  }

  private static func wallClock() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }

  private static func processEnvironment() -> [String: String] {
    var environment: [String: String] = [:]
    for name in [
      "CHIME_SOCKET", "CHIME_TENANT", "CHIME_LOCALTIME", "HOME", "DOTREMINDERS", "XDG_RUNTIME_DIR", "NO_COLOR", "TERM",
      "TZ", "TZDIR",
      "VISUAL",
      "EDITOR",
      "TMPDIR", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "PATH",
      "DBUS_SESSION_BUS_ADDRESS",
    ] {
      if let value = getenv(name) { environment[name] = String(cString: value) }
    }
    return environment
  }
}

/// Reads lines of input from a file descriptor, or from memory in tests.
package final class TextSource {
  package let isTerminal: Bool
  private let descriptor: Int32?
  private var buffer: [UInt8]
  private var start = 0
  private var isAtEnd: Bool

  package init(descriptor: Int32) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
    buffer = []
    isAtEnd = false
  }

  package init(text: String, isTerminal: Bool = false) {
    descriptor = nil
    self.isTerminal = isTerminal
    buffer = Array(text.utf8)
    isAtEnd = true
  }

  /// Whether a whole line is buffered, so that reading it does not block.
  var hasLine: Bool { buffer[start...].contains(UInt8(ascii: "\n")) }

  /// Returns the next line without its line break, at most `limit` bytes of it, and skips the rest. `nil` at the end.
  func line(limit: Int = 1 << 20) -> (bytes: [UInt8], isCut: Bool)? {
    var dropped = false
    while true {
      if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(buffer[start..<end].prefix(limit))
        let isCut = dropped || end - start > limit
        start = end + 1
        return (line, isCut)
      }
      if isAtEnd {
        guard start < buffer.count else { return nil }
        let line = Array(buffer[start...].prefix(limit))
        let isCut = dropped || buffer.count - start > limit
        start = buffer.count
        return (line, isCut)
      }
      if buffer.count - start > limit {
        buffer.removeSubrange((start + limit)...)
        dropped = true
      }
      fill()
    }
  }

  /// Returns the next key from the terminal, and consumes a line break after it; `nil` at the end.
  ///
  /// The terminal sends no signals meanwhile, so that its modes are always restored: `^C` arrives as a key.
  func key() -> UInt8? {
    guard start == buffer.count, !isAtEnd, let descriptor else {
      guard start < buffer.count else { return nil }
      return line()?.bytes.first
    }
    var modes = termios()
    let isTaken = tcgetattr(descriptor, &modes) == 0
    if isTaken {
      var taken = modes
      taken.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
      tcsetattr(descriptor, TCSADRAIN, &taken)
    }
    defer { if isTaken { tcsetattr(descriptor, TCSADRAIN, &modes) } }
    var key: UInt8 = 0
    while true {
      let count = read(descriptor, &key, 1)
      if count == 1 { return key }
      if count == 0 || errno != EINTR { return nil }
    }
  }

  /// Returns the next line, which the terminal does not echo; `nil` at the end.
  func hiddenLine(limit: Int) -> [UInt8]? {
    var modes = termios()
    let isTaken = descriptor.map { tcgetattr($0, &modes) == 0 } ?? false
    if isTaken, let descriptor {
      var taken = modes
      taken.c_lflag &= ~tcflag_t(ECHO)
      tcsetattr(descriptor, TCSAFLUSH, &taken)
    }
    defer { if isTaken, let descriptor { tcsetattr(descriptor, TCSADRAIN, &modes) } }
    return line(limit: limit)?.bytes
  }

  /// Returns all remaining bytes; slightly more than `limit` of them if the input is longer.
  func all(limit: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      bytes += buffer[start...]
      start = buffer.count
      if isAtEnd || bytes.count > limit { return bytes }
      fill()
    }
  }

  private func fill() {
    guard let descriptor else { return isAtEnd = true }
    buffer.removeSubrange(..<start)
    start = 0
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { buffer.append(contentsOf: piece[..<count]) } else if count == 0 || errno != EINTR { isAtEnd = true }
  }
}
