import ChimeCore
import ChimeSchedule
import Testing

/// The scheduler while the store accepts no writes.
struct DegradedFiringTests {
  static let now = SchedulerTests.now
  static let team = SchedulerTests.team
  static let popup = Claim(
    id: DeliveryID(rawValue: "msg_1"), queue: DeliveryQueue(owner: 1_000, channel: .desktop), until: now + .minutes(1))

  /// Returns a scheduler whose firing was refused just now, with its effects.
  static func refused(due: Instant = now) -> (Scheduler, [Scheduler.Effect]) {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: due)), now: due)
    _ = scheduler.handle(.refused, now: due)
    let effects = scheduler.handle(.firingFailed, now: due)
    return (scheduler, effects)
  }

  @Test func dueRemindersFireWhileTheStoreRefusesWrites() {
    var (scheduler, effects) = Self.refused()
    #expect(effects == [.fireDegraded(limit: Scheduler.batch)])
    let next = Self.now + .seconds(2)
    effects = scheduler.handle(.firedDegraded([Self.popup], next: next, isBuffered: true), now: Self.now)
    #expect(effects == [.send(Self.popup), .armDue(next)])
    // It does not wait for the next attempt to write.
    #expect(scheduler.handle(.awake, now: next) == [.fireDegraded(limit: Scheduler.batch)])
  }

  /// The store does not know the end of a snooze that it could not record.
  @Test func bufferedAnswerReevaluatesDueTimes() {
    var (scheduler, _) = Self.refused()
    _ = scheduler.handle(.firedDegraded([], next: Self.now + .days(1), isBuffered: true), now: Self.now)
    #expect(scheduler.handle(.keptAnswer, now: Self.now) == [.fireDegraded(limit: Scheduler.batch), .armDue(nil)])
    let end = Self.now + .seconds(2)
    #expect(scheduler.handle(.firedDegraded([], next: end, isBuffered: true), now: Self.now) == [.armDue(end)])
  }

  /// A read that began before an addition does not see it; then the store refuses again.
  @Test func reminderAddedDuringAReadIsDueAfterwards() {
    var (scheduler, _) = Self.refused()
    let (soon, later) = (Self.now + .seconds(2), Self.now + .days(1))
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: soon, sequence: 1)), now: Self.now)
    _ = scheduler.handle(.refused, now: Self.now)
    let effects = scheduler.handle(.firedDegraded([], next: later, isBuffered: false), now: Self.now)
    #expect(effects == [.armDue(soon)])
    #expect(scheduler.handle(.awake, now: soon) == [.fireDegraded(limit: Scheduler.batch)])
    // A later read is trusted.
    #expect(scheduler.handle(.firedDegraded([], next: later, isBuffered: false), now: soon) == [.armDue(later)])
  }

  @Test func wakeAlarmIsSetFromMemory() {
    var scheduler = Scheduler()
    let (later, next) = (Self.now + .hours(9), Self.now + .hours(1))
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now, nextWake: Self.now)), now: Self.now)
    _ = scheduler.handle(.refused, now: Self.now)
    _ = scheduler.handle(.firingFailed, now: Self.now)
    let effects = scheduler.handle(.firedDegraded([], next: next, wake: next, isBuffered: true), now: Self.now)
    #expect(effects.contains(.armWake(next)) && scheduler.wakesAt == next)
    _ = scheduler.handle(.firedDegraded([], next: later, wake: later, isBuffered: true), now: next)
    #expect(scheduler.wakesAt == later)
    // Once everything is recorded, the store's times apply.
    let retry = next + Scheduler.storeRetry
    _ = scheduler.handle(.awake, now: retry)
    let wakeups = NextWakeups(nextDue: later, nextWake: later + .hours(1))
    _ = scheduler.handle(.recorded(rest: false, wakeups), now: retry)
    #expect(scheduler.wakesAt == later + .hours(1))
  }

  /// After an alarm with an unreadable store, the next alarm known from memory is set.
  @Test func nextAlarmIsSetWhileTheStoreIsUnreadable() throws {
    var (scheduler, _) = Self.refused()
    let (next, later) = (Self.now + .hours(1), Self.now + .days(1))
    _ = scheduler.handle(.firedDegraded([], next: next, wake: next, isBuffered: true), now: Self.now)
    _ = scheduler.handle(.woke, now: next)
    _ = scheduler.handle(.recordFailed, now: next)
    let effects = scheduler.handle(.degradedFiringFailed(wake: later), now: next)
    #expect(effects.contains(.armWake(later)) && scheduler.wakesAt == later)
  }

  /// A needless alarm would wake the machine.
  @Test func unneededWakeAlarmIsCleared() {
    var (scheduler, _) = Self.refused()
    let next = Self.now + .hours(1)
    _ = scheduler.handle(.firedDegraded([], next: next, wake: next, isBuffered: true), now: Self.now)
    #expect(scheduler.wakesAt == next)
    // The known time applies while the buffer is recorded.
    let retry = Self.now + Scheduler.storeRetry
    #expect(scheduler.handle(.awake, now: retry) == [.armWake(next), .record])
    // The store has no time to wake for.
    let later = Self.now + .days(1)
    #expect(
      scheduler.handle(.recorded(rest: false, NextWakeups(nextDue: later)), now: retry) == [
        .armWake(nil), .armDue(later),
      ])
    _ = scheduler.handle(.awake, now: retry)
    #expect(scheduler.wakesAt == nil)
  }

  @Test func wakeAlarmStaysWhileTheStoreIsUnreadable() {
    var (scheduler, _) = Self.refused()
    let next = Self.now + .minutes(3)
    _ = scheduler.handle(.firedDegraded([], next: next, wake: next, isBuffered: true), now: Self.now)
    let retry = Self.now + Scheduler.storeRetry
    _ = scheduler.handle(.awake, now: retry)
    _ = scheduler.handle(.recordFailed, now: retry)
    _ = scheduler.handle(.degradedFiringFailed(), now: retry)
    #expect(scheduler.wakesAt == next)
  }

  @Test func bufferedEventsAreRecordedBeforeAnythingElse() {
    var (scheduler, _) = Self.refused()
    _ = scheduler.handle(.firedDegraded([], next: nil, isBuffered: true), now: Self.now)
    let retry = Self.now + Scheduler.storeRetry
    #expect(scheduler.handle(.awake, now: retry) == [.record])
    #expect(scheduler.handle(.awake, now: retry) == [])
    // In parts; the store's due times are not fired before the last part.
    let stale = NextWakeups(nextDue: Self.now, outbox: [Self.team: Self.now])
    #expect(scheduler.handle(.recorded(rest: true, stale), now: retry) == [.record])
    let after = NextWakeups(nextDue: retry + .hours(1), outbox: [Self.team: Self.now])
    let effects = scheduler.handle(.recorded(rest: false, after), now: retry)
    #expect(effects == [.armDue(retry + .hours(1)), .claim(Self.team, limit: 8)])
  }

  /// A client's successful change shows that the store works.
  @Test func clientCommitTriggersTheRecording() {
    var (scheduler, _) = Self.refused()
    _ = scheduler.handle(.firedDegraded([], next: Self.now + .hours(1), isBuffered: true), now: Self.now)
    let effects = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now, sequence: 1)), now: Self.now + .seconds(1))
    #expect(effects.contains(.record))
    #expect(!effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func refusingStoreIsRetriedEveryFiveSeconds() {
    var (scheduler, _) = Self.refused()
    _ = scheduler.handle(.firedDegraded([], next: Self.now + .days(1), isBuffered: true), now: Self.now)
    var now = Self.now
    for _ in 0..<3 {
      now = now + Scheduler.storeRetry
      #expect(scheduler.handle(.awake, now: now) == [.record])
      let effects = scheduler.handle(.recordFailed, now: now)
      // It looks for other due reminders, and arms the retry.
      #expect(effects == [.fireDegraded(limit: Scheduler.batch)])
      #expect(
        scheduler.handle(.firedDegraded([], next: Self.now + .days(1), isBuffered: false), now: now)
          == [.armDue(now + Scheduler.storeRetry)])
    }
  }

  @Test func idleSchedulerDoesNotRetryARefusingStore() {
    var scheduler = Scheduler()
    let tomorrow = Self.now + .days(1)
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: tomorrow)), now: Self.now)
    // A client was refused.
    #expect(scheduler.handle(.refused, now: Self.now) == [])
    // The next day, the store is tried first.
    let effects = scheduler.handle(.awake, now: tomorrow)
    #expect(effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func unreadableStoreIsReadAgainLater() {
    var (scheduler, _) = Self.refused()
    #expect(scheduler.handle(.degradedFiringFailed(), now: Self.now) == [.armDue(Self.now + Scheduler.storeRetry)])
    let effects = scheduler.handle(.awake, now: Self.now + Scheduler.storeRetry)
    #expect(effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func nothingIsClaimedBeforeBufferedEventsAreRecorded() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups()), now: Self.now)
    _ = scheduler.handle(.refused, now: Self.now)
    // The store does not know the buffered events, nor which of its due times they cover.
    #expect(scheduler.handle(.buffered, now: Self.now) == [.fireDegraded(limit: Scheduler.batch)])
    #expect(scheduler.isBuffered)
    _ = scheduler.handle(.firedDegraded([], next: nil, isBuffered: true), now: Self.now)
    let effects = scheduler.handle(.wakeups(NextWakeups(outbox: [Self.team: Self.now], sequence: 1)), now: Self.now)
    #expect(effects.contains(.record) && !effects.contains { if case .claim = $0 { true } else { false } })
    let after = NextWakeups(outbox: [Self.team: Self.now], sequence: 2)
    #expect(scheduler.handle(.recorded(rest: false, after), now: Self.now) == [.claim(Self.team, limit: 8)])
    #expect(!scheduler.isBuffered)
  }

  /// An internal error, unlike a full disk, would fire the same times forever.
  @Test func internalErrorDoesNotStartDegradedMode() {
    var scheduler = Scheduler()
    _ = scheduler.handle(.wakeups(NextWakeups(nextDue: Self.now)), now: Self.now)
    #expect(scheduler.handle(.firingFailed, now: Self.now) == [.armDue(Self.now + Scheduler.storeRetry)])
  }
}
