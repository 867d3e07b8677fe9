/// A TokenBucket limits a rate: so many a second on average, and as many at once after a pause.
///
///     var bucket = TokenBucket(perSecond: 50)
///     if let wait = bucket.take(at: now) { … }   // too many: not before `wait`
///
/// Times are nanoseconds of a monotonic clock.
struct TokenBucket: Hashable, Sendable {
  private let perSecond: UInt64
  /// When the bucket is full again. Each token that is taken delays it.
  private var fullAt: UInt64 = 0

  private static let second: UInt64 = 1_000_000_000

  init(perSecond: Int) { self.perSecond = UInt64(max(1, perSecond)) }

  /// Takes one token.
  ///
  /// - Returns: nil: it was taken; else the time in nanoseconds until there is one.
  mutating func take(at now: UInt64) -> UInt64? {
    let each = max(1, Self.second / perSecond)
    let start = max(fullAt, now)
    // The bucket is empty if it is full only a second or more from now.
    if start + each > now + max(Self.second, each) { return start + each - now - max(Self.second, each) }
    fullAt = start + each
    return nil
  }
}
