import CLinux
import Dispatch
import Glibc

/// One epoll set behind one Dispatch read source: every descriptor the loop watches.
///
/// An epoll descriptor is itself readable when a member is ready, so a single source that lives as long as the loop
/// is all that libdispatch ever sees; members come and go without it (its bookkeeping of sources that come and go
/// has open faults on Linux). Belongs to the loop and is used on its queue only.
final class Poller {
  /// Names a member for as long as the poller lives; never given twice, so a late event finds nobody.
  struct Token: Hashable, Sendable { fileprivate let value: UInt64 }

  struct Readiness: OptionSet, Sendable {
    let rawValue: UInt32

    static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// Whether the other side is gone, or the descriptor failed; reported whether asked for or not.
    var isHungUp: Bool { rawValue & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }
  }

  private let descriptor: Int32
  private let source: any DispatchSourceRead
  private var lastToken: UInt64 = 0
  private var members: [Token: Int32] = [:]

  /// - Parameter onReady: called on `queue` when `ready()` has something.
  init(queue: DispatchQueue, onReady: @escaping @Sendable () -> Void) throws(SystemError) {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard descriptor >= 0 else { throw SystemError("epoll_create1") }
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler(handler: onReady)
    // Not before libdispatch has let go of it: a number that is closed earlier may be another's by then, of which
    // libdispatch would hear nothing.
    source.setCancelHandler { [descriptor] in close(descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  func add(_ watched: Int32, _ interest: Readiness) throws(SystemError) -> Token {
    lastToken += 1
    let token = Token(value: lastToken)
    var event = epoll_event(events: interest.rawValue, data: epoll_data(u64: token.value))
    guard epoll_ctl(descriptor, EPOLL_CTL_ADD, watched, &event) == 0 else { throw SystemError("epoll_ctl") }
    members[token] = watched
    return token
  }

  func change(_ token: Token, _ interest: Readiness) {
    guard let watched = members[token] else { return }
    var event = epoll_event(events: interest.rawValue, data: epoll_data(u64: token.value))
    // It can only fail for a descriptor that is no member, which `members` rules out.
    epoll_ctl(descriptor, EPOLL_CTL_MOD, watched, &event)
  }

  /// Takes a member out; call it before its descriptor is closed.
  func remove(_ token: Token) {
    guard let watched = members.removeValue(forKey: token) else { return }
    var unused = epoll_event()
    epoll_ctl(descriptor, EPOLL_CTL_DEL, watched, &unused)
  }

  /// What is ready now, without waiting; at most 128 at a time, so that no crowd of members starves the timers.
  func ready() -> [(Token, Readiness)] {
    withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 128) { buffer in
      let count = epoll_wait(descriptor, buffer.baseAddress, Int32(buffer.count), 0)
      guard count > 0 else { return [] }
      return buffer.prefix(Int(count)).map {
        (Token(value: $0.data.u64), Readiness(rawValue: $0.events))
      }
    }
  }
}
