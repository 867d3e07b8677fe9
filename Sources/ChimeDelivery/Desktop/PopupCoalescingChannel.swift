public import ChimeCore
public import ChimeSchedule
import Dispatch
import Synchronization

/// A PopupCoalescingChannel is the daemon's desktop channel: a PopupTransport behind a PopupCoalescer.
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
  private let queue = DispatchQueue(label: "io.chime.popups")
  /// A mutex guards the state: messages come from the loop, outcomes from the transport's thread, and timer ends from
  /// the queue. It is held while the coalescer decides, never during a report.
  private let state = Mutex(State())

  /// - Parameter clock: The wall clock; the system's by default.
  public init(transport: any PopupTransport, clock: (@Sendable () -> Instant)? = nil) {
    self.transport = transport
    self.clock = clock ?? Timestamp.now
  }

  /// Sets the handler of desktop events, which any thread may call. Called once, before messages.
  ///
  /// - Parameter memory: The memory of the previous channel, of this process or an earlier one; empty for none.
  public func listen(remembering memory: String = "", _ handler: @escaping @Sendable (DesktopEvent) -> Void) {
    state.withLock { $0.listener = handler }
    transport.listen(remembering: memory) { [weak self] event in
      guard let self else { return }
      if event == .opened { change { $0.opened(now: self.clock()) } } else { perform([.tell(event)]) }
    }
  }

  /// State of the current popups for the next channel; also valid after `stop()`.
  public var memory: String { transport.memory }

  /// Occurrences whose popups are known to wait for an answer.
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
  /// Ends the message with the outcome of a popup that it shared with others.
  fileprivate func conclude(_ attempt: Attempt, _ next: ChannelReport.NextStep) {
    var attempt = attempt
    attempt.number = message.delivery.attempts + 1
    report(.ended(attempt, next: next))
  }
}
