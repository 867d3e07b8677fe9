import Foundation
import Synchronization

/// A program that a test has started: in a process group of its own, its output in files.
final class Child: Sendable {
  enum Ending: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
  }

  let name: String
  let pid: pid_t
  let outputPath: String
  let errorPath: String
  private let ending = Mutex<Ending?>(nil)
  private let input: Int32

  /// - Parameters:
  ///   - folder: where the output goes.
  ///   - terminal: the path of a terminal that is its own, for input and output instead of files.
  init(
    _ program: String, _ arguments: [String] = [], environment: [String: String], folder: String,
    withInput: Bool = false, terminal: String? = nil
  ) throws {
    name = (program as NSString).lastPathComponent
    let stem = "\(folder)/\(name).\(Self.serial.wrappingAdd(1, ordering: .relaxed).newValue)"
    outputPath = stem + ".out"
    errorPath = stem + ".err"

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }

    var pipeEnds: [Int32] = [-1, -1]
    if withInput {
      guard privatePipe(&pipeEnds) == 0 else { throw HarnessFailure("pipe: \(errno)") }
      posix_spawn_file_actions_adddup2(&actions, pipeEnds[0], 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    if let terminal {
      // The first that the leader of a session opens is its terminal.
      for descriptor in [0, 1, 2] as [Int32] {
        posix_spawn_file_actions_addopen(&actions, descriptor, terminal, O_RDWR, 0)
      }
    } else {
      posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      posix_spawn_file_actions_addopen(&actions, 2, errorPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }
    closeTheRest(&actions)

    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes,
      Int16(
        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (terminal == nil ? POSIX_SPAWN_SETPGROUP : sessionOfItsOwn)))

    var pid: pid_t = 0
    let code = Self.withStrings([program] + arguments) { argv in
      Self.withStrings(environment.map { "\($0.key)=\($0.value)" }) { envp in
        posix_spawnp(&pid, program, &actions, &attributes, argv, envp)
      }
    }
    if withInput { close(pipeEnds[0]) }
    guard code == 0 else {
      if withInput { close(pipeEnds[1]) }
      throw HarnessFailure("\(program) cannot be started: \(String(cString: strerror(code)))")
    }
    let child = pid
    self.pid = child
    input = pipeEnds[1]
    Reaper.shared.watch(child)
    // The thread holds the child until it has ended, so its process id stays ours as long as we may signal it.
    Thread.detachNewThread { [self] in
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0, errno == EINTR {}
      Reaper.shared.forget(child)
      let how: Ending = status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signalled(status & 0x7F)
      ending.withLock { $0 = how }
    }
  }

  deinit { if input >= 0 { close(input) } }

  var end: Ending? { ending.withLock { $0 } }
  var isRunning: Bool { end == nil }
  var output: String { Self.text(outputPath) }
  var errors: String { Self.text(errorPath) }
  var lines: [String] { output.split(separator: "\n").map(String.init) }

  func send(_ signal: Int32) { if isRunning { kill(pid, signal) } }

  /// Ends the program and everything in its group at once.
  func destroy() {
    if isRunning { kill(pid, SIGCONT) }
    kill(-pid, SIGKILL)
  }

  func write(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
  }

  /// Waits until the program has ended by itself.
  func ended(within limit: Duration = .seconds(20)) async throws -> Ending {
    try await eventually("\(name) ends; it said: \(errors.suffix(2_000))", within: limit) { end }
  }

  private static let serial = Atomic<Int>(0)

  private static func text(_ path: String) -> String {
    String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
  }

  private static func withStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var copies = strings.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress else { preconditionFailure("an array with a nil in it has a start") }
      return body(start)
    }
  }
}

/// Ends what the tests have started when the test process itself is ended: a helper reads the process ids from a pipe and
/// kills those that are left when the pipe closes.
final class Reaper: Sendable {
  static let shared = Reaper()

  private let pipeEnd: Int32

  private init() {
    var ends: [Int32] = [-1, -1]
    var pid: pid_t = 0
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    guard privatePipe(&ends) == 0 else {
      pipeEnd = -1
      return
    }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    // Not our output: whoever reads that would wait for the helper.
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    closeTheRest(&actions)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("bash"), strdup(Machine.support("reaper")), nil]
    let code = posix_spawn(&pid, "/bin/bash", &actions, &attributes, &arguments, environ)
    for argument in arguments { free(argument) }
    close(ends[0])
    pipeEnd = code == 0 ? ends[1] : -1
  }

  func watch(_ pid: pid_t) { tell("+\(pid)\n") }
  func forget(_ pid: pid_t) { tell("-\(pid)\n") }

  /// One write of a few bytes is never torn in a pipe.
  private func tell(_ line: String) {
    guard pipeEnd >= 0 else { return }
    let bytes = Array(line.utf8)
    _ = bytes.withUnsafeBytes { write(pipeEnd, $0.baseAddress, $0.count) }
  }
}

/// POSIX_SPAWN_SETSID of <spawn.h>, which is no number that Swift reads.
private let sessionOfItsOwn: Int32 = 0x80

/// A pipe that no program inherits which is not given it: one that kept the writing end of its own input would never see
/// that end.
private func privatePipe(_ ends: inout [Int32]) -> Int32 {
  guard pipe(&ends) == 0 else { return -1 }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  return 0
}

/// A child has no business with the descriptors of the test process, whoever opened them and however many there are. Some
/// more than there are now: other tests open theirs meanwhile.
private func closeTheRest(_ actions: inout posix_spawn_file_actions_t) {
  let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  let highest = open.compactMap { Int32($0) }.max() ?? 0
  for descriptor in 3...max(highest + 64, 256) { posix_spawn_file_actions_addclose(&actions, descriptor) }
}
