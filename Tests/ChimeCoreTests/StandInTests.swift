import ChimeCore
import ChimeSchedule
import Testing

/// What the agenda does while the store takes no changes.
struct StandInTests {
  static let now = AgendaTests.now
  static let team = AgendaTests.team
  static let popup = Claim(
    id: DeliveryID(rawValue: "msg_1"), lane: Lane(owner: 1_000, channel: .desktop), until: now + .minutes(1))

  /// An agenda whose firing was refused just now, and what it did about it.
  static func refused(due: Instant = now) -> (Agenda, [Agenda.Effect]) {
    var agenda = Agenda()
    _ = agenda.handle(.horizon(Horizon(nextDue: due)), now: due)
    _ = agenda.handle(.refused, now: due)
    let effects = agenda.handle(.firingFailed, now: due)
    return (agenda, effects)
  }

  @Test func whatIsDueFiresWithoutAStoreThatRefuses() {
    var (agenda, effects) = Self.refused()
    #expect(effects == [.standIn(limit: Agenda.batch)])
    let next = Self.now + .seconds(2)
    effects = agenda.handle(.stoodIn([Self.popup], next: next, kept: true), now: Self.now)
    #expect(effects == [.send(Self.popup), .armDue(next)])
    // It does not wait for the store to be asked again.
    #expect(agenda.handle(.awake, now: next) == [.standIn(limit: Agenda.batch)])
  }

  /// The store does not know of the end of a snooze that it could not take.
  @Test func anAnswerThatIsKeptHasDueTimesLookedAtAgain() {
    var (agenda, _) = Self.refused()
    _ = agenda.handle(.stoodIn([], next: Self.now + .days(1), kept: true), now: Self.now)
    #expect(agenda.handle(.keptAnswer, now: Self.now) == [.standIn(limit: Agenda.batch), .armDue(nil)])
    let end = Self.now + .seconds(2)
    #expect(agenda.handle(.stoodIn([], next: end, kept: true), now: Self.now) == [.armDue(end)])
  }

  /// A look at the store that began before an addition knows nothing of it, and the store then refuses again.
  @Test func whatIsAddedDuringALookIsDueAfterIt() {
    var (agenda, _) = Self.refused()
    let (soon, later) = (Self.now + .seconds(2), Self.now + .days(1))
    _ = agenda.handle(.horizon(Horizon(nextDue: soon, sequence: 1)), now: Self.now)
    _ = agenda.handle(.refused, now: Self.now)
    let effects = agenda.handle(.stoodIn([], next: later, kept: false), now: Self.now)
    #expect(effects == [.armDue(soon)])
    #expect(agenda.handle(.awake, now: soon) == [.standIn(limit: Agenda.batch)])
    // The look that began since is believed.
    #expect(agenda.handle(.stoodIn([], next: later, kept: false), now: soon) == [.armDue(later)])
  }

  @Test func theMachineIsWokenForWhatIsKnownWithoutTheStore() {
    var agenda = Agenda()
    let (later, next) = (Self.now + .hours(9), Self.now + .hours(1))
    _ = agenda.handle(.horizon(Horizon(nextDue: Self.now, nextWake: Self.now)), now: Self.now)
    _ = agenda.handle(.refused, now: Self.now)
    _ = agenda.handle(.firingFailed, now: Self.now)
    let effects = agenda.handle(.stoodIn([], next: next, wake: next, kept: true), now: Self.now)
    #expect(effects.contains(.armWake(next)) && agenda.wakesAt == next)
    _ = agenda.handle(.stoodIn([], next: later, wake: later, kept: true), now: next)
    #expect(agenda.wakesAt == later)
    // Once all is recorded the store knows best.
    let retry = next + Agenda.storeRetry
    _ = agenda.handle(.awake, now: retry)
    let horizon = Horizon(nextDue: later, nextWake: later + .hours(1))
    _ = agenda.handle(.recorded(rest: false, horizon), now: retry)
    #expect(agenda.wakesAt == later + .hours(1))
  }

  /// The alarm has rung, and the store cannot even be read: the next one that is known from memory is set.
  @Test func theNextAlarmIsSetAlsoWhenNothingCanBeRead() throws {
    var (agenda, _) = Self.refused()
    let (next, later) = (Self.now + .hours(1), Self.now + .days(1))
    _ = agenda.handle(.stoodIn([], next: next, wake: next, kept: true), now: Self.now)
    _ = agenda.handle(.woke, now: next)
    _ = agenda.handle(.recordFailed, now: next)
    let effects = agenda.handle(.standInFailed(wake: later), now: next)
    #expect(effects.contains(.armWake(later)) && agenda.wakesAt == later)
  }

