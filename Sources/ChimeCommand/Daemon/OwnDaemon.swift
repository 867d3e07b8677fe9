import ChimeWords
import Glibc

/// The daemon's program that belongs to this command.
enum OwnDaemon {
  /// The chimed that lies beside this command, else the one in PATH.
  static func path(environment: [String: String]) -> String? {
    var places: [String] = []
    if let program = realpath("/proc/self/exe", nil) {
      defer { free(program) }
      let path = String(cString: program)
      if let slash = path.lastIndex(of: "/") { places.append(String(path[..<slash])) }
    }
    places += (environment["PATH"] ?? "/usr/local/bin:/usr/bin").split(separator: ":").map(String.init)
    return places.map { "\($0)/chimed" }.first { access($0, X_OK) == 0 }
  }

  /// Runs it to its end, with this command's standard error. It is in the same group of processes, so that Ctrl-C ends both.
  ///
  /// - Parameter line: is told each line of its standard output as it comes.
  /// - Returns: its exit status; 128 and the signal's number, when a signal ended it.
  static func run(_ path: String, _ arguments: [String], line: ([UInt8]) -> Void) throws -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Failure.system(Words.say("cannot make a pipe"), errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    sigemptyset(&defaults)
    sigaddset(&defaults, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var vector = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for argument in vector { free(argument) } }
    var child: pid_t = 0
    let code = posix_spawn(&child, path, &actions, &attributes, &vector, environ)
    close(ends[1])
    guard code == 0 else { throw Failure.system(Words.say("cannot run %1", path), errno: code) }
    read(ends[0], line)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { throw Failure.system(Words.say("cannot wait for %1", path), errno: errno) }
    }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }

  private static func read(_ descriptor: Int32, _ line: ([UInt8]) -> Void) {
    var pending: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      pending += chunk[..<count]
      while let end = pending.firstIndex(of: 0x0A) {
        line(Array(pending[..<end]))
        pending.removeSubrange(...end)
      }
    }
  }
}
