/// The system's random generator, with a stored property: ThreadSanitizer cannot watch an `inout` value of size zero.
struct SystemRandom: RandomNumberGenerator {
  private var count: UInt64 = 0

  mutating func next() -> UInt64 {
    count &+= 1
    return UInt64.random(in: .min ... .max)
  }
}
