public import ChimeSchedule
public import ChimeTracking

/// One time of one reminder that has come, and what became of it.
///
///     (scheduled) → fired → delivered → done | dismissed | snoozed(until) → fired … | fired (repeated) …
///                 → missed(reason)
///                 → awaited(until) → done | fired …
public struct Occurrence: Hashable, Sendable, Codable {
  public let id: OccurrenceID
  /// The reminder's title when it fired: history stays readable after the reminder has changed or gone.
  public var title: String
  public var owner: UInt32
  public var state: State
  /// When it first fired; nil for a missed one.
  public var firedAt: Instant?
  /// When the first channel had it.
  public var deliveredAt: Instant?
  /// When it was done, dismissed, or found to be missed.
  public var endedAt: Instant?
  /// Why it fired late; nil when it was on time.
  public var late: LateCause?
  /// How often it has fired: 1, and one more after each snooze and with each repeat.
  public var rounds: Int
  /// How often it has been repeated since it fired, or since its last snooze.
  public var repeats: Int
  /// When it is repeated next, unless it is answered; nil: it is not. Only ever set while it is fired or delivered.
  public var repeatAt: Instant?
  /// For a run of missed times recorded as one: how many, and the last of them.
  public var missedRun: MissedRun?
  /// By which way its last answer came, such as `endpoint:phone`, `command:log` or `desktop`; nil: by the control socket, or
  /// nobody has answered.
  public var answeredBy: String?

  public enum State: Hashable, Sendable, Codable {
    /// The intent is recorded; deliveries are owed. Exits: delivered, snoozed, done, dismissed.
    case fired
    /// At least one channel had it. Exits: fired (a repeat), snoozed, done, dismissed.
    case delivered
    /// Fires again at `until`. Exits: fired, done, dismissed.
    case snoozed(until: Instant)
    /// Of an expectation: its ping may come until then, and it fires if none has. Exits: fired, done, dismissed, missed.
    case awaited(until: Instant)
    /// The thing was done. No exit.
    case done
    /// Closed without being done. No exit.
    case dismissed
    /// Its time passed without firing. No exit.
    case missed(MissReason)
  }

  public struct MissedRun: Hashable, Sendable, Codable {
    public var count: Int
    public var through: Instant

    public init(count: Int, through: Instant) {
      self.count = count
      self.through = through
    }
  }

  public init(
    id: OccurrenceID, title: String, owner: UInt32, state: State, firedAt: Instant? = nil, deliveredAt: Instant? = nil,
    endedAt: Instant? = nil, late: LateCause? = nil, rounds: Int = 0, repeats: Int = 0, repeatAt: Instant? = nil,
    missedRun: MissedRun? = nil, answeredBy: String? = nil
  ) {
    self.id = id
    self.title = title
    self.owner = owner
    self.state = state
    self.firedAt = firedAt
    self.deliveredAt = deliveredAt
    self.endedAt = endedAt
    self.late = late
    self.rounds = rounds
    self.repeats = repeats
    self.repeatAt = repeatAt
    self.missedRun = missedRun
    self.answeredBy = answeredBy
  }

  /// Whether it still waits for someone: fired, delivered or snoozed.
  public var isOpen: Bool {
    switch state {
    case .fired, .delivered, .snoozed: true
    case .awaited, .done, .dismissed, .missed: false
    }
  }

  /// Whether its ping is awaited.
  public var isAwaited: Bool { if case .awaited = state { true } else { false } }

  /// Whether it is not to fire again, whichever way the clock goes: it has fired, or was done without. One that has fired
  /// may be missed all the same, when its snooze ended at a bad time.
  public var wasHeard: Bool {
    if case .missed = state { firedAt != nil } else { true }
  }

  /// When it comes again: the end of its snooze, its next repeat, or the end of the time for its ping. Nil: not.
  public var comesAgain: Instant? {
    switch state {
    case .snoozed(let until), .awaited(let until): until
    case .fired, .delivered: repeatAt
    case .done, .dismissed, .missed: nil
    }
  }

