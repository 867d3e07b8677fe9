import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// Answers, retries and names.
struct RecordTests {
  static let now = Instant(seconds: 1_795_161_600)

  static func occurrence(_ state: Occurrence.State) -> Occurrence {
    Occurrence(
      id: OccurrenceID(reminder: ReminderID(rawValue: "r7k2"), scheduledAt: now), title: "Tea", owner: 0, state: state,
      firedAt: now)
  }

  @Test(arguments: [
    (Occurrence.State.fired, Occurrence.Answer.done, Occurrence.State.done as Occurrence.State?),
    (.delivered, .done, .done),
    (.snoozed(until: now), .done, .done),
    (.missed(.downtime), .done, .done),
    (.awaited(until: now), .done, .done),
    (.awaited(until: now), .dismiss, .dismissed),
    (.awaited(until: now), .snooze(for: .minutes(10)), nil),
    (.done, .done, .done),
    (.dismissed, .done, nil),
    (.fired, .dismiss, .dismissed),
    (.dismissed, .dismiss, .dismissed),
    (.done, .dismiss, nil),
    (.missed(.paused), .dismiss, nil),
    (.delivered, .snooze(for: .minutes(10)), .snoozed(until: now + .minutes(10))),
    (.snoozed(until: now), .snooze(for: .minutes(10)), .snoozed(until: now + .minutes(10))),
    (.done, .snooze(for: .minutes(10)), nil),
    (.fired, .snooze(for: .milliseconds(999)), nil),
    (.fired, .snooze(for: .days(367)), nil),
  ])
  func answersChangeTheState(state: Occurrence.State, answer: Occurrence.Answer, expected: Occurrence.State?) {
    let result = try? Self.occurrence(state).answered(answer, at: Self.now)
    #expect(result?.state == expected)
  }

  @Test func deliveryIsRecordedOnceAndReopensNothing() throws {
    let fired = Self.occurrence(.fired).delivered(at: Self.now + .seconds(1))
    #expect(fired.state == .delivered)
    #expect(fired.delivered(at: Self.now + .seconds(9)).deliveredAt == Self.now + .seconds(1))
    #expect(Self.occurrence(.done).delivered(at: Self.now).state == .done)
  }

  @Test func retriesFollowTheirDelaysAndEnd() {
    var generator = SeededGenerator(seed: 7)
    for (index, wait) in RetryPolicy.waits.enumerated() {
      let state = RetryPolicy.state(after: .retry, attempts: index + 1, now: Self.now, using: &generator)
      guard case .waiting(let until) = state else {
        Issue.record("\(state)")
        continue
      }
      #expect(until - Self.now >= wait)
      #expect((until - Self.now).rawValue <= wait.rawValue + wait.rawValue / 10)
    }
    let last = RetryPolicy.waits.count + 1
    #expect(RetryPolicy.state(after: .retry, attempts: last, now: Self.now, using: &generator) == .dead(at: Self.now))
  }

  @Test func unavailableChannelUsesUpNoAttempt() {
    func attempt(_ outcome: Attempt.Outcome) -> Attempt {
      Attempt(number: 0, startedAt: Self.now, took: .zero, outcome: outcome)
    }
    var generator = SeededGenerator(seed: 7)
    let delivery = Delivery(
      id: DeliveryID(rawValue: "msg_1"), occurrence: Self.occurrence(.fired).id,
      queue: DeliveryQueue(owner: 1, channel: .desktop), round: 1, createdAt: Self.now)
    let counted = RetryPolicy.counted([.refused, .refused, .failed].map(attempt), of: delivery)
    #expect(counted == 1)
    // The first failure that counts is retried at once.
    #expect(
      RetryPolicy.state(after: .retry, attempts: counted, now: Self.now, using: &generator) == .waiting(until: Self.now)
    )
  }

  @Test func requestedDelayIsObeyedWithinBounds() {
    var generator = SeededGenerator(seed: 7)
    func until(_ next: ChannelReport.NextStep) -> Delivery.State {
      RetryPolicy.state(after: next, attempts: 1, now: Self.now, using: &generator)
    }
    #expect(until(.retryAfter(.minutes(7))) == .waiting(until: Self.now + .minutes(7)))
    #expect(until(.retryAfter(.days(9_999))) == .waiting(until: Self.now + .days(1)))
    #expect(until(.blocked(.zero)) == .waiting(until: Self.now + .seconds(1)))
    #expect(until(.disable("gone")) == .dead(at: Self.now))
    #expect(until(.settled) == .delivered(at: Self.now))
  }

  @Test func idsAreTypableAndReadBack() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      let id = ReminderID(using: &generator)
      #expect(id.rawValue.count == 4)
      #expect(id.rawValue.first?.isLetter == true)
      #expect(!id.rawValue.contains { "il1o0u".contains($0) })
      let occurrence = OccurrenceID(reminder: id, scheduledAt: Self.now)
      #expect(OccurrenceID(occurrence.description) == occurrence)
    }
    #expect(ReminderID(length: 6, using: &generator).rawValue.count == 6)
    for text in ["", "r7k2", "r7k2@", "@5", "r7k2@-5", "r7k2@x", "r7k2@1@2", "r7k2@99999999999999999999"] {
      #expect(OccurrenceID(text) == nil)
    }
    let first = DeliveryID(at: Self.now, using: &generator)
    #expect(first.number.map { DeliveryID(number: $0) } == first)
    #expect(first.number.map { $0 >> 80 } == UInt128(Self.now.milliseconds))
    #expect(DeliveryID(number: .max).rawValue == "msg_7zzzzzzzzzzzzzzzzzzzzzzzzz")
    for other in ["", "msg_", "msg_8zzzzzzzzzzzzzzzzzzzzzzzzz", "msg_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", first.rawValue + "0"]
    {
      #expect(DeliveryID(rawValue: other).number == nil)
    }
    #expect(first != DeliveryID(at: Self.now, using: &generator))
    #expect(first.rawValue.count == 30)
    #expect(first.rawValue < DeliveryID(at: Self.now + .milliseconds(1), using: &generator).rawValue)
  }

  @Test(arguments: [
    ("team", true), ("ops.team_2-b", true), ("desktop", false), ("", false), ("-x", false), (".x", false),
    ("a/b", false), ("a b", false), ("ž", false),
  ])
  func endpointNamesAreValidated(name: String, valid: Bool) {
    #expect(ChannelName(rawValue: name).isValidForEndpoint == valid)
    #expect(!ChannelName(rawValue: String(repeating: "a", count: 65)).isValidForEndpoint)
  }
}
