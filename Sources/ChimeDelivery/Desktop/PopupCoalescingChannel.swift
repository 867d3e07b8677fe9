public import ChimeCore
public import ChimeSchedule
import Dispatch
import Synchronization

/// The desktop as the daemon knows it: a transport to the screen, behind a `PopupCoalescer` that keeps what waited from
/// coming as a storm.
///
///     let desktop = PopupCoalescingChannel(transport: DesktopChannel(configuration: configuration))
///     desktop.listen { event in … }
///     desktop.send(message) { report in … }
public final class PopupCoalescingChannel: Channel {
  private struct State {
    var coalescer = PopupCoalescer()
    var listener: (@Sendable (DesktopEvent) -> Void)?
  }

  private let transport: any PopupTransport
  private let clock: @Sendable () -> Instant
  private let queue = DispatchQueue(label: "io.chime.gathering")
  /// Behind a mutex because messages come from the daemon's loop, outcomes from the transport's thread and the end of a
  /// moment from the queue. Held while the value decides, never while anybody is told.
  private let state = Mutex(State())

  /// - Parameter clock: the wall clock, by default the system's.
  public init(transport: any PopupTransport, clock: (@Sendable () -> Instant)? = nil) {
    self.transport = transport
    self.clock = clock ?? Timestamp.now
  }

  /// Tells of answers, closed popups and reopened ways from now on, from any thread. Called once, before messages.
  ///
  /// - Parameter memory: that of the channel before this one, in this process or an earlier; empty for none.
  public func listen(remembering memory: String = "", _ handler: @escaping @Sendable (DesktopEvent) -> Void) {
    state.withLock { $0.listener = handler }
    transport.listen(remembering: memory) { [weak self] event in
      guard let self else { return }
      if event == .opened { change { $0.opened(now: self.clock()) } } else { perform([.tell(event)]) }
    }
  }

  /// What the next channel has to know of the popups that stand now; also valid after `stop()`.
  public var memory: String { transport.memory }

  /// The occurrences whose popups stand and wait for an answer, as far as is known.
  public var unanswered: [OccurrenceID] { transport.unanswered }

  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    change { $0.admit(PopupCoalescer.Held(message: message, report: report), now: clock()) }
  }

  public func withdraw(_ occurrence: OccurrenceID) { change { $0.withdraw(occurrence) } }

  public func stop() async {
    change { $0.close() }
    await transport.stop()
  }

  private func change(_ decide: (inout PopupCoalescer) -> [PopupCoalescer.Order]) {
    perform(state.withLock { decide(&$0.coalescer) })
  }

  private func perform(_ orders: [PopupCoalescer.Order]) {
    for order in orders {
      switch order {
      case .show(let held, let others): show(held, others)
      case .summarise(let summary, let members): show(summary, members)
      case .wait:
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(PopupCoalescer.moment.rawValue))) { [weak self] in
          guard let self else { return }
          change { $0.momentIsOver(now: self.clock()) }
        }
      case .refuse(let held, let reason):
        let attempt = Attempt(
          number: held.message.delivery.attempts + 1, startedAt: clock(), took: .zero, outcome: ShutdownOutcome.outcome,
          error: reason)
        held.report(.ended(attempt, next: ShutdownOutcome.next))
      case .takeDown(let key): transport.withdraw(key)
      case .tell(let event): state.withLock(\.listener)?(event)
      }
    }
  }

  private func show(_ held: PopupCoalescer.Held, _ others: [PopupCoalescer.Held]) {
    transport.show(.occurrence(held.message)) { [weak self] report in
      held.report(report)
      guard case .ended(let attempt, let next) = report else { return }
      for other in others {
        var attempt = attempt
        if next == .settled { attempt.answer = "shown by round \(held.message.delivery.round)" }
        other.conclude(attempt, next)
      }
      guard let self else { return }
      change { $0.ended(next, now: self.clock()) }
    }
  }

  private func show(_ summary: PopupSummary, _ members: [PopupCoalescer.Held]) {
    transport.show(.summary(summary)) { [weak self] report in
      guard case .ended(var attempt, let next) = report else { return }
      if next == .settled { attempt.answer = "shown in a summary of \(summary.titles.count)" }
      for member in members { member.conclude(attempt, next) }
      guard let self else { return }
      change { $0.ended(next, summary: (summary.number, members), now: self.clock()) }
    }
  }
}

extension PopupCoalescer.Held {
  /// Ends it with the outcome of a popup that was shown for it and for others.
  fileprivate func conclude(_ attempt: Attempt, _ next: ChannelReport.NextStep) {
    var attempt = attempt
    attempt.number = message.delivery.attempts + 1
    report(.ended(attempt, next: next))
  }
}
