/// A DurationCounts is a histogram of durations by powers of two of a millisecond. Histograms can be added up.
public struct DurationCounts: Hashable, Sendable {
  /// At index 0 the durations under 1 ms; at index n those from 2^(n−1) ms to below 2^n ms.
  public private(set) var counts: [Int] = []

  public init(counts: [Int] = []) { self.counts = counts }

  public mutating func add(_ duration: Milliseconds) {
    let value = UInt64(max(0, duration.rawValue))
    let place = UInt64.bitWidth - value.leadingZeroBitCount
    while counts.count <= place { counts.append(0) }
    counts[place] += 1
  }

  public mutating func add(_ other: DurationCounts) {
    while counts.count < other.counts.count { counts.append(0) }
    for (place, count) in other.counts.enumerated() { counts[place] += count }
  }

  public var total: Int { counts.reduce(0, +) }

  /// Returns the upper bound of the bucket in which the quantile `part` (0…1) lies; `nil` if there are no durations.
  public func limit(of part: Double) -> Milliseconds? {
    var left = (Double(total) * part).rounded(.up)
    for (place, count) in counts.enumerated() where count > 0 {
      left -= Double(count)
      if left <= 0 { return .milliseconds(1 << Int64(place)) }
    }
    return nil
  }
}
