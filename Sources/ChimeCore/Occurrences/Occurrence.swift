public import ChimeSchedule
public import ChimeTracking

/// An Occurrence is one scheduled time of a reminder that has come, with its state.
///
///     (scheduled) → fired → delivered → done | dismissed | snoozed(until) → fired … | fired (repeated) …
///                 → missed(reason)
///                 → awaited(until) → done | fired …
public struct Occurrence: Hashable, Sendable, Codable {
  public let id: OccurrenceID
  /// The reminder's title at the time of firing, so that history stays readable after the reminder changed or was removed.
  public var title: String
  public var owner: UInt32
  public var state: State
  /// When it first fired; nil if it never did.
  public var firedAt: Instant?
  /// When the first channel delivered it.
  public var deliveredAt: Instant?
  /// When it was done, dismissed, or found to be missed.
  public var endedAt: Instant?
  /// Why it fired late; nil when it was on time.
  public var late: LateCause?
  /// The number of times it fired: 1, plus one per snooze and per repeat.
  public var rounds: Int
  /// The number of repeats since it fired, or since its last snooze.
  public var repeats: Int
  /// When it repeats next, unless answered; nil for never. Set only in the states fired and delivered.
  public var repeatAt: Instant?
  /// The size of a run of missed times that is recorded as one occurrence.
  public var missedRun: MissedRun?
  /// Where its last answer came from, such as `endpoint:phone`, `command:log` or `desktop`; nil for the control socket
  /// or if unanswered.
  public var answeredBy: String?

  public enum State: Hashable, Sendable, Codable {
    /// The intent is recorded; deliveries are pending. Exits: delivered, snoozed, done, dismissed.
    case fired
    /// At least one channel delivered it. Exits: fired (a repeat), snoozed, done, dismissed.
    case delivered
    /// Fires again at `until`. Exits: fired, done, dismissed.
    case snoozed(until: Instant)
    /// An expectation that waits for its ping until `until`, then fires. Exits: fired, done, dismissed, missed.
    case awaited(until: Instant)
    /// The thing was done. No exit.
    case done
    /// Closed without being done. No exit.
    case dismissed
    /// The time passed without firing, or its snooze did. Exits: done.
    case missed(MissReason)

    public var missReason: MissReason? { if case .missed(let reason) = self { reason } else { nil } }
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

  /// Whether it waits for an answer: fired, delivered or snoozed.
  public var isOpen: Bool {
    switch state {
    case .fired, .delivered, .snoozed: true
    case .awaited, .done, .dismissed, .missed: false
    }
  }

  public var isAwaited: Bool { if case .awaited = state { true } else { false } }

  /// Whether its messages are still wanted: it fired, and nobody answered or snoozed it since.
  public var isShown: Bool { state == .fired || state == .delivered }

  /// The end of its snooze.
  var deferredUntil: Instant? { if case .snoozed(let until) = state { until } else { nil } }

  /// Whether it must not fire for its scheduled time again, even if the clock goes back: it fired, was done early, or
  /// awaits a ping. A missed one counts if it fired before a snooze.
  public var wasDelivered: Bool {
    if case .missed = state { firedAt != nil } else { true }
  }

  /// The end of its snooze, its next repeat, or the deadline of its ping; nil if there is none.
  public var recursAt: Instant? {
    switch state {
    case .snoozed(let until), .awaited(let until): until
    case .fired, .delivered: repeatAt
    case .done, .dismissed, .missed: nil
    }
  }

  /// Returns which repeat a round was; 0 for a round that was no repeat.
  public func repetition(ofRound round: Int) -> Int { max(0, repeats - (rounds - round)) }

  /// The time from schedule to first firing, including jitter and quiet hours; nil if it did not fire.
  public var lateness: Milliseconds? { firedAt.map { $0 - id.scheduledAt } }
}

/// A LateCause says why a time fired late.
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

/// A MissReason says why a time was recorded as missed.
public enum MissReason: String, Hashable, Sendable, Codable, CaseIterable {
  case suspend, downtime
  /// The reminder was paused.
  case paused
  /// The user had asked to skip it.
  case skipped
  /// More late times than `CatchUp.cap`.
  case overCap
  /// It fell into quiet hours and was dropped, or a later time fired in its place.
  case quiet
  /// The goal of its tracker had been met (`TrackerLink.quietWhenDone`).
  case doneAlready
  /// The reminder that it waited for was not done on its day, or not in time (`Reminder.onlyIfDone`).
  case notDone
}

extension Occurrence {
  /// An Answer is a person's reply to an occurrence.
  public enum Answer: Hashable, Sendable, Codable {
    case done
    /// Done, with this item of the reminder's tracker.
    case item(String)
    /// Done, with this amount instead of the tracker's usual one.
    case amount(Quantity)
    case dismiss
    case snooze(for: Milliseconds)

    /// Creates a done answer with an amount in units of `Quantity.grains`.
    public init(grains: Int64) { self = .amount(Quantity(grains: grains)) }

    /// Creates a done answer with an item id from a button or a program; nil if the id is malformed.
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

  /// Returns the occurrence after `answer` at `now`.
  ///
  /// Repeating an answer is no error, so that a button and a command may race.
  ///
  /// - Throws: `AnswerRefused` when the occurrence is closed in another way, or the snooze is not 1 s … 366 days.
  public func answered(_ answer: Answer, at now: Instant) throws(AnswerRefused) -> Occurrence {
    var result = self
    result.repeatAt = nil
    switch (state, answer) {
    case (.done, _) where answer.isDone, (.dismissed, .dismiss): return self
    // A missed one may still be done: the user did it without the reminder.
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

  /// Fires an occurrence whose snooze ended or whose ping is late. One that was snoozed before its time fires for the
  /// first time.
  mutating func tell(at now: Instant, repeatAt: Instant?) {
    state = .fired
    firedAt = firedAt ?? now
    rounds += 1
    repeats = 0
    self.repeatAt = repeatAt
  }

  /// Returns the occurrence after a channel delivered a message of it.
  public func delivered(at now: Instant) -> Occurrence {
    var result = self
    if result.deliveredAt == nil { result.deliveredAt = now }
    if result.state == .fired { result.state = .delivered }
    return result
  }
}

/// An AnswerRefused says why an answer to an occurrence was refused.
public enum AnswerRefused: Error, Hashable, Sendable {
  case closed(Occurrence.State)
  case snoozeOutOfRange
  /// A snooze of a reminder that was removed since.
  case removed
  /// *Done* must name an item of this tracker; some candidates are given.
  case needsItem(TrackerID, [ItemID])
}
