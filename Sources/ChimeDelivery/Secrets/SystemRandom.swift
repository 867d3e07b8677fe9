/// The standard library's generator with something in it: ThreadSanitizer cannot watch an `inout` value of no size.
struct SystemRandom: RandomNumberGenerator {
  private var count: UInt64 = 0

  mutating func next() -> UInt64 {
    count &+= 1
    return UInt64.random(in: .min ... .max)
  }
}
