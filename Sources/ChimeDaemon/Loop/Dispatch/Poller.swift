import CLinux
import Dispatch
import Glibc

/// A Poller watches the loop's descriptors with one epoll set behind one Dispatch read source.
///
/// An epoll descriptor is readable when a member is ready. libdispatch therefore sees a single source that lives as
/// long as the loop, while members come and go. libdispatch on Linux has open bugs with sources that come and go. The
/// poller belongs to the loop and is used on its queue only.
final class Poller {
  /// The name of a member. It is never reused, so a late event finds no member.
  struct Token: Hashable, Sendable { fileprivate let value: UInt64 }

  struct Readiness: OptionSet, Sendable {
    let rawValue: UInt32

    static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// Whether the peer is gone or the descriptor failed; always reported.
    var isHungUp: Bool { rawValue & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }
  }

  private let descriptor: Int32
  private let source: any DispatchSourceRead
  private var lastToken: UInt64 = 0
  private var members: [Token: Int32] = [:]

  /// Creates an empty epoll set that calls `onReady` on `queue` when `ready()` has something.
  init(queue: DispatchQueue, onReady: @escaping @Sendable () -> Void) throws(SystemError) {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard descriptor >= 0 else { throw SystemError("epoll_create1") }
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler(handler: onReady)
    // Close only after libdispatch has released the descriptor. An earlier close would let the kernel reuse the number,
    // and libdispatch would miss events of the new descriptor.
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
    // The call can only fail for a descriptor that is no member, which `members` rules out.
    epoll_ctl(descriptor, EPOLL_CTL_MOD, watched, &event)
  }

  /// Removes a member. Call it before the descriptor is closed.
  func remove(_ token: Token) {
    guard let watched = members.removeValue(forKey: token) else { return }
    var unused = epoll_event()
    epoll_ctl(descriptor, EPOLL_CTL_DEL, watched, &unused)
  }

  /// Returns the ready members without waiting, at most 128, so that many members do not starve the timers.
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
