import ChimeCore
import ChimeSchedule
import ChimeTracking

/// When the history was last looked through.
struct HistoryState {
  private(set) var isPruning = false
  private var next: Instant?

  /// How long a daemon runs, and how long after a step of the clock it waits, before it goes by the clock: a machine may
  /// start in another year and be told the time a minute later.
  static let settling = Milliseconds.minutes(10)

  /// Whether it is time; if so, the next time is an interval later.
  mutating func begins(at now: Instant, runningSince start: Instant) -> Bool {
    let due = next ?? start + Self.settling
    // After the clock was set back the next time may be years away.
    guard !isPruning, now >= due || due - now > HistoryLimits.interval + Self.settling else { return false }
    isPruning = true
    next = now + HistoryLimits.interval
    return true
  }

  mutating func ended() { isPruning = false }

  mutating func clockWasSet(at now: Instant) { next = now + Self.settling }
}

// The history is looked through when something has fired or was asked for, not by a timer: otherwise it does not grow, and
// an idle machine is not woken for it.
extension EventLoop {
  /// - Parameter isAsked: whether somebody has just changed what is kept; else it is done once an hour.
  func pruneHistory(isAsked: Bool = false) {
    let now = SystemClock.now
    if isAsked { history.clockWasSet(at: now - HistoryState.settling) }
    guard !isStopping, trouble.problem == nil, history.begins(at: now, runningSince: startedAt) else { return }
    let (store, limits) = (store, configuration.history)
    Task {
      await withTaskExecutorPreference(executor) {
        do {
          let last = try await store.read { transaction in
            try limits.count.flatMap { try transaction.timeOfOccurrence(after: $0 - 1) }
          }
          let edge = limits.edge(at: now, last: last)
          if let rest = try await dropMonths(edge) { try await prune(rest) }
          if let end = edge?.end { try await store.write { try ScheduleAudit.forget(before: end, in: $0) } }
          try await forgetChanges(of: now - TrackingChange.keptFor)
          secrets.forgetAside(before: now - TrackingChange.keptFor)
          try await clearShelves(of: now - Self.shelfPatience)
          try await cleanPhotos(now: now)
        } catch {
          log(.warning, "the history could not be shortened; ignoring: \(error)")
        }
        history.ended()
      }
    }
  }

  /// Has a store that several daemons share drop what is over as a whole.
  ///
  /// - Returns: what is left to be pruned.
  private func dropMonths(_ edge: HistoryEdge?) async throws -> HistoryEdge? {
    guard let shared = store as? any SharedStore else { return edge }
    let kept = try await shared.maintainPartitions(edge)
    if kept.months > 0 {
      log(
        .info,
        "\(kept.months) \(kept.months == 1 ? "month was" : "months were") dropped from the history, with about "
          + "\(kept.count) times")
    }
    for problem in kept.problems {
      log(
        .warning, "the months of the history could not be kept in order; trying again in an hour: \(problem.sentence)")
    }
    return kept.rest
  }

  /// In small transactions, so that firing is not held up.
  private func prune(_ edge: HistoryEdge) async throws {
    var (past, count) = (OccurrenceID?.none, 0)
    while !isStopping {
      let from = past
      let part = try await store.write { try $0.prune(edge, past: from, limit: HistoryLimits.batch) }
      count += part.count
      past = part.past
      if part.isOver { break }
    }
    if count > 0 { log(.info, "\(count) old \(count == 1 ? "time was" : "times were") removed from the history") }
  }

  /// A restore writes to what it puts aside several times a second.
  private static let shelfPatience = Milliseconds.minutes(10)

  /// Removes what restores had put aside and nobody needs, and what one has left that was cut short.
  private func clearShelves(of before: Instant) async throws {
    while !isStopping {
      let mayBeMore = try await store.write { try $0.clearShelves(before: before, limit: HistoryLimits.batch) }
      if !mayBeMore { return }
    }
  }

  /// Lets go what changes of trackers have replaced and removed, when they cannot be taken back any more.
  private func forgetChanges(of before: Instant) async throws {
    while !isStopping {
      let mayBeMore = try await store.write { try $0.forgetChanges(before: before, limit: HistoryLimits.batch) }
      if !mayBeMore { return }
    }
  }
}
