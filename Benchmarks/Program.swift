import Glibc

/// A child process that ends with its owner.
final class Program {
  let pid: pid_t
  private let name: String
  /// The read end of its standard output.
  private let output: Int32
  /// Where its standard error goes, unless that has a file: told when it fails, and not beside the figures.
  private let errorOutput: Int32
  private var status: Int32?

  /// - Parameters:
  ///   - input: a file for standard input.
  ///   - errors: a file for standard error; nil prints it if the program fails.
  init(
    _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: String = "/dev/null",
    errors: String? = nil
  ) throws(BenchFailure) {
    name = path
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw BenchFailure(call: "pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    if let errors {
      errorOutput = -1
      posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    } else {
      var file = Array("/tmp/chime-bench-errors-XXXXXX".utf8CString)
      errorOutput = mkstemp(&file)
      unlink(file)
      _ = fcntl(errorOutput, F_SETFD, FD_CLOEXEC)
      posix_spawn_file_actions_adddup2(&actions, errorOutput, 2)
    }
    // Unblock all signals: the starting thread may block most of them, and the child needs SIGTERM.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      (environment ?? [:]).map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for word in words + variables { free(word) } }
    var pid: pid_t = 0
    let code =
      environment == nil
      ? posix_spawnp(&pid, path, &actions, &attributes, &words, environ)
      : posix_spawnp(&pid, path, &actions, &attributes, &words, &variables)
    close(ends[1])
    guard code == 0 else {
      close(ends[0])
      if errorOutput >= 0 { close(errorOutput) }
      throw BenchFailure("\(path) cannot be started: \(String(cString: strerror(code)))")
    }
    self.pid = pid
    output = ends[0]
  }

  deinit {
    if status == nil {
      kill(pid, SIGKILL)
      wait()
    }
    close(output)
    if errorOutput >= 0 { close(errorOutput) }
  }

  /// The standard error, as the end of a sentence.
  private var complaint: String {
    var buffer = [UInt8](repeating: 0, count: 2_000)
    let count = errorOutput >= 0 ? pread(errorOutput, &buffer, buffer.count, 0) : 0
    return count > 0 ? ": " + String(decoding: buffer[..<count], as: UTF8.self) : ""
  }

  /// Returns the first line of its output.
  func firstLine() throws(BenchFailure) -> String {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    throw BenchFailure("\(name) ended before it said anything\(complaint)")
  }

  /// Returns the rest of its output; throws if the program fails.
  func remainder() throws(BenchFailure) -> String {
    let text = readToEnd()
    guard let status, status == 0 else {
      throw BenchFailure("\(name) failed (wait status \(status ?? -1))\(complaint)")
    }
    return text
  }

  /// Ends the program by a signal; returns its unread output.
  @discardableResult func endAndRead(by signal: Int32 = SIGTERM) -> String {
    kill(pid, signal)
    return readToEnd()
  }

  private func readToEnd() -> String {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(output, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      text += buffer[..<count]
    }
    wait()
    return String(decoding: text, as: UTF8.self)
  }

  private func wait() {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    self.status = status
  }

  /// Runs a program to its end and returns its output.
  static func output(
    _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: String = "/dev/null",
    errors: String? = nil
  ) throws(BenchFailure) -> String {
    try Program(path, arguments, environment: environment, input: input, errors: errors).remainder()
  }
}

/// A receiver's record of a message: a time and a title.
struct Stamp {
  /// Microseconds since the epoch.
  let at: Int64
  let title: String

  static func all(_ text: String) -> [Stamp] {
    text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let at = Int64(parts[0]) else { return nil }
      return Stamp(at: at, title: String(parts[1]))
    }
  }
}