  /// Which repeat a round of it was: 0 for one that was none.
  public func repetition(ofRound round: Int) -> Int { max(0, repeats - (rounds - round)) }

  /// Scheduled time to firing, jitter and quiet hours included; nil when it did not fire.
  public var lateness: Milliseconds? { firedAt.map { $0 - id.scheduledAt } }
}

/// Why a time came late.
public enum LateCause: String, Hashable, Sendable, Codable, CaseIterable {
  /// The machine slept, the daemon was stopped, or the clock was set forward.
  case suspend
  /// The daemon was not running.
  case downtime
  /// Quiet hours held it.
  case quiet
  /// It waited until another reminder was done (`Reminder.onlyIfDone`).
  case waited
}

/// Why a time was recorded as missed.
public enum MissReason: String, Hashable, Sendable, Codable, CaseIterable {
  case suspend, downtime
  /// The reminder was paused.
  case paused
  /// The user had asked to skip it.
  case skipped
  /// More times had passed than `CatchUp.cap`.
  case overCap
  /// It fell into quiet hours, and was dropped, or a later time was heard in its place.
  case quiet
  /// The goal of its tracker had been met (`TrackerLink.quietWhenDone`).
  case doneAlready
  /// The reminder that it waited for was not done on its day, or not in time (`Reminder.onlyIfDone`).
  case notDone
}

extension Occurrence {
  /// What a person can say to an open occurrence.
  public enum Answer: Hashable, Sendable, Codable {
    case done
    /// It is done, with this item of the reminder's tracker.
    case item(String)
    /// It is done, and so much of the reminder's tracker, whatever *Done* alone logs.
    case amount(Quantity)
    case dismiss
    case snooze(for: Milliseconds)

    /// Done with so much, as `Quantity.grains` has it.
    public init(grains: Int64) { self = .amount(Quantity(grains: grains)) }

    /// With the item of an id, as a button or a program names it; nil for what is none.
    public init?(item id: String) {
      guard (1...64).contains(id.utf8.count),
        id.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 45 })
      else { return nil }
      self = .item(id)
    }

    var isDone: Bool {
      switch self {
      case .done, .item, .amount: true
      case .dismiss, .snooze: false
      }
    }
  }

  /// The occurrence after `answer` at `now`.
  ///
  /// Answering twice in the same way is no error, so that a button and a command may race.
  ///
  /// - Throws: `AnswerRefused` when the occurrence is closed in another way, or the snooze is not 1 s … 366 days.
  public func answered(_ answer: Answer, at now: Instant) throws(AnswerRefused) -> Occurrence {
    var result = self
    result.repeatAt = nil
    switch (state, answer) {
    case (.done, _) where answer.isDone, (.dismissed, .dismiss): return self
    // A missed one may still be done: the water was drunk although nobody reminded.
    case (.missed, _) where answer.isDone: result.state = .done
    case _ where answer.isDone && (isOpen || isAwaited): result.state = .done
    case (_, .dismiss) where isOpen || isAwaited: result.state = .dismissed
    case (_, .snooze(let length)) where isOpen:
      guard length >= .seconds(1), length <= .days(366) else { throw .snoozeOutOfRange }
      result.state = .snoozed(until: now + length)
      return result
    default: throw .closed(state)
    }
    result.endedAt = now
    return result
  }

  /// The occurrence once a channel has taken a delivery of it.
  public func delivered(at now: Instant) -> Occurrence {
    var result = self
    if result.deliveredAt == nil { result.deliveredAt = now }
    if result.state == .fired { result.state = .delivered }
    return result
  }
}

/// Why an answer to an occurrence was refused.
public enum AnswerRefused: Error, Hashable, Sendable {
  case closed(Occurrence.State)
  case snoozeOutOfRange
  /// A snooze of a reminder that has been removed since.
  case removed
  /// *Done* alone does not say with which of the tracker's items, of which some are named.
  case needsItem(TrackerID, [ItemID])
}
