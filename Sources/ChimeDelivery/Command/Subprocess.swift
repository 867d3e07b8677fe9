import CLinux
import Glibc

/// A program to be run.
struct Program: Sendable {
  /// A path, or a name that is looked for in the `PATH` of `environment`.
  var name: String
  var arguments: [String]
  var environment: [String: String]
  /// What it reads on its standard input, which then ends; nil for /dev/null.
  var input: [UInt8]?
  var output = Output.terminal
  /// Where it starts; nil for where the daemon is.
  var folder: String?
  var limits = chime_limits(
    memory: -1, processor: -1, files: -1, processes: -1, file_size: -1, core: -1, nice: 0)
  /// How long it may take to follow a signal before it is killed.
  var patience = Duration.seconds(2)
  /// What it is sent when the supervisor's thread ends without having ended it, because the daemon was killed; 0 for
  /// nothing.
  var deathSignal: Int32 = 0

  /// What its standard output is.
  enum Output: Sendable {
    /// A pseudo-terminal, because a program that writes to a pipe may keep its lines to itself until it ends (stdio's
    /// full buffering), while one that writes to a terminal gives each line at once.
    case terminal
    case pipe
  }

  /// The path of a program: itself when it has a slash, else the first file of that name that may be run.
  static func find(_ name: String, in path: String?) -> String? {
    guard !name.isEmpty else { return nil }
    if name.contains("/") { return name }
    for directory in (path ?? usualPath).split(separator: ":") {
      let candidate = "\(directory)/\(name)"
      if access(candidate, X_OK) == 0 { return candidate }
    }
    return nil
  }

  /// Whether a path is a file that this process may run.
  static func isExecutable(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }

  /// Where programs are looked for when nothing is said.
  static let usualPath = "/usr/local/bin:/usr/bin:/bin"
}

/// How a program ended.
package enum ProgramExit: Hashable, Sendable {
  case status(Int32)
  case signal(Int32)
}

/// Why a program was not started.
package enum SpawnFailure: Error, Hashable, Sendable {
  /// There is no such program.
  case missing
  case system(SystemError)
}

/// A running child in a process group of its own, with its input and output. Belongs to the supervisor's thread.
///
/// Its standard error is a pipe, and it has no descriptor but its three. When the value goes, so does the child.
struct Subprocess: ~Copyable {
  /// Turns readable when the child ends.
  let pidfd: Int32
  /// Where its standard output is read, without blocking.
  let output: Int32
  /// Where its standard error is read, without blocking.
  let errors: Int32
  /// Where its standard input is written, without blocking; -1 when all has been.
  private(set) var input: Int32
  let patience: Duration
  private var unsent: [UInt8]
  private let pid: pid_t
  private var isReaped = false

  /// Starts it, with default signal handlers and no signal blocked.
  init(_ program: Program) throws(SpawnFailure) {
    guard let path = Program.find(program.name, in: program.environment["PATH"]) else { throw .missing }
    var kept: [Int32] = []
    var given: [Int32] = []
    func open(_ call: String, _ make: (UnsafeMutablePointer<Int32>) -> Int32) throws(SpawnFailure) -> [Int32] {
      var ends: [Int32] = [-1, -1]
      guard make(&ends) == 0 else { throw .system(SystemError(call, errno)) }
      return ends
    }
    do throws(SpawnFailure) {
      defer { for descriptor in given { close(descriptor) } }
      let out =
        try program.output == .terminal ? open("openpt") { chime_pty($0) } : open("pipe") { chime_pipe($0) }
      kept.append(out[0])
      given.append(out[1])
      let rateLimitedLog = try open("pipe") { chime_pipe($0) }
      kept.append(rateLimitedLog[0])
      given.append(rateLimitedLog[1])
      if program.input != nil {
        let words = try open("pipe") { chime_pipe($0) }
        kept.append(words[1])
        given.append(words[0])
      }
      (pid, pidfd) = try Self.spawn(
        path, program, input: given.count > 2 ? given[2] : -1, output: given[0], errors: given[1])
    } catch {
      for descriptor in kept { close(descriptor) }
      throw error
    }
    output = kept[0]
    errors = kept[1]
    input = kept.count > 2 ? kept[2] : -1
    unsent = program.input ?? []
    patience = program.patience
  }

