import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

@Suite struct MailRulesTests {
  @Test(arguments: [
    "ann@example.org", "a.b+c@example.org", "!#$%&'*+-/=?^_`{|}~@x.cz", "ann@localhost", "a@xn--bcher-kva.example",
  ])
  func acceptsMailboxes(_ text: String) throws { #expect(try MailAddress(text).description == text) }

  @Test(arguments: [
    "", "ann", "@example.org", "ann@", "ann@@example.org", "a b@example.org", ".a@example.org", "a..b@example.org",
    "ann@example..org", "ann@-x.org", "ann@x-.org", "<ann@example.org>", "Ann <ann@example.org>",
    "ann@example.org\r\nRCPT",
    "\"a b\"@example.org", "ann@[127.0.0.1]", "jiří@example.org", "ann@bücher.example", "a\u{0}@x.org", "ann@x.org>",
  ])
  func refusesInvalidMailboxes(_ text: String) {
    #expect(throws: DeliveryError.self) { try MailAddress(text) }
  }

  @Test func parsesRecipients() throws {
    #expect(
      try MailAddress.recipients(of: "mailto:ann@x.org,b%2Bc@y.org").map(\.description) == ["ann@x.org", "b+c@y.org"])
    let many = (1...21).map { "a\($0)@x.org" }.joined(separator: ",")
    for bad in [
      "mailto:", "mailto:ann@x.org,", "mailto:ann@x.org?cc=b@x.org", "mailto:ann@x.org%0d%0aRCPT", "mailto:a@x.org%3Fb",
      "mailto:\(many)",
    ] {
      #expect(throws: DeliveryError.self, "\(bad)") { try MailAddress.recipients(of: bad) }
    }
  }

  @Test func localServersAreRecognized() throws {
    for url in ["smtp://localhost", "smtp://LOCALHOST:25/", "smtp://127.0.0.1:2525", "smtp://[::1]:25"] {
      #expect(try MailServer(url).isLocal, "\(url)")
    }
    for url in [
      "smtps://localhost", "smtp://127.0.0.2", "smtp://localhost.example.org", "smtp://mail.example.org:587",
      "smtp://[::2]", "smtp://localhost.",
    ] {
      #expect(try !MailServer(url).isLocal, "\(url)")
    }
    for url in [
      "", "mail.example.org", "https://mail.example.org", "smtp://", "smtp://a@mail.example.org", "smtp://x.org/path",
      "smtp://x.org?a", "smtp://x.org#a", "smtp://x.org:0", "smtp://x.org:99999", "smtp://x .org", "smtp://x.org\r\n",
      "smtp://x.org\\@y.org",
    ] {
      #expect(throws: DeliveryError.self, "\(url)") { try MailServer(url) }
    }
  }

  private func verdict(_ reply: Int?, _ stage: MailStage = .message, failure: String? = nil) -> WebhookVerdict {
    WebhookVerdict(
      HTTPResult(status: reply, stage: stage, failure: failure), channel: ChannelName(rawValue: "me"))
  }

  @Test func replyDecidesTheOutcome() {
    #expect(verdict(250).next == .settled && verdict(250).outcome == .delivered && verdict(250).error == nil)
    for reply in [421, 450, 451, 452, 454] {
      for stage in [MailStage.session, .message] {
        #expect(verdict(reply, stage, failure: "RCPT failed").next == .retryAfter(.minutes(1)))
      }
    }
    for reply in [500, 550, 551, 552, 553, 554, 555] {
      #expect(verdict(reply, failure: "RCPT failed").next == .giveUp)
      // Before the message, a reply concerns the server or the client.
      #expect(verdict(reply, .session).next == .retry)
    }
    for reply in [530, 534, 535, 538] {
      for stage in [MailStage.session, .message] {
        #expect(verdict(reply, stage).next == .retry)
        #expect(verdict(reply, stage).error?.contains("rejects the log-in (\(reply))") == true)
      }
    }
    #expect(verdict(nil, .session, failure: "no connection").next == .retry)
    #expect(verdict(nil, .message, failure: "timed out").error == "timed out")
  }

