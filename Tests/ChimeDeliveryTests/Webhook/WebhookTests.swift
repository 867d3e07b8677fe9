import ChimeCore
import ChimeSchedule
import Foundation
import Synchronization
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// The channel with a real HTTP receiver.
  @Suite(.serialized) final class WebhookTests {
    let receiver: Script
    let port: Int
    let clock = ManualTime()

    init() async throws {
      receiver = try Script("/usr/bin/python3", [support("receiver.py")])
      port = try #require(try await receiver.lines.next()["port"]?.number)
    }

    deinit { receiver.end() }

    /// Returns a channel in which every endpoint's name is its path, with `/` written as `.`.
    func channel(
      total: Milliseconds = .seconds(60), perEndpoint: Int = 8, url: String? = nil
    ) throws -> WebhookChannel {
      var configuration = EndpointConfiguration(version: "1.2.3")
      configuration.totalTimeout = total
      configuration.connectTimeout = .seconds(30)
      configuration.concurrentPerEndpoint = perEndpoint
      let (port, clock) = (port, clock)
      let secret = try Secret(SecretTests.text)
      return WebhookChannel(configuration: configuration, clock: { clock.now }) { queue in
        let path = queue.channel.rawValue.split(separator: ".").joined(separator: "/")
        let address = url ?? "http://127.0.0.1:\(port)/\(path)"
        if path == "unknown" { return nil }
        var endpoint = Endpoint(queue: queue, url: address, createdAt: scheduled)
        if path == "disabled" { endpoint.disabled = Endpoint.Disabled(reason: "it answered 410 Gone", at: scheduled) }
        return EndpointAccess(endpoint: endpoint, secrets: path == "keyless" ? [] : [SigningSecret(secret)])
      }
    }

    @Test func messageIsDeliveredAndSigned() async throws {
      let channel = try channel()
      let sample = try message(
        "Tè & <b>", body: "two\nlines", channel: "status.204", late: .suspend, lateBy: .minutes(3)
      ) {
        $0.tags = ["a", "b/c"]
        $0.url = "https://example.org/"
        $0.location = "Kitchen"
      }
      let report = try await channel.deliver(sample)
      #expect(report.next == .settled)
      let attempt = try #require(report.attempt)
      #expect(attempt.number == 1 && attempt.status == 204 && attempt.outcome == .delivered && attempt.error == nil)
      #expect(attempt.answer == nil)

      let request = try await receiver.lines.next()
      let headers = try #require(request["headers"])
      #expect(headers["content-type"]?.string == "application/json")
      #expect(headers["user-agent"]?.string == "Chime/1.2.3")
      #expect(headers["webhook-id"]?.string == "msg_r7k2_1")
      #expect(headers["webhook-timestamp"]?.string == "\(clock.now.seconds)")
      #expect(headers["cookie"] == nil && headers["expect"] == nil)
      #expect(
        request["body"]?.string == """
          {"data":{"body":"two\\nlines","channel":"status.204","firedAt":"2026-03-29T00:33:00Z","late":"suspend",\
          "latenessMs":180000,"occurrence":"r7k2@1774744200","reminder":"r7k2","repeat":0,"round":1,\
          "scheduledAt":"2026-03-29T00:30:00Z","tags":["a","b/c"],"tenant":null,"title":"Tè & <b>","tracker":null,\
          "urgency":"normal","location":"Kitchen","url":"https://example.org/"},"timestamp":"2026-03-29T00:33:00Z",\
          "type":"reminder.fired"}
          """)
      await channel.stop()
    }

    @Test func eventsAreDelivered() async throws {
      let channel = try channel()
      func delivered(_ event: DeliveryEvent) async throws -> String {
        var sample = try message("Tea", channel: "status.204")
        sample.delivery = Delivery(
          id: sample.delivery.id, occurrence: sample.occurrence.id, queue: sample.delivery.queue, round: 1,
          createdAt: scheduled + .minutes(5), event: event)
        #expect(try await channel.deliver(sample).next == .settled)
        return try #require(try await receiver.lines.next()["body"]?.string)
      }
      let snoozed = try await delivered(.init(.event(.snoozed), by: "desktop", until: scheduled + .minutes(15)))
      #expect(
        snoozed == """
          {"data":{"body":null,"by":"popup","channel":"status.204","firedAt":"2026-03-29T00:30:00Z","late":null,\
          "latenessMs":0,"message":null,"occurrence":"r7k2@1774744200","reason":null,"reminder":"r7k2","repeat":0,\
          "round":1,"scheduledAt":"2026-03-29T00:30:00Z","tags":[],"tenant":null,"title":"Tea","tracker":null,\
          "until":"2026-03-29T00:45:00Z","urgency":"normal","location":null,"url":null},"timestamp":"2026-03-29T00:35:00Z",\
          "type":"occurrence.snoozed"}
          """)
      let givenUp = try await delivered(
        .init(.event(.givenUp), message: DeliveryID(rawValue: "msg_1"), channel: ChannelName(rawValue: "phone")))
      #expect(givenUp.contains(#""message":{"channel":"phone","id":"msg_1"}"#))
      #expect(givenUp.hasSuffix(#""type":"message.givenUp"}"#))
      let news = TrackerNews(
        change: .removed,
        entry: .init(id: 7, at: scheduled, day: "2026-03-29", value: 250),
        unlocked: .init(.level, id: "2", pack: "drinks", title: "Drinks"))
      let logged = try await delivered(.init(.event(.logged), by: "endpoint:phone", news: news))
      #expect(
        logged == """
          {"data":{"by":"endpoint:phone","change":"removed","channel":"status.204","entry":{"at":"2026-03-29T00:30:00Z",\
          "day":"2026-03-29","id":7,"item":null,"value":250},"tenant":null,"title":"Tea",\
          "tracker":null,"unlocked":{"id":"2","kind":"level","pack":"drinks","title":"Drinks"}},\
          "timestamp":"2026-03-29T00:35:00Z","type":"tracker.logged"}
          """)
      await channel.stop()
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["CHIME_SKIP_PEERS"] != "1"))
    func publicLibrariesVerifyTheSignature() async throws {
      clock.set(Timestamp.now())
      let channel = try channel()
      #expect(try await channel.deliver(message("a title", channel: "status.204")).next == .settled)
      var request = try await receiver.lines.next()
      request["secret"] = .string(SecretTests.text)
      await channel.stop()

      let root = URL(fileURLWithPath: support("../../..")).standardized.path
      let python = ProcessInfo.processInfo.environment["CHIME_PYTHON"] ?? root + "/.venv/bin/python3"
      guard FileManager.default.isExecutableFile(atPath: python) else {
        Issue.record("no \(python): run make test, set CHIME_PYTHON, or set CHIME_SKIP_PEERS=1")
        return
      }
      let verified = try ChildProcess.run(
        python, [support("verify.py")], input: .bytes(try JSONEncoder().encode(request)), errors: .asOutput)
      #expect(verified.text == "ok\n")
    }

    @Test(arguments: [
      ("status.500", 500, ChannelReport.NextStep.retry), ("status.204", 204, .settled), ("redirect", 302, .retry),
      ("status.410", 410, .disable("endpoint \"status.410\" answered 410 Gone")), ("status.404", 404, .retry),
      ("retry.429.seconds", 429, .retryAfter(.seconds(120))), ("retry.503.seconds", 503, .retryAfter(.seconds(120))),
      ("retry.503.past", 503, .retry), ("retry.500.seconds", 500, .retry), ("status.429", 429, .retry),
    ])
    func statusDecidesTheOutcome(_ name: String, _ status: Int, _ next: ChannelReport.NextStep) async throws {
      let channel = try channel()
      let report = try await channel.deliver(message(channel: name))
      #expect(report.next == next)
      #expect(report.attempt?.status == status)
      #expect(
        try await receiver.lines.next()["path"]?.string == "/" + name.split(separator: ".").joined(separator: "/"))
      await channel.stop()
      #expect(receiver.lines.isEmpty)
    }

    @Test func dateInRetryAfterIsObeyed() async throws {
      let channel = try channel()
      guard case .retryAfter(let wait) = try await channel.deliver(message(channel: "retry.429.date")).next else {
        Issue.record("no retryAfter")
        return
      }
      #expect(wait >= .seconds(230) && wait <= .seconds(301))
      await channel.stop()
    }

    @Test func answerExcerptIsPrintable() async throws {
      let channel = try channel()
      let attempt = try #require(try await channel.deliver(message(channel: "status.500")).attempt)
      #expect(attempt.answer == "said  the réceiver\n")
      #expect(attempt.error == "answered 500")
      let big = try await channel.deliver(message(channel: "big"))
      #expect(big.next == .settled && big.attempt?.status == 200)
      #expect(big.attempt?.answer == String(repeating: "x", count: Attempt.answerLimit))
      await channel.stop()
    }

    @Test func slowResponseTimesOut() async throws {
      let channel = try channel(total: .milliseconds(400))
      for name in ["hang", "drip"] {
        let report = try await channel.deliver(message(channel: name))
        #expect(report.next == .retry && report.attempt?.outcome == .failed)
        #expect(report.attempt?.error?.contains("timed out") == true, "\(String(describing: report.attempt))")
        #expect((300...30_000).contains(report.attempt?.took.rawValue ?? 0))
      }
      await channel.stop()
    }

    @Test(arguments: ["reset", "nonsense"])
    func brokenReceiverIsAFailure(_ name: String) async throws {
      let channel = try channel()
      let report = try await channel.deliver(message(channel: name))
      #expect(report.next == .retry && report.attempt?.status == nil)
      #expect(report.attempt?.error?.isEmpty == false)
      await channel.stop()
    }

    @Test(arguments: [
      ("http://127.0.0.1:9/", "connect"), ("http://no-such-host.invalid/", "resolve"), ("ftp://127.0.0.1/", "rotocol"),
    ])
    func unreachableReceiverIsReported(_ url: String, _ word: String) async throws {
      let channel = try channel(url: url)
      let report = try await channel.deliver(message(channel: "status.204"))
      #expect(report.next == .retry && report.attempt?.status == nil)
      #expect(report.attempt?.error?.contains(word) == true, "\(String(describing: report.attempt?.error))")
      await channel.stop()
    }

    @Test func untrustedCertificateIsRefused() async throws {
      let tls = try Script("/usr/bin/python3", [support("receiver.py"), "--tls"])
      defer { tls.end() }
      let port = try #require(try await tls.lines.next()["port"]?.number, "install openssl")
      let channel = try channel(url: "https://localhost:\(port)/status/204")
      let report = try await channel.deliver(message(channel: "status.204"))
      #expect(report.next == .retry && report.attempt?.status == nil)
      #expect(report.attempt?.error?.contains("certificate") == true, "\(String(describing: report.attempt?.error))")
      await channel.stop()
      #expect(tls.lines.isEmpty)
    }

    @Test func missingEndpointOrSecretDelaysTheMessage() async throws {
      let channel = try channel()
      for (name, sentence) in [
        (
          "unknown",
          "there is no channel \"unknown\": add an endpoint with chime endpoint add unknown URL, or a command in "
            + "[commands.unknown] of the configuration"
        ),
        ("disabled", "endpoint \"disabled\" is disabled: it answered 410 Gone"),
        (
          "keyless",
          "endpoint \"keyless\" has no readable secret: give it one with chime endpoint rotate keyless --secret-file FILE"
        ),
      ] {
        let report = try await channel.deliver(message(channel: name))
        // Secrets are read again soon, since nothing reports when they become readable.
        #expect(report.next == .blocked(name == "keyless" ? .seconds(30) : .minutes(5)))
        #expect(report.attempt?.outcome == .refused)
        #expect(report.attempt?.error == sentence)
      }
      await channel.stop()
      #expect(receiver.lines.isEmpty)
    }

    @Test func retryHasTheSameIDAndANewTimestamp() async throws {
      let channel = try channel()
      var sample = try message(channel: "flaky")
      #expect(try await channel.deliver(sample).next == .retry)
      clock.set(clock.now + .seconds(5))
      sample.delivery.attempts = 1
      let report = try await channel.deliver(sample)
      #expect(report.next == .settled && report.attempt?.number == 2)
      let (first, second) = (try await receiver.lines.next(), try await receiver.lines.next())
      #expect(first["body"] == second["body"])
      #expect(first["headers"]?["webhook-id"] == second["headers"]?["webhook-id"])
      #expect(first["headers"]?["webhook-timestamp"] != second["headers"]?["webhook-timestamp"])
      #expect(first["headers"]?["webhook-signature"] != second["headers"]?["webhook-signature"])
      // The second attempt used the first one's connection.
      #expect(first["client"] == second["client"])
      await channel.stop()
    }

    /// A request that was built for the moment of its firing leaves as it is, unless it would differ by now.
    @Test func requestBuiltAheadIsSentUnlessItWouldDifferByNow() async throws {
      let builds = Events<Instant>()
      let secret = Mutex(try Secret(SecretTests.text))
      var configuration = EndpointConfiguration(version: "1.2.3")
      // A header of the endpoint has every build ask for the values of placeholders.
      configuration.timeOfDay = { time, _ in
        builds.append(time)
        return "08:30"
      }
      let (port, clock) = (port, clock)
      let channel = WebhookChannel(configuration: configuration, clock: { clock.now }) { queue in
        var endpoint = Endpoint(queue: queue, url: "http://127.0.0.1:\(port)/status/204", createdAt: scheduled)
        endpoint.settings.headers = [EndpointSettings.Header(name: "x-place", value: "kitchen")]
        return EndpointAccess(endpoint: endpoint, secrets: [SigningSecret(secret.withLock { $0 })])
      }
      func build(_ message: OutboundMessage) async throws {
        channel.rehearse(message, at: clock.now)
        _ = try await builds.next()
      }
      func sent(_ message: OutboundMessage, isBuiltAnew: Bool) async throws -> (headers: JSON, body: String) {
        #expect(try await channel.deliver(message).next == .settled)
        #expect(builds.isEmpty != isBuiltAnew)
        if isBuiltAnew { _ = try await builds.next() }
        let request = try await receiver.lines.next()
        return (try #require(request["headers"]), try #require(request["body"]?.string))
      }
      let sample = try message("Tea", channel: "team")
      try await build(sample)
      let ahead = try await sent(sample, isBuiltAnew: false)
      let again = try await sent(sample, isBuiltAnew: true)
      #expect(ahead == again)

      try await build(sample)
      clock.set(clock.now + .seconds(1))
      let later = try await sent(sample, isBuiltAnew: true)
      #expect(later.headers["webhook-timestamp"]?.string == "\(clock.now.seconds)")

      try await build(sample)
      let other = try Secret(Secret.make(.hmac))
      secret.withLock { $0 = other }
      let signed = try await sent(sample, isBuiltAnew: true)
      #expect(signed.headers["webhook-signature"] != later.headers["webhook-signature"])

      try await build(sample)
      var renamed = sample
      renamed.occurrence.title = "Coffee"
      #expect(try await sent(renamed, isBuiltAnew: true).body.contains("Coffee"))
      await channel.stop()
    }

    @Test func hangingEndpointDelaysNoOther() async throws {
      let channel = try channel(total: .seconds(600), perEndpoint: 2)
      let hung = try (1...5).map { channel.reports(of: try message(channel: "hang", round: $0)) }
      for _ in 1...2 { #expect(try await receiver.lines.next()["path"]?.string == "/hang") }
      let others = try (1...50).map { channel.reports(of: try message(channel: "status.204", round: $0)) }
      for other in others { #expect(try await other.next().next == .settled) }
      for _ in 1...50 { #expect(try await receiver.lines.next()["path"]?.string == "/status/204") }
      // Two of the five had started, three wait; the stop ends all, and none counts as failed.
      #expect(receiver.lines.isEmpty)
      await channel.stop()
      for one in hung {
        let report = try await one.next()
        #expect(report.next == .blocked(.seconds(1)) && report.attempt?.outcome == .refused)
      }
      #expect(try await channel.deliver(message(channel: "status.204")).next == .blocked(.seconds(1)))
      await channel.stop()
    }

    @Test func testSendsAMessage() async throws {
      let channel = try channel()
      let queue = DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "team"))
      let endpoint = Endpoint(queue: queue, url: "http://127.0.0.1:\(port)/status/200", createdAt: scheduled)
      let result = await channel.test(
        EndpointAccess(endpoint: endpoint, secrets: [SigningSecret(try Secret(SecretTests.text))]))
      let request = try await receiver.lines.next()
      #expect(result.isDelivered && result.attempt.status == 200 && result.url == endpoint.url)
      #expect(result.requestBody == request["body"]?.string)
      #expect(result.requestBody.contains(#""type":"chime.test""#))
      for line in result.requestHeaders {
        let parts = line.split(separator: ":", maxSplits: 1).map { String($0) }
        #expect(request["headers"]?[parts[0]]?.string == String(parts[1].dropFirst()))
      }
      #expect(result.requestHeaders.contains { $0.hasPrefix("webhook-signature: v1,") })
      await channel.stop()
    }
  }
}
