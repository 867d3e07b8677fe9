import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// What is done for one answer that was read from an endpoint's topic, in one transaction with the note of how far it was read.
enum ReplyWork {
  /// Another daemon has read on, or the endpoint reads elsewhere by now.
  struct Overtaken: Error {}

  /// The id of the last message that something came of; nil where there is none, or where it is another topic's.
  static func mark(of lane: Lane, at address: String, in transaction: any StoreTransaction) throws -> String? {
    guard let note = try transaction.note(name(of: lane)) else { return nil }
    let parts = note.split(separator: " ", maxSplits: 1)
    return parts.count == 2 && parts[1] == address ? String(parts[0]) : nil
  }

  /// Takes the note of how far answers were read away, and gives it.
  static func takeMark(of lane: Lane, in transaction: any StoreTransaction) throws -> String? {
    let mark = try transaction.note(name(of: lane))
    if mark != nil { try transaction.setNote(name(of: lane), nil) }
    return mark
  }

  /// Brings it back, so that nothing is read a second time.
  static func putMark(_ mark: String?, of lane: Lane, in transaction: any StoreTransaction) throws {
    if let mark { try transaction.setNote(name(of: lane), mark) }
  }

  private static func name(of lane: Lane) -> String { "replies:\(lane.owner):\(lane.channel)" }

  /// - Parameters:
  ///   - id: the message's.
  ///   - last: the mark as this daemon knows it.
  ///   - absence: when nobody could fire.
  /// - Returns: why nothing was changed but the mark; nil when the answer was given.
  /// - Throws: `Overtaken`, what the transaction throws, or why what is asked for cannot be done; then nothing is changed.
  static func run(
    _ said: ReplyReader.Said, message id: String, of lane: Lane, at address: String, after last: String?,
    in transaction: any StoreTransaction, _ bearings: Bearings, _ absence: Absence, now: Instant
  ) throws -> (TokenFault?, [LoopNotice]) {
    // Nobody else reads or sets the mark meanwhile.
    try transaction.lockTrackers()
    guard let endpoint = try transaction.endpoint(lane), endpoint.answersAddress == address,
      try mark(of: lane, at: address, in: transaction) == last
    else { throw Overtaken() }
    try transaction.setNote(name(of: lane), "\(id) \(address)")
    switch said {
    case .token(let token): return try use(token, of: lane, in: transaction, bearings, absence, now: now)
    case .answer(let answer):
      return try ChatWork.run(answer, of: lane, way: way(lane), in: transaction, bearings, now: now)
    case .nothing: return (nil, [])
    }
  }

  /// By which way it came, as `Occurrence.answeredBy` has it.
  private static func way(_ lane: Lane) -> String { "endpoint:\(lane.channel)" }

  private static func use(
    _ token: ActionToken, of lane: Lane, in transaction: any StoreTransaction, _ bearings: Bearings,
    _ absence: Absence, now: Instant
  ) throws -> (TokenFault?, [LoopNotice]) {
    let way = way(lane)
    switch token.subject {
    case .answer(let action, let occurrenceID, let round, let expiry):
      guard let occurrence = try transaction.occurrence(occurrenceID), occurrence.owner == lane.owner else {
        return (.foreign, [])
      }
      guard occurrence.waits(for: answer(action), toRound: round) else { return (.over, []) }
      guard try transaction.spend(token.signature, until: expiry, now: now) else { return (.replayed, []) }
      let reminder = try transaction.readableReminder(occurrenceID.reminder)?.reminder
      let (_, notices) = try Answering.give(
        answer(action), to: occurrence, reminder: reminder, by: lane.owner, way: way, in: transaction, bearings,
        now: now)
      return (nil, notices)
    case .ping(let kind, let reminderID):
      guard let record = try transaction.readableReminder(reminderID), record.reminder.owner == lane.owner,
        record.reminder.isExpectation
      else { return (.foreign, []) }
      let ping = Ping(at: now, kind: kind, uid: lane.owner, via: way)
      return (nil, try Pinging.give(ping, to: record, in: transaction, bearings, absence).notices)
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
  /// Whether an answer to one of its rounds comes in time, and is not what was said already.
  func waits(for answer: Answer, toRound round: Int) -> Bool {
    guard isOpen, rounds == round else { return false }
    if case .snoozed = state, case .snooze = answer { return false }
    return true
  }
}
