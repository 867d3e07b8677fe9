import ChimeDelivery
import ChimeSchedule
import Glibc
import Synchronization

/// A SessionBus reaches the notification server of the session bus by sd-bus(3), on one connection and one thread.
///
/// The thread starts with the first call and sleeps without a timeout while no call is in flight. After the connection
/// breaks, the next call opens a new one.
final class SessionBus: NotificationServer {
  fileprivate enum Command: Sendable {
    case look(activating: Bool)
    case notify(UInt64, DesktopNotification)
    case close(UInt32)
    case stop(@Sendable () -> Void)
  }

  /// Holds the event handler. A mutex guards it because the channel sets it and the bus's thread reads it.
  fileprivate final class Listener: Sendable {
    private let handler = Mutex<(@Sendable (NotificationServerEvent) -> Void)?>(nil)

    func set(_ body: @escaping @Sendable (NotificationServerEvent) -> Void) { handler.withLock { $0 = body } }
    func tell(_ event: NotificationServerEvent) { handler.withLock { $0 }?(event) }
  }

  private let listener = Listener()
  private let worker: Worker<Command>

  /// Creates the bus without a connection.
  ///
  /// - Parameters:
  ///   - environment: contains `DBUS_SESSION_BUS_ADDRESS`, or `XDG_RUNTIME_DIR` with a `bus` in it.
  ///   - timeout: the time limit of the server for a call.
  init(environment: [String: String], timeout: Milliseconds) {
    let (listener, address) = (listener, Self.address(in: environment))
    worker = Worker(name: "chime-desktop") { mailbox in
      BusThread(mailbox, address: address, timeout: timeout, tell: listener.tell).run()
    }
  }

  func start(_ handler: @escaping @Sendable (NotificationServerEvent) -> Void) { listener.set(handler) }

  func look(activating: Bool) -> NotificationFault? { post(.look(activating: activating)) }

  func notify(_ call: UInt64, _ notification: DesktopNotification) -> NotificationFault? {
    post(.notify(call, notification))
  }

  func close(_ number: UInt32) { _ = post(.close(number)) }

  func stop() async {
    await withCheckedContinuation { continuation in
      if !worker.stop(.stop { continuation.resume() }) { continuation.resume() }
    }
  }

  private func post(_ command: Command) -> NotificationFault? {
    do {
      return try worker.post(command) ? nil : NotificationFault(isBlocked: false, sentence: "the daemon stops")
    } catch {
      return NotificationFault(isBlocked: false, sentence: "cannot connect to the session bus: \(error)")
    }
  }

  /// Returns the address of the user's bus (D-Bus Specification, "Server Addresses"); nil if the environment has none.
  static func address(in environment: [String: String]) -> String? {
    if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
    guard let folder = environment["XDG_RUNTIME_DIR"], !folder.isEmpty else { return nil }
    var escaped = ""
    for byte in "\(folder)/bus".utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
        UInt8(ascii: "."):
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let hex = String(byte, radix: 16)
        escaped += "%" + (hex.count == 1 ? "0" : "") + hex
      }
    }
    return "unix:path=\(escaped)"
  }
}

/// The state that the bus's thread owns.
private final class BusThread {
  private let mailbox: Mailbox<SessionBus.Command>
  private let address: String?
  private let timeout: Milliseconds
  private let tell: (NotificationServerEvent) -> Void
  private var connection: BusConnection?
  private var stops: [@Sendable () -> Void] = []

  init(
    _ mailbox: Mailbox<SessionBus.Command>, address: String?, timeout: Milliseconds,
    tell: @escaping (NotificationServerEvent) -> Void
  ) {
    self.mailbox = mailbox
    self.address = address
    self.timeout = timeout
    self.tell = tell
  }

  func run() {
    while stops.isEmpty {
      wait()
      for command in mailbox.take() { obey(command) }
      guard let connection else { continue }
      do throws(BusTrouble) {
        try connection.process()
      } catch {
        drop(error)
      }
    }
    connection = nil
    for case .stop(let done) in mailbox.close() { stops.append(done) }
    for done in stops { done() }
  }

  private func wait() {
    var descriptors = [pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)]
    var limit: UInt64?
    if let connection {
      descriptors.append(pollfd(fd: connection.descriptor, events: connection.interest, revents: 0))
      limit = connection.wakeAt
    }
    var milliseconds: Int32 = -1
    if let limit {
      let now = BusConnection.monotonicMicroseconds
      milliseconds = limit <= now ? 0 : Int32(clamping: (limit - now) / 1_000 + 1)
    }
    poll(&descriptors, nfds_t(descriptors.count), milliseconds)
  }

  private func obey(_ command: SessionBus.Command) {
    switch command {
    case .look(let activating):
      do throws(BusTrouble) {
        if connection == nil { connection = try connect() }
        try connection?.look(activating: activating)
      } catch {
        drop(error, isLooking: true)
      }
    case .notify(let call, let notification):
      guard let connection else {
        tell(.refused(call, BusTrouble.gone.fault))
        return
      }
      do throws(BusTrouble) {
        try connection.notify(call, notification)
      } catch {
        tell(.refused(call, error.fault))
        drop(error)
      }
    case .close(let number):
      // The result is irrelevant: a popup that does not exist needs no closing.
      try? connection?.close(number)
    case .stop(let done): stops.append(done)
    }
  }

  private func connect() throws(BusTrouble) -> BusConnection {
    guard let address else { throw .noBus("the environment names none") }
    return try BusConnection(address: address, timeout: timeout, tell: tell)
  }

  /// Closes a connection that is no longer usable.
  private func drop(_ trouble: BusTrouble, isLooking: Bool = false) {
    let wasLooking = connection?.isLooking ?? false
    let connection = connection
    self.connection = nil
    connection?.abandon(trouble)
    tell(wasLooking || isLooking ? .unreachable(trouble.fault) : .gone)
  }
}

/// The reason why the bus cannot be used.
enum BusTrouble: Error, Hashable {
  case noBus(String)
  /// The connection broke.
  case gone
  /// The bus accepted the connection but does not answer.
  case silent
  /// A call was refused for a reason that is not the bus's fault.
  case refused(call: String, code: Int32)

  var fault: NotificationFault {
    switch self {
    case .noBus(let why):
      NotificationFault(isBlocked: true, sentence: "no session bus to show notifications on: \(why)")
    case .gone: NotificationFault(isBlocked: true, sentence: "the session bus is gone")
    case .silent: NotificationFault(isBlocked: false, sentence: "the session bus does not answer")
    case .refused(let call, let code):
      NotificationFault(isBlocked: false, sentence: "\(call): \(SystemError(call, code: code).reason)")
    }
  }
}
