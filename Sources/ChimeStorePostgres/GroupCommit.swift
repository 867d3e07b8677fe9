import ChimeCore
import ChimeRecords

// Group commit: changes that arrive together commit together.
//
// A commit costs the server one synchronous write, as much as hundreds of rows. Bodies that wait when a transaction
// starts run in it one after another, each in its own savepoint, so that a failing one is undone alone. No caller gets
// a result before the commit, not even an error: the error may depend on another body's change that did not last.
extension Transaction {
  /// The maximum number of bodies in one commit. A server caches up to 64 subtransactions of a transaction.
  static let groupLimit = 64

  /// The maximum number of runs of a group that conflicts with another transaction.
  static let attempts = 5

  /// The result of a group.
  struct GroupEnd {
    /// The number of finished jobs, counted from the first.
    var taken: Int
    /// The reason why nothing was committed; nil if all was. The callers are not informed yet.
    var failure: StoreFailure?
    var settlements: [any CommitCompletion]
    /// The transaction's number if the connection was lost during the commit, so that the outcome is unknown.
    var unclear: String?
  }

  /// Runs jobs from the first on in one transaction. It takes at least one job, unless the transaction cannot begin.
  func commitTogether(_ jobs: [any Job]) -> GroupEnd {
    var end = runTogether(jobs)
    var left = Self.attempts
    // Bodies may run again, because they only change the store. The last attempts run one job alone, which holds fewer locks.
    while end.failure != nil, end.unclear == nil, connection.hasConflict, !connection.isLost, left > 1 {
      left -= 1
      end = runTogether(left < 3 ? Array(jobs.prefix(1)) : jobs)
    }
    return end
  }

  /// Begins a transaction, and asks for the database's time and the expression `number` in the same round trip. Returns
  /// the value of `number`.
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

  /// Reads the database's time.
  func hearTime() throws(StoreFailure) {
    _ = try begin("BEGIN READ ONLY")
    connection.rollBack()
  }

  private func runTogether(_ jobs: [any Job]) -> GroupEnd {
    var settlements: [any CommitCompletion] = []
    var number: String?
    (concernsOthers, changesEndpoints, heldTenant, wantsAnotherTenant) = (false, false, nil, false)
    do {
      // The transaction's number is needed if the result of its commit is lost.
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
        // A body that needs another tenant's lock waits for the next group.
        if wantsAnotherTenant, !settlements.isEmpty {
          turn.undo(isLost: false)
          try connection.script("ROLLBACK TO body; RELEASE body")
          break
        }
        // The body ignored a failed statement, so its changes are incomplete.
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

  /// Completes a body that ignored a failure of the store with an error.
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

  /// Runs one body on a consistent snapshot as of its first statement. The caller is not informed yet.
  func view(_ job: any Job) throws(StoreFailure) -> any CommitCompletion {
    forget()
    _ = try begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    let settlement = job.run(in: self)
    connection.rollBack()
    return settlement
  }
}
