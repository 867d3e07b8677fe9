import FoundationEssentials
import Glibc

/// The folder of this run.
///
/// A supervisor (`Tests/supervise`) removes it and ends the programs of the run, even if the run is interrupted or killed.
final class RunFolder {
  let path: String
  /// The write end of the supervisor's pipe.
  private let pipe: Int32

  // nonisolated(unsafe): one per run, set before the first benchmark starts, while the process has a single thread.
  nonisolated(unsafe) private static var current: RunFolder?

  static func of(_ bench: Bench) throws(BenchFailure) -> RunFolder {
    if let current { return current }
    let new = try RunFolder(bench)
    current = new
    return new
  }

  private init(_ bench: Bench) throws(BenchFailure) {
    // Beside the build, or below the working directory of `make bench`.
    let scripts = ["\(bench.programs)/../../../Tests/supervise", "Tests/supervise"]
    guard let script = scripts.first(where: { access($0, X_OK) == 0 }) else {
      throw BenchFailure("Tests/supervise is not there: run chime-bench in the folder of the sources")
    }
    let stat = (try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8)) ?? ""
    // After the program name, which may contain anything, the start time is the twentieth word (proc(5)).
    let facts = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    path = "\(bench.options.folder)/chime-bench-\(getpid())-\(facts.count > 20 ? facts[20] : "0")"
    // Other users need to pass through, such as a database server.
    guard mkdir(path, 0o711) == 0 else { throw BenchFailure(call: path) }
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw BenchFailure(call: "pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    pipe = ends[1]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    // Not this process's output: its reader would wait for the supervisor.
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // POSIX_SPAWN_SETSID: signals from the terminal do not end the supervisor.
    posix_spawnattr_setflags(&attributes, 0x80)
    let words = [script, path, "\(getpid())"]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, script, &actions, &attributes, &arguments, environ)
    close(ends[0])
    guard code == 0 else { throw BenchFailure("\(script) cannot be started: \(String(cString: strerror(code)))") }
  }

  /// Has a server ended by SIGQUIT if the run ends first.
  static func watch(_ pid: pid_t) { current?.tell("~\(pid)\n") }
  static func forget(_ pid: pid_t) { current?.tell("-\(pid)\n") }

  /// Waits until the supervisor has cleaned up.
  static func leave() {
    guard let current else { return }
    current.tell("end\n")
    for _ in 0..<12_000 where access(current.path, F_OK) == 0 { usleep(5_000) }
  }

  private func tell(_ line: String) {
    let bytes = Array(line.utf8)
    _ = bytes.withUnsafeBytes { write(pipe, $0.baseAddress, $0.count) }
  }
}
