import ChimeCore
import ChimeSchedule
import Testing

/// The state machine of waiting: what is armed, fired and claimed after each event.
struct AgendaTests {
  static let now = Instant(seconds: 1_795_161_600)
  static let team = Lane(owner: 1_000, channel: ChannelName(rawValue: "team"))
  static func policies(_ concurrency: Int) -> LanePolicies {
    LanePolicies(usual: LanePolicy(concurrency: concurrency))
  }
  static let home = Lane(owner: 1_000, channel: ChannelName(rawValue: "home"))

  @Test func armsTheEarliestAndNothingElse() {
    var agenda = Agenda()
    #expect(
      agenda.handle(.horizon(Horizon(nextDue: Self.now + .hours(1))), now: Self.now) == [.armDue(Self.now + .hours(1))])
    // The same horizon again arms nothing anew.
    #expect(agenda.handle(.horizon(Horizon(nextDue: Self.now + .hours(1))), now: Self.now) == [])
    #expect(
      agenda.handle(.horizon(Horizon(nextDue: Self.now + .minutes(1))), now: Self.now) == [
        .armDue(Self.now + .minutes(1))
      ])
    #expect(agenda.handle(.horizon(Horizon()), now: Self.now) == [.armDue(nil)])
  }

  /// Two clients add at once; the loop hears of the second commit first.
  @Test func aHorizonThatComesLateHidesNoEarlierTime() {
    var agenda = Agenda()
    let soon = Self.now + .minutes(1)
    _ = agenda.handle(.horizon(Horizon(nextDue: soon, sequence: 2)), now: Self.now)
    #expect(agenda.handle(.horizon(Horizon(nextDue: Self.now + .hours(1), sequence: 1)), now: Self.now) == [])
    // The earlier time is armed still.
    #expect(
      agenda.handle(.awake, now: soon) == [
        .fire(limit: Agenda.batch, room: Agenda.Room(policies: LanePolicies()))
      ])
  }

  @Test func firesWhenTheTimeHasComeAndOnlyOnceAtATime() {
    var agenda = Agenda(policies: Self.policies(4))
    _ = agenda.handle(.horizon(Horizon(nextDue: Self.now)), now: Self.now - .seconds(1))
    let effects = agenda.handle(.awake, now: Self.now)
    #expect(effects == [.fire(limit: Agenda.batch, room: Agenda.Room(policies: Self.policies(4)))])
    #expect(agenda.handle(.awake, now: Self.now) == [])
    let next = Self.now + .minutes(5)
    #expect(agenda.handle(.fired(claimed: [], Horizon(nextDue: next)), now: Self.now) == [.armDue(next)])
  }

  @Test func goesOnFiringWhileMoreIsDue() {
    var agenda = Agenda()
    _ = agenda.handle(.horizon(Horizon(nextDue: Self.now)), now: Self.now)
    let effects = agenda.handle(.fired(claimed: [], Horizon(nextDue: Self.now)), now: Self.now)
    #expect(effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func aTimerThatFiresEarlyIsArmedAgain() {
    var agenda = Agenda()
    _ = agenda.handle(.horizon(Horizon(nextDue: Self.now)), now: Self.now - .hours(1))
    #expect(agenda.handle(.awake, now: Self.now - .seconds(1)) == [.armDue(Self.now)])
  }

  @Test func aFailingStoreIsAskedAgainAndNotBefore() {
    var agenda = Agenda()
    _ = agenda.handle(.horizon(Horizon(nextDue: Self.now)), now: Self.now)
    #expect(agenda.handle(.firingFailed, now: Self.now) == [.armDue(Self.now + Agenda.storeRetry)])
    #expect(agenda.handle(.awake, now: Self.now + .seconds(1)) == [.armDue(Self.now + Agenda.storeRetry)])
    let again = agenda.handle(.awake, now: Self.now + Agenda.storeRetry)
    #expect(again.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func aClockSetFarBackDoesNotSilenceAFailingStoreForYears() {
    var agenda = Agenda()
    _ = agenda.handle(.horizon(Horizon(nextDue: Instant(seconds: 100))), now: Self.now)
    _ = agenda.handle(.firingFailed, now: Self.now)
    let effects = agenda.handle(.awake, now: Instant(seconds: 1_000))
    #expect(effects.contains { if case .fire = $0 { true } else { false } })
  }

  @Test func oneLaneDelaysNoOther() {
    var agenda = Agenda(policies: Self.policies(1))
    _ = agenda.handle(.horizon(Horizon(outbox: [Self.team: Self.now])), now: Self.now)
    _ = agenda.handle(.claimed([Self.team], [Claims.claim(1, Self.team)], Horizon()), now: Self.now)
    // The team's endpoint hangs; home's is served.
    let both = Horizon(outbox: [Self.team: Self.now, Self.home: Self.now])
    #expect(agenda.handle(.horizon(both), now: Self.now) == [.claim(Self.home, limit: 1)])
  }

  @Test func retriesAreWaitedFor() {
    var agenda = Agenda()
    let later = Self.now + .minutes(5)
    #expect(agenda.handle(.horizon(Horizon(outbox: [Self.team: later])), now: Self.now) == [.armOutbox(later)])
    #expect(agenda.handle(.awake, now: later).contains(.claim(Self.team, limit: 8)))
  }

  @Test func firingClaimsNoMoreThanThereIsRoomFor() {
    var agenda = Agenda(policies: Self.policies(3))
    let claims = (1...2).map { Claims.claim($0, Self.team, until: Self.now + .minutes(1)) }
    _ = agenda.handle(.fired(claimed: claims, Horizon(nextDue: Self.now)), now: Self.now - .seconds(9))
    let effects = agenda.handle(.awake, now: Self.now)
    guard case .fire(_, let room)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(room.left(in: Self.team) == 1)
    #expect(room.left(in: Self.home) == 3)
  }
}
