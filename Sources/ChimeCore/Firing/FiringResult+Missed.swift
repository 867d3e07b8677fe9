import ChimeSchedule

// Missed times: each has exactly one record, alone or in a run, whatever the clock does.
extension FiringResult {
  /// The longest gap between decisions after which the last run of missed times is still extended.
  private static let growth = Milliseconds.minutes(1)
  /// The most times of a run that are counted one by one when it is shortened.
  private static let counted = 100_000
  /// The number of past records that are searched for the run that reaches beyond the present.
  private static let nearby = 200

  /// Returns the records of consecutive missed times: one for each, or one run.
  ///
  /// - Parameter like: supplies the other fields.
  static func missed(_ times: [Instant], like: Occurrence) -> [Occurrence] {
    func occurrence(_ time: Instant, _ run: Occurrence.MissedRun?) -> Occurrence {
      Occurrence(
        id: OccurrenceID(reminder: like.id.reminder, scheduledAt: time), title: like.title, owner: like.owner,
        state: like.state, endedAt: like.endedAt, missedRun: run)
    }
    guard times.count > FiringDecision.individually, let first = times.first, let last = times.last else {
      return times.map { occurrence($0, nil) }
    }
    return [occurrence(first, Occurrence.MissedRun(count: times.count, through: last))]
  }

  /// Drops missed times that the store has already, and extends the run that the last decision about this downtime left.
  ///
  /// Such records date from before the clock went back or the reminder changed.
  ///
  /// - Parameter next: returns the reminder's time after another.
  mutating func settleMissed(in transaction: any StoreTransaction, next: (Instant) -> Instant?) throws {
    guard advances else { return }
    // What was done keeps the moment at which it was: others wait for it or count from it.
    try occurrences.removeAll { one in
      try one.state == .missed(.doneAlready) && one.missedRun == nil
        && transaction.occurrence(one.id)?.state == one.state
    }
    let missed = occurrences.filter(\.isMissed)
    guard let first = missed.map(\.id.scheduledAt).min(), let last = missed.map(\.lastMissed).max() else { return }
    let known = try known(first...last, in: transaction)
    if !known.isEmpty {
      let runs = known.filter { $0.missedRun != nil }.map { $0.id.scheduledAt...$0.lastMissed }
      let times = Set(known.map(\.id.scheduledAt))
      func isKnown(_ time: Instant) -> Bool { times.contains(time) || runs.contains { $0.contains(time) } }
      occurrences.removeAll { $0.isMissed && $0.missedRun == nil && isKnown($0.id.scheduledAt) }
      for occurrence in missed where occurrence.missedRun != nil { part(occurrence, isKnown, next: next) }
    }
    try goOn(in: transaction, next: next)
  }

  /// Dismisses a scheduled time whose ping has come meanwhile. The transaction of that ping did not know of this decision.
  ///
  /// What waited already before the decision is in the store, where a ping finds it.
  mutating func dismissPinged(in transaction: any StoreTransaction, now: Instant) throws {
    guard advances, occurrences.contains(where: \.isAwaited),
      let ping = try transaction.lastPing(of: due.reminder.id, among: [.succeeded]), ping.at <= now
    else { return }
    for index in occurrences.indices
    where occurrences[index].isAwaited && occurrences[index].id.scheduledAt <= ping.at {
      (occurrences[index].state, occurrences[index].endedAt) = (.dismissed, ping.at)
    }
  }

  /// Returns the store's records of these times that this result does not replace.
  private func known(
    _ times: ClosedRange<Instant>, in transaction: any StoreTransaction
  ) throws -> [Occurrence] {
    let replaced = Set(occurrences.lazy.map(\.id))
    let reminder = due.reminder.id
    let among = OccurrenceFilter(
      reminder: reminder, from: times.lowerBound, before: times.upperBound + .milliseconds(1))
    let earlier = OccurrenceFilter(reminder: reminder, before: times.lowerBound)
    let records =
      try transaction.occurrences(among, page: Page(limit: FiringDecision.lookahead))
      + transaction.occurrences(earlier, page: Page(limit: 1)).filter { $0.lastMissed >= times.lowerBound }
    return records.filter { !replaced.contains($0.id) || $0.wasDelivered }
  }

