import Foundation
import Testing

/// A real dunst on a virtual screen. Screenshots stay in .build/screenshots for inspection.
@Suite(.proof(.screens), .serialized, .enabled(if: Machine.hasScreen, "needs Xvfb, dunst and ImageMagick"))
struct PopupTests {
  @Test(.timeLimit(.minutes(1)), arguments: Transport.allCases)
  func dunstShowsThePopupAndItsDoneButtonClosesIt(_ transport: Transport) async throws {
    try await Home.run { home in
      try home.configure(transport.toml)
      let screen = try await Screen.begin(in: home, choosing: "Done")
      let dunst = try await screen.startDunst()

      _ = try await home.start(environment: screen.environment)
      let added = try await home.answer(
        "io.chime.Reminders.Add",
        [
          "reminder": [
            "title": "Stand up & stretch", "when": "in 1s", "body": "<i>to the window</i> & back",
            "url": "https://example.org/?a=1&b=2", "urgency": "critical",
          ]
        ])
      let id = try #require(added["reminder"]["id"].string)
      try await eventually("the popup is on the screen") { try await screen.displayed() == 1 }

      try await screen.takePicture("dunst-\(transport.rawValue)")

      try await screen.press()
      try await eventually("Done ended the occurrence") {
        try await home.latestOccurrence(of: id)["state"].string == "done"
      }

      // The server crashes, and later popups wait for the next one.
      dunst.destroy()
      _ = try await dunst.ended()
      for number in 1...8 { _ = try await home.add("Waiting \(number)", "in 1s") }
      try await eventually("all wait") {
        let waiting = try await home.deliveries("waiting").count
        let pending = try await home.deliveries("pending").count
        return waiting > 0 && waiting + pending == 8
      }
      _ = try await screen.startDunst()
      if transport == .program { _ = try await home.add("At its time", "in 1s") }
      let popups = transport == .program ? 5 : 4
      try await eventually("all have arrived") { try await home.deliveries("delivered").count == popups + 5 }
      try await eventually("three and a summary are on the screen") { try await screen.displayed() == popups }
      try await screen.takePicture("dunst-again-\(transport.rawValue)")
    }
  }

  /// A day of drinking water, with one click and one command.
  @Test(.timeLimit(.minutes(1)), arguments: Transport.allCases)
  func clickOnThePopupLogsAGlass(_ transport: Transport) async throws {
    try await Home.run { home in
      try home.configure(transport.toml)
      let screen = try await Screen.begin(in: home, choosing: "Drank 250 ml")
      _ = try await screen.startDunst()
      _ = try await home.start(environment: screen.environment)
      try await home.mustRun("pack", "add", "hydration")
      let title = "Time for a glass of water"
      try await home.mustRun("fire", title)
      try await eventually("the popup is on the screen") { try await screen.displayed() == 1 }
      try await screen.takePicture("drank-\(transport.rawValue)")
      try await screen.press()
      func total() async throws -> Double? {
        let day = try await home.answer("io.chime.Trackers.Day")["view"]
        return day["progress"].elements.first { $0["tracker"]["id"].string == "water" }?["total"].number
      }
      try await eventually("the click has logged a glass") { try await total() == 250 }

      let answer = try await home.mustRun("log", "water", "2.25l")
      #expect(answer.contains("Goal reached"), "\(answer)")
    }
  }
}
