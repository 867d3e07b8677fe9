import Glibc

/// The sanitizer under which the tests run, set by `make asan` and `make tsan`.
enum Sanitizer {
  private static let name = getenv("CHIME_TEST_SANITIZER").map { String(cString: $0) }

  /// Freed memory is kept for a while to detect late uses, or each access is noted, so memory use cannot be bounded.
  static let inflatesMemory = name != nil
  /// vfork(2) becomes fork(2): the child has its own memory, and cannot report why a program did not start.
  static let forksForVfork = name == "thread"
}
