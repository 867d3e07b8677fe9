import ChimeCore
import ChimeSchedule
import Testing

/// The scheduler's state machine: what is armed, fired and claimed after each event.
struct SchedulerTests {
  static let now = Instant(seconds: 1_795_161_600)
  static let team = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))
  static func policies(_ concurrency: Int) -> DeliveryQueuePolicies {
    DeliveryQueuePolicies(usual: DeliveryQueuePolicy(concurrency: concurrency))
  }
  static let home = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "home"))

  @Test func earliestTimeIsArmed() {
    var scheduler = Scheduler()
    #expect(
      scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now + .hours(1))), now: Self.now) == [
        .armDue(Self.now + .hours(1))
      ])
    // The same wakeups again change no timer.
    #expect(scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now + .hours(1))), now: Self.now) == [])
    #expect(
      scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now + .minutes(1))), now: Self.now) == [
        .armDue(Self.now + .minutes(1))
      ])
    #expect(scheduler.handle(.wakeups(NextWakeups()), now: Self.now) == [.armDue(nil)])
  }

  /// Two clients add at once; the loop learns of the second commit first.
  @Test func outdatedWakeupsHideNoEarlierTime() {
    var scheduler = Scheduler()
    let soon = Self.now + .minutes(1)
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: soon, sequence: 2)), now: Self.now)
    #expect(scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now + .hours(1), sequence: 1)), now: Self.now) == [])
    // The earlier time is still armed.
    #expect(
      scheduler.handle(.awake, now: soon) == [
        .fire(limit: Scheduler.batch, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()))
      ])
  }

  @Test func dueTimesFireInOneTransactionAtATime() {
    var scheduler = Scheduler(policies: Self.policies(4))
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now)), now: Self.now - .seconds(1))
    let effects = scheduler.handle(.awake, now: Self.now)
    #expect(effects == [.fire(limit: Scheduler.batch, capacity: Scheduler.Capacity(policies: Self.policies(4)))])
    #expect(scheduler.handle(.awake, now: Self.now) == [])
    let next = Self.now + .minutes(5)
    #expect(scheduler.handle(.fired(claimed: [], NextWakeups(nextDue: next)), now: Self.now) == [.armDue(next)])
  }

  @Test func firingContinuesWhileMoreIsDue() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now)), now: Self.now)
    let effects = scheduler.handle(.fired(claimed: [], NextWakeups(nextDue: Self.now)), now: Self.now)
    #expect(effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func earlyTimerIsArmedAgain() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now)), now: Self.now - .hours(1))
    #expect(scheduler.handle(.awake, now: Self.now - .seconds(1)) == [.armDue(Self.now)])
  }

  @Test func failingStoreIsRetriedAfterItsDelay() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now)), now: Self.now)
    #expect(scheduler.handle(.firingFailed, now: Self.now) == [.armDue(Self.now + Scheduler.storeRetry)])
    #expect(scheduler.handle(.awake, now: Self.now + .seconds(1)) == [.armDue(Self.now + Scheduler.storeRetry)])
    let again = scheduler.handle(.awake, now: Self.now + Scheduler.storeRetry)
    #expect(again.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func clockSetFarBackDoesNotDelayTheStoreRetry() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Instant(seconds: 100))), now: Self.now)
    _ = scheduler.handle(.firingFailed, now: Self.now)
    let effects = scheduler.handle(.awake, now: Instant(seconds: 1_000))
    #expect(effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func oneQueueDelaysNoOther() {
    var scheduler = Scheduler(policies: Self.policies(1))
    _ = scheduler.handle(.wakeups(NextWakeups(outbox: [Self.team: Self.now])), now: Self.now)
    _ = scheduler.handle(.claimed([Self.team], [Claims.claim(1, Self.team)], NextWakeups()), now: Self.now)
    // The team's endpoint hangs; home's is served.
    let both = NextWakeups(outbox: [Self.team: Self.now, Self.home: Self.now])
    #expect(scheduler.handle(.wakeups(both), now: Self.now) == [.claim(Self.home, limit: 1)])
  }

  @Test func retriesAreArmed() {
    var scheduler = Scheduler()
    let later = Self.now + .minutes(5)
    #expect(scheduler.handle(.wakeups(NextWakeups(outbox: [Self.team: later])), now: Self.now) == [.armOutbox(later)])
    #expect(scheduler.handle(.awake, now: later).contains(.claim(Self.team, limit: 8)))
  }

  @Test func firingClaimsNoMoreThanTheCapacity() {
    var scheduler = Scheduler(policies: Self.policies(3))
    let claims = (1...2).map { Claims.claim($0, Self.team, until: Self.now + .minutes(1)) }
    _ = scheduler.handle(.fired(claimed: claims, NextWakeups(nextDue: Self.now)), now: Self.now - .seconds(9))
    let effects = scheduler.handle(.awake, now: Self.now)
    guard case .fire(_, let capacity)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(capacity.left(in: Self.team) == 1)
    #expect(capacity.left(in: Self.home) == 3)
  }
}
