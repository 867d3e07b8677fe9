/// A rate that may be exceeded for a moment: so many a second, and as many at once after a pause.
///
///     var bucket = TokenBucket(perSecond: 50)
///     if let wait = bucket.take(at: now) { … }   // too many: not before `wait`
///
/// Times are nanoseconds of a clock that nobody sets.
struct TokenBucket: Hashable, Sendable {
  private let perSecond: UInt64
  /// When it is full: each that is taken puts that off by its part of a second.
  private var fullAt: UInt64 = 0

  private static let second: UInt64 = 1_000_000_000

  init(perSecond: Int) { self.perSecond = UInt64(max(1, perSecond)) }

  /// Takes one.
  ///
  /// - Returns: nil when there was one; else how long there will be none, and nothing was taken.
  mutating func take(at now: UInt64) -> UInt64? {
    let each = max(1, Self.second / perSecond)
    let start = max(fullAt, now)
    // All of a second's have been taken when it is full a second from now.
    if start + each > now + max(Self.second, each) { return start + each - now - max(Self.second, each) }
    fullAt = start + each
    return nil
  }
}
