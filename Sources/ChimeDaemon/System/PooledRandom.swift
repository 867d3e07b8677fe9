import Glibc

/// A PooledRandom draws the system's random numbers 32 at a time. A batch of firings needs a thousand for its ids, and
/// the standard generator makes a system call for each.
///
/// Use one value for one piece of work: a copy returns the same numbers again.
struct PooledRandom: RandomNumberGenerator {
  private var pool: [UInt64] = []
  private var fallback = SystemRandomNumberGenerator()

  mutating func next() -> UInt64 {
    if let number = pool.popLast() { return number }
    // Up to 256 bytes are returned completely (getentropy(3)).
    let numbers = [UInt64](unsafeUninitializedCapacity: 32) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      count = bytes.baseAddress.map { getentropy($0, bytes.count) } == 0 ? buffer.count : 0
    }
    pool = numbers
    return pool.popLast() ?? fallback.next()
  }
}
