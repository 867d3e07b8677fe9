/// Times of day on the days of a rule.
struct SlotRule: WallSlots {
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
