/// A SlotRule has fixed times of day on the days of a rule.
struct SlotRule: WallSlots {
  var days: DayRule
  /// Seconds of the day, ascending, at least one.
  var times: ContiguousArray<Int64>

  /// Returns the first slot strictly after a wall-clock time, in wall seconds.
  func next(after wall: Int64, _ budget: inout SearchBudget) -> Int64? {
    let (day, second) = dividedByDay(wall)
    let today = Int64(day)
    let time = time(after: Int64(second))
    guard let found = days.next(onOrAfter: time == nil ? today + 1 : today, &budget) else { return nil }
    if found == today, let time { return today * 86_400 + time }
    return found * 86_400 + times[0]
  }

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
