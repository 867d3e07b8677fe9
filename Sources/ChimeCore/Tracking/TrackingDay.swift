public import ChimeSchedule
import ChimeTracking

/// TrackingDay starts a new day for achievements that depend on the clock alone, such as anniversaries.
///
/// A note in the store holds the next time to evaluate them. It exists only while such an achievement is locked, and
/// counts as a due time (`dueWakeups`). So it costs the machine one wake-up a day, or none without such packs. The
/// firing transaction evaluates it.
public enum TrackingDay {
  static let note = "trackingDay"

  /// Returns the next start of a day; nil for none.
  public static func next(in transaction: any StoreTransaction) throws -> Instant? {
    try transaction.note(note).flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
  }

  /// Sets the note to the next start of a day, or removes it.
  static func arm(in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant) throws {
    var at: Instant?
    for installed in try transaction.packs(owner: nil) where try waits(installed, in: transaction) {
      guard let begin = begin(of: installed.pack, after: now, context.zones.local) else { continue }
      at = min(at ?? begin, begin)
    }
    let text = at.map { String($0.milliseconds) }
    if try transaction.note(note) != text { try transaction.setNote(note, text) }
  }

  /// Returns whether a locked achievement of the pack can be unlocked by the clock alone.
  private static func waits(_ installed: InstalledPack, in transaction: any StoreTransaction) throws -> Bool {
    let limited = Set(
      try installed.pack.trackers.filter {
        try transaction.tracker(TrackerKey(owner: installed.owner, id: $0.id))?.isLimited ?? false
      }.map(\.id))
    let waiting = installed.pack.achievements.filter { achievement in
      switch achievement.criterion.kind {
      case .anniversary, .daysSinceStart: true
      // The days of a limit are met when they end.
      case .streak, .daysMet, .goalMet:
        achievement.criterion.tracker.map { limited.contains($0) } ?? !limited.isEmpty
      default: false
      }
    }
    guard !waiting.isEmpty else { return false }
    let progress = try transaction.progress(of: installed.pack.id, owner: installed.owner)
    let unlocked = Set(progress.filter { $0.unlockedAt != nil }.map(\.achievement))
    return !waiting.allSatisfy { unlocked.contains($0.id) }
  }

  /// Returns when all trackers of a pack have started the day after that of `now`.
  private static func begin(of pack: Pack, after now: Instant, _ zone: Zone) -> Instant? {
    let minutes = pack.trackers.map(\.dayStartsAt).max() ?? 0
    let text = "daily at \(padded(minutes / 60)):\(padded(minutes % 60))"
    return (try? Schedule(canonical: text))?.timetable(in: zone).next(after: now)
  }

  private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

  /// Evaluates the achievements that depend on the clock, if it is time.
  ///
  /// - Returns: what was unlocked, by owner; empty if it was not time.
  public static func begin(
    in transaction: any StoreTransaction, _ context: ReminderContext, now: Instant,
    using generator: inout some RandomNumberGenerator
  ) throws -> [(owner: UInt32, outcome: TrackingOutcome)] {
    guard let seen = try next(in: transaction) else { return [] }
    if seen <= now { try transaction.lockTrackers() }
    // Another daemon may have done it meanwhile.
    guard let at = try seen <= now ? next(in: transaction) : seen else { return [] }
    guard at <= now else {
      // If a wrong clock has set it far ahead, it is set again.
      if at > now + .days(2) { try arm(in: transaction, context, now: now) }
      return []
    }
    var begun: [(owner: UInt32, outcome: TrackingOutcome)] = []
    do {
      for installed in try transaction.packs(owner: nil) where try waits(installed, in: transaction) {
        var outcome = TrackingOutcome()
        let work = TrackingOperations(in: transaction, owner: installed.owner, context, by: nil, now: now)
        try work.praise(in: installed.pack.id, .day, &outcome, using: &generator)
        if outcome != TrackingOutcome() { begun.append((installed.owner, outcome)) }
      }
      try arm(in: transaction, context, now: now)
    } catch StoreFailure.internalError {
      // Unreadable data must neither block reminders nor be retried all the time.
      try transaction.setNote(note, String((now + .hours(1)).milliseconds))
    }
    return begun
  }
}

extension StoreTransaction {
  /// Returns the next wake-ups, including the next start of a day.
  public func dueWakeups() throws -> NextWakeups {
    var wakeups = try wakeups()
    if let day = try TrackingDay.next(in: self) { wakeups.nextDue = min(wakeups.nextDue ?? day, day) }
    return wakeups
  }
}
