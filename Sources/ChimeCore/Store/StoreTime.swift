public import ChimeSchedule

/// What time it was by the clock of a store's database, as this machine heard of it.
///
/// The two moments are of a clock of this machine that nobody sets and that runs on in sleep (CLOCK_BOOTTIME): in between,
/// the database read its own.
public struct StoreTime: Hashable, Sendable {
  /// In microseconds since the epoch.
  public var microseconds: Int64
  /// When it was asked for, and when the answer was there, in microseconds.
  public var askedAt: Int64
  public var heardAt: Int64

  public init(microseconds: Int64, askedAt: Int64, heardAt: Int64) {
    (self.microseconds, self.askedAt, self.heardAt) = (microseconds, askedAt, heardAt)
  }

  /// Never later than it was.
  public var instant: Instant { Instant(milliseconds: microseconds / 1_000) }
}

/// How far a database's clock is ahead of one of this machine that nobody sets, and so what time it is there now.
///
///     var clock = StoreClock()
///     clock.hear(time)
///     let now = clock.microseconds(at: boottime)
///
/// Each answer says that the difference lies between two values, the nearer to each other the sooner it came; of all answers
/// together the narrowest are kept. The time that is told is the earliest that it can be: what is armed for it comes when
/// the database agrees that it is time.
public struct StoreClock: Hashable, Sendable {
  /// Between which the difference lies, in microseconds.
  private var bounds: ClosedRange<Int64>?

  /// Smaller differences are the slewing of clocks.
  private static let threshold: Int64 = 100_000

  public init() {}

  /// What is added to the machine's clock, in microseconds; nil before the first answer.
  public var offset: Int64? { bounds?.lowerBound }

  /// - Returns: by how much the database's clock was set since the last answer, or another database has another one.
  @discardableResult public mutating func hear(_ time: StoreTime) -> Milliseconds {
    // It was read when the answer was there at the latest, and when it was asked for at the earliest.
    let least = time.microseconds - time.heardAt
    let heard = least...max(least, time.microseconds - time.askedAt)
    guard let known = bounds else {
      bounds = heard
      return .zero
    }
    guard !known.overlaps(heard) else {
      bounds = known.clamped(to: heard)
      return .zero
    }
    // The clocks have drifted apart a little, or one of them was set.
    bounds = heard
    let step =
      heard.lowerBound > known.upperBound
      ? heard.lowerBound - known.upperBound : heard.upperBound - known.lowerBound
    return abs(step) < Self.threshold ? .zero : .milliseconds(step / 1_000)
  }

  /// What time the database has, in microseconds since the epoch; nil before the first answer.
  ///
  /// - Parameter clock: the machine's, in microseconds.
  public func microseconds(at clock: Int64) -> Int64? { offset.map { clock + $0 } }
}
