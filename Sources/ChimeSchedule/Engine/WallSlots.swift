/// WallSlots is an ascending sequence of wall-clock times (slots). A dialect that provides one gets zones, gaps and
/// folds for free.
///
/// Slots are wall seconds: seconds from 1970-01-01 00:00 on a clock without any change of offset.
protocol WallSlots: Sendable, Hashable {
  /// Returns the first slot strictly after `wall`, in wall seconds; `nil` if there is none up to the end of 9999.
  ///
  /// It allocates nothing, and it terminates: it examines at most one cycle of 400 years. If the budget is spent, `nil`
  /// means unknown.
  func next(after wall: Int64, _ budget: inout SearchBudget) -> Int64?
}

extension WallSlots {
  /// Returns the same as ``next(after:_:)``, with a budget of its own.
  func next(after wall: Int64) -> Int64? {
    var budget = SearchBudget(Timetable.searchSteps)
    return next(after: wall, &budget)
  }

  /// Returns whether `wall` is a slot. A small budget suffices, because the search finds a slot at once.
  func contains(_ wall: Int64) -> Bool {
    var budget = SearchBudget(Timetable.glanceSteps)
    return next(after: wall - 1, &budget) == wall
  }
}

/// A GapHandling says what happens to slots in a gap: the ``GapRule`` choices, and one that only a dialect can ask for.
enum GapHandling: Sendable, Hashable {
  /// The slot is read with the offset before the gap.
  case shift
  /// The slot is skipped.
  case skip
  /// All slots in the gap occur together once, at its end. A gap of at least `shorterThan` seconds skips them: Debian's
  /// cron treats it as a clock correction, not as a change to summer time (cron(8)).
  case end(shorterThan: Int64)

  init(_ rule: GapRule?, default handling: GapHandling) {
    switch rule {
    case .shift: self = .shift
    case .skip: self = .skip
    case nil: self = handling
    }
  }
}

extension Timetable {
  /// Returns the first occurrence after an instant. It walks the segments of constant offset.
  ///
  /// Within a segment, wall-clock times and instants advance in step. Two things disturb that at its ends. A gap at its
  /// start: under `shift` the lost times, read with the offset before, fall among the regular ones at the start of the
  /// segment; under `end` all of them fall on its first second. A fold: the start of the next segment repeats the end
  /// of this one, and the fold rule decides which of the two counts.
  @inline(__always)
  func nextSlot(_ slots: some WallSlots, after second: Int64, _ budget: inout SearchBudget) -> Int64? {
    var after = second
    while after < lastSecond {
      let stretch = zone.segment(at: after + 1)
      let repeated = stretch.offsetBefore - stretch.offset
      let repeatedNext = stretch.offset - stretch.offsetAfter
      // A fold longer than `longestFold` is a clock correction, after which everything counts again.
      let skipsRepeated = repeated > 0 && fold == .first && repeated <= longestFold
      var best = Int64.max

      let floor = skipsRepeated ? max(after, stretch.start + repeated - 1) : after
      let ceiling = repeatedNext > 0 && fold == .last ? stretch.end - repeatedNext : stretch.end
      let slot = slots.next(after: floor + stretch.offset, &budget)
      if budget.isSpent { return nil }
      if let slot, slot - stretch.offset < ceiling { best = slot - stretch.offset }

      if repeated < 0, after < stretch.start - repeated - 1 {
        switch gap {
        case .skip: break
        case .shift:
          let lost = slots.next(after: max(after, stretch.start - 1) + stretch.offsetBefore, &budget)
          // If the segment is shorter than the gap before it, times beyond its end are dropped.
          if let lost, lost < min(stretch.start + stretch.offset, stretch.end + stretch.offsetBefore) {
            best = min(best, lost - stretch.offsetBefore)
          }
        case .end(let limit):
          guard after < stretch.start, -repeated < limit else { break }
          let lost = slots.next(after: stretch.start - 1 + stretch.offsetBefore, &budget)
          if let lost, lost < stretch.start + stretch.offset { best = stretch.start }
        }
      }
      if best != .max { return best }
      guard budget.spend() else { return nil }

      after = stretch.end - 1
      if repeatedNext <= 0 {
        // No time of this segment repeats, so nothing happens before the next slot can.
        guard let slot else { return nil }
        after = max(after, slot - ZoneTable.largestOffset - 1)
      } else if slot == nil, floor < stretch.end - repeatedNext {
        // The repeated times were searched already.
        return nil
      }
    }
    return nil
  }
}
