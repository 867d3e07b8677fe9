import ChimeCore
import ChimeSchedule
import ChimeTracking

// Backups of what an owner has, and their restores, which mirror `RestoreRun`.
extension Simulation {
  private static func name(_ action: PlannedAction) -> String { "\(owner(action.words)) \(action.subject)" }

  func takeBackup(_ action: PlannedAction) {
    guard let loop, loop.isReady, !loop.isStopping, storeFault == nil else { return }
    var records: [BackupRecord] = []
    do {
      let reading = MemoryTransaction(store.contents, isReadOnly: true)
      try BackupRecords(of: Self.owner(action.words), in: reading).each { records.append($0) }
    } catch {
      fail("the backup: \(error)")
    }
    backups[Self.name(action)] = records
    note { "a backup has \(records.count) records" }
  }

  /// Stages a backup in two transactions, exchanges it with what the owner has in a third, and adds its history in others.
  func restoreBackup(_ action: PlannedAction) {
    guard let records = backups[Self.name(action)] else { return }
    let (owner, half) = (Self.owner(action.words), records.count / 2)
    figures.requests += 1
    restoring(.stage) { work in
      let restore = TrackingRestore(work)
      var plan = try restore.begin()
      try restore.stage(Array(records[..<half]), &plan)
      return (plan, CommitChanges(), false)
    } _: { [self] plan in
      restoring(.stage) { work in
        var plan = plan
        try TrackingRestore(work).stage(Array(records[half...]), &plan)
        try TrackingRestore(work).sumUp(plan.trackers.keys.sorted(), plan)
        return (plan, CommitChanges(), false)
      } _: { [self] plan in
        restoring(.client(.restore)) { [self] work in
          (asking, restored) = (owner, records)
          replacement = records.compactMap { if case .reminder(let reminder) = $0 { reminder } else { nil } }
          var generator = SeededGenerator(seed: bits())
          let done = try TrackingRestore(work).finish(plan, using: &generator)
          if let change = done.outcome.change {
            replaced.append(done.before)
            try work.transaction.setDetail("\(replaced.count - 1)", of: change)
          }
          return (done.names, CommitChanges(done.outcome, done.reminders), !done.endpoints.isEmpty)
        } _: { [self] names in
          figures.restores += 1
          remember(records[...], names)
        }
      }
    }

    func remember(_ left: ArraySlice<BackupRecord>, _ names: [ReminderID: ReminderID]) {
      let part = left.prefix(100)
      guard !part.isEmpty else { return }
      restoring(.remember) { [self] work in
        restored = Array(part)
        let restore = TrackingRestore(work)
        try restore.remember(
          part.compactMap { if case .ping(let ping, let reminder) = $0 { (ping, reminder) } else { nil } }, names)
        _ = try restore.remember(
          part.compactMap { if case .occurrence(let occurrence) = $0 { occurrence } else { nil } }, names)
        return ((), CommitChanges(), false)
      } _: {
        remember(left.dropFirst(part.count), names)
      }
    }

    func restoring<Value>(
      _ kind: Work.Kind, _ body: @escaping (TrackingOperations) throws -> (Value, CommitChanges, Bool),
      _ next: @escaping (Value) -> Void
    ) {
      guard let loop, loop.isReady, !loop.isStopping else { return }
      let context = loop.core.context
      loop.write(kind, context: context) { transaction, now in
        let work = TrackingOperations(in: transaction, owner: owner, context, now: now)
        let (value, changes, changesEndpoints) = try body(work)
        return (value, changes, changesEndpoints, try loop.wakeups(in: transaction))
      } _: { [self] result in
        switch result {
        case .success(let (value, changes, changesEndpoints, wakeups)):
          if kind == .stage {
          } else if changesEndpoints {
            loop.refreshEndpoints { loop.committed(changes, wakeups, with: context) }
          } else {
            loop.committed(changes, wakeups, with: context)
          }
          next(value)
        case .failure(let error):
          figures.refusals += 1
          if error.isPassing { loop.drive { $0.changeRefused(error) } }
        }
      }
    }
  }

  /// Reverts the last change. The detail of a restore says which reminders it has replaced.
  func takeBack(_ work: TrackingOperations) throws -> CommitChanges {
    var generator = SeededGenerator(seed: bits())
    let detail = try work.undoable().flatMap { try work.transaction.detail(of: $0.id) }
    var outcome = try work.undo(using: &generator).outcome
    undoesRestore = detail != nil
    guard let detail, let place = Int(detail) else { return CommitChanges(outcome) }
    replacement = replaced[place]
    let reminders = try TrackingRestore(work).complete(replaced[place], &outcome, using: &generator)
    return CommitChanges(outcome, reminders)
  }
}

extension CommitChanges {
  fileprivate init(_ outcome: TrackingOutcome, _ reminders: [TrackingRestore.ChangedReminder]) {
    self.init(outcome)
    changed += reminders.filter { $0.kind != .added }.map(\.reminder.id)
    removed += reminders.filter { $0.kind == .removed }.map(\.reminder.id)
    self.reminders += reminders.map(\.reminder.id)
  }
}
