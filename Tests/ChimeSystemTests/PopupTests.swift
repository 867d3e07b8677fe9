import Foundation
import Testing

/// A real dunst on a virtual screen. Its picture stays at .build/screenshots/dunst.png for a person to look at.
@Suite(.serialized, .enabled(if: Machine.hasScreen, "needs Xvfb, dunst and ImageMagick"))
struct PopupTests {
  @Test(.timeLimit(.minutes(1)))
  func dunstShowsItAndItsDoneButtonEndsIt() async throws {
    try await Home.live { home in
      try await home.startBus()
      let screen = try await home.spawn(
        "Xvfb", ["-displayfd", "1", "-screen", "0", "900x300x24", "-nolisten", "tcp"])
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
        dmenu = \(home.path)/menu

        """, to: home.path + "/dunstrc")
      _ = try await home.spawn("dunst", ["-conf", home.path + "/dunstrc"], environment: display)
      try await eventually("dunst answers") { try await home.run("dunstctl", ["is-paused"]).status == 0 }

      _ = try await home.start(environment: display)
      let id = try await home.add("Stand up and stretch", "in 1s")
      try await eventually("the popup is on the screen") {
        try await home.run("dunstctl", ["count", "displayed"]).out.trimmingCharacters(in: .whitespacesAndNewlines)
          == "1"
      }

      let pictures = Machine.package + "/.build/screenshots"
      try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
      let picture = pictures + "/dunst.png"
      // dunst counts a popup as displayed a moment before it has drawn it: an empty screen has one colour.
      try await eventually("the picture shows something") {
        let taken = try await home.run("import", ["-window", "root", picture], environment: display)
        guard taken.status == 0 else { throw HarnessFailure("import: \(taken.text)") }
        let colours = try await home.run("identify", ["-format", "%k", picture])
        return (Int(colours.out) ?? 0) > 8
      }

      let pressed = try await home.run("dunstctl", ["action", "0"])
      #expect(pressed.status == 0, "\(pressed.text)")
      try await eventually("Done ended the occurrence") {
        try await home.latestOccurrence(of: id)["state"].string == "done"
      }
    }
  }
}
