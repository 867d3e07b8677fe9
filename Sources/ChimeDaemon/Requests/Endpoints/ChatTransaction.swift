import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// A ChatTransaction gives the answer of a person in a chat, in the transaction that records how far the chat was read.
enum ChatTransaction {
  /// How long the id of an answer is remembered, against replays. Its round is over by then.
  private static let memory = Milliseconds.days(30)
  private static let longestSnooze = Milliseconds.days(366)

  /// - Returns: why nothing was changed; nil: the answer was given.
  /// - Throws: failures of the store, or the refusal of the answer.
  static func run(
    _ answer: ChatAnswer, of queue: DeliveryQueue, way: String, in transaction: any StoreTransaction,
    _ context: ReminderContext,
    now: Instant
  ) throws -> (TokenFault?, [PostCommitEffect]) {
    guard let delivery = try transaction.delivery(answer.delivery), delivery.queue == queue,
      let occurrence = try transaction.occurrence(delivery.occurrence), occurrence.owner == queue.owner
    else { return (.foreign, []) }
    let reminder = try transaction.readableReminder(delivery.occurrence.reminder)?.reminder
    guard let given = given(answer, reminder, context, now: now) else { return (.malformed, []) }
    guard occurrence.waits(for: given, toRound: delivery.round) else { return (.over, []) }
    guard try transaction.spend("\(queue.owner) \(queue.channel) \(answer.id)", until: now + memory, now: now) else {
      return (.replayed, [])
    }
    let (_, effects) = try Answering.give(
      given, to: occurrence, reminder: reminder, by: queue.owner, way: way, in: transaction, context, now: now)
    return (nil, effects)
  }

  /// Returns the answer that is meant; nil: it cannot be understood. A snooze until a time that has passed ends at once.
  private static func given(
    _ answer: ChatAnswer, _ reminder: Reminder?, _ context: ReminderContext, now: Instant
  ) -> Occurrence.Answer? {
    func until(_ time: Instant) -> Occurrence.Answer? {
      time - now <= longestSnooze ? .snooze(for: max(time - now, .seconds(1))) : nil
    }
    // The server's clock counts, unless it is ahead of this one.
    let at = min(answer.at, now)
    switch answer.what {
    case .done: return .done
    case .item(let item): return .item(item)
    case .dismiss: return .dismiss
    case .snooze: return until(at + (reminder?.snoozeLengths.first ?? .minutes(10)))
    case .words(let text):
      if let length = try? DurationText.parse(text), length <= longestSnooze { return until(at + length) }
      let zone = reminder.flatMap(context.zone(of:)) ?? context.zones.local
      var scheduleContext = context.scheduleContext(in: zone)
      for language: SpokenLanguage? in [nil, .czech] {
        scheduleContext.language = language
        if let time = ComingBack.read(text, now: at, in: scheduleContext) { return until(time) }
      }
      return nil
    }
  }
}
