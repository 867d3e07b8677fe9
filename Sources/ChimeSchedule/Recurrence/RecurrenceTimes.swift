/// The seconds of a day (or of an hour, or a minute) that lie in a product of hours, minutes and seconds.
struct RecurrenceTimes: Sendable, Hashable {
  let hours: UInt64
  let minutes: UInt64
  let seconds: UInt64
  /// How many there are, at least 1.
  let count: Int64
  /// The earliest.
  let first: Int64

  /// None of the masks is empty.
  init(hours: UInt64, minutes: UInt64, seconds: UInt64) {
    self.hours = hours
    self.minutes = minutes
    self.seconds = seconds
    count = Int64(hours.nonzeroBitCount * minutes.nonzeroBitCount * seconds.nonzeroBitCount)
    first = Int64(
      hours.trailingZeroBitCount * 3_600 + minutes.trailingZeroBitCount * 60 + seconds.trailingZeroBitCount)
  }

  /// The earliest time after a second of the day; −1 asks for the first of all.
  @inline(__always)
  func next(after second: Int64) -> Int64? {
    if second < first { return first }
    return count == 1 ? nil : search(after: second)
  }

  private func search(after second: Int64) -> Int64? {
    let hour = second / 3_600
    let minute = second / 60 % 60
    let inMinute = seconds & (~0 << UInt64(second % 60 + 1))
    if hours >> UInt64(hour) & 1 != 0 {
      if minutes >> UInt64(minute) & 1 != 0, inMinute != 0 {
        return hour * 3_600 + minute * 60 + Int64(inMinute.trailingZeroBitCount)
      }
      let inHour = minutes & (~0 << UInt64(minute + 1))
      if inHour != 0 {
        return hour * 3_600 + Int64(inHour.trailingZeroBitCount * 60 + seconds.trailingZeroBitCount)
      }
    }
    let inDay = hours & (~0 << UInt64(hour + 1))
    guard inDay != 0 else { return nil }
    return Int64(
      inDay.trailingZeroBitCount * 3_600 + minutes.trailingZeroBitCount * 60 + seconds.trailingZeroBitCount)
  }

  /// How many times there are up to and including a second of the day; −1 gives 0.
  func rank(through second: Int64) -> Int64 {
    guard second >= first else { return 0 }
    let hour = UInt64(second / 3_600)
    let minute = UInt64(second / 60 % 60)
    let perMinute = seconds.nonzeroBitCount
    var rank = (hours & ~(~0 << hour)).nonzeroBitCount * minutes.nonzeroBitCount * perMinute
    if hours >> hour & 1 != 0 {
      rank += (minutes & ~(~0 << minute)).nonzeroBitCount * perMinute
      if minutes >> minute & 1 != 0 { rank += (seconds & ~(~0 << UInt64(second % 60 + 1))).nonzeroBitCount }
    }
    return Int64(rank)
  }

  /// The time at a place in their order: 0..<count.
  subscript(index: Int64) -> Int64 {
    let perMinute = Int64(seconds.nonzeroBitCount)
    let perHour = perMinute * Int64(minutes.nonzeroBitCount)
    return Int64(
      hours.positionOfBit(Int(index / perHour)) * 3_600 + minutes.positionOfBit(Int(index % perHour / perMinute)) * 60
        + seconds.positionOfBit(Int(index % perMinute)))
  }
}

extension UInt64 {
  /// Where the set bit stands that has `rank` set bits below it; 64 when there are not so many.
  @inline(__always)
  func positionOfBit(_ rank: Int) -> Int {
    var rest = self
    for _ in 0..<rank { rest &= rest &- 1 }
    return rest.trailingZeroBitCount
  }
}

/// `BYSETPOS`: places in a period's set, counted from its beginning and from its end.
struct RecurrencePositions: Sendable, Hashable {
  /// Ascending, from 0.
  private let forward: ContiguousArray<Int32>
  /// Ascending; 1 is the last.
  private let backward: ContiguousArray<Int32>

  init(_ positions: [Int16]) {
    forward = ContiguousArray(positions.filter { $0 > 0 }.map { Int32($0) - 1 }.sorted())
    backward = ContiguousArray(positions.filter { $0 < 0 }.map { -Int32($0) }.sorted())
  }

  @inline(__always) var isEmpty: Bool { forward.isEmpty && backward.isEmpty }

  /// The smallest number of members that a set needs for one of them to be chosen.
  var smallestSet: Int64 { Int64(min(forward.first.map { $0 + 1 } ?? .max, backward.first ?? .max)) }

  /// The first chosen place from `place` on in a set of `count` members.
  func next(from place: Int64, count: Int64) -> Int64? {
    var best = Int64.max
    let ahead = Self.count(of: forward, below: place)
    if ahead < forward.count, Int64(forward[ahead]) < count { best = Int64(forward[ahead]) }
    // The largest distance from the end that does not reach behind `place`.
    let behind = Self.count(of: backward, below: count - place + 1)
    if behind > 0 { best = min(best, count - Int64(backward[behind - 1])) }
    return best == .max ? nil : best
  }

  @inline(__always)
  private static func count(of list: ContiguousArray<Int32>, below bound: Int64) -> Int {
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if Int64(list[middle]) < bound { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
