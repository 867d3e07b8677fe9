import Glibc

/// The sanitizer under which the tests run, as `make asan` and `make tsan` say.
enum Sanitizer {
  private static let name = getenv("CHIME_TEST_SANITIZER").map { String(cString: $0) }

  /// What is let go of is kept for a while, so that a late use is seen: memory cannot be held to a bound.
  static let keepsFreedMemory = name == "address"
  /// vfork(2) becomes fork(2): the child has memory of its own, and cannot tell there why a program did not start.
  static let forksForVfork = name == "thread"
}