  /// It would wake the machine for nothing.
  @Test func anAlarmThatNobodyAsksForAnyMoreIsTakenDown() {
    var (agenda, _) = Self.refused()
    let next = Self.now + .hours(1)
    _ = agenda.handle(.stoodIn([], next: next, wake: next, kept: true), now: Self.now)
    #expect(agenda.wakesAt == next)
    // What is known holds while it is brought to the store.
    let retry = Self.now + Agenda.storeRetry
    #expect(agenda.handle(.awake, now: retry) == [.armWake(next), .record])
    // The store knows of nothing to wake for.
    let later = Self.now + .days(1)
    #expect(
      agenda.handle(.recorded(rest: false, Horizon(nextDue: later)), now: retry) == [.armWake(nil), .armDue(later)])
    _ = agenda.handle(.awake, now: retry)
    #expect(agenda.wakesAt == nil)
  }

  @Test func theMachineIsWokenAlthoughNothingCanBeRead() {
    var (agenda, _) = Self.refused()
    let next = Self.now + .minutes(3)
    _ = agenda.handle(.stoodIn([], next: next, wake: next, kept: true), now: Self.now)
    let retry = Self.now + Agenda.storeRetry
    _ = agenda.handle(.awake, now: retry)
    _ = agenda.handle(.recordFailed, now: retry)
    _ = agenda.handle(.standInFailed(), now: retry)
    #expect(agenda.wakesAt == next)
  }

  @Test func whatIsKeptIsBroughtToTheStoreBeforeAnythingElse() {
    var (agenda, _) = Self.refused()
    _ = agenda.handle(.stoodIn([], next: nil, kept: true), now: Self.now)
    let retry = Self.now + Agenda.storeRetry
    #expect(agenda.handle(.awake, now: retry) == [.record])
    #expect(agenda.handle(.awake, now: retry) == [])
    // In pieces; what the store has as due is not fired before the last.
    let stale = Horizon(nextDue: Self.now, outbox: [Self.team: Self.now])
    #expect(agenda.handle(.recorded(rest: true, stale), now: retry) == [.record])
    let after = Horizon(nextDue: retry + .hours(1), outbox: [Self.team: Self.now])
    let effects = agenda.handle(.recorded(rest: false, after), now: retry)
    #expect(effects == [.armDue(retry + .hours(1)), .claim(Self.team, limit: 8)])
  }

  /// A client's change that succeeds tells that the store works.
  @Test func aCommitOfSomebodyElsesBringsTheRecordForward() {
    var (agenda, _) = Self.refused()
    _ = agenda.handle(.stoodIn([], next: Self.now + .hours(1), kept: true), now: Self.now)
    let effects = agenda.handle(.horizon(Horizon(nextDue: Self.now, sequence: 1)), now: Self.now + .seconds(1))
    #expect(effects.contains(.record))
    #expect(!effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func aStoreThatStillRefusesIsAskedEveryFiveSecondsAndNoOftener() {
    var (agenda, _) = Self.refused()
    _ = agenda.handle(.stoodIn([], next: Self.now + .days(1), kept: true), now: Self.now)
    var now = Self.now
    for _ in 0..<3 {
      now = now + Agenda.storeRetry
      #expect(agenda.handle(.awake, now: now) == [.record])
      let effects = agenda.handle(.recordFailed, now: now)
      // What else is due is looked for, and the time to ask again armed.
      #expect(effects == [.standIn(limit: Agenda.batch)])
      #expect(
        agenda.handle(.stoodIn([], next: Self.now + .days(1), kept: false), now: now)
          == [.armDue(now + Agenda.storeRetry)])
    }
  }

  @Test func whileNothingIsKeptAndNothingIsDueNobodyIsWoken() {
    var agenda = Agenda()
    let tomorrow = Self.now + .days(1)
    _ = agenda.handle(.horizon(Horizon(nextDue: tomorrow)), now: Self.now)
    // A client was refused.
    #expect(agenda.handle(.refused, now: Self.now) == [])
    // The day after, the store is asked first.
    let effects = agenda.handle(.awake, now: tomorrow)
    #expect(effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func whatCannotEvenBeReadIsReadAgainLater() {
    var (agenda, _) = Self.refused()
    #expect(agenda.handle(.standInFailed(), now: Self.now) == [.armDue(Self.now + Agenda.storeRetry)])
    let effects = agenda.handle(.awake, now: Self.now + Agenda.storeRetry)
    #expect(effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func nothingIsClaimedBeforeWhatIsKeptIsRecorded() {
    var agenda = Agenda()
    _ = agenda.handle(.horizon(Horizon()), now: Self.now)
    _ = agenda.handle(.refused, now: Self.now)
    // The store does not know of what is kept, nor what of it is due.
    #expect(agenda.handle(.kept, now: Self.now) == [.standIn(limit: Agenda.batch)])
    #expect(agenda.keepsForStore)
    _ = agenda.handle(.stoodIn([], next: nil, kept: true), now: Self.now)
    let effects = agenda.handle(.horizon(Horizon(outbox: [Self.team: Self.now], sequence: 1)), now: Self.now)
    #expect(effects.contains(.record) && !effects.contains { if case .claim = $0 { true } else { false } })
    let after = Horizon(outbox: [Self.team: Self.now], sequence: 2)
    #expect(agenda.handle(.recorded(rest: false, after), now: Self.now) == [.claim(Self.team, limit: 8)])
    #expect(!agenda.keepsForStore)
  }

  /// A fault of ours, rather than of the disk, would fire the same times for ever.
  @Test func aFailureThatIsNoRefusalWaits() {
    var agenda = Agenda()
    _ = agenda.handle(.horizon(Horizon(nextDue: Self.now)), now: Self.now)
    #expect(agenda.handle(.firingFailed, now: Self.now) == [.armDue(Self.now + Agenda.storeRetry)])
  }
}
