import ChimeCore
import ChimeRecords

// How changes that arrive together commit together.
//
// One fsync costs as much as hundreds of rows. Bodies that wait when a transaction starts run in it one after another,
// each in a savepoint of its own: one that throws is undone alone. A large one runs by itself, without one. Nobody is told anything before the commit, not even
// of an error, for that may rest on a neighbour's change which then did not last.
extension Transaction {
  /// The most bodies in one commit, so that the first does not wait without end.
  static let groupLimit = 512

  /// What became of a group.
  struct GroupEnd {
    /// How many jobs are done with, counted from the first.
    var taken: Int
    /// Why nothing of it has lasted; nil when all is committed. The callers are still to be told.
    var failure: StoreFailure?
    var settlements: [any CommitCompletion]
  }

  /// Runs some of `jobs`, from the first on, in one transaction. At least one is taken unless it cannot begin at all.
  func commitTogether(_ jobs: [any Job]) -> GroupEnd {
    var settlements: [any CommitCompletion] = []
    do {
      try connection.run("BEGIN IMMEDIATE")
      let isApart = jobs.first?.isApart == true
      for job in isApart ? jobs.prefix(1) : jobs.prefix(Self.groupLimit).prefix(while: { !$0.isApart }) {
        forget()
        // A savepoint keeps what each page was, and each statement after it goes through all of that.
        if !isApart { try connection.run("SAVEPOINT body") }
        let settlement = job.run(in: self)
        settlements.append(settlement)
        if let damage = (settlement.error as? StoreFailure)?.damage { throw damage }
        // A failing disk may have undone the whole group (sqlite.org/lang_transaction.html, "Response To Errors").
        if connection.isAutocommit { throw undone(by: settlement) }
        if isApart {
          try connection.run(settlement.error == nil ? "COMMIT" : "ROLLBACK")
        } else {
          if settlement.error != nil { try connection.run("ROLLBACK TO body") }
          try connection.run("RELEASE body")
        }
      }
      if !isApart { try connection.run("COMMIT") }
      return GroupEnd(taken: settlements.count, failure: nil, settlements: settlements)
    } catch {
      if !connection.isAutocommit { try? connection.run("ROLLBACK") }
      let failure = error as? StoreFailure ?? .internalError("\(error)")
      return GroupEnd(taken: settlements.count, failure: failure, settlements: settlements)
    }
  }

  private func undone(by settlement: any CommitCompletion) -> StoreFailure {
    if case let failure as StoreFailure = settlement.error { return failure }
    return .unavailable("the disk of \(connection.path) failed during a change: check the disk and try again")
  }

  /// Runs one body on a consistent view (sqlite.org/isolation.html). Its caller is still to be told.
  func view(_ job: any Job) throws(StoreFailure) -> any CommitCompletion {
    forget()
    try connection.run("BEGIN")
    let settlement = job.run(in: self)
    if !connection.isAutocommit { try? connection.run("ROLLBACK") }
    return settlement
  }
}

extension StoreFailure {
  /// The failure itself when it tells of a damaged file.
  var damage: StoreFailure? {
    if case .corrupt = self { self } else { nil }
  }
}