  /// Replaces a run by those parts of it that are not yet recorded.
  private mutating func part(_ run: Occurrence, _ isKnown: (Instant) -> Bool, next: (Instant) -> Instant?) {
    var parts: [[Instant]] = [[]]
    var (time, last): (Instant?, Instant?) = (run.id.scheduledAt, nil)
    while let this = time, this <= run.lastMissed {
      last = this
      if !isKnown(this) {
        parts[parts.count - 1].append(this)
      } else if parts.last?.isEmpty == false {
        parts.append([])
      }
      time = next(this)
    }
    // If the search for its times takes too long, the run stays whole.
    guard last == run.lastMissed else { return }
    occurrences.removeAll { $0.id == run.id }
    occurrences += parts.flatMap { Self.missed($0, like: run) }
  }

  /// Extends the last run, so that a downtime with more times than one decision evaluates stays one run in the history.
  private mutating func goOn(in transaction: any StoreTransaction, next: (Instant) -> Instant?) throws {
    // A decision of degraded mode is older than the transaction that records it.
    guard var own = occurrences.first(where: { $0.id.scheduledAt == due.scheduledAt }), case .missed = own.state,
      let decided = own.endedAt, decided - due.scheduledAt > Uptime.tolerance
    else { return }
    let filter = OccurrenceFilter(reminder: own.id.reminder, before: due.scheduledAt)
    guard let before = try transaction.occurrences(filter, page: Page(limit: 1)).first, let run = before.missedRun,
      before.state == own.state, let ended = before.endedAt, ended <= decided, decided - ended <= Self.growth,
      next(run.through) == due.scheduledAt
    else { return }
    var (count, through) = (run.count, run.through)
    repeat {
      count += own.missedRun?.count ?? 1
      through = own.missedRun?.through ?? own.id.scheduledAt
      occurrences.removeAll { $0.id == own.id }
      guard let following = next(through),
        let more = occurrences.first(where: { $0.id.scheduledAt == following && $0.state == before.state })
      else { break }
      own = more
    } while true
    var whole = before
    whole.endedAt = decided
    whole.missedRun = Occurrence.MissedRun(count: count, through: through)
    occurrences.append(whole)
  }

  /// Shortens the runs of missed times that reach beyond `now`: the clock went back, and those times come again.
  ///
  /// - Parameter following: returns the function from one time to the next, by the definition in force at the given time.
  static func shortenRuns(
    of reminder: ReminderID, in transaction: any StoreTransaction, now: Instant,
    following: (Instant) throws -> (Instant) -> Instant?
  ) throws {
    var (filter, passed) = (OccurrenceFilter(reminder: reminder), 0)
    while passed < nearby {
      let records = try transaction.occurrences(filter, page: Page(limit: 100))
      filter.after = records.last?.id
      for var record in records where passed < nearby {
        if record.id.scheduledAt <= now { passed += 1 }
        guard let run = record.missedRun, run.through > now else { continue }
        let first = record.id.scheduledAt
        record.missedRun = shortened(run, from: first, to: now, next: try following(first))
        try transaction.update(record, now: now)
      }
      if records.count < 100 { return }
    }
  }

  /// Returns the shortened run; nil if only its first time is left, which is replaced when it comes again.
  private static func shortened(
    _ run: Occurrence.MissedRun, from first: Instant, to now: Instant, next: (Instant) -> Instant?
  ) -> Occurrence.MissedRun? {
    var (count, last) = (1, first)
    while let time = next(last), time <= now, count < counted { (count, last) = (count + 1, time) }
    if count == counted {
      // Beyond that number the count is estimated from the elapsed part of the run, assuming even gaps.
      let part = Double((now - first).rawValue) / Double((run.through - first).rawValue)
      (count, last) = (max(count, Int(Double(run.count) * part)), now)
    }
    return count > 1 ? Occurrence.MissedRun(count: min(count, run.count), through: last) : nil
  }
}

extension Occurrence {
  fileprivate var isMissed: Bool { if case .missed = state { true } else { false } }
  /// The last time that this record covers.
  fileprivate var lastMissed: Instant { missedRun?.through ?? id.scheduledAt }
}
