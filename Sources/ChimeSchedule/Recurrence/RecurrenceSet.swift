/// A RecurrenceSet is all occurrences of a schedule beyond one rule: several rules, single dates, exceptions, a shift.
///
/// Source: RFC 5545 section 3.8.5 for the set, section 3.8.6.3 for the shift.
struct RecurrenceSet: Sendable, Hashable {
  struct Member: Sendable, Hashable {
    var rule: RecurrenceRule
    /// `UNTIL` as an instant; no occurrence of this rule lies after it.
    var lastSecond: Int64 = .max
  }

  var members: ContiguousArray<Member> = []
  /// Instants from `RDATE`, ascending, without exceptions and shifted.
  var added: ContiguousArray<Int64> = []
  /// The wall-clock times of `added`, ascending; for remarks.
  var addedReadings: ContiguousArray<Int64> = []
  /// Wall-clock times, days and instants from `EXDATE`, ascending. They refer to occurrences before the shift.
  var exceptReadings: ContiguousArray<Int64> = []
  var exceptDays: ContiguousArray<Int64> = []
  var exceptInstants: ContiguousArray<Int64> = []
  /// The part of the shift that moves the wall-clock time: whole days, in seconds.
  var nominal: Int64 = 0
  /// The part of the shift that is elapsed time, in seconds.
  var exact: Int64 = 0

  /// Returns whether a wall-clock time, before the shift, is excluded by itself or with its day.
  func isExcepted(_ reading: Int64) -> Bool {
    exceptReadings.containsSorted(reading)
      || !exceptDays.isEmpty && exceptDays.containsSorted(dividedDown(reading, by: 86_400).quotient)
  }
}

/// MovedSlots are the slots of one rule of a set, moved by the days of the shift.
private struct MovedSlots: WallSlots {
  let set: RecurrenceSet
  let index: Int
  /// Needed to find the instants of slots before they are moved.
  let zone: ZoneTable
  let gap: GapHandling
  let fold: FoldRule

  func next(after wall: Int64, _ budget: inout SearchBudget) -> Int64? {
    let member = set.members[index]
    var reading = wall - set.nominal
    while let slot = member.rule.next(after: reading, &budget), budget.spend() {
      reading = slot
      if !set.exceptDays.isEmpty {
        let day = dividedDown(slot, by: 86_400).quotient
        if set.exceptDays.containsSorted(day) {
          reading = day * 86_400 + 86_399
          continue
        }
      }
      if set.exceptReadings.containsSorted(slot) { continue }
      if set.nominal != 0, !set.exceptInstants.isEmpty || member.lastSecond != .max {
        let instant = zone.instant(slot, gap: gap, fold: fold)
        if set.exceptInstants.containsSorted(instant) || instant > member.lastSecond { continue }
      }
      return slot + set.nominal
    }
    return nil
  }
}

extension Timetable {
  /// Returns the first occurrence of a set after an instant.
  func nextInSet(_ set: RecurrenceSet, after second: Int64, _ budget: inout SearchBudget) -> Int64? {
    var best = set.added.firstSorted(after: second) ?? .max
    for index in set.members.indices {
      best = min(best, next(ofMember: index, of: set, after: second, &budget))
    }
    return best == .max || budget.isSpent ? nil : best
  }

  /// Returns the first occurrence of one rule of a set after an instant; `Int64.max` if there is none.
  func next(ofMember index: Int, of set: RecurrenceSet, after second: Int64, _ budget: inout SearchBudget) -> Int64 {
    let slots = MovedSlots(set: set, index: index, zone: zone, gap: gap, fold: fold)
    // Bounds that are instants refer to occurrences before the shift. If days are moved, the slots apply them.
    let bound = set.nominal == 0 ? set.members[index].lastSecond : .max
    var after = second - set.exact
    while let found = nextSlot(slots, after: after, &budget), found <= bound {
      guard set.nominal == 0, set.exceptInstants.containsSorted(found) else { return found + set.exact }
      after = found
    }
    return .max
  }

  /// Returns whether a set itself names a wall-clock time.
  func isReading(_ wall: Int64, of set: RecurrenceSet) -> Bool {
    guard set.exact == 0 else { return false }
    return set.addedReadings.containsSorted(wall)
      || set.members.indices.contains { index in
        MovedSlots(set: set, index: index, zone: zone, gap: gap, fold: fold).contains(wall)
      }
  }
}

extension ContiguousArray<Int64> {
  /// Returns how many numbers of the ascending array are not greater than `value`.
  @inline(__always)
  private func count(through value: Int64) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] <= value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  @inline(__always)
  func containsSorted(_ value: Int64) -> Bool {
    guard !isEmpty else { return false }
    let count = count(through: value)
    return count > 0 && self[count - 1] == value
  }

  @inline(__always)
  func firstSorted(after value: Int64) -> Int64? {
    let count = count(through: value)
    return count < self.count ? self[count] : nil
  }
}
