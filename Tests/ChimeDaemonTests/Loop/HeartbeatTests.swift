import ChimeCore
import ChimeDelivery
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// When the heartbeat is sent, and its configuration.
@Suite struct HeartbeatTests {
  private static let start = Instant(seconds: 1_774_600_000)

  @Test func heartbeatIsSentWhileTheDaemonIsHealthy() {
    var heartbeat = Heartbeat()
    #expect(heartbeat.step(.init(), at: Self.start) == .beat)
    #expect(heartbeat.step(.init(nextDue: Self.start + .hours(1)), at: Self.start) == .beat)
    heartbeat.taken(.beat, at: Self.start)
    #expect(heartbeat.acceptedAt == Self.start && heartbeat.sentence == nil)
  }

  /// The failure is reported once until it has been accepted, and again when it recurs.
  @Test func refusingStoreStopsTheHeartbeat() {
    var heartbeat = Heartbeat()
    let full = Heartbeat.Signs(storeProblem: "the disk is full")
    #expect(heartbeat.step(full, at: Self.start) == .fail("the disk is full"))
    heartbeat.refused("answered 500")
    #expect(heartbeat.sentence == "the heartbeat cannot be sent: the disk is full")
    #expect(heartbeat.step(full, at: Self.start + .minutes(1)) == .fail("the disk is full"))
    heartbeat.taken(.fail("the disk is full"), at: Self.start + .minutes(1))
    #expect(heartbeat.acceptedAt == nil, "that is no heartbeat")
    #expect(heartbeat.step(full, at: Self.start + .minutes(2)) == .nothing)
    #expect(heartbeat.step(.init(), at: Self.start + .minutes(3)) == .beat)
    #expect(heartbeat.sentence == nil)
    #expect(heartbeat.step(full, at: Self.start + .minutes(4)) == .fail("the disk is full"))
  }

  @Test func missingTimerStopsTheHeartbeat() {
    var heartbeat = Heartbeat()
    let signs = Heartbeat.Signs(nextDue: Self.start + .hours(1), isAwaited: false)
    #expect(heartbeat.step(signs, at: Self.start) == .fail("no timer is set for the next due time"))
  }

  /// After a long sleep, due times are hours old and then fire; only a time that stays due for a minute is a fault.
  @Test func overdueTimeStopsTheHeartbeat() {
    var heartbeat = Heartbeat()
    let old = Heartbeat.Signs(nextDue: Self.start - .hours(8))
    #expect(heartbeat.step(old, at: Self.start) == .beat)
    #expect(heartbeat.step(old, at: Self.start + .seconds(59)) == .beat)
    #expect(heartbeat.step(old, at: Self.start + .seconds(60)) == .fail("due reminders do not fire"))
    // Another time is due, so something has fired.
    let next = Heartbeat.Signs(nextDue: Self.start - .hours(7))
    #expect(heartbeat.step(next, at: Self.start + .seconds(61)) == .beat)
    #expect(heartbeat.step(next, at: Self.start + .seconds(120)) == .beat)
    #expect(heartbeat.step(next, at: Self.start + .seconds(121)) == .fail("due reminders do not fire"))
    // The clock was set back: the minute starts anew.
    #expect(heartbeat.step(next, at: Self.start - .hours(6)) == .beat)
  }

  @Test func refusingReceiverIsReported() {
    var heartbeat = Heartbeat()
    #expect(heartbeat.step(.init(), at: Self.start) == .beat)
    heartbeat.refused("answered 404")
    #expect(heartbeat.sentence == "the receiver does not accept the heartbeat: answered 404")
    #expect(heartbeat.step(.init(), at: Self.start + .minutes(1)) == .beat)
    heartbeat.taken(.beat, at: Self.start + .minutes(1))
    #expect(heartbeat.sentence == nil)
  }

  @Test func configurationIsRead() throws {
    let loaded = try ConfigurationTests.apply(
      """
      [heartbeat]
      url = "https://hc-ping.com/5f0c"
      failUrl = "https://hc-ping.com/5f0c/fail"
      every = "30s"
      timeout = "5s"
      method = "GET"
      secretFile = "heartbeat"
      """)
    try ConfigurationFiles.checkWhole(loaded)
    #expect(loaded.configuration.heartbeat.every == .seconds(30) && loaded.configuration.heartbeat.method == .get)
    #expect(try ConfigurationTests.apply(loaded.text).configuration == loaded.configuration)
  }

  @Test(arguments: [
    ("url = \"hc-ping.com/5f0c\"", "heartbeat.url: the address must begin with https:// or http://"),
    ("url = \"https://ann:hunter2@hc-ping.com/\"", "heartbeat.url: the address contains a user name or password"),
    (
      "url = \"https://hc-ping.com/5f0c\"\nfailUrl = \"ftp://hc-ping.com/\"",
      "heartbeat.failUrl: the address must begin with https:// or http://"
    ),
    ("failUrl = \"https://hc-ping.com/5f0c/fail\"", "heartbeat.failUrl needs heartbeat.url"),
    ("every = \"0s\"", "heartbeat.every must be a duration from 1s to 1d"),
    ("method = \"HEAD\"", "heartbeat.method must be one of \"POST\", \"GET\""),
    ("secretFile = \"../secret\"", "heartbeat.secretFile must be the absolute path of a file"),
  ])
  func invalidSettingsAreRefused(_ lines: String, _ reason: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try ConfigurationFiles.checkWhole(try ConfigurationTests.apply("[heartbeat]\n" + lines))
    }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    #expect(error?.description.contains("hunter2") != true)
  }
}
