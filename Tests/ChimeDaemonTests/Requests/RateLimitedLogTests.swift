import Dispatch
import Testing

@testable import ChimeDaemon

struct RateLimitedLogTests {
  private func time(_ seconds: UInt64) -> DispatchTime { DispatchTime(uptimeNanoseconds: 1 + seconds * 1_000_000_000) }

  @Test func repeatedMessageIsLoggedOnceInAWhile() {
    var rateLimitedLog = RateLimitedLog()
    #expect(rateLimitedLog.next(.clientRefused, 1_000, at: time(0)) == 0)
    for _ in 0..<500 { #expect(rateLimitedLog.next(.clientRefused, 1_000, at: time(9)) == nil) }
    // Other users and other messages are logged meanwhile.
    #expect(rateLimitedLog.next(.clientRefused, 1_001, at: time(9)) == 0)
    #expect(rateLimitedLog.next(.connectionRejected, 1_000, at: time(9)) == 0)
    #expect(rateLimitedLog.next(.clientRefused, 1_000, at: time(10)) == 500)
    #expect(rateLimitedLog.next(.clientRefused, 1_000, at: time(11)) == nil)
    #expect(rateLimitedLog.next(.clientRefused, 1_000, at: time(20)) == 1)
  }

  @Test func manyUsersLogABoundedNumberOfMessages() {
    var rateLimitedLog = RateLimitedLog()
    let said = (0..<1_000).count { rateLimitedLog.next(.clientRefused, UInt32($0), at: time(0)) != nil }
    #expect(said == RateLimitedLog.limit)
    #expect(rateLimitedLog.next(.clientRefused, 5_000, at: time(10)) == 0)
  }
}
