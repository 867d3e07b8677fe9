import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDaemon

/// When a snapshot is due, under clock changes.
struct SnapshotTimingTests {
  private static let day = Milliseconds.days(1)
  private static let noon = Instant(seconds: 1_795_176_000)

  private static func timing(_ latest: Instant?) -> SnapshotTiming {
    var timing = SnapshotTiming()
    timing.latest = latest
    return timing
  }

  @Test func snapshotIsDueADayAfterTheLast() {
    let timing = Self.timing(Self.noon)
    let start = Self.noon - .days(9)
    #expect(!timing.isDue(at: Self.noon + Self.day - .seconds(1), every: Self.day, runningSince: start))
    #expect(timing.isDue(at: Self.noon + Self.day, every: Self.day, runningSince: start))
    #expect(Self.timing(nil).isDue(at: Self.noon, every: Self.day, runningSince: start))
  }

  @Test func startedDaemonWaitsTenMinutesBeforeASnapshot() {
    let timing = Self.timing(Self.noon)
    let late = Self.noon + .days(3)
    #expect(!timing.isDue(at: late + .minutes(9), every: Self.day, runningSince: late))
    #expect(timing.isDue(at: late + .minutes(10), every: Self.day, runningSince: late))
    // But immediately after a clean start.
    #expect(timing.isDue(at: late, every: Self.day, runningSince: nil))
    #expect(!timing.isDue(at: Self.noon + .hours(23), every: Self.day, runningSince: nil))
    // With an interval of a minute, ten minutes are not waited for.
    #expect(timing.isDue(at: late + .minutes(1), every: .minutes(1), runningSince: late))
  }

  /// A clock change causes at most one snapshot, ten minutes later, and never stops them.
  @Test func clockChangeCausesAtMostOneSnapshot() {
    let start = Self.noon - .days(30)
    for step in [Milliseconds.days(400), .days(1), .minutes(5), .minutes(-5), .days(-2), .days(-10_000)] {
      var timing = Self.timing(Self.noon - .hours(1))
      let origin = Self.noon + step
      var taken = 0
      timing.clockWasSet(at: origin)
      for minute in 0..<(60 * 24 * 3) {
        let now = origin + .minutes(Int64(minute))
        guard timing.isDue(at: now, every: Self.day, runningSince: start) else { continue }
        #expect(minute >= 10, "after \(step)")
        taken += 1
        timing.latest = now
      }
      #expect((2...4).contains(taken), "\(taken) in three days after \(step)")
    }
  }

  @Test func failedSnapshotIsRetriedAfterAnHour() {
    var timing = Self.timing(nil)
    timing.failed(at: Self.noon)
    let start = Self.noon - .days(1)
    #expect(!timing.isDue(at: Self.noon + .minutes(59), every: Self.day, runningSince: start))
    #expect(timing.isDue(at: Self.noon + .hours(1), every: Self.day, runningSince: start))
    // A clock set back by years does not delay it by years.
    #expect(timing.isDue(at: Self.noon - .days(900), every: Self.day, runningSince: Self.noon - .days(1_000)))
  }
}
