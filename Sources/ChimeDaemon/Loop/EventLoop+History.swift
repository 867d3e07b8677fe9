import ChimeCore
import ChimeSchedule
import ChimeTracking

/// The schedule of history pruning.
struct HistoryState {
  private(set) var isPruning = false
  private var next: Instant?

  /// The wait after a start or a step of the clock before the clock is trusted. A machine may boot with a wrong year
  /// and be corrected a minute later.
  static let settling = Milliseconds.minutes(10)

  /// Returns whether pruning is due. If so, the next run is due one interval later.
  mutating func begins(at now: Instant, runningSince start: Instant) -> Bool {
    let due = next ?? start + Self.settling
    // If the clock was set back, the next time may be years ahead.
    guard !isPruning, now >= due || due - now > HistoryLimits.interval + Self.settling else { return false }
    isPruning = true
    next = now + HistoryLimits.interval
    return true
  }

  mutating func ended() { isPruning = false }

  mutating func clockWasSet(at now: Instant) { next = now + Self.settling }
}

// History is pruned after a firing or a commit, not by a timer: otherwise it does not grow, and an idle machine is not woken.
extension EventLoop {
  /// Prunes the history, at most once an hour unless `isAsked` says that the limits have just changed.
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

  /// Drops whole expired months from a shared store, and returns the edge for the remaining pruning.
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

  /// Prunes in small transactions, so that firing is not delayed.
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

  /// The idle time from which a restore counts as dead. A running restore writes to its staging area several times a second.
  private static let shelfPatience = Milliseconds.minutes(10)

  /// Removes the staged data of finished and dead restores.
  private func clearShelves(of before: Instant) async throws {
    while !isStopping {
      let mayBeMore = try await store.write { try $0.clearShelves(before: before, limit: HistoryLimits.batch) }
      if !mayBeMore { return }
    }
  }

  /// Removes the undo data of tracker changes that can no longer be undone.
  private func forgetChanges(of before: Instant) async throws {
    while !isStopping {
      let mayBeMore = try await store.write { try $0.forgetChanges(before: before, limit: HistoryLimits.batch) }
      if !mayBeMore { return }
    }
  }
}
