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
}
