import ChimeCore
import ChimeSchedule

/// The one-line health summary in `systemctl status` and `chime status`.
enum Summary {
  /// Returns a line such as `3 due today, next "Drink water" at 14:30, 2 deliveries pending`.
  ///
  /// - Parameter isShared: whether several users have reminders here. Everyone on the machine can read systemd's
  ///   status, so it then names no title.
  static func read(
    _ store: any Store, _ context: ReminderContext, isShared: Bool, now: Instant
  ) async throws -> String {
    let zone = context.zones.local
    let endOfDay = Self.endOfDay(now, zone)
    let (counts, today, next, title) = try await store.read { transaction in
      let next = try transaction.firstComing(owner: nil)
      return (
        try transaction.counts(owner: nil),
        try transaction.dueCount(before: endOfDay), next,
        try next?.reminder.filledTitle(in: transaction, context, now: now)
      )
    }
    var parts = ["\(today) due today"]
    if let next, let at = next.coming {
      let name = isShared ? "" : "\"\((title ?? next.reminder.title).prefix(60))\" "
      parts.append("next \(name)\(clock(at, now: now, zone))")
    } else {
      parts.append("no next reminder")
    }
    if counts.pendingDeliveries > 0 {
      parts.append(counted(counts.pendingDeliveries, "delivery", "deliveries") + " pending")
    }
    if counts.deadDeliveries > 0 {
      parts.append(counted(counts.deadDeliveries, "delivery", "deliveries") + " given up")
    }
    return parts.joined(separator: ", ")
  }

  private static func counted(_ count: Int, _ one: String, _ many: String) -> String {
    "\(count) \(count == 1 ? one : many)"
  }

  /// Returns `at 14:30` for today, `on 2026-12-01 at 14:30` for later.
  private static func clock(_ instant: Instant, now: Instant, _ zone: Zone) -> String {
    let text = RFC3339.format(instant, in: zone)
    let time = "at " + text.dropFirst(11).prefix(5)
    return text.prefix(10) == RFC3339.format(now, in: zone).prefix(10) ? time : "on \(text.prefix(10)) \(time)"
  }

  /// Returns the first instant of tomorrow on the wall clock.
  static func endOfDay(_ now: Instant, _ zone: Zone) -> Instant {
    guard let tomorrow = zone.civil(at: now).date.adding(days: 1) else { return .latest }
    switch zone.resolve(CivilDateTime(date: tomorrow, time: .midnight)) {
    case .unique(let instant): return instant
    case .gap(_, _, let transition): return transition
    case .fold(let first, _): return first
    }
  }
}
