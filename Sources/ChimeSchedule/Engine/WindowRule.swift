/// A WindowRule is a grid that restarts in a window of each day: `every 90m from 8:00 to 22:00`.
struct WindowRule: Sendable, Hashable {
  /// The days on which windows start.
  var days: DayRule
  /// Elapsed seconds between two points, at least 1.
  var step: Int64
  /// The edges of the window, both included, in wall seconds from the midnight of its day; up to a day apart.
  var from: Int64
  var to: Int64
  /// When it was last done, in seconds, if the grid counts from there. It applies to the window that contains the
  /// instant one step later.
  var anchor: Int64?

  /// Returns the first point of any window after an instant.
  ///
  /// The edges of a window are wall-clock times; between them, time is elapsed time. A gap can move an edge, so windows
  /// of adjacent days may overlap. The earliest point counts.
  ///
  /// - Parameter last: the instant after which no windows are searched.
  func next(
    after second: Int64, upTo last: Int64, in zone: ZoneTable, _ gap: GapHandling, _ fold: FoldRule,
    _ budget: inout SearchBudget
  ) -> Int64? {
    let stretch = zone.segment(at: second)
    let isAnchored = anchor.map { $0 + step > second - 2 * 86_400 } ?? false
    let today = Int64(dividedByDay(second + stretch.offset).day)
    if !isAnchored, second - stretch.start > 4 * 86_400, stretch.end - second > 4 * 86_400,
      let point = reading(after: second + stretch.offset, today: today, &budget)
    {
      return point - stretch.offset
    }
    var best = Int64.max
    // A window ends at most two days after its day begins. A gap can move that by one more day.
    var day = today - 3
    while let start = days.next(onOrAfter: day, &budget), budget.spend() {
      let earliest = start * 86_400 + from - ZoneTable.largestOffset
      if earliest > best || earliest > last { break }
      let (opens, closes) = edges(onDay: start, in: zone, gap, fold)
      if closes > second || opens > second {
        if let point = point(after: second, opens: opens, closes: closes) { best = min(best, point) }
      }
      day = start + 1
    }
    return best == .max || budget.isSpent ? nil : best
  }

  /// Returns when the window of a day opens and closes. Under ``FoldRule/both`` it is as long as possible.
  func edges(
    onDay day: Int64, in zone: ZoneTable, _ gap: GapHandling, _ fold: FoldRule
  ) -> (opens: Int64, closes: Int64) {
    (
      zone.instant(day * 86_400 + from, gap: gap, fold: fold == .both ? .first : fold),
      zone.instant(day * 86_400 + to, gap: gap, fold: fold == .both ? .last : fold)
    )
  }

  /// Returns the first point after a wall-clock time if it lies in the window of yesterday, today or tomorrow. The
  /// offset must be constant all that time. Windows are at most a day long, so they do not overlap.
  private func reading(after wall: Int64, today: Int64, _ budget: inout SearchBudget) -> Int64? {
    var day = today - 1
    while let start = days.next(onOrAfter: day, &budget), start <= today + 1 {
      let opens = start * 86_400 + from
      let point = plain(after: wall, opens: opens)
      if point <= start * 86_400 + to { return point }
      day = start + 1
    }
    return nil
  }

  /// Returns the first point of one day's window after an instant, all in seconds of elapsed time.
  private func point(after second: Int64, opens: Int64, closes: Int64) -> Int64? {
    if let anchor, anchor + step > opens, anchor <= closes {
      // Up to the time of completion the grid is the regular one. After it, the grid counts from there.
      let before = plain(after: second, opens: opens)
      if before <= anchor { return before }
      let point = max(second, anchor) - anchor
      let next = anchor + (point / step + 1) * step
      return next <= closes ? next : nil
    }
    let point = plain(after: second, opens: opens)
    return point <= closes ? point : nil
  }

  private func plain(after second: Int64, opens: Int64) -> Int64 {
    second < opens ? opens : opens + ((second - opens) / step + 1) * step
  }
}

extension ZoneTable {
  /// Returns the one instant of a wall-clock time that bounds something. With `skip`, a time inside a gap becomes the
  /// end of the gap. `both` means the first pass of a fold.
  func instant(_ wall: Int64, gap: GapHandling, fold: FoldRule) -> Int64 {
    switch resolve(wall) {
    case .unique(let instant): instant
    case .gap(let before, _, let transition): gap == .shift ? wall - before : transition
    case .fold(let first, let last): fold == .last ? last : first
    }
  }
}
