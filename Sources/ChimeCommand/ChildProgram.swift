import ChimeWords
import Glibc

/// A program that the command has started: with the terminal of the command, or with its output to be read here.
struct ChildProgram {
  enum Errors {
    case shown, dropped, withOutput
    /// To be read here by themselves; it reads what the command would read.
    case apart
  }

  /// Why it could not be started, as `errno` says it.
  struct StartFault: Error { let code: Int32 }

  let processID: pid_t
  private let name: String
  /// Where its output is read; nil where that goes to the terminal.
  let output: Int32?
  /// Where its standard error is read, where that stands apart.
  let errorOutput: Int32?

  /// - Parameters:
  ///   - arguments: the first is a path, or a name that is looked for in PATH.
  ///   - errors: what becomes of its standard error, where its output is read and it has nothing to read itself; nil where
  ///     it has the terminal, and with it the keys that interrupt.
  ///   - inGroup: whether it can be ended with all that it starts.
  ///   - environment: nil: that of the command.
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
    // What is ignored here must not stay ignored there.
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

  /// Waits until it has ended; its wait status.
  func end() throws -> Int32 {
    var status: Int32 = 0
    while waitpid(processID, &status, 0) < 0 {
      guard errno == EINTR else { throw Failure.system(localized("cannot wait for %1", name), errno: errno) }
    }
    return status
  }
}
