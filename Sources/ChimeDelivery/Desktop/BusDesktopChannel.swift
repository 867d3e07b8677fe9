public import ChimeCore
public import ChimeSchedule
import Synchronization

/// Shows occurrences as popups of the desktop over one connection to the notification server, and hears what is pressed
/// on them for as long as the daemon runs, also on popups from before it was restarted.
///
/// A message is delivered when the server has given its popup a number. Answers come as `DesktopEvent.answered`; a popup
/// that times out or is closed is no answer. Without a bus or a server an attempt is `.blocked` and no failure, and
/// `.opened` tells when a server has come.
///
///     let desktop = BusDesktopChannel(configuration: configuration, server: SessionBus(…))
public final class BusDesktopChannel: PopupTransport {
  private struct State {
    var registry = BusPopupRegistry()
    var listener: (@Sendable (DesktopEvent) -> Void)?
  }

  private let configuration: DesktopConfiguration
  private let clock: @Sendable () -> Instant
  private let server: any NotificationServer
  /// Behind a mutex because messages come from the daemon's loop and events from the server's thread. Held while the
  /// board decides, never while something is reported.
  private let state = Mutex(State())

  /// - Parameter clock: the wall clock, by default the system's.
  public init(
    configuration: DesktopConfiguration, server: any NotificationServer, clock: (@Sendable () -> Instant)? = nil
  ) {
    self.configuration = configuration
    self.server = server
    self.clock = clock ?? Timestamp.now
    server.start { [weak self] event in self?.change { $0.handle(event) } }
  }

  /// Connects at once, so that the buttons of popups from before are heard.
  public func listen(remembering memory: String, _ handler: @escaping @Sendable (DesktopEvent) -> Void) {
    state.withLock { $0.listener = handler }
    change { $0.listen(remembering: memory) }
  }

  public var memory: String { state.withLock(\.registry.memory) }

  public var unanswered: [OccurrenceID] { state.withLock(\.registry.unanswered) }

  public func show(_ content: PopupContent, report: @escaping @Sendable (ChannelReport) -> Void) {
    change { $0.admit(PopupRequest(content, report)) }
  }

  public func withdraw(_ key: PopupContent.Key) { change { $0.withdraw(key) } }

  public func stop() async {
    change { $0.close() }
    await server.stop()
  }

  /// Lets the board decide and carries out its orders.
  private func change(_ decide: (inout BusPopupRegistry) -> [BusPopupRegistry.Order]) {
    var failures: [NotificationServerEvent] = []
    let orders = state.withLock { state in
      let orders = decide(&state.registry)
      // What the server is to do is queued under the lock, so that it is done in the order in which it was decided.
      for order in orders { if let failure = pass(order) { failures.append(failure) } }
      return orders
    }
    for order in orders { report(order) }
    for failure in failures { change { $0.handle(failure) } }
  }

  /// Asks the server for what an order wants of it. Returns what is to be told when it cannot be asked.
  private func pass(_ order: BusPopupRegistry.Order) -> NotificationServerEvent? {
    switch order {
    case .look(let activating): return server.look(activating: activating).map { .unreachable($0) }
    case .notify(let call, let showing, let capabilities, let replacing):
      let notification = configuration.notification(for: showing.content, capabilities, replacing: replacing)
      return server.notify(call, notification).map { .refused(call, $0) }
    case .close(let number):
      server.close(number)
      return nil
    case .delivered, .failed, .tell: return nil
    }
  }

  private func report(_ order: BusPopupRegistry.Order) {
    switch order {
    case .delivered(let showing): showing.end(.delivered, .settled, error: nil, now: clock())
    case .failed(let showing, let fault):
      if fault == BusPopupRegistry.stopping {
        return showing.end(ShutdownOutcome.outcome, ShutdownOutcome.next, error: fault.sentence, now: clock())
      }
      showing.end(
        fault.isBlocked ? .refused : .failed, fault.isBlocked ? .blocked(Popup.blockedFor) : .retry,
        error: PlainText.sentence(fault.sentence), now: clock())
    case .tell(let event): state.withLock(\.listener)?(event)
    case .look, .notify, .close: break
    }
  }
}
