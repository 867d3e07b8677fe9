import Testing

@testable import ChimeDaemon

/// A rate limit of requests: its burst, and its rate over time.
struct TokenBucketTests {
  private let second: UInt64 = 1_000_000_000

  @Test(arguments: [1, 3, 50, 7_919]) func bucketAllowsABurstOfASecondAndTheRateOverTime(rate: Int) {
    var bucket = TokenBucket(perSecond: rate)
    let begin = 5 * second
    for _ in 0..<rate { #expect(bucket.take(at: begin) == nil) }
    let wait = bucket.take(at: begin)
    #expect(wait.map { $0 > 0 && $0 <= second / UInt64(rate) + 1 } == true)
    #expect(bucket.take(at: begin + (wait ?? 0)) == nil, "the announced delay is kept")
    #expect(bucket.take(at: begin + (wait ?? 0)) != nil)
    // At a hundred times the rate, it passes the rate plus the initial burst.
    var fresh = TokenBucket(perSecond: rate)
    let asked = rate * 100 * 3
    let taken = (0..<asked).count { fresh.take(at: begin + UInt64($0) * second / UInt64(rate * 100)) == nil }
    #expect((rate * 4 - 1...rate * 4 + 1).contains(taken), "\(taken) in 3 s")
  }

  @Test func idleBucketFillsOnlyToItsCapacity() {
    var bucket = TokenBucket(perSecond: 10)
    for _ in 0..<10 { #expect(bucket.take(at: second) == nil) }
    let later = 3_600 * second
    #expect((0..<30).count { _ in bucket.take(at: later) == nil } == 10)
  }
}
