/// An ElapsedRule is a grid of elapsed time, independent of offset changes: `every 36h starting 2026-12-01 09:00`.
struct ElapsedRule: Sendable, Hashable {
  /// The days, by the wall clock, on which points count.
  var days: DayRule
  /// Seconds between two points, at least 1.
  var step: Int64
  /// The first point.
  var anchor: Int64

  /// Returns the first point after an instant, and not after `last`, that falls on a day of the rule. It skips runs of
  /// other days at once.
  func next(after second: Int64, upTo last: Int64, in zone: ZoneTable, _ budget: inout SearchBudget) -> Int64? {
    var point = point(after: second)
    while point <= last {
      let stretch = zone.segment(at: point)
      let day = Int64(dividedByDay(point + stretch.offset).day)
      let allowed = days.next(onOrAfter: day, &budget)
      if allowed == day { return point }
      guard budget.spend() else { return nil }
      // A fold across midnight makes the previous day come back.
      let returns = stretch.offsetAfter < stretch.offset
      guard allowed != nil || returns else { return nil }
      var opens = Int64.max
      if let allowed { opens = zone.instant(allowed * 86_400, gap: .shift, fold: .first) }
      if returns { opens = min(opens, stretch.end) }
      point = self.point(after: max(point, opens - 1))
    }
    return nil
  }

  @inline(__always)
  private func point(after second: Int64) -> Int64 {
    guard second >= anchor else { return anchor }
    // Instants and steps are below 2³⁸, so the sum is below 2⁴⁰.
    return anchor + ((second - anchor) / step + 1) * step
  }
}
