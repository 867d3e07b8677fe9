import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// Lists achievements, and the levels and streaks of packs.
extension TrackersHandler {
  func handle(_ request: Tracking.Achievements) async throws -> Tracking.Achievements.Reply {
    try await store.read { [self] transaction in
      if let item = request.item { return try achievements(ofItem: item, request, transaction) }
      guard request.tracker == nil else {
        throw ControlFailure.invalidValue(field: "tracker", "a tracker needs an item of it: give that too")
      }
      let packs = try request.pack.map { [try lookup(transaction).pack($0)] } ?? transaction.packs(owner: caller.owner)
      let wire = self.wire
      let achievements = try packs.flatMap { installed in
        let progress = Dictionary(
          try transaction.progress(of: installed.pack.id, owner: caller.owner).map { ($0.achievement, $0) }
        ) { first, _ in first }
        let work = tracking(transaction)
        return try installed.pack.achievements.map { one in
          let kept = progress[one.id]
          let shown =
            kept?.unlockedAt == nil ? try work.progress(of: one, in: installed.pack, reached: kept?.reached ?? 0) : nil
          return wire.achievement(one, of: installed.pack, kept, shown: shown)
        }
      }
      return Tracking.Achievements.Reply(
        achievements: achievements, levels: try levels(packs, transaction), streaks: try streaks(packs, transaction))
    }
  }

  /// Returns what an item has earned by itself, and what was unlocked on the days of its use.
  private func achievements(
    ofItem name: String, _ request: Tracking.Achievements, _ transaction: any StoreTransaction
  ) throws -> Tracking.Achievements.Reply {
    guard let tracker = try lookup(transaction).tracker(request.tracker) else {
      throw ControlFailure.invalidValue(field: "tracker", "an item needs a tracker: give that too")
    }
    let item = try lookup(transaction).item(name, of: tracker)
    guard let pack = try tracker.pack.flatMap({ try transaction.pack($0, owner: caller.owner)?.pack }),
      request.pack.map({ $0 == pack.id.rawValue }) ?? true
    else { return Tracking.Achievements.Reply(achievements: [], levels: [], streaks: []) }
    let progress = Dictionary(
      try transaction.progress(of: pack.id, owner: caller.owner).map { ($0.achievement, $0) }
    ) { first, _ in first }
    let count = try transaction.itemCount(of: item.id, key: tracker.key)
    let days = try daysUsed(item, of: tracker, transaction)
    let anniversaries = item.anniversaries(among: days)
    let wire = self.wire
    let achievements = pack.achievements.compactMap { one -> Tracking.Achievement? in
      let kept = progress[one.id]
      let own: Int? =
        switch one.criterion.kind {
        case .entriesForItem: count
        case .itemAnniversary: anniversaries
        default: nil
        }
      if let own {
        let target = max(one.criterion.target, 1)
        return wire.achievement(one, of: pack, own >= target ? kept : nil, shown: (min(own, target), target))
      }
      guard let at = kept?.unlockedAt, days.contains(tracker.day(at: at, in: context.zones.local).day) else {
        return nil
      }
      return wire.achievement(one, of: pack, kept)
    }
    return Tracking.Achievements.Reply(achievements: achievements, levels: [], streaks: [])
  }

  private func daysUsed(
    _ item: Item, of tracker: Tracker, _ transaction: any StoreTransaction
  ) throws -> Set<CivilDate> {
    Set(
      try transaction.itemDays(of: tracker.key, in: .earliest ... .latest).filter { $0.item == item.id && $0.count > 0 }
        .map(\.day))
  }

  /// Returns the nearest locked achievement of all packs.
  func next(
    _ packs: [InstalledPack], on day: CivilDate, _ transaction: any StoreTransaction
  ) throws -> Tracking.Achievement? {
    let minute = context.zones.local.civil(at: now).time.secondOfDay / 60
    var best: (wired: Tracking.Achievement, rank: Nearness)?
    for pack in packs.map(\.pack) {
      let progress = try transaction.progress(of: pack.id, owner: caller.owner)
      guard
        let (achievement, reached) = Achievement.next(
          among: pack.achievements, progress: progress, on: day, minute: Int(minute))
      else { continue }
      let rank = Nearness(achievement, reached: reached, on: day, minute: Int(minute))
      if let best, rank <= best.rank { continue }
      let shown = try tracking(transaction).progress(of: achievement, in: pack, reached: reached)
      best = (
        wire.achievement(
          achievement, of: pack, progress.first { $0.achievement == achievement.id }, shown: shown), rank
      )
    }
    return best?.wired
  }

  /// Returns the streaks of packs with several trackers.
  func streaks(_ packs: [InstalledPack], _ transaction: any StoreTransaction) throws -> [Tracking.PackStreak] {
    let all = try transaction.trackers(owner: caller.owner)
    return try packs.compactMap { pack in
      let trackers = all.filter { $0.pack == pack.pack.id }
      guard trackers.count > 1 else { return nil }
      return Tracking.PackStreak(
        pack: pack.pack.id.rawValue, streak: wire.streak(try tracking(transaction).streakOfAny(trackers)))
    }
  }

  func levels(_ packs: [InstalledPack], _ transaction: any StoreTransaction) throws -> [Tracking.Level] {
    try packs.compactMap {
      wire.level(of: $0.pack, experience: try transaction.experience(of: $0.pack.id, owner: caller.owner))
    }
  }
}
