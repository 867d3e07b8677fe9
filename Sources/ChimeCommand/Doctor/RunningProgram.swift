import Glibc

/// Runs a program for its output, with a time limit.
enum RunningProgram {
  /// The most bytes of output that are kept.
  private static let limit = 1 << 20

  /// Runs a program to its end, or kills it and its descendants at the time limit.
  ///
  /// - Parameters:
  ///   - path: a path, or a name that is looked up in PATH.
  ///   - milliseconds: the time limit.
  /// - Returns: the result with standard output, and with standard error if `withErrors`.
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

  /// Reads until the program closes its output or the deadline passes.
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
    // The program has closed its output and is about to end, so a short poll suffices.
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
