import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDelivery

extension SerialTests {
  /// Misbehaving receivers, with the real channel.
  @Suite(.serialized) final class HostileReceiverTests {
    let receiver: Script
    let port: Int

    init() async throws {
      receiver = try Script("/usr/bin/python3", [support("hostile.py")])
      port = try #require(try await receiver.lines.next()["port"]?.number)
    }

    deinit { receiver.end() }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// The time limit ends the exchange, whatever the receiver does.
    @Test(arguments: ["hang-in-headers", "hang-in-body", "drip-headers", "switch"])
    func timeLimitEndsTheExchange(_ path: String) async throws {
      let (attempt, next) = try await attempted(url(path)) { $0.totalTimeout = .milliseconds(400) }
      #expect(next == .retry && attempt.outcome == .failed)
      #expect(attempt.error?.contains("timed out") == true, "\(attempt)")
      #expect((300...30_000).contains(attempt.took.rawValue))
    }

    @Test(arguments: [
      ("endless-headers", "longer than 64 KiB"), ("endless-header", "100 KB"),
      ("endless-interim", "longer than 64 KiB"),
      ("endless-trailers", "longer than 64 KiB"), ("old", "HTTP/0.9"), ("short", "closed"), ("bad-chunks", "hunk"),
      ("nul", "Nul byte"),
    ])
    func brokenResponseIsAFailure(_ path: String, _ word: String) async throws {
      let (attempt, next) = try await attempted(url(path))
      #expect(next == .retry && attempt.outcome == .failed, "\(attempt)")
      #expect(attempt.error?.contains(word) == true, "\(attempt)")
      #expect(attempt.took < .seconds(50))
    }

    @Test(arguments: ["some-interim", "endless-body", "endless-chunks", "long", "body-of-204", "bomb"])
    func oddButValidResponseIsASuccess(_ path: String) async throws {
      let (attempt, next) = try await attempted(url(path))
      #expect(next == .settled && attempt.outcome == .delivered && attempt.error == nil, "\(attempt)")
      #expect(attempt.answer?.utf8.count ?? 0 <= Attempt.answerLimit)
      #expect(attempt.took < .seconds(50))
    }

    /// An answer's framing is not stored but counts toward the limit; this answer would last until the timeout.
    @Test func framingCountsTowardTheSizeLimit() async throws {
      for _ in 1...2 {
        let (attempt, next) = try await attempted(url("endless-extension")) { $0.totalTimeout = .seconds(600) }
        #expect(next == .settled && attempt.outcome == .delivered && attempt.answer == nil, "\(attempt)")
        _ = try await receiver.lines.next()
        let sent = try #require(try await receiver.lines.next()["bytes"]?.number)
        // Including the kernel's buffers at both ends.
        #expect(Int64(sent) > HTTPLimits.wire / 2 && sent < 64 << 20, "\(sent)")
      }
    }

