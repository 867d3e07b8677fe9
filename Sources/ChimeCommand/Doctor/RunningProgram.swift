import ChimeWords
import Dispatch
import Glibc

/// Work that is done on a thread of its own, for as long as somebody wants to wait for it.
final class BackgroundValue<Value: Sendable>: @unchecked Sendable {
  // Written before the semaphore is signalled, read after it was waited for.
  private var result: Value?
  private let isThere = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Value) {
    // A queue of its own: the shared ones have as many threads as there are processors.
    DispatchQueue(label: "io.chime.doctor").async {
      self.result = body()
      self.isThere.signal()
    }
  }

  /// What came of it; nil when it is not there within so many milliseconds. To be asked once.
  func value(within milliseconds: Int) -> Value? {
    isThere.wait(timeout: .now() + .milliseconds(milliseconds)) == .success ? result : nil
  }
}

/// Runs a program for a look at what it says.
enum RunningProgram {
  /// What is kept of its output, in bytes.
  private static let limit = 1 << 20

  /// Runs it to its end, or ends it when its time is up, with all that it has started.
  ///
  /// - Parameters:
  ///   - path: a path, or a name that is looked for in PATH.
  ///   - milliseconds: how long it may take.
  /// - Returns: with its standard output, and its standard error where `withErrors`.
  static func run(
    _ path: String, _ arguments: [String], within milliseconds: Int, withErrors: Bool = false
  ) -> ProgramRun {
    let child: ChildProgram
    do throws(ChildProgram.StartFault) {
      child = try ChildProgram([path] + arguments, errors: withErrors ? .withOutput : .dropped, inGroup: true)
    } catch {
      return error.code == ENOENT || error.code == EACCES ? .missing : .notStarted(describe(errno: error.code))
    }
    let deadline = ContinuousClock.now + .milliseconds(milliseconds)
    let output = child.output.map { read($0, until: deadline) } ?? []
    if let descriptor = child.output { close(descriptor) }
    return end(child.processID, at: deadline, milliseconds, output)
  }

  /// What it wrote until it closed its output, or the time was up.
  private static func read(_ descriptor: Int32, until deadline: ContinuousClock.Instant) -> [UInt8] {
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let left = left(until: deadline)
      guard left > 0 else { return output }
      var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&watched, 1, left) > 0 else { continue }
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return output }
      if output.count < limit { output += chunk[..<count] }
    }
  }

  private static func left(until deadline: ContinuousClock.Instant) -> Int32 {
    let (seconds, fraction) = (deadline - .now).components
    return Int32(clamping: seconds * 1_000 + fraction / 1_000_000_000_000_000)
  }

  private static func end(
    _ child: pid_t, at deadline: ContinuousClock.Instant, _ milliseconds: Int, _ output: [UInt8]
  ) -> ProgramRun {
    var status: Int32 = 0
    // One that has closed its output is about to end.
    while waitpid(child, &status, WNOHANG) == 0 {
      guard left(until: deadline) > 0 else {
        kill(-child, SIGKILL)
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return .tookTooLong(milliseconds)
      }
      usleep(1_000)
    }
    let signal = status & 0x7F
    guard signal == 0 else { return .killed(signal: signal) }
    return .ended(status: (status >> 8) & 0xFF, output: String(decoding: output, as: UTF8.self))
  }
}
