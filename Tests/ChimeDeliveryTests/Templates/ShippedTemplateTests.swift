import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// Each bundled template with a receiver that accepts only what the service's documentation allows.
  @Suite(.serialized) final class ShippedTemplateTests {
    let receiver: Script
    let port: Int
    static let token = "tk_AbCdEf0123456789"

    /// The path of each service at the receiver.
    static let addresses = [
      "ntfy": "/chime-topic", "gotify": "", "slack": "/services/T012/B345/abcDEF", "discord": "/api/webhooks/81/x-Y_z",
      "homeassistant": "/api/webhook/my-reminder",
      "healthchecks": "/00000000-1111-2222-3333-444444444444",
    ]

    /// Titles that would break naive string concatenation.
    static let titles = [
      "Stand up", "\"},\"text\":\"<!channel>\" & 'co' \\", "{{title}} {{token}} {{",
      "@everyone <@123> *b* _i_ `c` ~s~ |",
      "a\r\nX-Evil: 1\tb", "Žluťoučký kůň 👩‍👩‍👧 \u{202E}語", "<b>x</b><!-- y --><script>", "&amp; &lt;", "=?UTF-8?B?eA==?=",
    ]

    init() async throws {
      receiver = try Script("/usr/bin/python3", [support("receivers.py")])
      port = try #require(try await receiver.lines.next()["port"]?.number)
    }

    deinit { receiver.end() }

    func access(
      _ name: String, _ queue: DeliveryQueue, withToken: Bool = true, replies: String? = nil
    ) throws -> EndpointAccess {
      let address = try #require(Self.addresses[name])
      return EndpointAccess(
        endpoint: Endpoint(
          queue: queue, url: "http://127.0.0.1:\(port)/\(name)\(address)",
          settings: EndpointSettings(template: name, replies: replies),
          createdAt: scheduled),
        secrets: [SigningSecret(try Secret(SecretTests.text))],
        token: withToken ? try Token("\(Self.token)\ntk_GhIjKl0123456789") : nil)
    }

    /// Sends one message with a bundled template, and returns what the service received.
    func deliver(
      _ name: String, _ title: String, body: String? = nil, late: LateCause? = nil, withToken: Bool = true,
      replies: String? = nil, report: TrackerReport? = nil, event: DeliveryEvent? = nil, receipt: String? = nil,
      change: (inout Reminder) -> Void = { _ in }
    ) async throws -> JSON {
      let access = try access(
        name, DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: name)), withToken: withToken, replies: replies)
      let channel = WebhookChannel(configuration: EndpointConfiguration(version: "1.2.3")) { _ in access }
      var sample = try message(title, body: body, channel: name, late: late, lateBy: late == nil ? .zero : .hours(2)) {
        $0.tags = ["a", "b"]
        change(&$0)
      }
      if let report { sample.report = report }
      sample.receipt = receipt
      if let event {
        sample.delivery = Delivery(
          id: DeliveryID(rawValue: "msg_event"), occurrence: sample.occurrence.id, queue: sample.delivery.queue,
          round: 1,
          createdAt: scheduled, event: event)
      }
      let report = try await channel.deliver(sample)
      let seen = try await receiver.lines.next()
      #expect(report.next == .settled, "\(name), \(title.debugDescription): \(seen)")
      await channel.stop()
      return seen["understood"] ?? .null
    }

    /// Returns a title as a service with single-line titles shows it.
    func line(_ title: String) -> String {
      PlainText.withoutControls(title, lines: false).split(separator: " ").joined(separator: " ")
    }

    @Test func ntfyAcceptsTheTemplate() async throws {
      for title in Self.titles where title != "=?UTF-8?B?eA==?=" {
        let seen = try await deliver("ntfy", title, body: title) {
          ($0.urgency, $0.url) = (.critical, "https://x.example/")
        }
        #expect(seen["title"]?.string == line(title) && seen["message"]?.string == title)
        #expect(seen["topic"] == "chime-topic" && seen["priority"] == 5 && seen["click"] == "https://x.example/")
        #expect(seen["tags"]?.array == ["a", "b"])
      }
      let bare = try await deliver("ntfy", "Tea", late: .suspend, withToken: false)
      #expect(bare["title"] == .null && bare["message"] == "Tea\nwas due at 00:30, 2 h late")
      #expect(bare["priority"] == 3 && bare["click"] == .null)
      let long = try await deliver(
        "ntfy", String(repeating: "語\"", count: 1_000), body: String(repeating: "é", count: 8_000))
      #expect(long["message"]?.string?.utf8.count == 3_799 && (long["title"]?.string?.count ?? 0) == 250)
    }

    /// A message is withdrawn by the ID under which it was sent.
    @Test func ntfyMessageIsWithdrawn() async throws {
      let sent = try await deliver("ntfy", "Tea")
      let id = try #require(sent["sequence"]?.string)
      #expect(id == "msg_r7k2_1")
      let seen = try await deliver("ntfy", "Tea", event: .init(.withdrawal, message: DeliveryID(rawValue: id)))
      #expect(seen["cleared"]?.string == id)
    }

    /// Buttons with any text: three at most, each with a token that the endpoint accepts.
    @Test func ntfyMessageHasAnswerButtons() async throws {
      let address = "https://ntfy.sh/" + String(repeating: "a", count: 64)
      let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "ntfy"))
      let keys = try access("ntfy", queue).tokenKeys(at: scheduled)
      func buttons(_ report: TrackerReport?) async throws -> [(label: String, subject: ActionToken.Subject)] {
        let seen = try await deliver("ntfy", "Tea", replies: address, report: report)
        return try (seen["actions"]?.array ?? []).map { action in
          #expect(action["url"]?.string == address && action["method"] == "POST" && action["clear"] == "true")
          let token = try ActionToken(action["body"]?.string ?? "", keys: keys, at: scheduled)
          return (action["label"]?.string ?? "", token.subject)
        }
      }
      func actions(_ found: [(label: String, subject: ActionToken.Subject)]) -> [ActionToken.Action] {
        found.compactMap { if case .answer(let action, _, _, _) = $0.subject { action } else { nil } }
      }
      let plain = try await buttons(nil)
      #expect(plain.map(\.label) == ["Done", "Snooze 10 min", "Dismiss"])
      #expect(actions(plain) == [.done, .snooze(.minutes(10)), .dismiss])
      for title in Self.titles + ["a\"\u{301}; b=\\\u{301}, c"] {
        var report = TrackerReport()
        (report.button, report.log) = (title, .init(grains: 250_000_000, title: title))
        let found = try await buttons(report)
        #expect(actions(found) == [.done, .snooze(.minutes(10)), .log(grains: 250_000_000)], "\(title)")
        #expect(
          found.allSatisfy { $0.label.utf8.count <= 43 && !$0.label.utf8.contains(UInt8(ascii: "\"")) }, "\(found)")
        report = TrackerReport()
        report.items = [.init("speedmaster", title), .init("other", "Other")]
        #expect(actions(try await buttons(report)) == [.item("speedmaster"), .snooze(.minutes(10)), .dismiss])
      }
      // Without a reply stream there are no buttons.
      #expect(try await deliver("ntfy", "Tea")["actions"] == .null)
    }

    @Test func gotifyAcceptsTheTemplate() async throws {
      for title in Self.titles {
        let seen = try await deliver("gotify", title, body: title) {
          ($0.urgency, $0.url) = (.low, "https://x.example/")
        }
        #expect(seen["title"]?.string == title && seen["message"]?.string == title && seen["priority"] == 2)
        #expect(seen["extras"]?["client::notification"]?["click"]?["url"] == "https://x.example/")
      }
      let bare = try await deliver("gotify", "Tea")
      #expect(bare["title"] == nil && bare["message"] == "Tea" && bare["priority"] == 5)
      #expect(bare["extras"]?["client::notification"] == nil)
    }

    /// A message is withdrawn by the number that Gotify gave it, with a client's token.
    @Test func gotifyMessageIsDeleted() async throws {
      let withdrawal = DeliveryEvent(.withdrawal, message: DeliveryID(rawValue: "msg_r7k2_1"))
      let seen = try await deliver("gotify", "Tea", event: withdrawal, receipt: "25")
      #expect(seen["deleted"] == 25)
    }

    @Test func slackAcceptsTheTemplate() async throws {
      for title in Self.titles {
        let seen = try await deliver("slack", title, body: "a < b")
        #expect(seen["text"]?.string == "*\(PlainText.withoutControls(title, lines: false))*\na < b")
      }
      let long = try await deliver(
        "slack", String(repeating: "&", count: 2_000), body: String(repeating: "<&>", count: 5_000), late: .downtime
      ) { $0.url = "https://x.example/?" + String(repeating: "a&b", count: 670) }
      #expect(long["text"]?.string?.contains("…") == true)
    }

    @Test func discordAcceptsTheTemplate() async throws {
      for title in Self.titles {
        let seen = try await deliver("discord", title, body: "@here *x*")
        let expected = PlainText.withoutControls(title, lines: false)
        #expect(seen["title"]?.string == expected && seen["content"]?.string == "**\(expected)**\n@here *x*")
      }
      for filler in ["*", "👩‍👩‍👧", "語"] {
        let text = String(repeating: filler, count: 2_000)
        _ = try await deliver("discord", text, body: text, late: .downtime) { $0.url = "https://x.example/" + text }
      }
    }

    @Test func homeAssistantAcceptsTheTemplate() async throws {
      for title in Self.titles {
        let seen = try await deliver("homeassistant", title, late: .suspend)
        #expect(
          seen["title"]?.string == title && seen["message"]?.string == title && seen["tags"]?.array == ["a", "b"])
        #expect(seen["late"] == "suspend" && seen["round"] == 1 && seen["url"] == nil)
        #expect(seen["scheduledAt"] == "2026-03-29T00:30:00Z" && seen["occurrence"] == "r7k2@1774744200")
      }
    }

    @Test func healthchecksAcceptsTheTemplate() async throws {
      for title in Self.titles {
        let seen = try await deliver("healthchecks", title)
        #expect(seen["log"]?.string == "\(title)\ndue 2026-03-29T00:30:00Z, fired 2026-03-29T00:30:00Z")
      }
    }

    @Test func deliveryWaitsForTheToken() async throws {
      let name = "gotify"
      let access = try access(name, DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: name)), withToken: false)
      let channel = WebhookChannel(configuration: EndpointConfiguration(version: "1.2.3")) { _ in access }
      let report = try await channel.deliver(message(channel: name))
      #expect(report.next == .blocked(.seconds(30)))
      #expect(
        report.attempt?.error
          == "endpoint \"\(name)\" cannot be used: its token cannot be read; give it with --token-file")
      await channel.stop()
      #expect(receiver.lines.isEmpty)
    }

    @Test func testSendsTheTokenAndShowsNone() async throws {
      for name in Self.addresses.keys.sorted() {
        let channel = WebhookChannel(configuration: EndpointConfiguration(version: "1.2.3")) { _ in nil }
        let test = await channel.test(
          try access(name, DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: name))))
        let seen = try await receiver.lines.next()
        #expect(test.isDelivered && seen["method"]?.string == test.method, "\(name): \(seen)")
        #expect(!(test.requestHeaders.joined() + test.requestBody + test.url).contains(Self.token))
        #expect(test.requestHeaders.contains { $0.hasSuffix(Redaction.mark) })
        await channel.stop()
      }
    }
  }
}
