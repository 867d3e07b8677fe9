import ChimeCore
import ChimeRecords

// How changes that arrive together commit together.
//
// One commit costs the server a synchronised write, as much as hundreds of rows. Bodies that wait when a transaction
// starts run in it one after another, each in a savepoint of its own: one that throws is undone alone. Nobody is told
// anything before the commit, not even of an error, for that may rest on a neighbour's change which then did not last.
extension Transaction {
  /// The most bodies in one commit. A server keeps 64 parts of a transaction close at hand (subtransactions).
  static let groupLimit = 64

  /// How often a group is run again that another transaction was in the way of.
  static let attempts = 5

  /// What became of a group.
  struct GroupEnd {
    /// How many jobs are done with, counted from the first.
    var taken: Int
    /// Why nothing of it has lasted; nil when all is committed. The callers are still to be told.
    var failure: StoreFailure?
    var settlements: [any CommitCompletion]
    /// The number of the transaction, where it was lost while it committed: whether it has is to be found out.
    var unclear: String?
  }

  /// Runs some of `jobs`, from the first on, in one transaction. At least one is taken unless it cannot begin at all.
  func commitTogether(_ jobs: [any Job]) -> GroupEnd {
    var end = runTogether(jobs)
    var left = Self.attempts
    // Bodies may run again: all that they do, they do to the store. Alone, if need be: fewer locks are in fewer ways.
    while end.failure != nil, end.unclear == nil, connection.hasConflict, !connection.isLost, left > 1 {
      left -= 1
      end = runTogether(left < 3 ? Array(jobs.prefix(1)) : jobs)
    }
    return end
  }

  /// Begins a transaction, and asks in the same step what time the database has.
  ///
  /// - Parameter number: what else is asked for.
  /// - Returns: that.
  private func begin(_ sql: String, number: String = "0") throws(StoreFailure) -> String? {
    let asked = PostgresConfiguration.unsetClock()
    let answer = try connection.begin(
      "\(sql); SELECT \(number) || ' ' || floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
    let parts = (answer ?? "").split(separator: " ")
    guard parts.count == 2, let microseconds = Int64(parts[1]) else {
      throw .internalError("\(connection.server) did not report its time")
    }
    let time = StoreTime(microseconds: microseconds, askedAt: asked, heardAt: PostgresConfiguration.unsetClock())
    self.time = time
    heard(time)
    return String(parts[0])
  }

  /// Finds out what time the database has.
  func hearTime() throws(StoreFailure) {
    _ = try begin("BEGIN READ ONLY")
    connection.rollBack()
  }

  private func runTogether(_ jobs: [any Job]) -> GroupEnd {
    var settlements: [any CommitCompletion] = []
    var number: String?
    (concernsOthers, changesEndpoints, heldTenant, wantsAnotherTenant) = (false, false, nil, false)
    do {
      // Its number is asked for in the same step, for the case that nobody hears of its end.
      number = try begin("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", number: "pg_current_xact_id()")
      let group = jobs.prefix(Self.groupLimit)
      for job in group {
        forget()
        if group.count > 1 { try connection.script("SAVEPOINT body") }
        var settlement = job.run(in: self)
        if connection.isLost || connection.hasConflict {
          settlements.append(settlement)
          throw undone(by: settlement)
        }
        // Whoever has to wait for what another body holds begins the next group.
        if wantsAnotherTenant, !settlements.isEmpty {
          turn.undo(isLost: false)
          try connection.script("ROLLBACK TO body; RELEASE body")
          break
        }
        // A body that went on after a statement had failed has not done what it says.
        if settlement.error == nil, connection.isBroken { settlement = IgnoredFailureCompletion(inner: settlement) }
        settlements.append(settlement)
        if settlement.error == nil {
          if group.count > 1 { try connection.script("RELEASE body") }
        } else if group.count > 1 {
          turn.undo(isLost: false)
          try connection.script("ROLLBACK TO body; RELEASE body")
        } else {
          turn.undo(isLost: false)
          try connection.script("ROLLBACK")
          return GroupEnd(taken: 1, failure: nil, settlements: settlements)
        }
      }
      try finish()
    } catch {
      turn.undo(isLost: connection.isLost)
      connection.rollBack()
      return GroupEnd(taken: settlements.count, failure: Self.failure(error), settlements: settlements)
    }
    do {
      try connection.script("COMMIT")
      if concernsOthers { leases.tellOthers() }
      return GroupEnd(taken: settlements.count, failure: nil, settlements: settlements)
    } catch {
      let isUnclear = connection.isLost
      turn.undo(isLost: isUnclear)
      connection.rollBack()
      return GroupEnd(
        taken: settlements.count, failure: Self.failure(error), settlements: settlements,
        unclear: isUnclear ? number : nil)
    }
  }

  /// The end of a body that has passed over a failure of the store.
  private struct IgnoredFailureCompletion: CommitCompletion {
    let inner: any CommitCompletion
    private let failure = StoreFailure.internalError("a change continued after a failed statement")
    var error: (any Error)? { failure }

    init(inner: any CommitCompletion) { self.inner = inner }

    func settle() { inner.fail(failure) }
    func fail(_ failure: StoreFailure) { inner.fail(failure) }
  }

  private static func failure(_ error: any Error) -> StoreFailure {
    error as? StoreFailure ?? .internalError("\(error)")
  }

  private func undone(by settlement: any CommitCompletion) -> StoreFailure {
    if case let failure as StoreFailure = settlement.error { return failure }
    return .unavailable("a change on \(connection.server) was interrupted: try again")
  }

  /// Runs one body on a consistent view, as of its first statement. Its caller is still to be told.
  func view(_ job: any Job) throws(StoreFailure) -> any CommitCompletion {
    forget()
    _ = try begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    let settlement = job.run(in: self)
    connection.rollBack()
    return settlement
  }
}
