/// An ascending run of readings of the wall clock (slots). Any dialect on the wall clock that provides one takes part in
/// all zones, gaps and folds.
///
/// Readings are wall seconds: seconds from 1970-01-01 00:00 as a clock without any change of offset would count them.
protocol WallSlots: Sendable, Hashable {
  /// The first slot strictly after a reading, in wall seconds; `nil` when there is none up to the end of the year 9999.
  /// It allocates nothing, and it ends: where nothing can follow it looks at no more than one cycle of 400 years, and
  /// with a spent budget `nil` tells nothing.
  func next(after wall: Int64, _ budget: inout SearchBudget) -> Int64?
}

extension WallSlots {
  /// As ``next(after:_:)``, with a budget of its own.
  func next(after wall: Int64) -> Int64? {
    var budget = SearchBudget(Timetable.searchSteps)
    return next(after: wall, &budget)
  }

  /// What is a slot is found at once, so no more than that is looked for.
  func contains(_ wall: Int64) -> Bool {
    var budget = SearchBudget(Timetable.glanceSteps)
    return next(after: wall - 1, &budget) == wall
  }
}

/// What becomes of slots that a gap removes, with what only a dialect can ask for beside what people can (``GapRule``).
enum GapHandling: Sendable, Hashable {
  /// Read with the offset before the gap.
  case shift
  /// Left out.
  case skip
  /// All of them together once, at the gap's end; left out when the gap is not shorter than so many seconds, which
  /// Debian's cron takes for a correction of the clock instead of a change to summer time (cron(8)).
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
  /// The first occurrence after an instant, found by walking the stretches of equal offset.
  ///
  /// Within a stretch readings and instants run in step. Two things disturb that at its ends. A gap at its start:
  /// under `shift` the lost readings, read with the offset before, fall into the beginning of the stretch, among the
  /// regular ones; under `end` they all fall on its first second. A fold: the beginning of the stretch after it repeats
  /// the end of the one before, and the rule tells which of the two counts.
  @inline(__always)
  func nextSlot(_ slots: some WallSlots, after second: Int64, _ budget: inout SearchBudget) -> Int64? {
    var after = second
    while after < lastSecond {
      let stretch = zone.segment(at: after + 1)
      let repeated = stretch.offsetBefore - stretch.offset
      let repeatedNext = stretch.offset - stretch.offsetAfter
      // A fold of more than `longestFold` is a correction of the clock, after which everything counts anew.
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
          // In a stretch shorter than the gap before it, what would fall beyond its end is left out.
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
        // No reading of this stretch returns, so nothing happens before the next slot can.
        guard let slot else { return nil }
        after = max(after, slot - ZoneTable.largestOffset - 1)
      } else if slot == nil, floor < stretch.end - repeatedNext {
        // What returns had been looked at.
        return nil
      }
    }
    return nil
  }
}
