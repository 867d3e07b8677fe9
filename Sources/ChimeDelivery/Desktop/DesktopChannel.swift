public import ChimeCore
public import ChimeSchedule
import Synchronization

/// A DesktopChannel shows popups by running notify-send once for each (Desktop Notifications Specification 1.2).
///
/// A message is delivered when the server has accepted it. The program then waits for *Done* or *Snooze*, which are
/// reported as `.answered`; a popup that expires or is closed is no answer. One thread watches all programs. Without a
/// session bus or a server the attempt is `.blocked`, not failed.
///
///     let desktop = DesktopChannel(configuration: DesktopConfiguration(environment: environment))
///     desktop.send(message) { report in … }
public final class DesktopChannel: Channel, PopupTransport {
  private let configuration: DesktopConfiguration
  private let clock: @Sendable () -> Instant
  private let supervisor = Supervisor()
  /// A mutex guards the registry because the loop sends messages and the supervisor's thread reports events. It is held
  /// while the registry decides, never during a report.
  private let registry = Mutex(PopupRegistry())

  /// - Parameter clock: The wall clock; the system's by default.
  public init(configuration: DesktopConfiguration, clock: (@Sendable () -> Instant)? = nil) {
    self.configuration = configuration
    self.clock = clock ?? Timestamp.now
  }

  /// Shows a message. Reports `.ended` once, and `.answered` when a button is pressed.
  ///
  /// An occurrence that fires again replaces its earlier popup. If too many popups wait for an answer, the program of
  /// the oldest is ended: its popup stays on screen, but its buttons stop working.
  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    show(.occurrence(message), report: report)
  }

  public func show(_ content: PopupContent, report: @escaping @Sendable (ChannelReport) -> Void) {
    change { $0.admit(PopupRequest(content, report), limit: configuration.concurrentWaits) }
  }

  /// Does nothing: notify-send yields only answers, and `report` passes those on.
  public func listen(remembering memory: String, _ handler: @escaping @Sendable (DesktopEvent) -> Void) {}

  /// Always empty, since another run of notify-send cannot act on a popup.
  public var memory: String { "" }

  public var unanswered: [OccurrenceID] { registry.withLock(\.unanswered) }

  /// Closes the occurrence's popup if its program still runs. Otherwise the popup stays until the server or the user
  /// closes it: notify-send cannot close the popup of another run.
  public func withdraw(_ occurrence: OccurrenceID) { withdraw(.occurrence(occurrence)) }

  public func withdraw(_ key: PopupContent.Key) { change { $0.withdraw(key) } }

  /// Ends all programs and returns when none is left. Popups stay on screen.
  public func stop() async {
    change { $0.close() }
    await supervisor.stop()
  }

  private func handle(_ event: Supervisor.Event, of run: Supervisor.RunID) {
    change { $0.handle(event, of: run, limit: configuration.concurrentWaits) }
  }

  /// Applies a decision of the registry and executes its orders.
  private func change(_ decide: (inout PopupRegistry) -> [PopupRegistry.Order]) {
    var failures: [(Supervisor.RunID, SpawnFailure)] = []
    let reports = registry.withLock { registry in
      // Orders are passed to the supervisor under the lock, which keeps them in order.
      decide(&registry).filter { order in
        if let failure = pass(order) { failures.append(failure) }
        return order.isReport
      }
    }
    for case .act(_, let showing, let action) in reports { report(action, of: showing) }
    for (run, failure) in failures { handle(.notStarted(failure), of: run) }
  }

  /// Passes an order to the supervisor. Returns the run if the supervisor refuses it.
  private func pass(_ order: PopupRegistry.Order) -> (Supervisor.RunID, SpawnFailure)? {
    switch order {
    case .start(let run, let showing, let replacing, let isPlain):
      let program = configuration.program(for: showing.content, replacing: replacing, isPlain: isPlain)
      let failure = supervisor.start(run, program, deadline: Duration(configuration.showTimeout)) {
        [weak self] event in self?.handle(event, of: run)
      }
      return failure.map { (run, $0) }
    case .act(let run, _, .waitForAnswer): supervisor.setDeadline(run, in: Duration(configuration.answerTimeout))
    case .act(let run, _, .end(.leave)): supervisor.end(run, with: Supervisor.terminate)
    case .act(let run, _, .end(.takeDown)): supervisor.end(run, with: Supervisor.interrupt)
    case .act: break
    }
    return nil
  }

  private func report(_ action: Popup.Action, of showing: PopupRequest) {
    switch action {
    case .report(let outcome, let next, let status, let error):
      showing.end(outcome, next, status: status, error: error, now: clock())
    case .answer(let answer): showing.report(.answered(answer))
    case .waitForAnswer, .end, .showPlain: break
    }
  }
}
