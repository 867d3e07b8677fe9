public import ChimeSchedule

/// A HistoryUpkeep says when old history is removed: after a firing or a commit, at most once an hour. No timer does it:
/// otherwise history does not grow, and an idle machine is not woken.
public struct HistoryUpkeep: Sendable {
  private var isUnderWay = false
  /// When an occasion came, after which the removal is to begin in a moment; nil while none has.
  private var announcedAt: Instant?
  private var next: Instant?

  /// The wait after a start or a step of the clock before the clock is trusted. A machine may boot with a wrong year
  /// and be corrected a minute later.
  public static let settling = Milliseconds.minutes(10)
  /// The wait between the occasion and the removal. What is due by a clock that was just set may fire before the loop
  /// hears of the step.
  static let delay = Milliseconds.seconds(1)
  /// The idle time from which a restore counts as dead. A running restore writes to its staging area several times a second.
  static let stagingPatience = Milliseconds.minutes(10)

  var isWaiting: Bool { announcedAt != nil && !isUnderWay }

  /// Returns whether to begin after `delay`, because of an occasion.
  mutating func announces(at now: Instant, runningSince start: Instant) -> Bool {
    guard announcedAt == nil, !isUnderWay, isDue(at: now, runningSince: start) else { return false }
    announcedAt = now
    return true
  }

  /// Returns whether `delay` has passed, and about as much by the clock. If the clock says otherwise, it may have just been
  /// set; the loop hears of that in a moment, so the wait begins anew.
  mutating func hasWaited(at now: Instant) -> Bool {
    guard let announcedAt, !(.zero...Self.delay + Self.delay).contains(now - announcedAt) else { return true }
    self.announcedAt = now
    return false
  }

  /// Returns whether to begin now. If so, the next time is one interval later.
  mutating func begins(at now: Instant, runningSince start: Instant) -> Bool {
    announcedAt = nil
    guard !isUnderWay, isDue(at: now, runningSince: start) else { return false }
    isUnderWay = true
    next = now + HistoryLimits.interval
    return true
  }

  /// Waits for the next occasion.
  mutating func withdraw() { announcedAt = nil }

  private func isDue(at now: Instant, runningSince start: Instant) -> Bool {
    let due = next ?? start + Self.settling
    // If the clock was set back, the next time may be years ahead.
    return now >= due || due - now > HistoryLimits.interval + Self.settling
  }

  mutating func ended() { isUnderWay = false }

  mutating func limitsHaveChanged(at now: Instant) { next = now }

  mutating func clockWasSet(at now: Instant) { next = now + Self.settling }
}

/// A Pruning removes old history, and what can no longer be undone, in small transactions, so that firing is not delayed.
struct Pruning: Sendable {
  let begunAt: Instant
  /// What is left to remove of the occurrences; nil for nothing.
  private let rest: HistoryEdge?
  /// The limit before which history is incomplete from now on; nil if all stays.
  private let end: Instant?
  /// The restorations of the store (`StoreTransaction.restorations`) when the limits were computed.
  private let restorations: Int
  private let batch: Int
  private var step: Step
  /// The last occurrence that was looked at and stays.
  private var past: OccurrenceID?
  /// The number of occurrences removed.
  private(set) var count = 0

  private enum Step: Sendable { case occurrences, versions, changes, stagingOwners, over }

  init(begunAt: Instant, _ edge: HistoryEdge?, rest: HistoryEdge?, restorations: Int, batch: Int) {
    (self.begunAt, self.rest, self.restorations, self.batch) = (begunAt, rest, restorations, batch)
    end = edge?.end
    step = rest != nil ? .occurrences : end != nil ? .versions : .changes
  }

  var isOver: Bool { step == .over }

  /// Removes the next part.
  ///
  /// - Throws: `.unavailable` if an older copy has taken the store's place. Of what it has, the limits may keep more.
  mutating func goOn(in transaction: any StoreTransaction) throws {
    guard transaction.restorations == restorations else {
      throw StoreFailure.unavailable("the store was restored while old history was removed; trying again in an hour")
    }
    switch step {
    case .occurrences:
      guard let rest else { return step = .versions }
      let part = try transaction.prune(rest, past: past, limit: batch)
      count += part.count
      past = part.past
      if part.isOver { step = .versions }
    case .versions:
      if let end { try ScheduleAudit.forget(before: end, in: transaction) }
      step = .changes
    case .changes:
      let mayBeMore = try transaction.forgetChanges(before: begunAt - TrackingChange.keptFor, limit: batch)
      if !mayBeMore { step = .stagingOwners }
    case .stagingOwners:
      let mayBeMore = try transaction.clearStagingOwners(before: begunAt - HistoryUpkeep.stagingPatience, limit: batch)
      if !mayBeMore { step = .over }
    case .over: break
    }
  }
}
