import ChimeControl
import ChimeSchedule
import Testing

@testable import ChimeCommand

/// `chime status`: whether everything is all right, and what is not.
@Suite struct StatusTests {
  private static func daemon(
    _ health: DaemonInterface.Health, endpoints: [EndpointsInterface.Endpoint] = [], deadLately: Int = 0
  ) throws -> FakeDaemon {
    try FakeDaemon { method, _ in
      switch method {
      case DaemonInterface.Status.method: .reply(DaemonInterface.Status.Reply(status: health))
      case EndpointsInterface.List.method: .reply(EndpointsInterface.List.Reply(endpoints: endpoints))
      default:
        .reply(DeliveriesInterface.List.Reply(deliveries: Array(repeating: Samples.delivery, count: deadLately)))
      }
    }
  }

  @Test func healthyStatusHasFiveLines() throws {
    let outcome = chime(["status"], daemon: try Self.daemon(Samples.health()), environment: ["LANG": "C.UTF-8"])
    #expect(outcome.status == .success)
    #expect(
      outcome.output == """
        ● all right: chimed 0.1.0, started 2 h 47 min ago
          next        Fri 2026-03-27 10:26:40, in 1 h: Drink water (of 3 reminders)
          unanswered  1; `chime history --open` shows them
          deliveries  2 pending, none given up
          store       in order, snapshot 27 min ago, /home/u/.local/state/chime/chime.db

        """, "\(outcome.output)")
    let more = chime(["status", "-v"], daemon: try Self.daemon(Samples.health()), environment: ["LANG": "C.UTF-8"])
    #expect(more.output.hasPrefix(outcome.output))
    for part in [
      "user, pid 4711, 14.0 MiB of memory, 1 client", "chime-00017-", "time zone Europe/Prague, 0 clock events",
    ] {
      #expect(more.output.contains(part), "\(more.output)")
    }
  }

  private static func health(_ change: (inout DaemonInterface.Health) -> Void) -> DaemonInterface.Health {
    var health = Samples.health()
    change(&health)
    return health
  }

  private static func endpoint(_ change: (inout EndpointsInterface.Endpoint) -> Void) -> EndpointsInterface.Endpoint {
    var endpoint = Samples.endpoint
    change(&endpoint)
    return endpoint
  }

  @Test func faultsComeFirstWithARemedyAndAnExitStatus() throws {
    let cases: [(FakeDaemon, ExitCode, [String])] = [
      (
        try Self.daemon(Samples.health(problem: "the disk is full")), .tryAgain,
        ["in trouble", "  ! changes cannot be stored: the disk is full\n    →  repair the disk of /home/u"]
      ),
      (
        try Self.daemon(
          Self.health { health in
            health.notices = [
              .init(
                kind: "endpointBackoff", about: "team",
                sentence: "endpoint \"team\" rests until 09:30:00: 5 attempts failed")
            ]
          }),
        .failed,
        [
          "something needs attention", "  ! endpoint \"team\" rests until",
          "→  Chime retries by itself; `chime endpoint test team`",
        ]
      ),
      (
        try Self.daemon(Samples.health(), endpoints: [Self.endpoint { $0.disabled = "HTTP 410: gone" }]), .failed,
        ["! endpoint team is disabled: HTTP 410: gone", "→  `chime endpoint test team`, `chime endpoint enable team`"]
      ),
      (
        try Self.daemon(Samples.health(), endpoints: [Self.endpoint { $0.problem = "its secret cannot be read" }]),
        .failed,
        ["! Chime cannot send to endpoint team: its secret cannot be read", "→  `chime endpoint show team`"]
      ),
      (
        try Self.daemon(Self.health { $0.deadDeliveries = 7 }, deadLately: 2), .failed,
        ["! 2 messages were given up", "7 given up; `chime deliveries --state dead`"]
      ),
      // Deliveries given up long ago are mentioned, but are no problem now.
      (try Self.daemon(Self.health { $0.deadDeliveries = 7 }), .success, ["● all right", "7 given up"]),
      (
        try Self.daemon(
          Self.health { health in
            health.notices = [
              .init(
                kind: "calendarMissing", about: "holidays",
                sentence: "the calendar holidays is no longer configured; one reminder"),
              .init(kind: "calendarFile", about: "work", sentence: "the calendar work cannot be read"),
            ]
          }),
        .failed,
        [
          "→  restore it under [calendars] in chimed.toml",
          "→  correct the file: Chime reads it again as soon as it changes",
        ]
      ),
      // An unknown notice of a later daemon, and an earlier daemon that sends sentences only.
      (
        try Self.daemon(Self.health { $0.notices = [.init(kind: "moon", sentence: "the moon is full")] }), .failed,
        ["  ! the moon is full"]
      ),
      (try Self.daemon(Self.health { $0.attention = ["the moon is new"] }), .failed, ["  ! the moon is new"]),
    ]
    for (daemon, status, parts) in cases {
      let outcome = chime(["status"], daemon: daemon, environment: ["LANG": "C.UTF-8"])
      #expect(outcome.status == status, "\(outcome.output)")
      for part in parts { #expect(outcome.output.contains(part), "\(part) in \(outcome.output)") }
      let quiet = chime(["status", "-q"], daemon: daemon)
      #expect(quiet.status == status && quiet.output.isEmpty && quiet.errors.isEmpty)
      #expect(chime(["status", "--json"], daemon: daemon).status == status)
      let narrow = chime(["status"], daemon: daemon, width: 40, isTerminal: true, environment: ["NO_COLOR": "1"])
      let long = narrow.lines.filter { TextWidth.of($0) > 40 && !$0.contains("/home/u/.local") }
      #expect(long.isEmpty, "\(narrow.output)")
    }
  }

  // MARK: Progress

  private func context(
    _ errors: TextSink, _ clock: @escaping () -> Duration, _ arguments: [String] = [], term: String = "xterm"
  ) throws
    -> Context
  {
    var process = CommandProcess(
      environment: ["TERM": term], userID: 0, now: { Samples.now }, input: TextSource(text: ""), output: TextSink(),
      errors: errors)
    process.elapsed = clock
    return Context(line: try ParsedLine.parse(["status"] + arguments), process: process)
  }

  @Test func progressIsShownAfterHalfASecondAndErased() throws {
    var time = Duration.zero
    let errors = TextSink(isTerminal: true, width: 60)
    let progress = Progress(try context(errors, { time }), "Sending a.ics", total: 27 << 20, of: .bytes)
    progress.tell(1 << 20)
    #expect(errors.text.isEmpty, "it may be over soon")
    time = .milliseconds(600)
    progress.tell(2 << 20)
    time = .milliseconds(650)
    progress.tell(3 << 20)
    time = .seconds(4)
    progress.tell(12 << 20)
    progress.end()
    progress.end()
    #expect(
      errors.text
        == "\rSending a.ics: 7 %, 2.0 of 27.0 MiB\u{1B}[K\rSending a.ics: 44 %, 12.0 of 27.0 MiB, 5 s left\u{1B}[K\r\u{1B}[K"
    )
  }

  @Test func progressIsShownOnlyOnATerminalWithoutQuiet() throws {
    var time = Duration.zero
    for (isTerminal, arguments) in [(false, []), (true, ["-q"])] as [(Bool, [String])] {
      let errors = TextSink(isTerminal: isTerminal, width: 60)
      let progress = Progress(try context(errors, { time }, arguments), "Sending", total: 10, of: .lines)
      time += .seconds(5)
      progress.tell(5)
      progress.end()
      #expect(errors.text.isEmpty)
    }
  }

  /// On a terminal that cannot erase, the line is overwritten.
  @Test func progressOverwritesItsLineOnADumbTerminal() throws {
    var time = Duration.zero
    let errors = TextSink(isTerminal: true, width: 40)
    let progress = Progress(try context(errors, { time }, term: "dumb"), "Restoring")
    time = .seconds(1)
    progress.tell()
    progress.end()
    #expect(errors.text == "\rRestoring: 1 s\r              \r")
  }

  @Test(
    arguments: [
      (0, 100, Progress.Unit.lines, 1, "X: 0 %, 0 of 100 lines"),
      (50, 100, .lines, 10, "X: 50 %, 50 of 100 lines, 10 s left"),
      (100, 100, .lines, 10, "X: 100 %, 100 of 100 lines"), (700, 100, .lines, 10, "X: 100 %, 100 of 100 lines"),
      (1, 1, .lines, 1, "X: 100 %, 1 of 1 line"), (10_240, 40_960, .bytes, 1, "X: 25 %, 10 of 40 KiB"),
    ] as [(Int, Int, Progress.Unit, Int, String)])
  func progressLineStatesAmountAndTime(
    _ done: Int, _ total: Int, _ unit: Progress.Unit, _ seconds: Int, _ expected: String
  ) {
    #expect(Progress.line("X", done, of: total, unit, after: .seconds(seconds)) == expected)
  }

  @Test func progressLineWithoutATotalStatesTheAmount() {
    #expect(Progress.line("Receiving", 3 << 20, of: nil, .bytes, after: .seconds(3)) == "Receiving: 3.0 MiB, 3 s")
    #expect(Progress.line("Restoring", 0, of: nil, .nothing, after: .seconds(75)) == "Restoring: 1 min 15 s")
  }
}
