import Glibc
import Synchronization

/// A descriptor held back for what has to be read even when the process, or the machine, has no other left.
///
/// Given up for as long as the body runs and taken again afterwards. The lock is held meanwhile, so that two bodies do
/// not count on the same one. Another thread may still be quicker: then the body fails as it would have without it.
final class SpareDescriptor: Sendable {
  private let descriptor: Mutex<Int32>

  init() { descriptor = Mutex(Self.take()) }

  deinit { descriptor.withLock { if $0 >= 0 { close($0) } } }

  /// Calls `body`, and once more with the spare given up when no descriptor was left for it.
  func whenNoneIsLeft<Value>(_ body: () throws(SystemError) -> Value) throws(SystemError) -> Value {
    do throws(SystemError) {
      return try body()
    } catch {
      guard error.code == EMFILE || error.code == ENFILE else { throw error }
      return try descriptor.withLock { (spare) throws(SystemError) -> Value in
        if spare >= 0 { close(spare) }
        defer { spare = Self.take() }
        return try body()
      }
    }
  }

  private static func take() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }
}
