public import ChimeCore
public import ChimeSchedule
import Synchronization

/// A BusDesktopChannel shows popups over one D-Bus connection to the notification server.
///
/// A message is delivered when the server has assigned a number to its popup. Button presses come as
/// `DesktopEvent.answered`, also for popups from before a restart; a popup that expires or is closed is no answer.
/// Without a bus or a server an attempt is `.blocked`, not failed. `.opened` reports that a server has appeared.
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
  /// A mutex guards the state because the loop sends messages and the server's thread reports events. It is held while
  /// the registry decides, never during a report.
  private let state = Mutex(State())

  /// - Parameter clock: The wall clock; the system's by default.
  public init(
    configuration: DesktopConfiguration, server: any NotificationServer, clock: (@Sendable () -> Instant)? = nil
  ) {
    self.configuration = configuration
    self.server = server
    self.clock = clock ?? Timestamp.now
    server.start { [weak self] event in self?.change { $0.handle(event) } }
  }

  /// Connects at once, to receive button presses on popups from before a restart.
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

  /// Applies a decision of the registry and executes its orders.
  private func change(_ decide: (inout BusPopupRegistry) -> [BusPopupRegistry.Order]) {
    var failures: [NotificationServerEvent] = []
    let orders = state.withLock { state in
      let orders = decide(&state.registry)
      // Orders are passed to the server under the lock, which keeps them in order.
      for order in orders { if let failure = pass(order) { failures.append(failure) } }
      return orders
    }
    for order in orders { report(order) }
    for failure in failures { change { $0.handle(failure) } }
  }

  /// Passes an order to the server. Returns the event to handle if the server cannot take it.
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
