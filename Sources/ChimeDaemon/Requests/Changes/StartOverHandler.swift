import ChimeControl
import ChimeCore

/// Removes all that a user has.
extension TrackersHandler {
  func handle(_ request: Tracking.StartOver) async throws -> Tracking.StartOver.Reply {
    if request.dryRun == true { return try await store.read { [self] in try possessions($0) } }
    let (reply, queues, change) = try await commit(isLarge: true) { [self] transaction in
      try transaction.lockTrackers()
      let reply = try possessions(transaction)
      let queues = try transaction.endpoints(owner: caller.owner)
      var detail = ChangeDetail()
      if let silence = try transaction.silence(of: caller.owner) {
        detail.silence = .init(before: silence, after: nil)
        try transaction.setSilence(nil, of: caller.owner)
      }
      for endpoint in queues { try detail.remove(endpoint, in: transaction, now: now) }
      var generator = PooledRandom()
      // This is a restore of an empty backup.
      let plan = TrackingRestore.Plan(shelf: try transaction.makeStagingOwner(for: caller.owner, now: now))
      let (outcome, effects, _) = try TrackingRestore(tracking(transaction)).finish(
        plan, as: .startedOver, detail, using: &generator)
      // A backup has no finished reminders. They are removed too.
      var finished = Page(limit: 500)
      while true {
        let left = try transaction.reminders(ReminderFilter(owner: caller.owner), page: finished)
        for record in left { try transaction.remove(record.reminder.id, now: now) }
        // Unreadable reminders stay.
        finished.offset += transaction.unreadable.count
        if left.count + transaction.unreadable.count < finished.limit { break }
      }
      try transaction.setNote(LastAct.note(of: caller.owner), nil)
      let told = TrackingNotices.of(outcome, owner: caller.owner, saying: "started over: everything was removed")
      return ((reply, queues.map(\.queue), outcome.change), told + effects + [.endpointsChanged])
    }
    try await onRequestExecutor { [secrets] in for queue in queues { secrets.layAside(queue, change: change) } }
    while try await store.write({ [owner = caller.owner] in
      try $0.eraseHistory(ofRemoved: owner, limit: HistoryLimits.batch)
    }) {}
    return reply
  }

  /// Counts what the caller has.
  private func possessions(_ transaction: any StoreTransaction) throws -> Tracking.StartOver.Reply {
    var (reminders, page) = (0, Page(limit: 1_000))
    while true {
      let found = try transaction.reminders(ReminderFilter(owner: caller.owner), page: page).count
      reminders += found
      guard found + transaction.unreadable.count >= page.limit else { break }
      page.offset += page.limit
    }
    return Tracking.StartOver.Reply(
      reminders: reminders, trackers: try transaction.trackers(owner: caller.owner).count,
      entries: try transaction.entryCount(EntryFilter(owner: caller.owner)),
      packs: try transaction.packs(owner: caller.owner).count,
      endpoints: try transaction.endpoints(owner: caller.owner).count)
  }
}