  deinit {
    if !isReaped {
      kill(-pid, SIGKILL)
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }
    close(pidfd)
    close(output)
    close(errors)
    if input >= 0 { close(input) }
  }

  /// Gives it as much of its input as it takes now, and ends the input behind the last byte. A program that does not
  /// want to read it need not: SIGPIPE is blocked in this thread.
  mutating func feed() {
    guard input >= 0 else { return }
    while !unsent.isEmpty {
      let count = write(input, unsent, unsent.count)
      if count > 0 {
        unsent.removeFirst(count)
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        break
      }
    }
    close(input)
    input = -1
    unsent = []
  }

  /// Sends a signal to all of its process group.
  borrowing func signal(_ number: Int32) { kill(-pid, number) }

  /// Whether it has a handler for a signal, or ignores it (proc(5), `SigCgt` and `SigIgn`). True when that is not known.
  borrowing func listens(for number: Int32) -> Bool {
    let status = open("/proc/\(pid)/status", O_RDONLY | O_CLOEXEC)
    guard status >= 0 else { return true }
    defer { close(status) }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = read(status, &buffer, buffer.count)
    let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    let masks = text.split(separator: "\n").filter { $0.hasPrefix("SigCgt:") || $0.hasPrefix("SigIgn:") }
    guard !masks.isEmpty else { return true }
    return masks.contains { line in
      let mask = UInt64(line.split(separator: "\t").last ?? "", radix: 16) ?? .max
      return mask >> (number - 1) & 1 == 1
    }
  }

  /// How it ended; nil while it runs. What is left of its process group is killed before it is reaped, while its
  /// number cannot yet be another's.
  mutating func reap() -> ProgramExit? {
    var probe = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    guard !isReaped, poll(&probe, 1, 0) == 1 else { return nil }
    kill(-pid, SIGKILL)
    var code: Int32 = 0
    var status: Int32 = 0
    guard chime_pidfd_wait(pidfd, &code, &status) == 0 else { return nil }
    isReaped = true
    return code == Int32(CLD_EXITED) ? .status(status) : .signal(status)
  }

  private static func spawn(
    _ path: String, _ program: Program, input: Int32, output: Int32, errors: Int32
  ) throws(SpawnFailure) -> (pid_t, Int32) {
    var arguments: [UnsafeMutablePointer<CChar>?] = ([program.name] + program.arguments).map { strdup($0) }
    var environment: [UnsafeMutablePointer<CChar>?] = program.environment.map { strdup("\($0.key)=\($0.value)") }
    let folder = program.folder.map { strdup($0) } ?? nil
    let place = strdup(path)
    defer { for pointer in arguments + environment + [folder, place] { free(pointer) } }
    arguments.append(nil)
    environment.append(nil)
    var pid = pid_t()
    var pidfd: Int32 = -1
    var step = CHIME_SPAWN_EXECUTE
    let failure = arguments.withUnsafeBufferPointer { arguments in
      environment.withUnsafeBufferPointer { environment in
        var request = chime_program(
          path: place, arguments: arguments.baseAddress, environment: environment.baseAddress, folder: folder,
          input: input, output: output, errors: errors, death_signal: program.deathSignal,
          limits: program.limits)
        return chime_spawn(&request, &pid, &pidfd, &step)
      }
    }
    guard failure != 0 else { return (pid, pidfd) }
    switch step {
    case CHIME_SPAWN_FOLDER: throw .system(SystemError("chdir", failure))
    case CHIME_SPAWN_LIMITS: throw .system(SystemError("setrlimit", failure))
    default: throw failure == ENOENT ? .missing : .system(SystemError("execve", failure))
    }
  }
}