    /// Each exchange on a reused connection has its own limit.
    @Test func eachExchangeOnAConnectionHasItsOwnLimit() async throws {
      let channel = try webhooks(to: url("sixty-kilobytes"))
      var ports: Set<Int> = []
      for round in 1...200 {
        let reports = channel.reports(of: try message(channel: "team", round: round))
        #expect(try await reports.next().next == .settled)
        ports.insert(try #require(try await receiver.lines.next()["port"]?.number))
      }
      #expect(ports.count == 1, "all of them went over one connection, and none was cut off")
      await channel.stop()
    }

    /// Data left over from one exchange is not the answer to the next.
    @Test(arguments: ["long", "body-of-204"])
    func leftoverDataIsNoAnswerToTheNextExchange(_ path: String) async throws {
      let channel = try webhooks(to: url(path))
      for round in 1...3 {
        let reports = channel.reports(of: try message(channel: "team", round: round))
        #expect(try await reports.next().next == .settled)
      }
      await channel.stop()
    }

    /// The endpoint's own concurrency applies, not the channel's.
    @Test(arguments: [1, 3, 12])
    func endpointConcurrencyApplies(_ own: Int) async throws {
      let usual = try known("hang-in-headers")
      var slow = usual.endpoint
      slow.settings.concurrency = own
      let (endpoint, receiver) = (EndpointAccess(endpoint: slow, secrets: usual.secrets), receiver)
      var configuration = EndpointConfiguration(version: "1.2.3")
      configuration.totalTimeout = .seconds(600)
      let channel = WebhookChannel(configuration: configuration) { _ in endpoint }
      let reports = try (1...16).map { channel.reports(of: try message(channel: "team", round: $0)) }
      for _ in 1...own { _ = try await receiver.lines.next() }
      // A test message bypasses the queue, and arrives after all attempts that were admitted.
      #expect(await channel.test(try known("once")).isDelivered)
      #expect(try await receiver.lines.next()["path"] == "/once")
      await channel.stop()
      for report in reports { #expect(try await report.next().next == .blocked(.seconds(1))) }
      #expect(receiver.lines.isEmpty)
    }

    private func known(_ path: String) throws -> EndpointAccess {
      try access(to: url(path))
    }

    @Test func redirectIsNotFollowed() async throws {
      let (attempt, next) = try await attempted(url("loop"))
      #expect(next == .retry && attempt.status == 307)
      #expect(attempt.error?.contains("which Chime does not follow") == true)
      #expect(try await receiver.lines.next()["path"] == "/loop")
      #expect(receiver.lines.isEmpty)
    }

    @Test(arguments: [
      ("120", ChannelReport.NextStep.retryAfter(.seconds(120))), ("0", .retry), ("-5", .retry), ("soon", .retry),
      ("", .retry), ("99999999999999999999999", .retry),
      // One second more than a day, and the largest number; RetryPolicy allows a day at most.
      ("86401", .retryAfter(.seconds(86_401))), ("9223372036854775807", .retryAfter(.seconds(.max))),
      ("Thu,%2001%20Jan%201970%2000:00:00%20GMT", .retry),
    ])
    func retryAfterIsParsed(_ value: String, _ step: ChannelReport.NextStep) async throws {
      let (attempt, next) = try await attempted(url("retry/" + value))
      #expect(attempt.status == 429 && next == step)
      var generator = SystemRandom()
      guard
        case .waiting(let until) = RetryPolicy.state(after: next, attempts: 1, now: scheduled, using: &generator)
      else {
        Issue.record("\(next) is given up")
        return
      }
      #expect(until <= scheduled + .days(1))
    }

    /// Endless answers, sixty-four at once: memory use is bounded, and the memory is freed.
    @Test(.disabled(if: Sanitizer.inflatesMemory, "not under this sanitizer")) func endlessResponsesUseBoundedMemory()
      async throws
    {
      // Warm up first, so that what the first request loads is not counted.
      _ = try await attempted(url("endless-body"))
      let before = try residentBytes()
      for path in ["endless-body", "endless-headers", "endless-header", "endless-chunks", "endless-interim"] {
        let channel = try webhooks(to: url(path)) { $0.concurrentPerEndpoint = 64 }
        let reports = try (1...64).map { channel.reports(of: try message(channel: "team", round: $0)) }
        for report in reports { _ = try await report.next() }
        let grown = try residentBytes() - before
        #expect(grown < 48 << 20, "\(path): \(grown >> 10) KiB more")
        await channel.stop()
      }
    }

    @Test(arguments: [
      (#"json/%7B%22action%22:%22done%22%7D"#, Occurrence.Answer.done),
      (#"json/%7B%22action%22:%22snooze%22,%22for%22:%22PT1H%22%7D"#, .snooze(for: .hours(1))),
    ])
    func answerIsReportedAfterTheResult(_ path: String, _ answer: Occurrence.Answer) async throws {
      let channel = try webhooks(to: url(path))
      let reports = channel.reports(of: try message(channel: "team"))
      #expect(try await reports.next().next == .settled)
      #expect(try await reports.next() == .answered(answer))
      // A test message belongs to no occurrence: the answer to it is only displayed.
      let test = await channel.test(try access(to: url(path)))
      #expect(test.isDelivered && test.attempt.error == nil)
      await channel.stop()
      #expect(reports.isEmpty)
    }

    @Test func invalidAnswerIsRecorded() async throws {
      let channel = try webhooks(to: url("json/%7B%22action%22:%22explode%22%7D"))
      let reports = channel.reports(of: try message(channel: "team"))
      let ended = try await reports.next()
      #expect(ended.next == .settled && ended.attempt?.error?.contains("\"explode\" is not an action") == true)
      await channel.stop()
      #expect(reports.isEmpty)
    }

    /// A 204 has no body, whatever follows it.
    @Test func bodyOfA204IsIgnored() async throws {
      let channel = try webhooks(to: url("body-of-204"))
      let reports = channel.reports(of: try message(channel: "team"))
      #expect(try await reports.next().next == .settled)
      await channel.stop()
      #expect(reports.isEmpty)
    }

    @Test func testShowsConnectionDetails() async throws {
      let channel = try webhooks(to: url("cookie"))
      let first = try #require(await channel.test(try access(to: url("cookie"))).details)
      #expect(first.address == "127.0.0.1" && first.version == "HTTP/1.1" && !first.isReused)
      // A cookie may be a secret.
      #expect(first.headers == ["server: hostile", "content-length: 0"])
      let timing = first.timing
      #expect(timing.nameLookup <= timing.connect && timing.connect <= timing.firstByte)
      #expect(0 < timing.firstByte && timing.firstByte <= timing.total && timing.tls == 0)
      let second = try #require(await channel.test(try access(to: url("cookie"))).details)
      #expect(second.isReused && second.address == "127.0.0.1")
      // No cookie is sent back.
      for _ in 1...2 { #expect(try await receiver.lines.next()["headers"]?["cookie"] == nil) }
      let nobody = await channel.test(try access(to: "http://127.0.0.1:9/"))
      #expect(!nobody.isDelivered && nobody.details?.version == nil && nobody.details?.headers.isEmpty == true)
      await channel.stop()
    }
  }
}
