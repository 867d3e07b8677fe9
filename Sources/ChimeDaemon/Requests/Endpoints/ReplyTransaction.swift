import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// A ReplyTransaction gives an answer from an endpoint's topic, in the transaction that records how far the topic was read.
enum ReplyTransaction {
  /// Another daemon has read on, or the endpoint has another topic by now.
  struct Superseded: Error {}

  /// The id of the last message with an effect; nil: none, or the topic is another.
  static func mark(of queue: DeliveryQueue, at address: String, in transaction: any StoreTransaction) throws -> String?
  {
    guard let note = try transaction.note(name(of: queue)) else { return nil }
    let parts = note.split(separator: " ", maxSplits: 1)
    return parts.count == 2 && parts[1] == address ? String(parts[0]) : nil
  }

  /// Removes and returns the note of how far the topic was read.
  static func takeMark(of queue: DeliveryQueue, in transaction: any StoreTransaction) throws -> String? {
    let mark = try transaction.note(name(of: queue))
    if mark != nil { try transaction.setNote(name(of: queue), nil) }
    return mark
  }

  /// Restores the note, so that nothing is read a second time.
  static func putMark(_ mark: String?, of queue: DeliveryQueue, in transaction: any StoreTransaction) throws {
    if let mark { try transaction.setNote(name(of: queue), mark) }
  }

  private static func name(of queue: DeliveryQueue) -> String { "replies:\(queue.owner):\(queue.channel)" }

  /// - Parameters:
  ///   - id: the id of the message.
  ///   - last: the mark as this daemon knows it.
  ///   - uptime: the times during which the daemon ran.
  /// - Returns: why only the mark was changed; nil: the answer was given.
  /// - Throws: `Superseded`, failures of the store, or the refusal of the answer. Nothing is changed then.
  static func run(
    _ said: ReplyReader.Said, message id: String, of queue: DeliveryQueue, at address: String, after last: String?,
    in transaction: any StoreTransaction, _ context: ReminderContext, _ uptime: Uptime, now: Instant
  ) throws -> (TokenFault?, [PostCommitEffect]) {
    // This lock keeps others from reading or setting the mark.
    try transaction.lockTrackers()
    guard let endpoint = try transaction.endpoint(queue), endpoint.answersAddress == address,
      try mark(of: queue, at: address, in: transaction) == last
    else { throw Superseded() }
    try transaction.setNote(name(of: queue), "\(id) \(address)")
    switch said {
    case .token(let token): return try use(token, of: queue, in: transaction, context, uptime, now: now)
    case .answer(let answer):
      return try ChatTransaction.run(answer, of: queue, way: way(queue), in: transaction, context, now: now)
    case .nothing: return (nil, [])
    }
  }

  /// The way by which the answer came, for `Occurrence.answeredBy`.
  private static func way(_ queue: DeliveryQueue) -> String { "endpoint:\(queue.channel)" }

  private static func use(
    _ token: ActionToken, of queue: DeliveryQueue, in transaction: any StoreTransaction, _ context: ReminderContext,
    _ uptime: Uptime, now: Instant
  ) throws -> (TokenFault?, [PostCommitEffect]) {
    let way = way(queue)
    switch token.subject {
    case .answer(let action, let occurrenceID, let round, let expiry):
      guard let occurrence = try transaction.occurrence(occurrenceID), occurrence.owner == queue.owner else {
        return (.foreign, [])
      }
      guard occurrence.waits(for: answer(action), toRound: round) else { return (.over, []) }
      guard try transaction.spend(token.signature, until: expiry, now: now) else { return (.replayed, []) }
      let reminder = try transaction.readableReminder(occurrenceID.reminder)?.reminder
      let (_, effects) = try Answering.give(
        answer(action), to: occurrence, reminder: reminder, by: queue.owner, way: way, in: transaction, context,
        now: now)
      return (nil, effects)
    case .ping(let kind, let reminderID):
      guard let record = try transaction.readableReminder(reminderID), record.reminder.owner == queue.owner,
        record.reminder.isExpectation
      else { return (.foreign, []) }
      let ping = Ping(at: now, kind: kind, uid: queue.owner, via: way)
      return (nil, try Pinging.give(ping, to: record, in: transaction, context, uptime).effects)
    }
  }

  private static func answer(_ action: ActionToken.Action) -> Occurrence.Answer {
    switch action {
    case .done: .done
    case .item(let item): .item(item)
    case .snooze(let length): .snooze(for: length)
    case .dismiss: .dismiss
    case .log(let grains): Occurrence.Answer(grains: grains)
    }
  }
}

extension Occurrence {
  /// Returns whether an answer to one of its rounds is in time, and changes its state.
  func waits(for answer: Answer, toRound round: Int) -> Bool {
    guard isOpen, rounds == round else { return false }
    if case .snoozed = state, case .snooze = answer { return false }
    return true
  }
}
