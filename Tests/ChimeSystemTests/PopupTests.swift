import Foundation
import Testing

/// A real dunst on a virtual screen. Its pictures stay at .build/screenshots for a person to look at.
@Suite(.serialized, .enabled(if: Machine.hasScreen, "needs Xvfb, dunst and ImageMagick"))
struct PopupTests {
  @Test(.timeLimit(.minutes(1)), arguments: Transport.allCases)
  func dunstShowsItAndItsDoneButtonEndsIt(_ transport: Transport) async throws {
    try await Home.live { home in
      try home.configure(transport.toml)
      try await home.startBus()
      let screen = try await home.spawn(
        "Xvfb", ["-displayfd", "1", "-screen", "0", "900x420x24", "-nolisten", "tcp"])
      let number = try await eventually("the screen is there") { () -> String? in
        if let end = screen.end { throw HarnessFailure("Xvfb ended with \(end): \(screen.errors)") }
        return screen.lines.first
      }
      let display = ["DISPLAY": ":\(number)"]
      // dunst asks a menu program which of several actions is meant; this one always means Done.
      try home.write("#!/bin/sh\nexec grep -m1 Done\n", to: home.path + "/menu", mode: 0o700)
      try home.write(
        """
        [global]
        font = DejaVu Sans 12
        width = 420
        origin = top-right
        show_indicators = yes
        markup = full
        dmenu = \(home.path)/menu

        """, to: home.path + "/dunstrc")
      func startDunst() async throws -> Child {
        let dunst = try await home.spawn("dunst", ["-conf", home.path + "/dunstrc"], environment: display)
        try await eventually("dunst answers") { try await home.run("dunstctl", ["is-paused"]).status == 0 }
        return dunst
      }
      func displayed() async throws -> Int? {
        Int(try await home.run("dunstctl", ["count", "displayed"]).out.trimmingCharacters(in: .whitespacesAndNewlines))
      }
      let dunst = try await startDunst()

      _ = try await home.start(environment: display)
      let added = try await home.answer(
        "io.chime.Reminders.Add",
        [
          "reminder": [
            "title": "Stand up & stretch", "when": "in 1s", "body": "<i>to the window</i> & back",
            "url": "https://example.org/?a=1&b=2", "urgency": "critical",
          ]
        ])
      let id = try #require(added["reminder"]["id"].string)
      try await eventually("the popup is on the screen") { try await displayed() == 1 }

      let pictures = Machine.package + "/.build/screenshots"
      try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
      func takePicture(_ name: String) async throws {
        let picture = "\(pictures)/\(name)-\(transport.rawValue).png"
        // dunst counts a popup as displayed a moment before it has drawn it: an empty screen has one colour.
        try await eventually("the picture shows something") {
          let taken = try await home.run("import", ["-window", "root", picture], environment: display)
          guard taken.status == 0 else { throw HarnessFailure("import: \(taken.text)") }
          let colours = try await home.run("identify", ["-format", "%k", picture])
          return (Int(colours.out) ?? 0) > 8
        }
      }
      try await takePicture("dunst")

      let pressed = try await home.run("dunstctl", ["action", "0"])
      #expect(pressed.status == 0, "\(pressed.text)")
      try await eventually("Done ended the occurrence") {
        try await home.latestOccurrence(of: id)["state"].string == "done"
      }

      // It crashes, and what comes meanwhile waits for the next one.
      dunst.destroy()
      _ = try await dunst.ended()
      for number in 1...8 { _ = try await home.add("Waiting \(number)", "in 1s") }
      try await eventually("all wait") {
        let waiting = try await home.deliveries("waiting").count
        let pending = try await home.deliveries("pending").count
        return waiting > 0 && waiting + pending == 8
      }
      _ = try await startDunst()
      if transport == .program { _ = try await home.add("At its time", "in 1s") }
      let popups = transport == .program ? 5 : 4
      try await eventually("all have arrived") { try await home.deliveries("delivered").count == popups + 5 }
      try await eventually("three and a summary are on the screen") { try await displayed() == popups }
      try await takePicture("dunst-again")
    }
  }
}
