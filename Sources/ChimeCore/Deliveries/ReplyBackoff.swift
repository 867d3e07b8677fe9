public import ChimeSchedule

/// How long a connection that brings answers is left alone after it has ended: any time up to a bound that doubles with each
/// end in a row, so that those who lost one server do not come back together ("full jitter").
public struct ReplyBackoff: Hashable, Sendable {
  /// Ends in a row.
  public private(set) var failures = 0

  static let shortest = Milliseconds.milliseconds(250)
  static let first = Milliseconds.seconds(1)
  public static let longest = Milliseconds.minutes(5)
  /// The longest that a server may ask for.
  static let mostAsked = Milliseconds.hours(1)
  /// One that lasted so long was a good one.
  static let good = Milliseconds.minutes(1)

  public init() {}

  /// - Parameters:
  ///   - lasted: for how long it was open; zero where it never was.
  ///   - asked: how long the server wants not to be called.
  public mutating func wait(
    lasted: Milliseconds, asked: Milliseconds? = nil, using generator: inout some RandomNumberGenerator
  ) -> Milliseconds {
    if lasted >= Self.good { failures = 0 }
    failures = min(failures + 1, 30)
    let bound = min(Self.first.rawValue << (failures - 1), Self.longest.rawValue)
    let wait = Milliseconds.milliseconds(Int64.random(in: Self.shortest.rawValue...bound, using: &generator))
    return max(wait, min(asked ?? .zero, Self.mostAsked))
  }
}
