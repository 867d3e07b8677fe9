import ChimeControl
import ChimeCore
import ChimeTracking

// Taking away all that somebody has.
extension Desk {
  func handle(_ request: Tracking.StartOver) async throws -> Tracking.StartOver.Reply {
    if request.dryRun == true { return try await store.read { [self] in try possessions($0) } }
    let (reply, lanes, change) = try await commit(isLarge: true) { [self] transaction in
      try transaction.lockTrackers()
      let reply = try possessions(transaction)
      let lanes = try transaction.endpoints(owner: caller.owner)
      var detail = ChangeDetail()
      if let silence = try transaction.silence(of: caller.owner) {
        detail.silence = .init(before: silence, after: nil)
        try transaction.setSilence(nil, of: caller.owner)
      }
      for endpoint in lanes { try detail.remove(endpoint, in: transaction, now: now) }
      var generator = PooledRandom()
      // As a restore of a backup that has nothing.
      let plan = TrackingRestore.Plan(shelf: try transaction.makeShelf(for: caller.owner, now: now))
      let (outcome, notices, _) = try TrackingRestore(tracking(transaction)).finish(
        plan, as: .startedOver, detail, using: &generator)
      // What is over is no part of a backup, and goes all the same.
      var finished = Page(limit: 500)
      while true {
        let left = try transaction.reminders(ReminderFilter(owner: caller.owner), page: finished)
        for record in left { try transaction.remove(record.reminder.id, now: now) }
        // Those that cannot be read stay, and are passed over.
        finished.offset += transaction.unreadable.count
        if left.count + transaction.unreadable.count < finished.limit { break }
      }
      try transaction.setNote(LastAct.note(of: caller.owner), nil)
      let told = TrackingNotices.of(outcome, owner: caller.owner, saying: "started over: everything was taken away")
      return ((reply, lanes.map(\.lane), outcome.change), told + notices + [.endpointsChanged])
    }
    try await onDesk { [secrets] in for lane in lanes { secrets.layAside(lane, change: change) } }
    while try await store.write({ [owner = caller.owner] in
      try $0.eraseHistory(ofRemoved: owner, limit: HistoryLimits.batch)
    }) {}
    return reply
  }

  /// What the caller has.
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
