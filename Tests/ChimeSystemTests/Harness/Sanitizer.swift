import Foundation

/// The sanitizer with which programs and tests are built, for `make asan` and `make tsan`.
enum Sanitizer {
  private static let name = ProcessInfo.processInfo.environment["CHIME_TEST_SANITIZER"]

  static let isThere = name != nil
  /// The factor for time limits, because each memory access is checked.
  static let slowness = isThere ? 3 : 1
  /// The factor for memory limits, because of quarantine and shadow memory.
  static let memory = isThere ? 30 : 1
  /// ThreadSanitizer replaces vfork(2) by fork(2), so a child cannot report through memory why a program did not start.
  static let forksForVfork = name == "thread"
  /// ThreadSanitizer starts a program that names what it finds, and keeps it as a child with two pipes.
  static let keepsAChild = name == "thread"
  /// Leaves a signal to the program instead of handling it.
  static let leavingSignals: [String: String] =
    name.map { name -> [String: String] in
      let options = name == "thread" ? "TSAN_OPTIONS" : "ASAN_OPTIONS"
      let given = ProcessInfo.processInfo.environment[options] ?? ""
      return [options: "\(given):handle_segv=0:handle_sigill=0:handle_abort=0"]
    } ?? [:]
}
