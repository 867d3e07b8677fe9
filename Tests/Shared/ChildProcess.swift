import Dispatch
import Foundation
import Glibc
import Synchronization

/// A program that a test starts by posix_spawn(3), in a process group of its own. It inherits only its first three
/// descriptors, and ends with the test run.
///
///     let result = try ChildProcess.run("/usr/bin/zdump", ["-v", "Europe/Prague"])
///
/// Foundation's `Process` scans all descriptors of this process, reads beyond its buffer if there are more than 1,365,
/// and leaves signals blocked in the child.
final class ChildProcess: Sendable {
  enum Ending: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)

    /// The status in a shell.
    var status: Int32 {
      switch self {
      case .exited(let code): code
      case .signalled(let signal): 128 + signal
      }
    }
  }

  enum Input: Sendable {
    case nothing
    case bytes(Data)
    case file(String)
    /// The bytes that `write` sends, until `closeInput`.
    case written
  }

  enum Output: Sendable {
    case nothing
    /// Kept for `output` or `errors`, whatever its size.
    case kept
    /// Merged into standard output; for standard error only.
    case asOutput
    /// Appended to a file.
    case file(String)
    /// Readable from `outputPipe`.
    case piped
    /// To a descriptor of the caller, who keeps it open until the program has started.
    case descriptor(Int32)
  }

  struct Result: Sendable {
    var status: Int32
    var output: Data
    var errors: Data
    var text: String { String(decoding: output, as: UTF8.self) }
    var complaint: String { String(decoding: errors, as: UTF8.self) }
  }

  let name: String
  let pid: pid_t
  /// The read end of standard output, if that is `piped`.
  let outputPipe: FileHandle?
  private let input: Mutex<Int32>
  private let kept: (output: Int32, errors: Int32)
  private let ending = Mutex<Ending?>(nil)
  private let hasEnded = DispatchGroup()

  /// - Parameters:
  ///   - environment: the complete environment; nil inherits that of this process.
  ///   - terminal: the path of a terminal that becomes the controlling terminal, with input and output.
  ///   - endsOnQuit: whether the program cleans up on SIGQUIT, which it receives at the end of the test run.
  init(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, in folder: String? = nil,
    input: Input = .nothing, output: Output = .kept, errors: Output = .kept, terminal: String? = nil,
    endsOnQuit: Bool = false
  ) throws {
    name = (program as NSString).lastPathComponent
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The ends that only the child may have.
    var theirs: [Int32] = []
    defer { for descriptor in theirs { close(descriptor) } }

    var writing: Int32 = -1
    switch input {
    case .nothing: posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    case .file(let path): posix_spawn_file_actions_addopen(&actions, 0, path, O_RDONLY, 0)
    case .bytes, .written:
      let ends = try Self.privatePipe()
      posix_spawn_file_actions_adddup2(&actions, ends.reading, 0)
      theirs.append(ends.reading)
      writing = ends.writing
    }
    var (reading, outputs): (Int32, [Int32]) = (-1, [-1, -1])
    for (number, way) in [(1, output), (2, errors)] as [(Int32, Output)] {
      switch way {
      case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
      case .file(let path):
        posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      case .asOutput: posix_spawn_file_actions_adddup2(&actions, 1, 2)
      case .kept:
        let file = try Self.namelessFile()
        posix_spawn_file_actions_adddup2(&actions, file, number)
        outputs[Int(number) - 1] = file
      case .piped:
        let ends = try Self.privatePipe()
        posix_spawn_file_actions_adddup2(&actions, ends.writing, number)
        theirs.append(ends.writing)
        reading = ends.reading
      }
    }
    if let terminal {
      // The first terminal that a session leader opens becomes its controlling terminal.
      for descriptor in [0, 1, 2] as [Int32] {
        posix_spawn_file_actions_addopen(&actions, descriptor, terminal, O_RDWR, 0)
      }
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
        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
          | (terminal == nil ? POSIX_SPAWN_SETPGROUP : Self.sessionOfItsOwn)))

    self.input = Mutex(writing)
    outputPipe = reading < 0 ? nil : FileHandle(fileDescriptor: reading, closeOnDealloc: true)
    kept = (outputs[0], outputs[1])
    var pid: pid_t = 0
    let variables = environment ?? ProcessInfo.processInfo.environment
    let words = (folder.map { ["/usr/bin/env", "-C", $0] } ?? []) + [program] + arguments
    let code = withStrings(words) { argv in
      withStrings(variables.map { "\($0.key)=\($0.value)" }) { envp in
        posix_spawnp(&pid, words[0], &actions, &attributes, argv, envp)
      }
    }
    let child = pid
    self.pid = child
    guard code == 0 else {
      ending.withLock { $0 = .exited(127) }
      throw ChildFailure("\(program) cannot be started: \(String(cString: strerror(code)))")
    }
    RunSupervisor.shared.watch(child, endsOnQuit: endsOnQuit)
    // Only this thread reaps the child, so the pid stays valid for as long as it may be signalled.
    hasEnded.enter()
    Thread.detachNewThread { [self] in
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0, errno == EINTR {}
      RunSupervisor.shared.forget(child)
      let how: Ending = status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signalled(status & 0x7F)
      ending.withLock { $0 = how }
      hasEnded.leave()
    }
    if case .bytes(let bytes) = input { Thread.detachNewThread { [self] in send(bytes, andClose: true) } }
  }

  deinit {
    closeInput()
    for file in [kept.output, kept.errors] where file >= 0 { close(file) }
  }

  /// Nil while the program runs.
  var end: Ending? { ending.withLock { $0 } }
  var isRunning: Bool { end == nil }

  /// The output so far, if it is kept.
  var output: Data { Self.contents(kept.output) }
  var errors: Data { Self.contents(kept.errors) }

  /// Waits until the program has ended.
  @discardableResult func wait() -> Ending {
    hasEnded.wait()
    return end ?? .exited(127)
  }

  /// Runs a program to its end.
  static func run(
    _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil, in folder: String? = nil,
    input: Input = .nothing, output: Output = .kept, errors: Output = .kept
  ) throws -> Result {
    let child = try ChildProcess(
      program, arguments, environment: environment, in: folder, input: input, output: output, errors: errors)
    let ending = child.wait()
    return Result(status: ending.status, output: child.output, errors: child.errors)
  }

  func signal(_ number: Int32) { if isRunning { kill(pid, number) } }

  /// Kills the program and its process group.
  func destroy() {
    if isRunning { kill(pid, SIGCONT) }
    kill(-pid, SIGKILL)
  }

  func write(_ bytes: Data) { send(bytes, andClose: false) }

  func closeInput() {
    input.withLock { input in
      if input >= 0 { close(input) }
      input = -1
    }
  }

  private func send(_ bytes: Data, andClose isLast: Bool) {
    // Block SIGPIPE, because a closed reader must not kill this process.
    var (pipeSignal, before) = (sigset_t(), sigset_t())
    sigemptyset(&pipeSignal)
    sigaddset(&pipeSignal, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipeSignal, &before)
    defer {
      var now = timespec()
      while sigtimedwait(&pipeSignal, nil, &now) == SIGPIPE {}
      pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    let input = input.withLock { $0 }
    bytes.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let count = Glibc.write(input, buffer.baseAddress?.advanced(by: sent), buffer.count - sent)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        sent += count
      }
    }
    if isLast { closeInput() }
  }

  private static func contents(_ file: Int32) -> Data {
    guard file >= 0 else { return Data() }
    var (all, buffer) = (Data(), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = pread(file, &buffer, buffer.count, off_t(all.count))
      guard count > 0 else { return all }
      all += buffer[..<count]
    }
  }

  /// Creates a pipe that no child inherits: a child that held the write end of its own input would never see its end.
  private static func privatePipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw ChildFailure("pipe: \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Creates a file that vanishes with its last descriptor.
  private static func namelessFile() throws -> Int32 {
    var path = Array("\(RunFolder.folder)/kept.XXXXXX".utf8CString)
    let file = mkstemp(&path)
    guard file >= 0 else { throw ChildFailure("mkstemp: \(errno)") }
    unlink(path)
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    return file
  }

  /// POSIX_SPAWN_SETSID of <spawn.h>, whose definition Swift does not import.
  static let sessionOfItsOwn: Int32 = 0x80
}

/// Closes all descriptors above 2 in the child.
func closeTheRest(_ actions: inout posix_spawn_file_actions_t) { _ = addCloseFrom(&actions, 3) }

/// posix_spawn_file_actions_addclosefrom_np(3), which Swift does not see in <spawn.h>.
private let addCloseFrom: @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32 = {
  guard let address = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
    fatalError("glibc 2.34 or later is needed, as Debian 12 has it")
  }
  return unsafeBitCast(
    address, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
}()

struct ChildFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
