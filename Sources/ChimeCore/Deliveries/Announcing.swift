public import ChimeSchedule

/// Announcing creates the deliveries that report changes of occurrences to endpoints: events, and withdrawals of shown
/// messages. They commit together with the change.
public enum Announcing {
  /// Adds the deliveries for a change of one occurrence. Call it before `after` is written, because that cancels
  /// pending deliveries of the occurrence.
  ///
  /// - Parameters:
  ///   - reminder: the current definition; nil if it cannot be read, and then only withdrawals are sent.
  ///   - way: where the change came from, as in `DeliveryEvent.by`.
  public static func change(
    _ before: Occurrence, to after: Occurrence, of reminder: Reminder?, by way: String?,
    in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws {
    guard let listeners = context.subscriptions.listeners(of: after.owner), let event = Self.event(before, after) else {
      return
    }
    var pending: [Delivery] = []
    if before.isShown, !after.isShown {
      pending = try withdrawals(of: before, listeners, in: transaction, now: now, using: &generator)
    }
    if let reminder {
      pending += messages(
        .init(.event(event), by: way, until: after.deferredUntil, reason: after.state.missReason), of: after, reminder,
        listeners, now: now, using: &generator)
    }
    if !pending.isEmpty { try transaction.owe(pending) }
  }

  /// Returns the event of a change; nil if endpoints are not notified of it.
  private static func event(_ before: Occurrence, _ after: Occurrence) -> OccurrenceEvent? {
    guard before.state != after.state else { return nil }
    return switch after.state {
    case .done: .done
    case .dismissed: .dismissed
    case .snoozed: .snoozed
    case .missed: .missed
    case .fired, .delivered: before.isShown ? nil : .reopened
    case .awaited: nil
    }
  }

  private static func messages(
    _ event: DeliveryEvent, of occurrence: Occurrence, _ reminder: Reminder,
    _ listeners: [EventSubscriptions.Subscriber],
    now: Instant, using generator: inout some RandomNumberGenerator
  ) -> [Delivery] {
    guard case .event(let kind) = event.kind else { return [] }
    return listeners.filter { $0.events.contains(kind) && $0.hears(reminder) }.map {
      Delivery(
        id: DeliveryID(at: now, using: &generator), occurrence: occurrence.id, queue: $0.queue,
        round: occurrence.rounds,
        createdAt: now, event: event)
    }
  }

  /// Returns withdrawals of the latest message that each queue may have of an occurrence, for queues that support them.
  private static func withdrawals(
    of occurrence: Occurrence, before round: Int = .max, _ listeners: [EventSubscriptions.Subscriber],
    in transaction: any StoreTransaction, now: Instant, using generator: inout some RandomNumberGenerator
  ) throws -> [Delivery] {
    let queues = listeners.filter(\.canWithdraw).map(\.queue)
    guard !queues.isEmpty else { return [] }
    let sent = try transaction.sent(of: occurrence.id).filter { $0.round < round }
    return queues.compactMap { queue in
      sent.filter { $0.queue == queue }.max { $0.round < $1.round }.map { message in
        var pending = withdrawal(of: message, now: now, using: &generator)
        // A message in flight has not arrived yet. Its outcome makes this withdrawal due, or else this wait ends.
        if message.isPending { pending.state = .waiting(until: now + longestUnderWay) }
        return pending
      }
    }
  }

  /// The longest wait for the outcome of a message in flight.
  private static let longestUnderWay = Milliseconds.seconds(20)

  /// Returns a withdrawal of a message.
  static func withdrawal(
    of delivery: Delivery, now: Instant, using generator: inout some RandomNumberGenerator
  ) -> Delivery {
    Delivery(
      id: DeliveryID(at: now, using: &generator), occurrence: delivery.occurrence, queue: delivery.queue,
      round: delivery.round, createdAt: now, event: .init(.withdrawal, message: delivery.id))
  }

  /// Adds events and withdrawals to a decision, and removes deliveries of events that an endpoint does not subscribe to.
  public static func addEvents(
    _ firing: inout FiringResult, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws {
    let reminder = firing.due.reminder
    guard let listeners = context.subscriptions.listeners(of: reminder.owner) else { return }
    for occurrence in firing.occurrences {
      let isAgain = firing.due.occurrence?.id == occurrence.id
      let before = isAgain ? firing.due.occurrence : nil
      switch occurrence.state {
      case .fired where before?.state != .fired || before?.rounds != occurrence.rounds:
        try addEvents(
          occurrence, &firing, reminder, listeners, in: transaction, now: now, using: &generator)
      case .done, .missed, .dismissed:
        if let before, before.isShown {
          firing.deliveries += try withdrawals(of: before, listeners, in: transaction, now: now, using: &generator)
        }
        guard let before = before ?? unseen(occurrence), let event = event(before, occurrence) else { continue }
        firing.deliveries += messages(
          .init(.event(event), by: event == .done ? "tracker" : nil, reason: occurrence.state.missReason),
          of: occurrence, reminder, listeners, now: now, using: &generator)
      case .snoozed where before == nil:
        // The time was moved before it came.
        firing.deliveries += messages(
          .init(.event(.snoozed), by: "cli", until: occurrence.deferredUntil), of: occurrence, reminder, listeners,
          now: now, using: &generator)
      default: break
      }
    }
  }

  /// Returns a time's occurrence as it was before it was recorded.
  private static func unseen(_ occurrence: Occurrence) -> Occurrence? {
    var before = occurrence
    before.state = .awaited(until: occurrence.id.scheduledAt)
    return before
  }

  private static func addEvents(
    _ occurrence: Occurrence, _ firing: inout FiringResult, _ reminder: Reminder,
    _ listeners: [EventSubscriptions.Subscriber],
    in transaction: any StoreTransaction, now: Instant, using generator: inout some RandomNumberGenerator
  ) throws {
    let event = occurrence.repeats > 0 ? OccurrenceEvent.repeated : .fired
    for listener in listeners {
      let isPending = firing.deliveries.contains { $0.queue == listener.queue && $0.occurrence == occurrence.id }
      if isPending, !listener.events.contains(event) {
        firing.deliveries.removeAll { $0.queue == listener.queue && $0.occurrence == occurrence.id }
      } else if !isPending, listener.events.contains(event), listener.reminders?.contains(reminder) == true {
        firing.deliveries.append(
          Delivery(
            id: DeliveryID(at: now, using: &generator), occurrence: occurrence.id, queue: listener.queue,
            round: occurrence.rounds, createdAt: now))
      }
    }
    guard event == .repeated else { return }
    // The new message replaces the previous one.
    let renewed = Set(firing.deliveries.filter { $0.occurrence == occurrence.id && $0.event == nil }.map(\.queue))
    firing.deliveries += try withdrawals(
      of: occurrence, before: occurrence.rounds, listeners.filter { renewed.contains($0.queue) }, in: transaction,
      now: now, using: &generator)
  }

  /// Adds the deliveries for a removal. Call it before the reminder is removed, because that dismisses open occurrences.
  public static func removal(
    of reminder: Reminder, in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws {
    guard context.subscriptions.listeners(of: reminder.owner) != nil else { return }
    for occurrence in try transaction.allOccurrences(OccurrenceFilter(reminder: reminder.id, openOnly: true)) {
      var after = occurrence
      after.state = .dismissed
      try change(
        occurrence, to: after, of: reminder, by: "cli", in: transaction, context, now: now, using: &generator)
    }
  }

  /// Adds the deliveries that follow from an attempt. Call it before the outcome is recorded.
  ///
  /// A message that arrived after its occurrence was answered is withdrawn. Other endpoints are notified of a message
  /// that was given up.
  static func outcome(
    of message: OutboundMessage, _ state: Delivery.State, in transaction: any StoreTransaction,
    _ context: ReminderContext,
    now: Instant, using generator: inout some RandomNumberGenerator
  ) throws {
    let delivery = message.delivery
    guard delivery.event == nil, let listeners = context.subscriptions.listeners(of: delivery.queue.owner) else {
      return
    }
    switch state {
    case .delivered where context.subscriptions.canWithdraw(delivery.queue):
      guard try transaction.delivery(delivery.id)?.isPending == false else { return }
      let filter = DeliveryFilter(
        owner: delivery.queue.owner, channel: delivery.queue.channel, occurrence: delivery.occurrence)
      let pending = try transaction.deliveries(filter, page: Page(limit: 100)).first {
        $0.isPending && $0.event?.isWithdrawal == true && $0.event?.message == delivery.id
      }
      // If the withdrawal was tried already, it may have arrived before the message.
      if let pending, pending.attempts == 0, try transaction.replay(pending.id, now: now) { return }
      try transaction.owe([withdrawal(of: delivery, now: now, using: &generator)])
    case .dead:
      guard let reminder = message.reminder else { return }
      // The failing endpoint itself cannot be notified.
      let others = listeners.filter { $0.queue != delivery.queue }
      let pending = messages(
        .init(.event(.givenUp), message: delivery.id, channel: delivery.queue.channel), of: message.occurrence,
        reminder,
        others, now: now, using: &generator)
      if !pending.isEmpty { try transaction.owe(pending) }
    default: break
    }
  }

  /// Returns events that report a notice of Chime as done, for endpoints that keep a list, because it needs no answer.
  static func notice(
    _ occurrence: Occurrence, _ reminder: Reminder, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) -> [Delivery] {
    let listeners = context.subscriptions.listeners(of: reminder.owner) ?? []
    return messages(.init(.event(.done)), of: occurrence, reminder, listeners, now: now, using: &generator)
  }
}
