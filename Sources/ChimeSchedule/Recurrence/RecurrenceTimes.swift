/// A RecurrenceTimes is a product of hours, minutes and seconds, as seconds of a day (or of an hour, or a minute).
struct RecurrenceTimes: Sendable, Hashable {
  let hours: UInt64
  let minutes: UInt64
  let seconds: UInt64
  /// The number of times, at least 1.
  let count: Int64
  /// The earliest time.
  let first: Int64

  /// Makes the product. None of the masks may be empty.
  init(hours: UInt64, minutes: UInt64, seconds: UInt64) {
    self.hours = hours
    self.minutes = minutes
    self.seconds = seconds
    count = Int64(hours.nonzeroBitCount * minutes.nonzeroBitCount * seconds.nonzeroBitCount)
    first = Int64(
      hours.trailingZeroBitCount * 3_600 + minutes.trailingZeroBitCount * 60 + seconds.trailingZeroBitCount)
  }

  /// Returns the earliest time after a second of the day; −1 gives the first.
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

  /// Returns the number of times up to and including a second of the day; −1 gives 0.
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

  /// The time at an index in ascending order: 0..<count.
  subscript(index: Int64) -> Int64 {
    let perMinute = Int64(seconds.nonzeroBitCount)
    let perHour = perMinute * Int64(minutes.nonzeroBitCount)
    return Int64(
      hours.positionOfBit(Int(index / perHour)) * 3_600 + minutes.positionOfBit(Int(index % perHour / perMinute)) * 60
        + seconds.positionOfBit(Int(index % perMinute)))
  }
}

extension UInt64 {
  /// Returns the position of the set bit with `rank` set bits below it; 64 if there are too few.
  @inline(__always)
  func positionOfBit(_ rank: Int) -> Int {
    var rest = self
    for _ in 0..<rank { rest &= rest &- 1 }
    return rest.trailingZeroBitCount
  }
}

/// RecurrencePositions are the values of `BYSETPOS`: positions in a period's set, from its start and its end.
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

  /// The smallest set of which one member is chosen.
  var smallestSet: Int64 { Int64(min(forward.first.map { $0 + 1 } ?? .max, backward.first ?? .max)) }

  /// Returns the first chosen position at or after `place` in a set of `count` members.
  func next(from place: Int64, count: Int64) -> Int64? {
    var best = Int64.max
    let ahead = Self.count(of: forward, below: place)
    if ahead < forward.count, Int64(forward[ahead]) < count { best = Int64(forward[ahead]) }
    // The largest distance from the end that does not reach before `place`.
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
