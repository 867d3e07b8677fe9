import Foundation
import Glibc
import Synchronization

/// The folder of this test run.
///
/// The supervisor script (`supervise`) removes the folder and ends all programs of the run, however the run ends. It
/// also cleans up after earlier runs whose supervisors were killed.
///
/// Each test module has a copy of this file. The copies share the folder, because its name follows from the pid and
/// start time of the process.
enum RunFolder {
  static let folder = RunSupervisor.shared.folder

  static var url: URL { URL(fileURLWithPath: folder, isDirectory: true) }

  /// Creates a folder with mode 0700.
  static func makeFolder(_ name: String) throws -> String {
    var template = Array("\(folder)/\(name).XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw ChildFailure("mkdtemp \(folder)/\(name): \(errno)") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Reports the started programs to the supervisor of this run.
final class RunSupervisor: Sendable {
  static let shared = RunSupervisor()

  let folder: String
  /// The write end of the supervisor's pipe; -1 without one, because the folder could not be created.
  private let pipe: Int32

  private init() {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    let stat = (try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8)) ?? ""
    // The program name in parentheses may contain anything; the start time is the twentieth word after it (proc(5)).
    let words = stat.split(separator: ")").last?.split(separator: " ") ?? []
    let folder = "\(parent)/chime-test-\(getpid())-\(words.count > 19 ? words[19] : "0")"
    self.folder = folder
    // Create the folder under a temporary name and rename it, because other modules may look for it at the same time.
    let new = "\(folder).\(UUID().uuidString.prefix(8))"
    let (oldPipe, newPipe) = (folder + "/supervisor", new + "/supervisor")
    guard access(oldPipe, F_OK) != 0, mkdir(new, 0o755) == 0, chmod(new, 0o755) == 0, mkfifo(newPipe, 0o600) == 0 else {
      pipe = open(oldPipe, O_RDWR | O_CLOEXEC)
      return
    }
    let isFirst = rename(new, folder) == 0
    if !isFirst {
      unlink(newPipe)
      rmdir(new)
    }
    // Open for reading too: opening a FIFO only for writing blocks until there is a reader.
    pipe = open(oldPipe, O_RDWR | O_CLOEXEC)
    if isFirst { start(oldPipe) }
    atexit { RunSupervisor.shared.finish() }
  }

  private func start(_ pipe: String) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, pipe, O_RDONLY, 0)
    // Not this process's output: its reader would wait for the supervisor.
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    closeTheRest(&actions)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A session of its own: signals from the terminal do not end the supervisor.
    posix_spawnattr_setflags(&attributes, Int16(ChildProcess.sessionOfItsOwn))
    var pid: pid_t = 0
    let script = Package.folder + "/Tests/supervise"
    withStrings(["bash", script, folder, "\(getpid())"]) { arguments in
      withStrings(["PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C"]) { environment in
        let code = posix_spawn(&pid, "/bin/bash", &actions, &attributes, arguments, environment)
        if code != 0 { print("the tests' supervisor cannot be started: \(String(cString: strerror(code)))") }
      }
    }
  }

  /// Registers a program that must end with this run.
  ///
  /// - Parameter endsOnQuit: whether it gets SIGQUIT and time to clean up before it is killed.
  func watch(_ pid: pid_t, endsOnQuit: Bool = false) { tell("\(endsOnQuit ? "~" : "+")\(pid)\n") }
  func forget(_ pid: pid_t) { tell("-\(pid)\n") }

  /// A short write to a pipe is atomic.
  private func tell(_ line: String) {
    guard pipe >= 0 else { return }
    let bytes = Array(line.utf8)
    _ = bytes.withUnsafeBytes { write(pipe, $0.baseAddress, $0.count) }
  }

  /// Waits until the supervisor has cleaned up.
  private func finish() {
    tell("end\n")
    for _ in 0..<12_000 where access(folder, F_OK) == 0 { usleep(5_000) }
  }
}

/// The folder of the package's sources.
enum Package {
  static let folder: String = {
    var place = URL(filePath: #filePath).deletingLastPathComponent()
    while place.path != "/", access(place.path + "/Package.swift", F_OK) != 0 { place.deleteLastPathComponent() }
    return place.path
  }()
}

/// Calls `body` with a null-terminated array of C strings, as execve(2) takes.
func withStrings<Result>(
  _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var copies = strings.map { strdup($0) } + [nil]
  defer { for copy in copies { free(copy) } }
  return copies.withUnsafeMutableBufferPointer { buffer in
    guard let start = buffer.baseAddress else { preconditionFailure("an array with a nil in it has a start") }
    return body(start)
  }
}
