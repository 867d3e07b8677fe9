import Glibc

/// The system's random numbers, fetched 32 at a time: a batch of firings draws a thousand for its ids, and each draw of
/// the standard generator is a system call.
///
/// A value for one piece of work: a copy would give the same numbers again.
struct PooledRandom: RandomNumberGenerator {
  private var pool: [UInt64] = []
  private var fallback = SystemRandomNumberGenerator()

  mutating func next() -> UInt64 {
    if let number = pool.popLast() { return number }
    // Up to 256 bytes are given whole (getentropy(3)).
    let numbers = [UInt64](unsafeUninitializedCapacity: 32) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      count = bytes.baseAddress.map { getentropy($0, bytes.count) } == 0 ? buffer.count : 0
    }
    pool = numbers
    return pool.popLast() ?? fallback.next()
  }
}
