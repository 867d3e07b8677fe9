import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

struct ReplyBackoffTests {
  @Test func delayDoublesUpToItsLimit() {
    var random = SeededGenerator(seed: 3)
    var longest: [Int64] = []
    for _ in 0..<400 {
      var backoff = ReplyBackoff()
      for step in 0..<14 {
        let wait = backoff.wait(lasted: .zero, using: &random).rawValue
        if longest.count <= step { longest.append(0) }
        longest[step] = max(longest[step], wait)
        let bound = min(1_000 << Int64(step), ReplyBackoff.longest.rawValue)
        #expect((250...bound).contains(wait))
      }
      #expect(backoff.failures == 14)
    }
    // Random times up to the limit, not the limit itself.
    #expect(longest[0] > 900 && longest[5] > 28_000 && longest[13] > 280_000)
  }

  @Test func longConnectionResetsTheBackoff() {
    var random = SeededGenerator(seed: 4)
    var backoff = ReplyBackoff()
    for _ in 0..<60 { _ = backoff.wait(lasted: .seconds(59), using: &random) }
    #expect(backoff.failures == 30)
    #expect(backoff.wait(lasted: .minutes(1), using: &random) <= .seconds(1))
    #expect(backoff.failures == 1)
  }

  @Test func serverMayAskForABoundedDelay() {
    var random = SeededGenerator(seed: 5)
    var backoff = ReplyBackoff()
    #expect(backoff.wait(lasted: .zero, asked: .seconds(30), using: &random) == .seconds(30))
    #expect(backoff.wait(lasted: .zero, asked: .days(300), using: &random) == .hours(1))
  }
}
