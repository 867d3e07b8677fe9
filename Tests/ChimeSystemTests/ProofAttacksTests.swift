import Foundation
import Synchronization
import Testing

/// One hostile tenant of each kind beside a victim: how long the victim's requests take, and how late its reminders fire.
///
/// It takes a minute for each kind, and its figures are those of the programs as they are shipped (`CHIME_PROGRAMS`) on a
/// quiet machine. With others it prints them and judges nothing but that the daemon lives.
@Suite(.proof(.attacks), .serialized)
struct ProofAttacksTests {
  static let environment = ProcessInfo.processInfo.environment
  /// Whether the figures are held to what is promised.
  static let isJudged = environment["CHIME_PROGRAMS"] != nil
  static let seconds = environment["CHIME_PROOF_SECONDS"].flatMap { Int($0) } ?? 30

  enum Attack: String, CaseIterable, Sendable {
    case none, explain, list, backup, `import`, connections, firing
  }

  /// Milliseconds.
  struct Figures: CustomStringConvertible {
    var values: [Double]

    func at(_ share: Double) -> Double {
      let sorted = values.sorted()
      return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    var description: String {
      "\(values.count) p50 \(Self.text(at(0.5))) p99 \(Self.text(at(0.99))) max \(Self.text(values.max() ?? 0)) ms"
    }

    private static func text(_ value: Double) -> String { String(format: "%.1f", value) }
  }

  /// Told by the test when it is over, and asked by those who attack.
  final class End: Sendable {
    private let reached = Atomic(false)
    var isReached: Bool { reached.load(ordering: .relaxed) }
    func reach() { reached.store(true, ordering: .relaxed) }
  }

  @Test(.timeLimit(.minutes(30)), arguments: Attack.allCases)
  func theVictimIsServedBeside(_ attack: Attack) async throws {
    try await Home.live(alone: true) { home in
      try home.configure(
        """
        [control]
        maxConnections = 1000
        maxConnectionsPerUser = 1000
        [desktop]
        program = "true"
        [tenants.evil]
        [tenants.victim]
        """)
      let daemon = try await home.start()
      try await prepare(home, attack)
      for second in 0..<5 {
        _ = try await home.answer(
          "io.chime.Reminders.Add",
          [
            "tenant": "victim",
            "reminder": ["title": .string("victim \(second)"), "when": "every 1s", "channels": ["desktop"]],
          ])
      }
      let end = End()
      let path = home.socket
      let attackers = (0..<8).map { number in
        Task { try await blocking { Self.attack(attack, path, number, end) } }
      }
      let requests = try await blocking { try Self.victim(path, seconds: Self.seconds) }
      let lateness = try await lateness(home)
      end.reach()
      for attacker in attackers { try await attacker.value }
      print("\(attack): requests \(requests), lateness \(lateness), daemon \(daemon.process.peakKiB / 1_024) MiB")
      #expect(daemon.process.isRunning)
      #expect(!requests.values.isEmpty && !lateness.values.isEmpty)
      guard Self.isJudged else { return }
      #expect(requests.at(0.99) <= 50, "others' requests while \(attack)")
      #expect(lateness.at(0.99) <= 100, "others' lateness while \(attack)")
    }
  }

  /// What the attacker has before it begins.
  private func prepare(_ home: Home, _ attack: Attack) async throws {
    func add(_ drafts: [JSON]) async throws {
      _ = try await home.answer("io.chime.Reminders.AddMany", ["tenant": "evil", "reminders": .array(drafts)])
    }
    let body = String(repeating: "0123456789abcdef", count: 1_000)
    switch attack {
    case .none, .explain, .connections: return
    case .list, .backup:
      for _ in 0..<20 {
        try await add((0..<40).map { ["title": .string("\($0)"), "body": .string(body), "when": "daily at 9:00"] })
      }
    case .import:
      for part in 0..<20 {
        try await add((0..<1_000).map { ["title": .string("title \(part) \($0)"), "when": "daily at 9:00"] })
      }
    case .firing:
      try await add(
        (0..<50).map { ["title": .string("\($0)"), "when": .string(Self.costly), "channels": ["desktop"]] })
    }
  }

  /// As costly as is taken: it fires each second, and has seldom ones beside that.
  static let costly =
    "DTSTART:20260101T000000Z RRULE:FREQ=SECONDLY"
    + [11, 13, 17, 19, 23, 25, 29, 31].map { " RRULE:FREQ=DAILY;INTERVAL=\($0);BYMONTHDAY=31;BYDAY=TH" }.joined()

  /// Does one thing again and again, on a connection of its own, until the end.
  private static func attack(_ attack: Attack, _ path: String, _ number: Int, _ end: End) {
    let calendar =
      "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"
      + (0..<2_000).map {
        "BEGIN:VEVENT\r\nUID:\($0)\r\nSUMMARY:title \(number) \($0)\r\nDTSTART:20260101T000000Z\r\nRRULE:FREQ=DAILY\r\nEND:VEVENT\r\n"
      }.joined() + "END:VCALENDAR\r\n"
    while !end.isReached {
      guard let socket = try? RawSocket(path: path) else { continue }
      func send(_ method: String, _ parameters: JSON, more: Bool = false) {
        guard case .object(var members) = parameters else { return }
        members["tenant"] = "evil"
        let call = JSON.object(["method": .string(method), "parameters": .object(members), "more": .bool(more)])
        if let bytes = try? call.bytes { socket.send(bytes + [0]) }
      }
      switch attack {
      case .none: Thread.sleep(forTimeInterval: 0.1)
      case .connections: continue
      case .explain:
        for _ in 0..<3 { send("io.chime.Schedules.Explain", ["when": .string(costly), "count": 1_000]) }
        _ = try? socket.receive()
      case .list:
        for _ in 0..<3 { send("io.chime.Reminders.List", ["limit": 10_000]) }
        _ = try? socket.receive()
      case .backup: send("io.chime.Trackers.Backup", [:], more: true)
      case .import:
        send("io.chime.Reminders.Import", ["format": "icalendar", "text": .string(calendar), "dryRun": true])
        _ = try? socket.receive()
      case .firing: Thread.sleep(forTimeInterval: 0.1)
      }
    }
  }

  /// One who asks small things, fifty times a second.
  private static func victim(_ path: String, seconds: Int) throws -> Figures {
    let socket = try RawSocket(path: path, timeout: 300)
    let clock = ContinuousClock()
    var figures = Figures(values: [])
    let until = clock.now + .seconds(seconds)
    while clock.now < until {
      let begin = clock.now
      let answer = try socket.call("io.chime.Reminders.List", ["tenant": "victim", "limit": 10])
      guard answer.error == nil else { throw HarnessFailure("\(answer)") }
      figures.values.append(begin.duration(to: clock.now) / .milliseconds(1))
      Thread.sleep(forTimeInterval: 0.02)
    }
    return figures
  }

  /// How late what fired meanwhile was, as the daemon has recorded it.
  private func lateness(_ home: Home) async throws -> Figures {
    let answer = try await home.answer("io.chime.Occurrences.List", ["tenant": "victim", "limit": 1_000])
    return Figures(values: answer["occurrences"].elements.compactMap { $0["latenessMs"].number })
  }
}
