public import ChimeSchedule

/// A ReplyBackoff computes the wait before a connection for answers is opened again.
///
/// It is a random time up to a bound that doubles with each end in a row, so that clients of one failed server do not
/// return together ("full jitter").
public struct ReplyBackoff: Hashable, Sendable {
  /// The number of connections that ended in a row.
  public private(set) var failures = 0

  static let shortest = Milliseconds.milliseconds(250)
  static let first = Milliseconds.seconds(1)
  public static let longest = Milliseconds.minutes(5)
  /// The longest wait that a server may ask for.
  static let mostAsked = Milliseconds.hours(1)
  /// A connection that lasted this long resets `failures`.
  static let good = Milliseconds.minutes(1)

  public init() {}

  /// Returns the wait after a connection ended.
  ///
  /// - Parameters:
  ///   - lasted: how long it was open; zero if it never opened.
  ///   - asked: the wait that the server asked for.
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
