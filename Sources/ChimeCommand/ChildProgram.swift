import ChimeWords
import Glibc

/// A child process that the command starts, with the command's terminal or with its output piped to the command.
struct ChildProgram {
  enum Errors {
    case shown, dropped, withOutput
    /// Piped to the process apart from standard output; the child also inherits the command's standard input.
    case apart
  }

  /// Why the child could not start, as an `errno` value.
  struct StartFault: Error { let code: Int32 }

  let processID: pid_t
  private let name: String
  /// The read end of its standard output; nil if that goes to the terminal.
  let output: Int32?
  /// The read end of its standard error, if that has a pipe of its own.
  let errorOutput: Int32?

  /// - Parameters:
  ///   - arguments: the first is a path, or a name that is looked up in PATH.
  ///   - errors: where standard error goes when standard output is piped; nil leaves the terminal, and with it Ctrl-C,
  ///     to the child.
  ///   - inGroup: whether the child leads a process group of its own, so that it can be killed with its descendants.
  ///   - environment: nil inherits the command's.
  init(
    _ arguments: [String], errors: Errors?, inGroup: Bool = false, environment: [String]? = nil
  ) throws(StartFault) {
    let ends = errors == nil ? [-1, -1] : try Self.pipe()
    let errorEnds = errors == .apart ? try Self.pipe() : [-1, -1]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let errors {
      if errors != .apart {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      }
      posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
      switch errors {
      case .shown: break
      case .dropped: posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
      case .withOutput: posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
      case .apart: posix_spawn_file_actions_adddup2(&actions, errorEnds[1], STDERR_FILENO)
      }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The child inherits ignored signals across exec, so reset those that the command ignores.
    var defaults = sigset_t()
    sigemptyset(&defaults)
    let hasInput = errors == nil || errors == .apart
    for number in hasInput ? [SIGPIPE, SIGINT, SIGQUIT] : [SIGPIPE] { sigaddset(&defaults, number) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(inGroup ? POSIX_SPAWN_SETPGROUP : 0))
    var vector = arguments.map { strdup($0) } + [nil]
    var variables = (environment ?? []).map { strdup($0) } + [nil]
    defer { for text in vector + variables { free(text) } }
    var child: pid_t = 0
    let code =
      environment == nil
      ? posix_spawnp(&child, arguments[0], &actions, &attributes, &vector, environ)
      : posix_spawnp(&child, arguments[0], &actions, &attributes, &vector, &variables)
    for end in [ends[1], errorEnds[1]] where end >= 0 { close(end) }
    guard code == 0 else {
      for end in [ends[0], errorEnds[0]] where end >= 0 { close(end) }
      throw StartFault(code: code)
    }
    (processID, name, output) = (child, arguments[0], errors == nil ? nil : ends[0])
    errorOutput = errors == .apart ? errorEnds[0] : nil
  }

  private static func pipe() throws(StartFault) -> [Int32] {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw StartFault(code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return ends
  }

  /// Waits until the child ends and returns its wait status.
  func end() throws -> Int32 {
    var status: Int32 = 0
    while waitpid(processID, &status, 0) < 0 {
      guard errno == EINTR else { throw Failure.system(localized("cannot wait for %1", name), errno: errno) }
    }
    return status
  }
}
