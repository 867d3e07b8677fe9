import ChimeCore
import ChimeRecords

// Group commit: changes that arrive together commit together.
//
// One fsync costs as much as hundreds of rows. Bodies that wait when a transaction starts run in it one after another,
// each in its own savepoint, so that a failing one is undone alone. A large body runs alone and without a savepoint. No
// caller gets a result before the commit, not even an error: the error may depend on another body's change that did not last.
extension Transaction {
  /// The maximum number of bodies in one commit, which limits the wait of the first.
  static let groupLimit = 512

  /// Runs jobs from the first on in one transaction. It takes at least one job, unless the transaction cannot begin.
  ///
  /// - Returns: the ends of the jobs that it took, whose callers are not informed yet, and the reason why nothing was
  ///   committed; nil if all was.
  func commitTogether(_ jobs: [Job]) -> (settlements: [CommitCompletion], failure: StoreFailure?) {
    var settlements: [CommitCompletion] = []
    do {
      try connection.run("BEGIN IMMEDIATE")
      let isApart = jobs.first?.isApart == true
      for job in isApart ? jobs.prefix(1) : jobs.prefix(Self.groupLimit).prefix(while: { !$0.isApart }) {
        memory = TransactionMemory()
        // A savepoint keeps the original of each changed page, and each later statement searches through all of them.
        if !isApart { try connection.run("SAVEPOINT body") }
        let settlement = job.run(self)
        settlements.append(settlement)
        if let damage = (settlement.error as? StoreFailure)?.damage { throw damage }
        // A disk error may have rolled back the whole group (sqlite.org/lang_transaction.html, "Response To Errors").
        if connection.isAutocommit {
          throw settlement.error as? StoreFailure
            ?? .unavailable("the disk of \(connection.path) failed during a change: check the disk and try again")
        }
        if isApart {
          try connection.run(settlement.error == nil ? "COMMIT" : "ROLLBACK")
        } else {
          if settlement.error != nil { try connection.run("ROLLBACK TO body") }
          try connection.run("RELEASE body")
        }
      }
      if !isApart { try connection.run("COMMIT") }
      return (settlements, nil)
    } catch {
      if !connection.isAutocommit { try? connection.run("ROLLBACK") }
      return (settlements, error as? StoreFailure ?? .internalError("\(error)"))
    }
  }

  /// Runs one body on a consistent snapshot (sqlite.org/isolation.html). The caller is not informed yet.
  func view(_ job: Job) throws(StoreFailure) -> CommitCompletion {
    memory = TransactionMemory()
    try connection.run("BEGIN")
    let settlement = job.run(self)
    if !connection.isAutocommit { try? connection.run("ROLLBACK") }
    return settlement
  }
}

extension StoreFailure {
  /// The failure itself if it reports a damaged file, else nil.
  var damage: StoreFailure? {
    if case .corrupt = self { self } else { nil }
  }
}
