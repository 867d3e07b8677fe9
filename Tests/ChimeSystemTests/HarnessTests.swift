import Testing

/// The harness is held to its word too: a test that cannot fail proves nothing.
@Suite struct HarnessTests {
  @Test func aChildsEndAndWordsAreSeen() async throws {
    try await Home.live { home in
      let said = try await home.run("sh", ["-c", "echo out; echo err >&2; exit 3"])
      #expect(said.status == 3)
      #expect(said.out == "out\n")
      #expect(said.err == "err\n")
      let child = try await home.spawn("sleep", ["1000"])
      child.send(9)
      #expect(try await child.ended() == .signalled(9))
    }
  }

  @Test func whatDoesNotComeTrueFails() async throws {
    await #expect(throws: HarnessFailure.self) {
      try await eventually("pigs fly", within: .milliseconds(50)) { false }
    }
  }

  @Test(.enabled(if: Machine.hasMockBus, "needs dbus-daemon, busctl and notify-send"), .timeLimit(.minutes(1)))
  func theFingerPressesARealButton() async throws {
    try await Home.live { home in
      let desktop = try await home.startMockDesktop()
      let popup = try await home.spawn("notify-send", ["--wait", "--action=done=Done", "Press me", "now"])
      let number = try await desktop.popup(titled: "Press me")
      // notify-send subscribes to the answers before it shows the popup, and reads its number a moment after.
      try await eventually("the button answers") {
        try await desktop.press("done", on: number)
        return !popup.isRunning
      }
      #expect(popup.output == "done\n")
    }
  }
}