  @Test func permanentRefusalDoesNotDisableTheEndpoint() {
    let attempt = Attempt(number: 1, startedAt: scheduled, took: .zero, outcome: .failed, status: 550)
    #expect(DeliveryQueueOutcome(attempt, .giveUp) == .declined)
    var random = SystemRandom()
    #expect(RetryPolicy.state(after: .giveUp, attempts: 1, now: scheduled, using: &random) == .dead(at: scheduled))
    let endpoint = Endpoint(
      queue: DeliveryQueue(owner: 1, channel: ChannelName(rawValue: "me")), url: "mailto:a@x.org", createdAt: scheduled)
    #expect(endpoint.after(attempt, .giveUp, seenSince: nil, at: scheduled)?.disabled == nil)
  }

  @Test func settingsMustMatchTheAddress() throws {
    let mail = EndpointSettings(via: "smtps://x.org", from: "a@x.org")
    try EndpointRules.check(url: "mailto:ann@x.org", mail)
    func faulty(_ url: String, _ change: (inout EndpointSettings) -> Void, from base: EndpointSettings) -> String? {
      var settings = base
      change(&settings)
      do throws(EndpointRules.Fault) {
        try EndpointRules.check(url: url, settings)
        return nil
      } catch { return error.field }
    }
    let url = "MAILTO:ann@x.org"
    #expect(faulty(url, { $0.via = nil }, from: mail) == "via")
    #expect(faulty(url, { $0.from = nil }, from: mail) == "from")
    #expect(faulty(url, { $0.headers = [.init(name: "X-A", value: "b")] }, from: mail) == "headers")
    #expect(faulty(url, { $0.replies = "https://ntfy.sh/a" }, from: mail) == "replies")
    #expect(faulty(url, { $0.template = "ntfy" }, from: mail) == "template")
    #expect(faulty(url, { $0.template = "email" }, from: mail) == nil)
    let none = EndpointSettings()
    #expect(faulty("https://x.org", { _ in }, from: none) == nil)
    #expect(faulty("https://x.org", { $0.via = "smtps://x.org" }, from: none) == "via")
    #expect(faulty("https://x.org", { $0.user = "ann" }, from: none) == "user")
    #expect(faulty("https://x.org", { $0.template = "email" }, from: none) == "template")
  }

