import ChimeCore
import ChimeSchedule
import Testing

/// The scheduler beside other daemons.
struct SharedStoreTests {
  private static let now = Instant(seconds: 1_795_161_600)

  private func fires(_ effects: [Scheduler.Effect]) -> Bool {
    effects.contains { if case .fire = $0 { true } else { false } }
  }

  @Test func lockedTimesAreRetriedWithGrowingDelays() {
    var scheduler = Scheduler()
    var now = Self.now
    #expect(fires(scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now)), now: now)))
    var spans: [Int64] = []
    for _ in 0..<8 {
      let effects = scheduler.handle(.fired(claimed: [], NextWakeups(nextDue: Self.now), isEmpty: true), now: now)
      #expect(!fires(effects))
      guard case .armDue(let time?)? = effects.last else {
        Issue.record("nothing is armed: \(effects)")
        return
      }
      spans.append((time - now).rawValue)
      #expect(!fires(scheduler.handle(.awake, now: time - .milliseconds(1))), "not before")
      now = time
      #expect(fires(scheduler.handle(.awake, now: now)))
    }
    #expect(spans == [20, 40, 80, 160, 320, 640, 1_000, 1_000])
    // After a successful claim, the rest is requested at once.
    #expect(fires(scheduler.handle(.fired(claimed: [], NextWakeups(nextDue: Self.now)), now: now)))
    let effects = scheduler.handle(.fired(claimed: [], NextWakeups(nextDue: Self.now), isEmpty: true), now: now)
    #expect(effects == [.armDue(now + .milliseconds(20))])
  }

  /// The firing looked before another commit of this daemon made a time due.
  @Test func whatBecameDueAfterAFiringLookedFiresAtOnce() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now, sequence: 1)), now: Self.now)
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now, sequence: 3)), now: Self.now)
    let outdated = NextWakeups(nextDue: Self.now + .hours(1), sequence: 2)
    #expect(fires(scheduler.handle(.fired(claimed: [], outdated, isEmpty: true), now: Self.now)))
  }

  @Test func clockSetBackDoesNotProlongTheRetry() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: .earliest)), now: Self.now)
    _ = scheduler.handle(.fired(claimed: [], NextWakeups(nextDue: .earliest), isEmpty: true), now: Self.now)
    #expect(fires(scheduler.handle(.clockWentBack(by: .hours(1)), now: Self.now - .hours(1))))
  }

  /// Times due before a daemon joined were for the others to fire.
  @Test func joiningDaemonReportsNoDowntime() {
    func member(_ since: Int64, isLiving: Bool = true) -> FleetMember {
      FleetMember(
        id: since, name: "a", process: 1, version: "", startedAt: Self.now - .seconds(since), seenAt: Self.now,
        isLiving: isLiving, isDraining: false, isSelf: since == 0, shards: 0)
    }
    let others = [member(900), member(3_600), member(7_200, isLiving: false), member(0)]
    let uptime = Uptime(startedAt: Self.now, among: others)
    #expect(uptime.runningSince == Self.now - .hours(1))
    #expect(uptime.cause(of: Self.now - .minutes(59), now: Self.now) == .suspend)
    #expect(uptime.cause(of: Self.now - .minutes(61), now: Self.now) == .downtime)
    #expect(Uptime(startedAt: Self.now, among: []).runningSince == Self.now)
    #expect(Uptime(startedAt: Self.now, among: [member(0)]).runningSince == Self.now)
  }

  @Test func timesAddedByOthersAreArmed() {
    var scheduler = Scheduler()
    let (later, soon) = (Self.now + .hours(1), Self.now + .seconds(5))
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: later, sequence: 7)), now: Self.now)
    #expect(scheduler.latestWakeups == 7)
    #expect(scheduler.handle(.looked(NextWakeups(nextDue: soon, sequence: 7)), now: Self.now) == [.armDue(soon)])
  }

  /// A change of this daemon committed during a read, which may not have seen it.
  @Test func readOlderThanAChangeIsIgnored() {
    var scheduler = Scheduler()
    let (later, soon) = (Self.now + .hours(1), Self.now + .seconds(5))
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: later, sequence: 7)), now: Self.now)
    let sequence = scheduler.latestWakeups
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: soon, sequence: 8)), now: Self.now)
    #expect(scheduler.handle(.looked(NextWakeups(nextDue: later, sequence: sequence)), now: Self.now) == [])
    #expect(fires(scheduler.handle(.awake, now: soon)))
  }

  /// Reading works while writing does not.
  @Test func successfulReadDoesNotEndDegradedMode() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now)), now: Self.now)
    _ = scheduler.handle(.firingFailed, now: Self.now)
    #expect(!fires(scheduler.handle(.looked(NextWakeups(nextDue: Self.now)), now: Self.now + .seconds(1))))
    #expect(fires(scheduler.handle(.awake, now: Self.now + Scheduler.storeRetry)))
  }
}

/// The estimate of the database's time.
struct StoreClockTests {
  private func reply(_ time: Int64, asked: Int64, after: Int64) -> StoreTime {
    StoreTime(microseconds: time, askedAt: asked, heardAt: asked + after)
  }

  @Test func estimateIsNeverAheadAndImprovesWithEachReply() {
    var clock = StoreClock()
    #expect(clock.microseconds(at: 0) == nil)
    // The true offset is 1,000,000,000: read in the middle of 2 s, then of 200 µs, then of 40 ms.
    #expect(clock.observe(reply(1_001_000_000, asked: 0, after: 2_000_000)) == .zero)
    #expect(clock.microseconds(at: 2_000_000) == 1_001_000_000)
    #expect(clock.observe(reply(1_003_000_100, asked: 3_000_000, after: 200)) == .zero)
    #expect(clock.microseconds(at: 4_000_000) == 1_003_999_900)
    #expect(clock.observe(reply(1_005_020_000, asked: 5_000_000, after: 40_000)) == .zero)
    #expect(clock.microseconds(at: 6_000_000) == 1_005_999_900, "a slow answer moves nothing")
  }

  @Test func driftIsFollowedSilently() {
    var clock = StoreClock()
    for second in 0..<1_000 as Range<Int64> {
      // A drift of 50 µs per second.
      let time = 1_000_000_000 + second * 1_000_050
      #expect(clock.observe(reply(time, asked: second * 1_000_000, after: 100)) == .zero)
      let known = clock.microseconds(at: second * 1_000_000) ?? 0
      #expect(abs(known - time) <= 200)
    }
  }

  @Test(arguments: [3_600_000_000, -3_600_000_000, 250_000] as [Int64])
  func stepOfTheDatabaseClockIsReported(step: Int64) {
    var clock = StoreClock()
    #expect(clock.observe(reply(9_000_000_000, asked: 0, after: 100)) == .zero)
    let told = clock.observe(reply(9_001_000_000 + step, asked: 1_000_000, after: 100))
    #expect(abs(told.rawValue - step / 1_000) <= 1)
    #expect(clock.observe(reply(9_002_000_000 + step, asked: 2_000_000, after: 100)) == .zero, "once")
    #expect(abs((clock.microseconds(at: 2_000_000) ?? 0) - 9_002_000_000 - step) <= 100)
  }
}
