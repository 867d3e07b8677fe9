import Foundation
import Glibc
import Testing

/// Measures the effect of one hostile tenant on a victim: the duration of its requests, and the lateness of its reminders.
///
/// Each kind of attack takes half a minute. The limits apply to the shipped programs (`CHIME_PROGRAMS`) on a quiet machine;
/// otherwise the figures are only printed, and the daemon must survive. `CHIME_PROOF_FIGURES` names a folder for the
/// figures, a file for each kind; `Tests/attacks.gnuplot` draws them.
@Suite(.proof(.attacks), .serialized)
struct ProofAttacksTests {
  static let environment = ProcessInfo.processInfo.environment
  /// Whether the figures must be within the limits.
  static let isJudged = environment["CHIME_PROGRAMS"] != nil
  static let seconds = environment["CHIME_PROOF_SECONDS"].flatMap { Int($0) } ?? 30

  enum Attack: String, CaseIterable, Sendable {
    case none, explain, list, backup, `import`, importing, uploads, restore, entries, connections, endpoints, firing
  }

  /// Values in milliseconds.
  struct Percentiles: CustomStringConvertible {
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

  @Test(.timeLimit(.minutes(30)), arguments: Attack.allCases)
  func attackDoesNotDelayOtherTenants(_ attack: Attack) async throws {
    try await Home.run(alone: true) { home in
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
      let tarpit = try Tarpit()
      try await prepare(home, attack, tarpit)
      for second in 0..<5 {
        _ = try await home.answer(
          "io.chime.Reminders.Add",
          [
            "tenant": "victim",
            "reminder": ["title": .string("victim \(second)"), "when": "every 1s", "channels": ["desktop"]],
          ])
      }
      // The clients are separate processes, so that this process's load is not attributed to the daemon.
      let clients = Machine.support("beside")
      let attackers = try await home.spawn(clients, ["attack", "\(attack)", home.socket, Self.costly])
      let victim = try await home.run(
        clients, ["victim", home.socket, "\(Self.seconds)"], within: .seconds(300 + Self.seconds))
      #expect(victim.status == 0, "\(victim.err)")
      let requests = Percentiles(values: victim.out.split(separator: "\n").compactMap { Double($0) })
      let lateness = try await lateness(home)
      #expect(attackers.isRunning)
      attackers.destroy()
      print("\(attack): requests \(requests), lateness \(lateness), daemon \(daemon.process.peakKiB / 1_024) MiB")
      try note(attack, requests, lateness)
      #expect(daemon.process.isRunning)
      #expect(!requests.values.isEmpty && !lateness.values.isEmpty)
      guard Self.isJudged else { return }
      #expect(requests.at(0.99) <= 50, "others' requests while \(attack)")
      #expect(lateness.at(0.99) <= 100, "others' lateness while \(attack)")
    }
  }

  /// Accepts connections and never answers.
  private final class Tarpit: Sendable {
    let url: String
    private let listener: Int32

    init() throws {
      let port: UInt16
      (listener, port) = try Loopback.listen(backlog: 4_096)
      url = "http://127.0.0.1:\(port)/"
    }

    deinit { close(listener) }
  }

  /// Writes the figures of one kind for the plot, one per line with its number.
  private func note(_ attack: Attack, _ requests: Percentiles, _ lateness: Percentiles) throws {
    guard let folder = Self.environment["CHIME_PROOF_FIGURES"] else { return }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, figures) in [("requests", requests), ("lateness", lateness)] {
      let lines = figures.values.enumerated().map { "\($0.offset) \($0.element)\n" }
      try lines.joined().write(toFile: "\(folder)/\(attack).\(name)", atomically: true, encoding: .utf8)
    }
  }

  /// Prepares the attacker's reminders and endpoints.
  private func prepare(_ home: Home, _ attack: Attack, _ tarpit: Tarpit) async throws {
    func add(_ drafts: [JSON]) async throws {
      _ = try await home.answer("io.chime.Reminders.AddMany", ["tenant": "evil", "reminders": .array(drafts)])
    }
    let body = String(repeating: "0123456789abcdef", count: 1_000)
    switch attack {
    case .none, .explain, .importing, .uploads, .restore, .connections: return
    case .entries:
      let tea: JSON = ["id": "tea", "kind": "check"]
      _ = try await home.answer("io.chime.Trackers.Put", ["tenant": "evil", "tracker": tea])
    case .list, .backup:
      for _ in 0..<20 {
        try await add((0..<40).map { ["title": .string("\($0)"), "body": .string(body), "when": "daily at 9:00"] })
      }
    case .import:
      for part in 0..<20 {
        try await add((0..<1_000).map { ["title": .string("title \(part) \($0)"), "when": "daily at 9:00"] })
      }
    case .endpoints:
      for number in 0..<100 {
        _ = try await home.answer(
          "io.chime.Endpoints.Put",
          ["tenant": "evil", "name": .string("pit\(number)"), "url": .string(tarpit.url), "newSecret": "hmac"])
      }
      try await add(
        (0..<100).map {
          ["title": .string("\($0)"), "when": "every 1s", "channels": .array([.string("pit\($0)")])]
        })
    case .firing:
      try await add(
        (0..<50).map { ["title": .string("\($0)"), "when": .string(Self.costly), "channels": ["desktop"]] })
    }
  }

  /// The most expensive schedule that is accepted: it fires each second, and has rare rules in addition.
  static let costly =
    "DTSTART:20260101T000000Z RRULE:FREQ=SECONDLY"
    + [11, 13, 17, 19, 23, 25, 29, 31].map { " RRULE:FREQ=DAILY;INTERVAL=\($0);BYMONTHDAY=31;BYDAY=TH" }.joined()

  /// Returns the recorded lateness of the victim's firings.
  private func lateness(_ home: Home) async throws -> Percentiles {
    let answer = try await home.answer("io.chime.Occurrences.List", ["tenant": "victim", "limit": 1_000])
    return Percentiles(values: answer["occurrences"].elements.compactMap { $0["latenessMs"].number })
  }
}