  @Test(arguments: [
    (#"{"subject": "a", "text": "b", "html": "c"}"#, nil),
    (#"{"subject": "a", "text": {"{{body}}": {"": "b", "*": "{{body}}"}}}"#, nil),
    (#"{"subject": "a"}"#, "needs a subject and a text"),
    (#"{"html": "a", "text": "b"}"#, "needs a subject and a text"),
    (#"{"subject": "a", "text": "b", "body": {}}"#, "no body"),
    (#"{"subject": "a", "text": "b", "headers": {"X-A": "b"}}"#, "no headers"),
    (#"{"subject": ["a"], "text": "b"}"#, "the template's subject must be a string"),
    (#"{"subject": "a", "text": "{{token}}"}"#, "may stand only in headers"),
  ])
  func emailTemplatesAreValidated(_ text: String, _ fault: String?) {
    do throws(DeliveryError) {
      let template = try Template(text)
      #expect(fault == nil && template.isMail)
    } catch { #expect(fault.map { error.description.contains($0) } == true, "\(error)") }
  }
}

extension SerialTests {
  /// Emails as Python's `email` package parses them.
  @Suite(.serialized) final class MailCompositionTests {
    let reader: Script

    init() throws { reader = try Script("/usr/bin/python3", [support("mail.py")]) }
    deinit { reader.end() }

    private func request(
      _ title: String, _ body: String? = nil, template: String? = nil, round: Int = 1,
      change: (inout Reminder) -> Void = { _ in }
    ) throws -> HTTPRequest {
      let sample = try message(title, body: body, channel: "me", round: round, change: change)
      let endpoint = Endpoint(
        queue: sample.delivery.queue, url: "mailto:ann@example.org,bob@example.org",
        settings: EndpointSettings(template: template, via: "smtps://mail.example.org", from: "chime@example.net"),
        createdAt: scheduled)
      return try MailRequest(
        access: EndpointAccess(endpoint: endpoint, secrets: []), id: sample.delivery.id.rawValue,
        occurrence: sample.occurrence.id, isRepeat: round > 1, date: sample.delivery.createdAt,
        values: { TemplateValues(sample) { _ in "08:30" } }
      ).make(password: nil)
    }

    private func understood(_ request: HTTPRequest) async throws -> [String: JSON] {
      try reader.write([.string(String(decoding: request.letter, as: UTF8.self))])
      let seen = try await reader.lines.next()
      #expect(seen["defects"] == .array([]) && seen["ascii"] == .bool(true) && seen["bare"] == 0, "\(seen)")
      #expect((seen["longest"]?.number ?? 999) <= 78, "\(seen)")
      return seen
    }

    private static let usual = [
      "date", "from", "to", "subject", "message-id", "references", "auto-submitted", "mime-version", "content-type",
    ]

    @Test func hostileTitleStaysText() async throws {
      let long = String(repeating: "Žluťoučký kůň ", count: 200)
      for title in ShippedTemplateTests.titles + [
        "a\r\nBcc: eve@example.org\r\n\r\nbody", "\u{0}\u{7}\u{1B}[31mred", "=?utf-8?q?=0D=0ABcc:_x?=", ".", "..",
        ".\n.",
        "From me", "--=_msg_r7k2_1--", "--=_msg_r7k2_1\r\nContent-Type: text/html", "=", "a=3D", "trailing \n\t\n ",
        long,
        String(repeating: "x", count: 2_000), String(repeating: "👩‍👩‍👧", count: 300), "\u{85}\u{2028}x",
      ] {
        let seen = try await understood(request(title, title))
        #expect(seen["names"]?.array == Self.usual.map { .string($0) }, "\(title.prefix(80).debugDescription)")
        #expect(seen["types"] == .array(["multipart/alternative", "text/plain", "text/html"]))
        #expect(seen["headers"]?["to"] == "ann@example.org, bob@example.org")
        let plain = PlainText.withoutControls(title, lines: true)
        #expect(seen["text"]?.string?.hasPrefix(plain + "\n") == true, "\(title.prefix(80).debugDescription)")
        let line = PlainText.withoutControls(title, lines: false).split(separator: " ").joined(separator: " ")
        let subject = seen["headers"]?["subject"]?.string ?? ""
        #expect(
          line.utf16.count > 150 ? line.hasPrefix(subject.dropLast()) : subject == line,
          "\(title.prefix(80).debugDescription)")
        let html = seen["html"]?.string ?? ""
        #expect(!html.contains("<b>x") && !html.contains("<script") && !html.contains("<!--"), "\(html)")
      }
    }

    @Test func retriesAreIdenticalAndRepeatsAreReplies() async throws {
      #expect(try request("Tea").letter == request("Tea").letter)
      let first = try await understood(request("Tea", "hot\n\nwith milk") { $0.url = "https://x.example/?a=1&b=\"2\"" })
      #expect(first["headers"]?["date"] == "Sun, 29 Mar 2026 00:30:00 +0000")
      #expect(first["headers"]?["message-id"] == "<msg_r7k2_1@example.net>")
      #expect(first["headers"]?["references"] == "<r7k2.1774744200@example.net>")
      #expect(first["text"] == "Tea\n\nhot\n\nwith milk\n\nhttps://x.example/?a=1&b=\"2\"\n")
      #expect(first["html"]?.string?.contains("<p>hot<br><br>with milk</p>") == true)
      #expect(first["html"]?.string?.contains("href=\"https://x.example/?a=1&amp;b=&quot;2&quot;\"") == true)
      let third = try await understood(request("Tea", round: 3))
      #expect(third["headers"]?["in-reply-to"] == first["headers"]?["references"])
      #expect(third["text"]?.string?.contains("3rd time, since 08:30") == true)
    }

    @Test func templateDefinesSubjectAndBody() async throws {
      let plain = try await understood(
        request("Tea & <i>", template: #"{"subject": "[chime] {{title}}", "text": "{{title|html}} {{title}}"}"#))
      #expect(plain["types"] == .array(["text/plain"]) && plain["headers"]?["subject"] == "[chime] Tea & <i>")
      #expect(plain["text"] == "Tea &amp; &lt;i&gt; Tea & <i>\n")
      // In HTML a placeholder's value is escaped exactly once, whether or not the template says so.
      let html = try await understood(
        request(
          "a<b>",
          template: ##"{"subject": "{{tags}}", "text": "x", "html": "<p>{{title}}|{{title|max:2|html}}</p>{{title}}"}"##
        ))
      #expect(html["headers"]?["subject"] == "Reminder")
      #expect(html["html"] == "<p>a&lt;b&gt;|a…</p>a&lt;b&gt;")
      let huge = #"{"subject": "a", "text": "b", "html": ""# + String(repeating: "{{body}}", count: 5_000) + "\"}"
      #expect(throws: DeliveryError.self) {
        try request("Tea", String(repeating: "&", count: 1_000), template: huge)
      }
    }

    @Test func quotedPrintableReadsBack() async throws {
      #expect(QuotedPrintable.encode("a=b\n") == "a=3Db\r\n\r\n")
      #expect(QuotedPrintable.encode("x ") == "x=20\r\n")
      for count in 70...80 {
        let text = String(repeating: "x", count: count)
        let seen = try await understood(request("Tea", text))
        #expect(seen["text"] == .string("Tea\n\n\(text)\n"))
      }
    }

    private func attempt(
      to server: String, configure: (inout EndpointConfiguration) -> Void
    ) async throws -> (attempt: Attempt?, next: ChannelReport.NextStep?) {
      var configuration = EndpointConfiguration(version: "1.2.3")
      configure(&configuration)
      let sample = try message(channel: "me")
      let endpoint = Endpoint(
        queue: sample.delivery.queue, url: "mailto:ann@example.org",
        settings: EndpointSettings(via: server, from: "chime@example.net"), createdAt: scheduled)
      let webhooks = WebhookChannel(configuration: configuration) { _ in
        EndpointAccess(endpoint: endpoint, secrets: [])
      }
      let report = try await MailChannel(beside: webhooks).deliver(sample)
      await webhooks.stop()
      return (report.attempt, report.next)
    }

    /// The address rules are those of webhooks, applied to the address that is dialed.
    @Test(arguments: ["smtp://127.0.0.1:9", "smtp://localhost:9", "smtps://[::1]:9", "smtps://127.0.0.2:9"])
    func forbiddenServerIsNotDialed(_ server: String) async throws {
      let ofTheSystem = try await attempt(to: server) { $0.network = NetworkPolicy(isPersonal: false) }
      #expect(ofTheSystem.attempt?.error?.contains("may not connect") == true, "\(ofTheSystem)")
      #expect(ofTheSystem.next == .retry && ofTheSystem.attempt?.status == nil)
    }

    /// To a proxy, localhost is another machine: TLS is required.
    @Test func proxiedServerNeedsTLS() async throws {
      let proxy = try Script("/usr/bin/python3", [support("plain-proxy.py")])
      defer { proxy.end() }
      let port = try #require(try await proxy.lines.next()["port"]?.number)
      let way = try await attempt(to: "smtp://localhost:2525") {
        $0.proxy = try? ProxyServer("http://127.0.0.1:\(port)", except: [])
      }
      #expect(try await proxy.lines.next() == ["asked": "CONNECT localhost:2525 HTTP/1.1"])
      let said = try await proxy.lines.next()
      #expect(said["said"]?.array == ["EHLO example.net"], "\(said)")
      #expect(way.attempt?.error?.contains("offers no STARTTLS") == true && way.next == .retry, "\(way)")
    }
  }
}
