import ChimeCore
import ChimeRecords
import Dispatch
import Glibc
import Synchronization

/// A Membership runs the thread that keeps a daemon in its fleet, and passes orders to it.
///
/// It is a thread and not a queue, because a delayed heartbeat loses the leases: it must not wait for other work.
final class Membership: Sendable {
  let leases: LeaseState
  private let orders = Mutex(Orders())
  /// A socket pair: a byte written to `write` makes `read` readable and wakes the thread.
  private let wakeSockets: (read: Int32, write: Int32)
  private let firstBeat = DispatchGroup()
  private let end = DispatchGroup()

  /// The pending orders. A lock guards them: any thread adds orders, and the fleet's thread takes them.
  private struct Orders {
    var handler: (@Sendable (FleetEvent) -> Void)?
    /// Events from before the handler was set.
    var unheard: [FleetEvent] = []
    var isRetiring = false
    var isEnding = false
    var mustNotify = false
    var isProbing = false
  }

  init(leases: LeaseState) throws(StoreFailure) {
    self.leases = leases
    var ends: [Int32] = [-1, -1]
    let kind = Int32((SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw .unavailable(
        "no file descriptor is free for the database: end some programs, or raise LimitNOFILE= of the service")
    }
    wakeSockets = (ends[0], ends[1])
  }

  deinit {
    close(wakeSockets.read)
    close(wakeSockets.write)
  }

  /// Starts the thread, and waits until the first beat has succeeded or failed.
  func begin(_ place: PostgresConfiguration) throws(StoreFailure) {
    leases.onNotify { [weak self] in self?.order { $0.mustNotify = true } }
    firstBeat.enter()
    end.enter()
    do throws(StoreFailure) {
      try StoreThread.start("chime-fleet") { self.run(place) }
    } catch {
      firstBeat.leave()
      end.leave()
      throw error
    }
    firstBeat.wait()
  }

  func listen(_ handler: @escaping @Sendable (FleetEvent) -> Void) {
    let unheard = orders.withLock { orders in
      orders.handler = handler
      defer { orders.unheard = [] }
      return orders.unheard
    }
    unheard.forEach(handler)
  }

  func retire() { order { $0.isRetiring = true } }

  func probe() { order { $0.isProbing = true } }

  /// Releases the leases and ends the thread.
  func leave() async {
    order { $0.isEnding = true }
    await withCheckedContinuation { caller in end.notify(queue: .global()) { caller.resume() } }
  }

  private func order(_ change: (inout Orders) -> Void) {
    orders.withLock { change(&$0) }
    // A full socket wakes the thread as well.
    var byte: UInt8 = 1
    write(wakeSockets.write, &byte, 1)
  }

  // MARK: The thread

  private func run(_ place: PostgresConfiguration) {
    let heartbeat = FleetHeartbeat(place: place, leases: leases) { self.tell($0) }
    var next = heartbeat.work()
    firstBeat.leave()
    while true {
      wait(until: next, or: heartbeat.descriptor)
      let taken = orders.withLock { orders in
        defer { (orders.isRetiring, orders.mustNotify, orders.isProbing) = (false, false, false) }
        return orders
      }
      if taken.isEnding { break }
      if taken.isRetiring { heartbeat.retire() }
      if taken.mustNotify { heartbeat.mustNotify = true }
      if taken.isProbing { heartbeat.probe() }
      heartbeat.readNotifications()
      next = heartbeat.work()
    }
    heartbeat.end()
    end.leave()
  }

  private func tell(_ event: FleetEvent) {
    let handler = orders.withLock { orders in
      if orders.handler == nil { orders.unheard.append(event) }
      return orders.handler
    }
    handler?(event)
  }

  private func wait(until next: Int64, or descriptor: Int32) {
    var members = [
      pollfd(fd: wakeSockets.read, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    // poll(2) ignores a negative descriptor. Its timeout does not count sleep.
    poll(&members, 2, Int32(clamping: max(0, next - FleetHeartbeat.clock())))
    var bytes = [UInt8](repeating: 0, count: 512)
    read(wakeSockets.read, &bytes, bytes.count)
  }
}
