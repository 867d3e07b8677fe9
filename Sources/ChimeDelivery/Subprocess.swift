import CLinux
import Glibc

/// A program to be run.
struct Program: Sendable {
  /// A path, or a name that is looked for in the `PATH` of `environment`.
  var name: String
  var arguments: [String]
  var environment: [String: String]
}

/// How a program ended.
enum ProgramExit: Hashable, Sendable {
  case status(Int32)
  case signal(Int32)
}

/// Why a program was not started.
enum SpawnFailure: Error, Hashable, Sendable {
  /// There is no such program.
  case missing
  case system(SystemError)
}

/// A running child in a process group of its own, with its output. Belongs to the supervisor's thread.
///
/// Its standard output is a pseudo-terminal, because a program that writes to a pipe may keep its lines to itself until
/// it ends (stdio's full buffering), while one that writes to a terminal gives each line at once. Its standard error is
/// a pipe, its standard input /dev/null; it has no other descriptor. When the value goes, so does the child.
struct Subprocess: ~Copyable {
  /// Turns readable when the child ends.
  let pidfd: Int32
  /// Where its standard output is read, without blocking.
  let output: Int32
  /// Where its standard error is read, without blocking.
  let errors: Int32
  private let pid: pid_t
  private var isReaped = false

  /// Starts it, with default signal handlers and no signal blocked.
  init(_ program: Program) throws(SpawnFailure) {
    guard let path = Self.find(program.name, in: program.environment["PATH"]) else { throw .missing }
    var terminal: [Int32] = [-1, -1]
    guard chime_pty(&terminal) == 0 else { throw .system(SystemError("openpt", errno)) }
    defer { close(terminal[1]) }
    var pipe: [Int32] = [-1, -1]
    guard chime_pipe(&pipe) == 0 else {
      let failure = SystemError("pipe", errno)
      close(terminal[0])
      throw .system(failure)
    }
    defer { close(pipe[1]) }
    do throws(SpawnFailure) {
      (pid, pidfd) = try Self.spawn(path, program, output: terminal[1], errors: pipe[1])
    } catch {
      close(terminal[0])
      close(pipe[0])
      throw error
    }
    output = terminal[0]
    errors = pipe[0]
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
    _ path: String, _ program: Program, output: Int32, errors: Int32
  ) throws(SpawnFailure) -> (pid_t, Int32) {
    var arguments: [UnsafeMutablePointer<CChar>?] = ([program.name] + program.arguments).map { strdup($0) }
    var environment: [UnsafeMutablePointer<CChar>?] = program.environment.map { strdup("\($0.key)=\($0.value)") }
    defer { for pointer in arguments + environment { free(pointer) } }
    arguments.append(nil)
    environment.append(nil)
    var pid = pid_t()
    var pidfd: Int32 = -1
    let failure = chime_spawn(path, arguments, environment, output, errors, &pid, &pidfd)
    guard failure == 0 else { throw failure == ENOENT ? .missing : .system(SystemError("posix_spawn", failure)) }
    return (pid, pidfd)
  }

  /// The path of a program: itself when it has a slash, else the first file of that name that may be run.
  private static func find(_ name: String, in path: String?) -> String? {
    guard !name.isEmpty else { return nil }
    if name.contains("/") { return name }
    for directory in (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":") {
      let candidate = "\(directory)/\(name)"
      if access(candidate, X_OK) == 0 { return candidate }
    }
    return nil
  }
}
