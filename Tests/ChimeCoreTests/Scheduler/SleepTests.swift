import ChimeCore
import ChimeSchedule
import Testing

/// The scheduler while the machine falls asleep, and the times for which it wakes.
struct SleepTests {
  static let now = Instant(seconds: 1_795_161_600)
  static let team = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))

  static func claim(_ number: Int) -> Claim {
    Claim(id: DeliveryID(rawValue: "msg_\(number)"), queue: team, until: now + .minutes(2))
  }

  @Test func sleepReleasesHeldMessagesAndAwaitsRunningOnes() {
    var scheduler = Scheduler(policies: DeliveryQueuePolicies(usual: DeliveryQueuePolicy(concurrency: 1)))
    _ = scheduler.handle(
      .wakeups(NextWakeups(nextDue: Self.now + .hours(1), outbox: [Self.team: Self.now])), now: Self.now)
    let hidden = NextWakeups(nextDue: Self.now + .hours(1), outbox: [Self.team: Self.now + .minutes(2)])
    let claims = [Self.claim(1), Self.claim(2)]
    #expect(scheduler.handle(.claimed([Self.team], claims, hidden), now: Self.now).contains(.send(claims[0])))
    #expect(scheduler.handle(.sleeping, now: Self.now) == [.release(claims[1]), .armDue(nil), .armOutbox(nil)])
    #expect(!scheduler.isQuiescent, "an attempt is in flight")
    // It ends, and the free capacity stays unused.
    #expect(scheduler.handle(.ended([.init(Self.team, .arrived(took: .zero))]), now: Self.now) == [])
    #expect(scheduler.isQuiescent)
    let pending = NextWakeups(nextDue: Self.now + .hours(1), outbox: [Self.team: Self.now])
    #expect(scheduler.handle(.wakeups(pending), now: Self.now) == [])
    let effects = scheduler.handle(.woke, now: Self.now + .seconds(1))
    #expect(effects.contains { if case .claim(Self.team, _) = $0 { true } else { false } })
    #expect(effects.contains(.armDue(Self.now + .hours(1))))
  }

  @Test func timeDueWhileFallingAsleepFiresOnWakeUp() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now + .seconds(1))), now: Self.now)
    #expect(scheduler.handle(.sleeping, now: Self.now) == [.armDue(nil)])
    #expect(scheduler.handle(.awake, now: Self.now + .seconds(2)) == [])
    let effects = scheduler.handle(.woke, now: Self.now + .seconds(3))
    #expect(effects.contains { if case .fire = $0 { true } else { false } })
  }

  /// The transaction was in progress when the machine was about to sleep.
  @Test func messageFiredJustBeforeSleepIsSentAfterwards() {
    var scheduler = Scheduler()
    #expect(scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now)), now: Self.now).count == 1)
    #expect(scheduler.handle(.sleeping, now: Self.now) == [])
    #expect(!scheduler.isQuiescent, "the transaction is running")
    let hidden = NextWakeups(outbox: [Self.team: Self.now + .minutes(2)])
    #expect(scheduler.handle(.fired(claimed: [Self.claim(1)], hidden), now: Self.now) == [.release(Self.claim(1))])
    #expect(scheduler.isQuiescent)
  }

  @Test func wakeAlarmIsSetForTheEarliestRequest() {
    var scheduler = Scheduler()
    let (soon, later) = (Self.now + .minutes(1), Self.now + .hours(1))
    #expect(
      scheduler.handle(.wakeups(NextWakeups(nextDue: soon, nextWake: later)), now: Self.now) == [
        .armWake(later), .armDue(soon),
      ])
    #expect(scheduler.wakesAt == later)
    #expect(scheduler.handle(.wakeups(NextWakeups(nextDue: soon, nextWake: later)), now: Self.now) == [])
    // It stays armed during sleep, and is armed again after a clock step.
    #expect(scheduler.handle(.sleeping, now: Self.now) == [.armDue(nil)])
    #expect(scheduler.handle(.woke, now: Self.now) == [.armWake(later), .armDue(soon)])
    #expect(scheduler.handle(.awake, now: Self.now) == [.armWake(later), .armDue(soon)])
    // A time that has come needs no alarm.
    #expect(
      scheduler.handle(.wakeups(NextWakeups(nextDue: later, nextWake: later)), now: later).first == .armWake(nil))
    #expect(scheduler.wakesAt == nil)
  }

  @Test func reminderWakesTheMachineUnlessSilenced() throws {
    var reminder = Reminder(
      id: ReminderID(rawValue: "r7k2"), owner: 0, title: "Tea", schedule: try Schedule(canonical: "every day at 08:30"),
      createdAt: Self.now)
    #expect(!reminder.wakes(at: Self.now))
    reminder.wake = true
    #expect(reminder.wakes(at: Self.now))
    reminder.skipNext = 1
    #expect(!reminder.wakes(at: Self.now, isRegular: true))
    #expect(reminder.wakes(at: Self.now), "the end of a snooze is not a time of the schedule")
    reminder.pause = .until(Self.now)
    #expect(reminder.wakes(at: Self.now))
    #expect(!reminder.wakes(at: Self.now - .seconds(1)))
  }
}
