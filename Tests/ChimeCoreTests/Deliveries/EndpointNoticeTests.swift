import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

/// The notice to the owner of a disabled endpoint.
struct EndpointNoticeTests {
  static let now = Instant(seconds: 1_795_161_600)
  static let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))

  static func endpoint(_ reason: String) -> Endpoint {
    Endpoint(queue: queue, url: "http://h/", createdAt: now, disabled: .init(reason: reason, at: now))
  }

  @Test(arguments: [
    ("it has failed for 5 days", #"Webhook "team" is off: it has failed for 5 days"#),
    (#"endpoint "team" answered 410 Gone"#, #"Webhook "team" is off: it answered 410 Gone"#),
  ])
  func titleNamesTheReason(reason: String, title: String) {
    #expect(EndpointNotice.title(Self.endpoint(reason)) == title)
  }

  @Test(arguments: [
    (0, "No message waits for it."), (1, "1 message waits for it."), (12, "12 messages wait for it."),
    (1_000, "1000 messages or more wait for it."),
  ])
  func bodyNamesPendingMessagesAndTheRemedy(waiting: Int, beginning: String) {
    let body = EndpointNotice.body(Self.endpoint("x"), waiting: waiting)
    #expect(body == beginning + " When it works again: chime endpoint enable team")
  }

  /// It is recorded as a fired reminder, pending for the owner's desktop, and not due again.
  @Test func noticeIsRecordedAndPendingForTheDesktop() async throws {
    let store = MemoryStore()
    let notice = try await store.write { transaction in
      var generator = SeededGenerator(seed: 1)
      return try EndpointNotice.record(
        Self.endpoint("it has failed for 5 days"), in: transaction,
        ReminderContext(zones: UTCOnly()), now: Self.now, using: &generator)
    }
    try await store.read { transaction in
      let record = try #require(try transaction.reminder(notice.id.reminder))
      #expect(record.reminder.owner == 1_000)
      #expect(record.reminder.tags == ["chime"])
      #expect(record.next == nil)
      #expect(record.last == notice)
      #expect(notice.state == .done && record.open == 0, "no answer is requested")
      let deliveries = try transaction.deliveries(DeliveryFilter(), page: Page())
      #expect(deliveries.map(\.queue) == [DeliveryQueue(owner: 1_000, channel: .desktop)])
      #expect(
        try transaction.wakeups() == NextWakeups(outbox: [DeliveryQueue(owner: 1_000, channel: .desktop): Self.now]))
    }
  }
}

/// A zone source with UTC only.
private struct UTCOnly: ZoneSource {
  var local: Zone { .utc }
  func zone(_ name: String) -> Zone? { nil }
}
