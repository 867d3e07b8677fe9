import Foundation
import Testing

/// `chime watch` on a terminal with a real daemon: the display, the keys, and the restored terminal however it ends.
@Suite struct WatchScreenTests {
  private static let environment = ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"]

  private func watch(_ home: Home, _ terminal: PseudoTerminal, _ more: String...) async throws -> Child {
    let child = try await home.spawn(
      Machine.chime, ["watch"] + more, environment: Self.environment.merging(Sanitizer.leavingSignals) { $1 },
      on: terminal)
    try await eventually("it draws: \(terminal.text)") {
      terminal.isAlternate && terminal.text.contains("q leave") && terminal.rows[0].contains("Chime")
        && !terminal.rows[0].contains("connecting")
    }
    return child
  }

  /// Checks that the terminal is as a shell expects.
  private func isGivenBack(_ terminal: PseudoTerminal, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await eventually("the screen is left: \(terminal.text)") { !terminal.isAlternate && terminal.isCursorShown }
    #expect(terminal.isCooked, sourceLocation: sourceLocation)
    #expect(terminal.unknown.isEmpty, "\(terminal.unknown)", sourceLocation: sourceLocation)
  }

  @Test(.timeLimit(.minutes(2)))
  func waitingOccurrencesAreShownAndAnswered() async throws {
    try await Home.run { home in
      try home.configure(Home.popupStub)
      let daemon = try await home.start()
      try await home.mustRun("add", "Water", "daily at 8:00")
      try await home.mustRun("fire", "Water")
      try await home.mustRun("add", "日本語 🍵", "daily at 9:00")
      try await home.mustRun("fire", "日本語 🍵")
      let terminal = try PseudoTerminal(columns: 80, rows: 24)
      let child = try await watch(home, terminal)
      try await eventually("both wait: \(terminal.text)") {
        terminal.rows.contains { $0.hasPrefix("›") && $0.contains("日本語 🍵") }
          && terminal.rows.contains { $0.hasPrefix("  ") && $0.contains("just now  Water") }
      }
      #expect(terminal.rows[0].hasPrefix("● Chime: all right"), "\(terminal.text)")
      #expect(!terminal.isCooked, "keys come as they are pressed")

      // The arrow selects the older one; d marks it as done.
      terminal.press("\u{1B}[B")
      try await eventually("the other is chosen") {
        terminal.rows.contains { $0.hasPrefix("›") && $0.contains("Water") }
      }
      terminal.press("d")
      try await eventually("it is done: \(terminal.text)") {
        terminal.text.contains("\"Water\" is done") && !terminal.rows.contains { $0.contains("just now  Water") }
      }
      let history = try await home.json("history")["occurrences"].elements
      #expect(history.first { $0["title"] == "Water" }?["state"] == "done")
      // The remaining one is selected; snooze it for a typed length.
      terminal.press("S")
      try await eventually("it asks") { terminal.text.contains("snooze for:") }
      terminal.press("25m\r")
      try await eventually("it is snoozed: \(terminal.text)") { terminal.text.contains("snoozed until") }
      let snoozed = try await home.json("history", "--open")["occurrences"][0]
      #expect(snoozed["state"] == "snoozed" && snoozed["snoozedUntil"] != .null, "\(snoozed)")

      // Changes by other clients appear.
      try await home.mustRun("add", "Tea", "daily at 10:00")
      try await home.mustRun("fire", "Tea")
      try await eventually("it is seen: \(terminal.text)") {
        terminal.rows.contains { $0.contains("just now") && $0.contains("Tea") }
          && terminal.text.contains("fired      \"Tea\" on request")
          && terminal.text.contains("added      \"Tea\"")
      }
      terminal.press("q")
      #expect(try await child.ended() == .exited(0))
      try await isGivenBack(terminal)
      _ = daemon
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func screenFillsEverySizeAndShowsHelp() async throws {
    try await Home.run { home in
      _ = try await home.start()
      try await home.mustRun("add", "Water", "daily at 8:00")
      let terminal = try PseudoTerminal(columns: 80, rows: 24)
      let child = try await watch(home, terminal)
      for (columns, rows) in [(40, 12), (200, 60), (20, 5), (80, 24)] {
        terminal.resize(columns: columns, rows: rows)
        try await eventually("it is drawn in \(columns)x\(rows): \(terminal.text)") {
          terminal.rows.count == rows && terminal.rows[0].contains("Chime")
            && (rows < 12 || terminal.text.contains("Water") && terminal.rows[rows - 1].contains("q"))
        }
      }
      terminal.press("?")
      try await eventually("help is there") { terminal.text.contains("The keys of chime watch") }
      // Esc closes the help, and then leaves.
      terminal.press("\u{1B}")
      try await eventually("it is gone") { terminal.text.contains("q leave") }
      terminal.press("\u{1B}")
      #expect(try await child.ended() == .exited(0))
      try await isGivenBack(terminal)
    }
  }

  @Test(
    .timeLimit(.minutes(2)),
    arguments: ProofTier.amount(quick: [SIGTERM, SIGINT], proof: [SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGINT]))
  func terminalIsRestoredAfterEachSignal(_ signal: Int32) async throws {
    try await Home.run { home in
      _ = try await home.start()
      let terminal = try PseudoTerminal(columns: 80, rows: 24)
      let child = try await watch(home, terminal)
      child.send(signal)
      let end = try await child.ended()
      #expect(end == (signal == SIGINT ? .exited(0) : .signalled(signal)))
      try await isGivenBack(terminal)
    }
  }

  /// A crash restores the terminal first; the runtime's report goes to the normal screen.
  @Test(.timeLimit(.minutes(2)), arguments: ProofTier.amount(quick: [SIGSEGV], proof: [SIGSEGV, SIGILL, SIGABRT]))
  func terminalIsRestoredAfterACrash(_ signal: Int32) async throws {
    try await Home.run { home in
      _ = try await home.start()
      let terminal = try PseudoTerminal(columns: 80, rows: 24)
      let child = try await watch(home, terminal)
      child.send(signal)
      #expect(try await child.ended() == .signalled(signal))
      try await isGivenBack(terminal)
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func ctrlZSuspendsAndResumesTheScreen() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let terminal = try PseudoTerminal(columns: 80, rows: 24)
      // A shell with job control, which can continue a stopped program.
      let shell = try await home.spawn(
        "/bin/bash", ["--norc", "-m", "-c", "\(Machine.chime) watch; echo stopped $?; fg >/dev/null; echo over $?"],
        environment: Self.environment.merging(Sanitizer.leavingSignals) { $1 }, on: terminal)
      try await eventually("it draws: \(terminal.text)") { terminal.isAlternate && terminal.text.contains("q leave") }
      terminal.press("\u{1A}")
      try await eventually("it stops, and the shell has its screen: \(terminal.everything.suffix(200))") {
        terminal.everything.contains("stopped 148")
      }
      try await eventually("it is drawn again: \(terminal.text)") {
        terminal.isAlternate && terminal.text.contains("q leave") && !terminal.isCooked
      }
      terminal.press("q")
      #expect(try await shell.ended() == .exited(0))
      try await isGivenBack(terminal)
      try await eventually("it says how it ended") { terminal.everything.contains("over 0") }
    }
  }

  @Test(.timeLimit(.minutes(2)))
  func screenReconnectsAfterADaemonRestart() async throws {
    try await Home.run { home in
      try home.configure(Home.popupStub)
      let daemon = try await home.start()
      try await home.mustRun("add", "Water", "daily at 8:00")
      let terminal = try PseudoTerminal(columns: 80, rows: 24)
      let child = try await watch(home, terminal)
      try await eventually("it has read all: \(terminal.text)") { terminal.text.contains("Water") }
      _ = try await daemon.stop()
      try await eventually("it says so: \(terminal.text)") {
        terminal.rows[0].contains("the daemon is away since")
      }
      #expect(terminal.text.contains("Water"), "what was known stays")
      _ = try await home.start()
      try await eventually("it is back by itself: \(terminal.text)") { terminal.rows[0].contains("Chime: all right") }
      try await home.mustRun("add", "Tea", "daily at 9:00")
      try await eventually("and alive: \(terminal.text)") { terminal.text.contains("Tea") }
      terminal.press("q")
      #expect(try await child.ended() == .exited(0))
      try await isGivenBack(terminal)
    }
  }

  /// Without countdowns, an idle screen writes nothing and wakes nobody.
  @Test(.proof(.patience), .timeLimit(.minutes(2)))
  func idleScreenWritesNothing() async throws {
    try await Home.run { home in
      _ = try await home.start()
      try await home.mustRun("add", "Water", "daily at 8:00 starting 2096-01-01")
      let terminal = try PseudoTerminal(columns: 80, rows: 24)
      let child = try await watch(home, terminal)
      try await eventually("all is drawn: \(terminal.text)") { terminal.text.contains("Water") }
      // The first refresh may be followed by another, and a minute may begin; a second without either is quiet.
      try await eventually("it is still", within: .seconds(20)) {
        let (before, wakeUps) = (terminal.count, Self.wakeUps(child.pid))
        try await Task.sleep(for: .milliseconds(1_500))
        return terminal.count == before && Self.wakeUps(child.pid) == wakeUps
      }
      terminal.press("q")
      #expect(try await child.ended() == .exited(0))
    }
  }

  private static func wakeUps(_ pid: pid_t) -> String {
    let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    return status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }.map(String.init) ?? ""
  }

  /// Without a screen, events are printed as lines.
  @Test(.timeLimit(.minutes(2)))
  func eventsArePrintedAsLinesWithoutAScreen() async throws {
    try await Home.run { home in
      _ = try await home.start()
      for (number, (term, option)) in [("xterm-256color", "--lines"), ("dumb", "--color=auto"), ("", "--color=auto")]
        .enumerated()
      {
        try await home.mustRun("add", "Water \(number)", "daily at 8:00")
        let terminal = try PseudoTerminal(columns: 80, rows: 24)
        let child = try await home.spawn(
          Machine.chime, ["watch", option], environment: ["TERM": term, "LC_ALL": "C.UTF-8"], on: terminal)
        try await eventually("it waits: \(terminal.text)") { terminal.text.contains("Waiting for events") }
        try await home.mustRun("fire", "Water \(number)")
        try await eventually("a line comes: \(terminal.text)") { terminal.rows.contains { $0.contains("fired") } }
        #expect(!terminal.isAlternate && terminal.isCooked)
        child.send(SIGINT)
        _ = try await child.ended()
      }
    }
  }
}
