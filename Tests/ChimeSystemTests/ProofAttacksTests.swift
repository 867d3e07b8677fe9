import Foundation
import Glibc
import Testing

/// One hostile tenant of each kind beside a victim: how long the victim's requests take, and how late its reminders fire.
///
/// It takes a minute for each kind, and its figures are those of the programs as they are shipped (`CHIME_PROGRAMS`) on a
/// quiet machine. With others it prints them and judges nothing but that the daemon lives. Each figure goes to a file, one for
/// each kind, in the folder that `CHIME_PROOF_FIGURES` names; `Tests/attacks.gnuplot` draws them.
@Suite(.proof(.attacks), .serialized)
struct ProofAttacksTests {
  static let environment = ProcessInfo.processInfo.environment
  /// Whether the figures are held to what is promised.
  static let isJudged = environment["CHIME_PROGRAMS"] != nil
  static let seconds = environment["CHIME_PROOF_SECONDS"].flatMap { Int($0) } ?? 30

  enum Attack: String, CaseIterable, Sendable {
    case none, explain, list, backup, `import`, importing, restore, entries, connections, endpoints, firing
  }

  /// Milliseconds.
  struct LocalizedFormat: CustomStringConvertible {
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
      // In processes of their own, so that what they need of this one's time is not taken for the daemon's.
      let clients = Machine.support("beside")
      let attackers = try await home.spawn(clients, ["attack", "\(attack)", home.socket, Self.costly])
      let victim = try await home.run(
        clients, ["victim", home.socket, "\(Self.seconds)"], within: .seconds(300 + Self.seconds))
      #expect(victim.status == 0, "\(victim.err)")
      let requests = LocalizedFormat(values: victim.out.split(separator: "\n").compactMap { Double($0) })
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

  /// Takes connections and never answers.
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

  /// Writes the figures of one kind for the plot, each on a line with its number.
  private func note(_ attack: Attack, _ requests: LocalizedFormat, _ lateness: LocalizedFormat) throws {
    guard let folder = Self.environment["CHIME_PROOF_FIGURES"] else { return }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, figures) in [("requests", requests), ("lateness", lateness)] {
      let lines = figures.values.enumerated().map { "\($0.offset) \($0.element)\n" }
      try lines.joined().write(toFile: "\(folder)/\(attack).\(name)", atomically: true, encoding: .utf8)
    }
  }

  /// What the attacker has before it begins.
  private func prepare(_ home: Home, _ attack: Attack, _ tarpit: Tarpit) async throws {
    func add(_ drafts: [JSON]) async throws {
      _ = try await home.answer("io.chime.Reminders.AddMany", ["tenant": "evil", "reminders": .array(drafts)])
    }
    let body = String(repeating: "0123456789abcdef", count: 1_000)
    switch attack {
    case .none, .explain, .importing, .restore, .connections: return
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

  /// As costly as is taken: it fires each second, and has seldom ones beside that.
  static let costly =
    "DTSTART:20260101T000000Z RRULE:FREQ=SECONDLY"
    + [11, 13, 17, 19, 23, 25, 29, 31].map { " RRULE:FREQ=DAILY;INTERVAL=\($0);BYMONTHDAY=31;BYDAY=TH" }.joined()

  /// How late what fired meanwhile was, as the daemon has recorded it.
  private func lateness(_ home: Home) async throws -> LocalizedFormat {
    let answer = try await home.answer("io.chime.Occurrences.List", ["tenant": "victim", "limit": 1_000])
    return LocalizedFormat(values: answer["occurrences"].elements.compactMap { $0["latenessMs"].number })
  }
}
