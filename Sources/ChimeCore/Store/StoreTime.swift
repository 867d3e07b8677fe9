public import ChimeSchedule

/// A StoreTime is one reading of a database's clock by this machine.
///
/// `askedAt` and `heardAt` are readings of CLOCK_BOOTTIME, which nobody sets and which runs on in sleep. The database
/// read its clock between them.
public struct StoreTime: Hashable, Sendable {
  /// Microseconds since the epoch.
  public var microseconds: Int64
  /// When the query was sent and when the answer arrived, in microseconds.
  public var askedAt: Int64
  public var heardAt: Int64

  public init(microseconds: Int64, askedAt: Int64, heardAt: Int64) {
    (self.microseconds, self.askedAt, self.heardAt) = (microseconds, askedAt, heardAt)
  }

  /// The time in milliseconds, rounded down, so never too late.
  public var instant: Instant { Instant(milliseconds: microseconds / 1_000) }
}

/// A StoreClock computes a database's time from CLOCK_BOOTTIME.
///
///     var clock = StoreClock()
///     clock.observe(time)
///     let now = clock.microseconds(at: boottime)
///
/// Each answer bounds the difference between the clocks, the tighter the sooner it came; the bounds of all answers are
/// intersected. The computed time is the earliest possible one, so a timer never rings before the database agrees.
public struct StoreClock: Hashable, Sendable {
  /// The bounds of the difference, in microseconds.
  private var bounds: ClosedRange<Int64>?

  /// Differences below this, in microseconds, are clock slewing.
  private static let threshold: Int64 = 100_000

  public init() {}

  /// The microseconds to add to the machine's clock; nil before the first answer.
  public var offset: Int64? { bounds?.lowerBound }

  /// - Returns: by how much the database's clock was set since the last answer, or differs because the database changed.
  @discardableResult public mutating func observe(_ time: StoreTime) -> Milliseconds {
    // The clock was read at the latest when the answer arrived, and at the earliest when the query was sent.
    let least = time.microseconds - time.heardAt
    let observed = least...max(least, time.microseconds - time.askedAt)
    guard let known = bounds else {
      bounds = observed
      return .zero
    }
    guard !known.overlaps(observed) else {
      bounds = known.clamped(to: observed)
      return .zero
    }
    // The clocks have drifted slightly, or one of them was set.
    bounds = observed
    let step =
      observed.lowerBound > known.upperBound
      ? observed.lowerBound - known.upperBound : observed.upperBound - known.lowerBound
    return abs(step) < Self.threshold ? .zero : .milliseconds(step / 1_000)
  }

  /// Returns the database's time in microseconds since the epoch; nil before the first answer.
  ///
  /// - Parameter clock: the machine's CLOCK_BOOTTIME in microseconds.
  public func microseconds(at clock: Int64) -> Int64? { offset.map { clock + $0 } }
}
