import Foundation

/// The sanitizer with which chimed, chime and the tests are built, as `make asan` and `make tsan` say.
enum Sanitizer {
  private static let name = ProcessInfo.processInfo.environment["CHIME_TEST_SANITIZER"]

  static let isThere = name != nil
  /// How many times as long a program may take: each access to memory is looked at.
  static let slowness = isThere ? 3 : 1
  /// How many times as much memory it may use: what is let go of is kept for a while, and there are notes on all the rest.
  static let memory = isThere ? 30 : 1
  /// vfork(2) becomes fork(2): the child has memory of its own, and cannot tell there why a program did not start.
  static let forksForVfork = name == "thread"
  /// Has it leave a signal to the program that it is sent to.
  static let leavingSignals: [String: String] =
    name.map { name -> [String: String] in
      let options = name == "thread" ? "TSAN_OPTIONS" : "ASAN_OPTIONS"
      let given = ProcessInfo.processInfo.environment[options] ?? ""
      return [options: "\(given):handle_segv=0:handle_sigill=0:handle_abort=0"]
    } ?? [:]
}
