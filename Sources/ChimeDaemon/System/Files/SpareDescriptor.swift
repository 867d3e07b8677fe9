import Glibc
import Synchronization

/// A SpareDescriptor is reserved for essential reads when the process or the machine has no other descriptor left.
///
/// It is closed while the body runs and reopened afterwards. The lock is held meanwhile, so that two bodies do not rely
/// on the same descriptor. Another thread may still take it; the body then fails as it would without the reserve.
final class SpareDescriptor: Sendable {
  private let descriptor: Mutex<Int32>

  init() { descriptor = Mutex(Self.take()) }

  deinit { descriptor.withLock { if $0 >= 0 { close($0) } } }

  /// Calls `body`, and repeats it with the reserve closed if no descriptor was left.
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
