import Foundation
import Testing

/// Receivers that answer an occurrence in their response: a two-way webhook without an open port.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct AnswerTests {
  @Test(.enabled(if: Machine.hasMockBus, "needs dbus-daemon and busctl"), .timeLimit(.minutes(1)))
  func doneFromAReceiverClosesThePopup() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      let receiver = try await Receiver.start(in: home, saying: [#"{"action":"done"}"#], isHeld: true)
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      let id = try await home.add("Water", "in 1s", to: ["desktop", "team"])
      _ = try await desktop.popup(titled: "Water")
      try await eventually("the receiver has it") { receiver.requests.count == 1 }
      #expect(try await home.latestOccurrence(of: id)["state"].string != "done")
      home.releaseReceiver()
      try await eventually("the occurrence is done") {
        try await home.latestOccurrence(of: id)["state"].string == "done"
      }
      try await eventually("the popup is gone") { desktop.written.contains("CloseNotification") }
      let sent = try await home.answer(
        "io.chime.Deliveries.List", ["filter": ["reminder": .string(id), "channel": "team"]])["deliveries"][0]
      #expect(sent["state"].string == "delivered" && sent["attempts"].int == 1)
    }
  }

  /// A receiver snoozes first and answers *done* second: two rounds, each with a delivery of its own. A snooze lasts a
  /// minute at least, which the test cuts short.
  @Test(.timeLimit(.minutes(1)))
  func receiverSnoozesAndThenAnswersDone() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(
        in: home, saying: [#"{"action":"snooze","for":"PT1M"}"#, #"{"action":"done"}"#])
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      let id = try await home.add("Tea", "in 1s", to: ["team"])
      try await eventually("the occurrence is snoozed") {
        try await home.latestOccurrence(of: id)["state"].string == "snoozed"
      }
      try await home.mustRun("snooze", id, "until", "tomorrow", "at", "9")
      #expect(try await home.latestOccurrence(of: id)["snoozedUntil"]["at"].string?.contains("T09:00:00") == true)
      try await home.mustRun("snooze", id, "1s")
      try await eventually("the occurrence is done") {
        try await home.latestOccurrence(of: id)["state"].string == "done"
      }
      let requests = receiver.requests
      #expect(requests.map { $0.body["data"]["round"].int } == [1, 2])
      #expect(Set(requests.map(\.id)).count == 2)
    }
  }

  /// An answer does not reopen an occurrence that was closed meanwhile, and does not affect other occurrences.
  @Test(.timeLimit(.minutes(1)))
  func answerToAClosedOccurrenceChangesNothing() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, saying: [#"{"action":"snooze","for":"1h"}"#], isHeld: true)
      let daemon = try await home.start()
      try await home.addEndpoint("team", receiver)
      let other = try await home.add("Other", "in 1s")
      let id = try await home.add("Closed", "in 1s", to: ["team"])
      try await eventually("the receiver has it") { receiver.requests.count == 1 }
      let occurrence = try await home.latestOccurrence(of: id)
      try await home.mustRun("dismiss", occurrence["id"].string ?? "")
      home.releaseReceiver()
      try await eventually("the attempt is recorded") {
        try await home.answer("io.chime.Deliveries.List", ["filter": ["reminder": .string(id)]])["deliveries"][0][
          "attempts"
        ].int == 1
      }
      // Writes are ordered: when this one is done, the answer has been processed.
      _ = try await home.add("Later", "in 1h")
      #expect(try await home.latestOccurrence(of: id)["state"].string == "dismissed")
      #expect(["fired", "delivered"].contains(try await home.latestOccurrence(of: other)["state"].string ?? ""))
      #expect(!daemon.process.errors.contains("could not be recorded"))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func invalidAnswerIsRecordedWithItsDelivery() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, saying: [#"{"action":"explode"}"#])
      _ = try await home.start()
      try await home.addEndpoint("team", receiver)
      let id = try await home.add("Tea", "in 1s", to: ["team"])
      let delivery = try await eventually("it is delivered") {
        let first = try await home.answer("io.chime.Deliveries.List", ["filter": ["reminder": .string(id)]])[
          "deliveries"][0]
        return first["state"].string == "delivered" ? first : nil
      }
      #expect(delivery["lastResult"].string?.contains("\"explode\" is not an action") == true)
      #expect(try await home.latestOccurrence(of: id)["state"].string == "delivered")
    }
  }
}
