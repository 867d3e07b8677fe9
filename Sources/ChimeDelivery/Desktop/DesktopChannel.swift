public import ChimeCore
public import ChimeSchedule
import Synchronization

/// Shows occurrences as popups of the desktop, by running notify-send once for each (Desktop Notifications
/// Specification 1.2), and hears what is pressed on them.
///
/// A message is delivered when the server has taken it. After that the program stays to wait for *Done* or *Snooze*,
/// which are reported as `.answered`; a popup that times out or is closed is no answer. All programs are watched by one
/// thread. When the session bus or the server is not there, the attempt is `.blocked` and no failure.
///
///     let desktop = DesktopChannel(configuration: DesktopConfiguration(environment: environment))
///     desktop.send(message) { report in … }
public final class DesktopChannel: Channel, PopupTransport {
  private let configuration: DesktopConfiguration
  private let clock: @Sendable () -> Instant
  private let supervisor = Supervisor()
  /// Behind a mutex because messages come from the daemon's loop and events from the supervisor's thread. Held while a
  /// state machine decides, never while something is reported.
  private let registry = Mutex(PopupRegistry())

  /// - Parameter clock: the wall clock, by default the system's.
  public init(configuration: DesktopConfiguration, clock: (@Sendable () -> Instant)? = nil) {
    self.configuration = configuration
    self.clock = clock ?? Timestamp.now
  }

  /// Reports `.ended` once, and `.answered` when a button is pressed.
  ///
  /// An occurrence that fires again takes the place of its earlier popup. When as many popups wait for their answer as
  /// may, the oldest is let go: it stays on screen, but its buttons no longer do anything.
  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    show(.occurrence(message), report: report)
  }

  public func show(_ content: PopupContent, report: @escaping @Sendable (ChannelReport) -> Void) {
    change { $0.admit(PopupRequest(content, report), limit: configuration.concurrentWaits) }
  }

  /// notify-send tells of answers only, and those are reported.
  public func listen(remembering memory: String, _ handler: @escaping @Sendable (DesktopEvent) -> Void) {}

  /// Nothing: no other run of notify-send could do anything about a popup.
  public var memory: String { "" }

  public var unanswered: [OccurrenceID] { registry.withLock(\.unanswered) }

  /// Closes the occurrence's popup where its program still waits. One whose program has been let go stays until its
  /// server or the user closes it: notify-send cannot close a popup of another run.
  public func withdraw(_ occurrence: OccurrenceID) { withdraw(.occurrence(occurrence)) }

  public func withdraw(_ key: PopupContent.Key) { change { $0.withdraw(key) } }

  /// Ends all programs, and returns when none is left. Popups stay on screen.
  public func stop() async {
    change { $0.close() }
    await supervisor.stop()
  }

  private func handle(_ event: Supervisor.Event, of run: Supervisor.RunID) {
    change { $0.handle(event, of: run, limit: configuration.concurrentWaits) }
  }

  /// Lets the board decide and carries out its orders.
  private func change(_ decide: (inout PopupRegistry) -> [PopupRegistry.Order]) {
    var failures: [(Supervisor.RunID, SpawnFailure)] = []
    let reports = registry.withLock { registry in
      // What the supervisor is to do is queued under the lock, so that it is done in the order in which it was decided.
      decide(&registry).filter { order in
        if let failure = pass(order) { failures.append(failure) }
        return order.isReport
      }
    }
    for case .act(_, let showing, let action) in reports { report(action, of: showing) }
    for (run, failure) in failures { handle(.notStarted(failure), of: run) }
  }

  /// Queues what an order asks of the supervisor. Returns the run that it cannot take.
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
