import ChimeWords
import Glibc

/// The `chimed` binary that belongs to this command.
enum LocalDaemonBinary {
  /// Returns the path of the `chimed` beside this command, else of the one in PATH.
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

  /// Runs the daemon binary to its end, with the command's standard error.
  ///
  /// The child stays in the command's process group, so that Ctrl-C ends both.
  ///
  /// - Parameter line: receives each line of standard output as it arrives.
  /// - Returns: the exit status; 128 plus the signal number if a signal ended it.
  static func run(_ path: String, _ arguments: [String], line: ([UInt8]) -> Void) throws -> Int32 {
    let child: ChildProgram
    do throws(ChildProgram.StartFault) {
      child = try ChildProgram([path] + arguments, errors: .shown)
    } catch {
      throw Failure.system(localized("cannot run %1", path), errno: error.code)
    }
    if let descriptor = child.output {
      read(descriptor, line)
      close(descriptor)
    }
    let status = try child.end()
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
