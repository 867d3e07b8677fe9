/// Times of day on the days of a rule: an ascending run of wall-clock readings (slots), which a zone turns to instants.
///
/// Later dialects on the wall clock need no more than such a run to take part in all zones, gaps and folds.
struct SlotRule: Sendable, Hashable {
  var days: DayRule
  /// Seconds of the day, ascending, at least one.
  var times: ContiguousArray<Int64>

  /// The first slot strictly after a reading, in wall seconds.
  func next(after wall: Int64) -> Int64? {
    let (day, second) = dividedByDay(wall)
    let today = Int64(day)
    guard let first = days.next(onOrAfter: today) else { return nil }
    if first > today { return first * 86_400 + times[0] }
    if let time = time(after: Int64(second)) { return today * 86_400 + time }
    guard let later = days.next(onOrAfter: today + 1) else { return nil }
    return later * 86_400 + times[0]
  }

  func contains(_ wall: Int64) -> Bool { next(after: wall - 1) == wall }

  @inline(__always)
  private func time(after second: Int64) -> Int64? {
    if times.count <= 8 {
      for time in times where time > second { return time }
      return nil
    }
    var low = 0
    var high = times.count
    while low < high {
      let middle = (low + high) / 2
      if times[middle] > second { high = middle } else { low = middle + 1 }
    }
    return low < times.count ? times[low] : nil
  }
}

extension Timetable {
  /// The first occurrence after an instant, found by walking the stretches of equal offset.
  ///
  /// Within a stretch readings and instants run in step. Two things disturb that at its ends. A gap at its start:
  /// under `shift` the lost readings, read with the offset before, fall into the beginning of the stretch, among the
  /// regular ones. A fold: the beginning of the stretch after it repeats the end of the one before, and the rule tells
  /// which of the two counts.
  func nextSlot(_ rule: SlotRule, after second: Int64) -> Int64? {
    var after = second
    while after < lastSecond {
      let stretch = zone.segment(at: after + 1)
      let repeated = stretch.offsetBefore - stretch.offset
      let repeatedNext = stretch.offset - stretch.offsetAfter
      var best = Int64.max

      let floor = repeated > 0 && fold == .first ? max(after, stretch.start + repeated - 1) : after
      let ceiling = repeatedNext > 0 && fold == .last ? stretch.end - repeatedNext : stretch.end
      let slot = rule.next(after: floor + stretch.offset)
      if let slot, slot - stretch.offset < ceiling { best = slot - stretch.offset }

      if repeated < 0, gap == .shift, after < stretch.start - repeated - 1 {
        let lost = rule.next(after: max(after, stretch.start - 1) + stretch.offsetBefore)
        if let lost, lost < stretch.start + stretch.offset { best = min(best, lost - stretch.offsetBefore) }
      }
      if best != .max { return best }

      after = stretch.end - 1
      if repeatedNext <= 0 {
        // No reading of this stretch returns, so nothing happens before the next slot can.
        guard let slot else { return nil }
        after = max(after, slot - ZoneTable.largestOffset - 1)
      }
    }
    return nil
  }
}
