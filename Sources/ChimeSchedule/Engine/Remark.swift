/// A Remark explains how a change of offset affects an occurrence.
public enum Remark: Sendable, Hashable, CustomStringConvertible {
  /// The intended wall-clock time does not exist on that day; the occurrence comes at `to` instead.
  case moved(from: CivilDateTime, to: CivilDateTime)
  /// The clock shows its time twice, and this is the first pass.
  case firstPass(CivilDateTime)
  /// The clock shows its time twice, and this is the last pass.
  case lastPass(CivilDateTime)

  /// The remark as part of a sentence: `02:30 does not exist on 2026-03-29`.
  public var description: String {
    switch self {
    case .moved(let from, let to):
      from.date == to.date
        ? "\(from.time) does not exist on \(from.date); moved to \(to.time)"
        : "\(from) does not exist; moved to \(to)"
    case .firstPass(let civil): "\(civil.time) happens twice on \(civil.date); this is the first"
    case .lastPass(let civil): "\(civil.time) happens twice on \(civil.date); this is the second"
    }
  }
}

extension Timetable {
  /// Returns a remark if a gap moved the occurrence or it is one pass of a fold; `nil` otherwise.
  ///
  ///     // daily at 02:30, Europe/Prague
  ///     timetable.remark(for: Instant(seconds: 1_774_747_800))?.description
  ///     // "02:30 does not exist on 2026-03-29; moved to 03:30"
  ///
  /// - Parameter instant: An occurrence from this timetable.
  public func remark(for instant: Instant) -> Remark? {
    let second = instant.seconds
    let stretch = zone.segment(at: second)
    let civil = CivilDateTime(wallSeconds: second + stretch.offset)
    let repeated = stretch.offsetBefore - stretch.offset
    if repeated > 0, second < stretch.start + repeated { return .lastPass(civil) }
    if stretch.offset > stretch.offsetAfter, second >= stretch.end - (stretch.offset - stretch.offsetAfter) {
      return .firstPass(civil)
    }
    // A time in the gap, read with the offset before it, lands as far after the gap as it lies inside.
    guard repeated < 0, second < stretch.start - repeated, gap != .skip else { return nil }
    var lost = second + stretch.offsetBefore
    if case .end(let limit) = gap {
      guard second == stretch.start, -repeated < limit, let first = engine.slots?.next(after: lost - 1),
        first < second + stretch.offset
      else {
        return nil
      }
      lost = first
    }
    return isReading(lost) ? .moved(from: CivilDateTime(wallSeconds: lost), to: civil) : nil
  }

  /// Returns whether the schedule itself names that wall-clock time.
  private func isReading(_ wall: Int64) -> Bool {
    switch engine {
    case .window(let rule):
      let day = Int64(dividedByDay(wall - rule.from).day)
      return day * 86_400 + rule.from == wall && rule.days.contains(day)
    case .recurrences(let set): return isReading(wall, of: set)
    default: return engine.slots?.contains(wall) ?? false
    }
  }
}
