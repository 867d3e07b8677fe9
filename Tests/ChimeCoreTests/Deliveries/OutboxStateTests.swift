import ChimeCore
import ChimeSchedule
import Testing

/// The messages held by the loop, so that none is sent twice.
struct OutboxStateTests {
  static let now = Instant(seconds: 1_795_161_600)

  func claimed(
    _ id: String, round: Int = 1, of reminder: String = "r7k2", to channel: String = "team"
  ) -> ClaimedMessage {
    let occurrence = Occurrence(
      id: OccurrenceID(reminder: ReminderID(rawValue: reminder), scheduledAt: Self.now), title: "Tea", owner: 1_000,
      state: .fired, firedAt: Self.now, rounds: round)
    let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: channel))
    let delivery = Delivery(
      id: DeliveryID(rawValue: id), occurrence: occurrence.id, queue: queue, round: round, createdAt: Self.now)
    return ClaimedMessage(
      claim: Claim(id: delivery.id, queue: queue, until: Self.now + .minutes(1)),
      message: OutboundMessage(delivery: delivery, occurrence: occurrence, reminder: nil))
  }

  func outcome(_ claimed: ClaimedMessage) -> Outcome {
    Outcome(
      attempt: Attempt(number: 1, startedAt: Self.now, took: .zero, outcome: .failed), next: .retry,
      message: claimed.message)
  }

  /// A delivery after many failures shows that the receiver has recovered; after a few it shows nothing.
  @Test(arguments: [(1, false), (4, false), (5, true), (50, true)])
  func deliveryAfterManyFailuresShowsRecovery(_ failures: Int, _ isWell: Bool) {
    var outbox = OutboxState()
    let (team, other) = (claimed("msg_1"), claimed("msg_2", to: "other"))
    func ended(_ claimed: ClaimedMessage, _ how: Attempt.Outcome) -> Outcome {
      var outcome = outcome(claimed)
      outcome.attempt.outcome = how
      return outcome
    }
    for _ in 0..<failures {
      #expect(outbox.received([ended(team, .failed), ended(other, .delivered)], at: Self.now).isEmpty)
    }
    #expect(outbox.seenFailing == [team.claim.queue: Self.now])
    // A message that was never sent shows nothing either.
    #expect(outbox.received([ended(team, .refused)], at: Self.now + .seconds(1)).isEmpty)
    #expect(
      outbox.received([ended(team, .delivered)], at: Self.now + .seconds(1)) == (isWell ? [team.claim.queue] : []))
    #expect(outbox.seenFailing.isEmpty)
    #expect(outbox.received([ended(team, .delivered)], at: Self.now + .seconds(1)).isEmpty, "once")
  }

  /// A claim may expire before its attempt ends, when the clock is set forward or the machine sleeps.
  @Test func heldOrRunningMessageIsNotClaimedTwice() throws {
    var outbox = OutboxState()
    let (first, second) = (claimed("msg_1"), claimed("msg_2"))
    #expect(outbox.hold([first, second]) == [first.claim, second.claim])
    #expect(outbox.begin(first.claim.id) == first.message)
    #expect(outbox.hold([first, second]) == [])
    #expect(outbox.begin(first.claim.id) == nil)
    #expect(outbox.begin(second.claim.id) == second.message)
    // Once its outcome is recorded, or lost, it may be claimed again.
    outbox.ended([outcome(first)], asOf: 1)
    #expect(outbox.hold([first, second]) == [first.claim])
    outbox.forget(first.claim.id)
    #expect(outbox.hold([first]) == [first.claim])
  }

  /// Two concurrent transactions may be seen in another order than their commits: the daemon was suspended, the claim
  /// expired, and the next claim preceded the record of the outcome.
  @Test func messageClaimedBeforeItsOutcomeWasRecordedIsNotSentAgain() {
    var outbox = OutboxState()
    let (first, second) = (claimed("msg_1"), claimed("msg_2"))
    _ = outbox.hold([first, second], asOf: 1)
    _ = outbox.begin(first.claim.id)
    _ = outbox.begin(second.claim.id)
    outbox.ended([outcome(first)], asOf: 3)
    outbox.ended([outcome(second)], asOf: nil)
    #expect(outbox.hold([first, second], asOf: 2) == [second.claim])
    // A retry is claimed after the outcome was recorded.
    #expect(outbox.hold([first], asOf: 4) == [first.claim])
  }

  /// An answer is reported before an earlier firing, which calls off the former rounds of the same occurrence.
  @Test func calledOffMessageStaysSoWhateverIsReportedLater() {
    var outbox = OutboxState()
    let round = claimed("msg_2", round: 2)
    outbox.callOff([round.message.occurrence.id], asOf: 3)
    outbox.callOff([round.message.occurrence.id], asOf: 2)
    #expect(outbox.hold([round], asOf: 2) == [])
    #expect(outbox.hold([round], asOf: 4) == [round.claim])
  }

  @Test func laterRoundReplacesHeldEarlierOnes() {
    var outbox = OutboxState()
    let held = [
      claimed("msg_1"), claimed("msg_2", round: 2), claimed("msg_3", of: "r9"), claimed("msg_4", to: "other"),
    ]
    _ = outbox.hold(held)
    func superseded(_ by: ClaimedMessage...) -> Set<String> {
      Set(outbox.superseded(by: by.map(\.message.delivery)).map(\.rawValue))
    }
    #expect(superseded(claimed("msg_5", round: 3)) == ["msg_1", "msg_2"])
    #expect(superseded(claimed("msg_5", round: 2)) == ["msg_1"])
    #expect(superseded(claimed("msg_5", round: 2), claimed("msg_6", round: 2, to: "other")) == ["msg_1", "msg_4"])
    #expect(superseded(claimed("msg_5", round: 1)) == [])
  }
}
