import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// The events that endpoints are sent when an occurrence changes.
struct EndpointEventTests {
  static let now = Instant(seconds: 1_795_161_600)
  static let list = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "list"))
  static let phone = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "phone"))
  static let id = ReminderID(rawValue: "aaaa")

  /// A store in memory with a reminder that fires at `now`.
  final class Scenario {
    let store = MemoryStore()
    var context = ReminderContext(zones: UTCZoneSource())
    var random = SeededGenerator(seed: 1)
    var now = EndpointEventTests.now

    init(_ listeners: [EventSubscriptions.Subscriber]) { context.subscriptions = EventSubscriptions(listeners) }

    func write<Value: Sendable>(
      _ body:
        @escaping @Sendable (any StoreTransaction, ReminderContext, Instant, inout SeededGenerator) throws -> Value
    ) async throws -> Value {
      let (value, after) = try await store.write { [context, now, random] transaction in
        var random = random
        let value = try body(transaction, context, now, &random)
        return (value, random)
      }
      random = after
      return value
    }

    func add(channels: [DeliveryQueue] = [], tags: [String] = [], nag: Nag? = nil, suspend: CatchUpRule = .latest)
      async throws
    {
      try await write { transaction, _, now, _ in
        let reminder = Reminder(
          id: EndpointEventTests.id, owner: 1_000, title: "Tea", schedule: try Schedule(canonical: "weekdays at 08:30"),
          channels: [.desktop] + channels.map(\.channel), tags: tags, catchUp: CatchUp(suspend: suspend), nag: nag,
          createdAt: now - .days(1))
        try transaction.upsert(reminder, next: now)
      }
    }

    /// Fires due reminders.
    ///
    /// - Parameter begins: whether the claimed messages count as in flight; otherwise they are released.
    @discardableResult
    func fire(begins: Bool = false) async throws -> FireTransaction {
      try await write { transaction, context, now, random in
        let work = try FireTransaction.run(
          in: transaction, limit: 50, capacity: Scheduler.Capacity(policies: DeliveryQueuePolicies()), context: context,
          uptime: Uptime(runningSince: EndpointEventTests.now - .days(2)), now: now, using: &random)
        if !begins { try transaction.releaseClaims() }
        return work
      }
    }

    var occurrence: Occurrence {
      get async throws {
        let found = try await store.read {
          try $0.occurrences(OccurrenceFilter(reminder: EndpointEventTests.id), page: Page()).first
        }
        return try #require(found)
      }
    }

    func answer(_ answer: Occurrence.Answer, by way: String? = nil) async throws {
      let occurrence = try await occurrence
      try await write { transaction, context, now, random in
        let reminder = try transaction.reminder(occurrence.id.reminder)?.reminder
        _ = try AnswerTransaction.run(
          answer, to: occurrence, reminder: reminder, by: way, in: transaction, context, now: now, using: &random)
      }
    }

    /// Claims a queue's pending messages, and records their outcomes.
    @discardableResult
    func send(_ queue: DeliveryQueue, _ next: ChannelReport.NextStep = .settled) async throws -> [Delivery] {
      try await messages(queue, next).map(\.delivery)
    }

    /// Claims and records in the same way; returns the messages.
    @discardableResult
    func messages(_ queue: DeliveryQueue, _ next: ChannelReport.NextStep = .settled) async throws -> [OutboundMessage] {
      try await write { transaction, context, now, random in
        var work = OutboxTransaction()
        work.claims = [(queue, 10)]
        let claimed = try OutboxCommit.run(
          work, in: transaction, DeliveryQueuePolicies(), seenFailing: [:], context, now: now, using: &random
        ).claims.map(\.message)
        try Self.record(claimed, next, transaction, context, now, &random)
        return claimed
      }
    }

    static func record(
      _ claimed: [OutboundMessage], _ next: ChannelReport.NextStep, _ transaction: any StoreTransaction,
      _ context: ReminderContext, _ now: Instant, _ random: inout SeededGenerator
    ) throws {
      var work = OutboxTransaction()
      work.outcomes = claimed.map {
        Outcome(
          attempt: Attempt(
            number: 0, startedAt: now, took: .zero, outcome: next == .settled ? .delivered : .failed,
            receipt: "known as \($0.delivery.id)"), next: next, message: $0)
      }
      _ = try OutboxCommit.run(
        work, in: transaction, DeliveryQueuePolicies(), seenFailing: [:], context, now: now, using: &random)
    }

    /// Returns the events of a queue, sent or pending, oldest first: `fired` for a message that is no event.
    func events(_ queue: DeliveryQueue) async throws -> [String] {
      try await deliveries(queue).map { $0.event?.kind.name ?? "fired" }
    }

    func deliveries(_ queue: DeliveryQueue) async throws -> [Delivery] {
      try await store.read {
        try $0.deliveries(DeliveryFilter(channel: queue.channel), page: Page()).reversed()
      }
    }
  }

  private static func listener(
    _ queue: DeliveryQueue = list, _ events: [OccurrenceEvent] = OccurrenceEvent.allCases,
    reminders: ReminderChoice? = nil,
    canWithdraw: Bool = false
  ) -> EventSubscriptions.Subscriber {
    .init(queue: queue, events: Set(events), reminders: reminders, canWithdraw: canWithdraw)
  }

  @Test func listenerGetsEachAnswerOnce() async throws {
    let scenario = Scenario([Self.listener(reminders: .all)])
    try await scenario.add()
    try await scenario.fire()
    try await scenario.answer(.snooze(for: .minutes(10)), by: "desktop")
    scenario.now = scenario.now + .minutes(10)
    try await scenario.fire()
    try await scenario.answer(.done)
    // A repeated answer is announced once.
    try await scenario.answer(.done)
    #expect(try await scenario.events(Self.list) == ["fired", "snoozed", "fired", "done"])
    let events = try await scenario.deliveries(Self.list).compactMap(\.event)
    #expect(events.map(\.by) == ["desktop", "cli"])
    #expect(events.map(\.until) == [Self.now + .minutes(10), nil])
    #expect(try await scenario.deliveries(Self.list).map(\.round) == [1, 1, 2, 2])
    // The desktop gets its usual messages.
    #expect(try await scenario.events(DeliveryQueue(owner: 1_000, channel: .desktop)) == ["fired", "fired"])
  }

  @Test func listenersAreChosenByChannelAndTag() async throws {
    for (reminders, channels, tags, hears) in [
      (nil, [], [], false), (nil, [Self.list], [], true), (.tag("health"), [], ["health"], true),
      (.tag("health"), [], ["work"], false), (.tag("health"), [Self.list], [], true), (.all, [], [], true),
    ] as [(ReminderChoice?, [DeliveryQueue], [String], Bool)] {
      let scenario = Scenario([Self.listener(reminders: reminders)])
      try await scenario.add(channels: channels, tags: tags)
      try await scenario.fire()
      try await scenario.answer(.dismiss)
      #expect(
        try await scenario.events(Self.list) == (hears ? ["fired", "dismissed"] : []),
        "\(String(describing: reminders))")
    }
    // Another owner's endpoints get nothing.
    let scenario = Scenario([Self.listener(DeliveryQueue(owner: 2_000, channel: Self.list.channel), reminders: .all)])
    try await scenario.add()
    try await scenario.fire()
    #expect(try await scenario.events(Self.list) == [])
  }

  @Test func unlistedEventsAreNotSent() async throws {
    let scenario = Scenario([Self.listener(Self.list, [.repeated, .missed])])
    try await scenario.add(channels: [Self.list], nag: Nag(every: .minutes(5), max: 2))
    try await scenario.fire()
    #expect(try await scenario.events(Self.list) == [])
    scenario.now = scenario.now + .minutes(5)
    try await scenario.fire()
    #expect(try await scenario.deliveries(Self.list).map(\.round) == [2])
    try await scenario.answer(.done)
    #expect(try await scenario.events(Self.list) == ["fired"])
  }

  @Test func missedAndRemovedRemindersAreAnnounced() async throws {
    let scenario = Scenario([Self.listener(reminders: .all)])
    try await scenario.add(suspend: .skip)
    scenario.now = scenario.now + .minutes(10)
    try await scenario.fire()
    #expect(try await scenario.events(Self.list) == ["missed"])
    #expect(try await scenario.deliveries(Self.list).first?.event?.reason == .suspend)

    let other = Scenario([Self.listener(Self.phone, reminders: .all, canWithdraw: true)])
    try await other.add()
    try await other.fire()
    try await other.send(Self.phone)
    try await other.write { transaction, context, now, random in
      let reminder = try #require(try transaction.reminder(Self.id)?.reminder)
      try Announcing.removal(of: reminder, in: transaction, context, now: now, using: &random)
      try transaction.remove(Self.id, now: now)
    }
    #expect(try await other.events(Self.phone) == ["fired", "withdrawal", "dismissed"])
    #expect(try await other.deliveries(Self.phone).map(\.isPending) == [false, true, true])
  }

  /// An undone answer and a restored snooze are announced.
  @Test func undoneAnswerIsAnnounced() async throws {
    let scenario = Scenario([Self.listener(reminders: .all)])
    try await scenario.add()
    try await scenario.fire()
    let before = try await scenario.occurrence
    try await scenario.answer(.done)
    let after = try await scenario.occurrence
    try await scenario.write { transaction, context, now, random in
      let reminder = try transaction.reminder(Self.id)?.reminder
      try Announcing.change(
        after, to: before, of: reminder, by: "undo", in: transaction, context, now: now, using: &random)
      try transaction.update(before, now: now)
    }
    #expect(try await scenario.events(Self.list) == ["fired", "done", "reopened"])
  }

  @Test func sentMessageIsWithdrawnOnce() async throws {
    let scenario = Scenario([Self.listener(Self.phone, [.fired, .repeated], canWithdraw: true)])
    try await scenario.add(channels: [Self.phone])
    try await scenario.fire()
    let sent = try await scenario.send(Self.phone)
    try await scenario.answer(.snooze(for: .minutes(10)))
    // A snoozed message is on no screen any more.
    try await scenario.answer(.done)
    #expect(try await scenario.events(Self.phone) == ["fired", "withdrawal"])
    let withdrawal = try #require(try await scenario.deliveries(Self.phone).last)
    #expect(withdrawal.event?.message == sent[0].id && withdrawal.isPending)
    // With the receipt of the withdrawn message.
    let taken = try await scenario.messages(Self.phone)
    #expect(taken.map(\.receipt) == ["known as \(sent[0].id)"])
    #expect(try await scenario.deliveries(Self.phone).allSatisfy { !$0.isPending })
    #expect(try await scenario.occurrence.deliveredAt == Self.now)
  }

  @Test func unsentMessageIsNotWithdrawn() async throws {
    let scenario = Scenario([Self.listener(Self.phone, [.fired, .repeated], canWithdraw: true)])
    try await scenario.add(channels: [Self.phone])
    try await scenario.fire()
    try await scenario.answer(.done)
    #expect(try await scenario.events(Self.phone) == ["fired"])
    #expect(try await scenario.deliveries(Self.phone).allSatisfy { !$0.isPending })
  }

  /// A message in flight when its occurrence was answered is delivered all the same.
  @Test(arguments: [true, false]) func messageThatArrivesAfterTheAnswerIsWithdrawn(_ isHeard: Bool) async throws {
    let scenario = Scenario([Self.listener(Self.phone, [.fired, .repeated], canWithdraw: true)])
    try await scenario.add(channels: [Self.phone])
    let claimed = try await scenario.fire(begins: true).claims.map(\.message).filter { $0.delivery.queue == Self.phone }
    #expect(claimed.count == 1)
    try await scenario.answer(.done)
    // The withdrawal is pending even if the daemon dies here; it waits for the outcome of the message.
    #expect(try await scenario.events(Self.phone) == ["fired", "withdrawal"])
    #expect(try await scenario.send(Self.phone).isEmpty)
    func arrive() async throws {
      try await scenario.write { transaction, context, now, random in
        try Scenario.record(claimed, .settled, transaction, context, now, &random)
      }
    }
    if isHeard {
      try await arrive()
      #expect(try await scenario.send(Self.phone).map(\.event?.isWithdrawal) == [true])
      #expect(try await scenario.events(Self.phone) == ["fired", "withdrawal"], "once")
      return
    }
    // Without an outcome for long, the withdrawal is sent, and once more when the message arrives after all.
    scenario.now = scenario.now + .seconds(20)
    #expect(try await scenario.send(Self.phone).map(\.event?.isWithdrawal) == [true])
    try await arrive()
    #expect(try await scenario.events(Self.phone) == ["fired", "withdrawal", "withdrawal"])
    #expect(try await scenario.deliveries(Self.phone).map(\.isPending) == [false, false, true])
  }

  @Test func repeatWithdrawsTheEarlierMessage() async throws {
    let scenario = Scenario([Self.listener(Self.phone, [.fired, .repeated], canWithdraw: true)])
    try await scenario.add(channels: [Self.phone], nag: Nag(every: .minutes(5), max: 2))
    try await scenario.fire()
    let first = try await scenario.send(Self.phone)
    scenario.now = scenario.now + .minutes(5)
    try await scenario.fire()
    #expect(try await scenario.events(Self.phone) == ["fired", "fired", "withdrawal"])
    #expect(try await scenario.deliveries(Self.phone).last?.event?.message == first[0].id)
    let second = try await scenario.send(Self.phone).first { $0.event == nil }
    try await scenario.answer(.done)
    #expect(try await scenario.deliveries(Self.phone).last?.event?.message == second?.id)
  }

  @Test func givenUpMessageIsAnnouncedToOthers() async throws {
    let scenario = Scenario([Self.listener(reminders: .all), Self.listener(Self.phone, reminders: .all)])
    try await scenario.add(channels: [Self.phone])
    try await scenario.fire()
    try await scenario.send(Self.phone, .disable("it answered 410 Gone"))
    #expect(try await scenario.events(Self.list) == ["fired", "givenUp"])
    #expect(try await scenario.events(Self.phone) == ["fired"])
    let event = try #require(try await scenario.deliveries(Self.list).last?.event)
    let lost = try await scenario.deliveries(Self.phone)[0].id
    #expect(event.channel == Self.phone.channel && event.message == lost)
    // A failed event about a failed message causes no further events.
    try await scenario.send(Self.list, .disable("it answered 410 Gone"))
    #expect(try await scenario.events(Self.phone).filter { $0 == "givenUp" }.count <= 1)
  }

  /// Each message states what is shown after its arrival, even if its event is outdated by then.
  @Test func messagesStateWhatIsShownAfterTheirArrival() async throws {
    let scenario = Scenario([
      EventSubscriptions.Subscriber(queue: Self.phone, canWithdraw: true, keepsState: true),
      Self.listener(reminders: .all),
    ])
    try await scenario.add(channels: [Self.phone])
    try await scenario.fire()
    let told = try #require(try await scenario.messages(Self.phone).first)
    #expect(told.shown?.map(\.delivery.id) == [told.delivery.id])
    #expect(told.shown?.first?.reminder?.id == told.reminder?.id && told.shown?.first?.shown == nil)
    #expect(try await scenario.messages(Self.list).first?.shown == nil)
    try await scenario.answer(.done)
    let withdrawal = try #require(try await scenario.messages(Self.phone).first)
    #expect(withdrawal.delivery.event?.isWithdrawal == true && withdrawal.shown == [])
  }

  @Test func eventTextReadsBack() {
    let full = DeliveryEvent(
      .event(.givenUp), by: "endpoint:a", until: Self.now, reason: .overCap, message: DeliveryID(rawValue: "msg_1"),
      channel: ChannelName(rawValue: "b"))
    for event in [full, DeliveryEvent(.withdrawal), DeliveryEvent(.event(.done), by: "cli")] {
      #expect(DeliveryEvent(text: event.text) == event)
    }
    for text in ["", "done", "finished\t\t\t\t\t", "done\t\t\t\t\t\t"] { #expect(DeliveryEvent(text: text) == nil) }
    for text in ["", "tag:", "tags", "All"] { #expect(ReminderChoice(text) == nil) }
    #expect(ReminderChoice("tag:a b")?.description == "tag:a b")
  }
}

private struct UTCZoneSource: ZoneSource {
  var local: Zone { .utc }
  func zone(_ name: String) -> Zone? { nil }
}
