import CLinux
import Glibc

/// A program to run.
struct Program: Sendable {
  /// A path, or a name that is looked up in the `PATH` of `environment`.
  var name: String
  var arguments: [String]
  var environment: [String: String]
  /// Bytes for standard input, which is then closed; nil for /dev/null.
  var input: [UInt8]?
  var output = Output.terminal
  /// Working directory; nil for the daemon's.
  var folder: String?
  var limits = chime_limits(
    memory: -1, processor: -1, files: -1, processes: -1, file_size: -1, core: -1, nice: 0)
  /// Time between a terminating signal and SIGKILL.
  var patience = Duration.seconds(2)
  /// Signal for the program if the supervisor's thread dies because the daemon was killed; 0 for none.
  var deathSignal: Int32 = 0

  /// The kind of standard output.
  enum Output: Sendable {
    /// A pseudo-terminal. stdio buffers output to a pipe until the program ends, but writes each line to a terminal at
    /// once.
    case terminal
    case pipe
  }

  /// Returns the path of a program: the name itself if it has a slash, else the first executable match in `path`.
  static func find(_ name: String, in path: String?) -> String? {
    guard !name.isEmpty else { return nil }
    if name.contains("/") { return name }
    for directory in (path ?? usualPath).split(separator: ":") {
      let candidate = "\(directory)/\(name)"
      if access(candidate, X_OK) == 0 { return candidate }
    }
    return nil
  }

  /// Returns whether a path is a regular file that this process may execute.
  static func isExecutable(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }

  /// Search path if the environment has no `PATH`.
  static let usualPath = "/usr/local/bin:/usr/bin:/bin"
}

/// How a program ended.
package enum ProgramExit: Hashable, Sendable {
  case status(Int32)
  case signal(Int32)
}

/// Why a program did not start.
package enum SpawnFailure: Error, Hashable, Sendable {
  /// The program does not exist.
  case missing
  case system(SystemError)
}

/// A Subprocess is a running child in a process group of its own. The supervisor's thread owns it.
///
/// The child's only descriptors are its three standard streams. Releasing the value kills the child.
struct Subprocess: ~Copyable {
  /// Becomes readable when the child ends.
  let pidfd: Int32
  /// Non-blocking read end of standard output.
  let output: Int32
  /// Non-blocking read end of standard error.
  let errors: Int32
  /// Non-blocking write end of standard input; -1 once all input is written.
  private(set) var input: Int32
  let patience: Duration
  private var unsent: [UInt8]
  private let pid: pid_t
  private var isReaped = false

  /// Starts the program with default signal handlers and no blocked signals.
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
      let errorOutput = try open("pipe") { chime_pipe($0) }
      kept.append(errorOutput[0])
      given.append(errorOutput[1])
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

  /// Writes as much input as the child accepts, and closes its standard input after the last byte. The child may ignore
  /// its input: SIGPIPE is blocked in this thread.
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

  /// Sends a signal to the whole process group.
  borrowing func signal(_ number: Int32) { kill(-pid, number) }

  /// Returns whether the child catches or ignores a signal (proc(5), `SigCgt` and `SigIgn`); true if that is unknown.
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

  /// Returns how the child ended; nil while it runs. The rest of its process group is killed before the child is
  /// reaped, while no other group can have its number.
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
