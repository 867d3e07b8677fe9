import Foundation
import Testing

/// A database that does not respond, because of a cut network or a stopped server: clients get an error within 4 s, and
/// no acknowledged change is lost. About 50 s.
@Suite(
  .proof(.databases), .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"),
  .enabled(if: Network.isPossible && Machine.hasClients, "needs root, ip(8) and .venv"))
struct FleetSilenceTests {
  enum Fault: CaseIterable, Sendable {
    /// Packets are lost.
    case cut
    /// Packets are received, but not answered.
    case freeze
  }

  @Test(.timeLimit(.minutes(3)), arguments: Fault.allCases)
  func requestIsAnsweredWithinFourSecondsDespiteAFault(_ fault: Fault) async throws {
    try await Home.run { home in
      let network = try await Network.make(in: home)
      do { try await run(home, network, fault) } catch {
        await network.remove()
        throw error
      }
      await network.remove()
    }
  }

  /// A reply, and its duration.
  private struct TimedReply: Sendable {
    let method: String
    let token: String?
    let took: Duration
    let answer: RawSocket.Answer
  }

  private func run(_ home: Home, _ network: Network, _ fault: Fault) async throws {
    let address = network.address(of: .database)
    let server = try await PostgresServer.begin(settings: ["listen_addresses = '\(address)'"])
    let database = try await server.makeDatabase()
    let connection = "host=\(address) dbname=\(database) user=chime"
    try home.configure("[store]\nengine = \"postgres\"\nconnection = \"\(connection)\"\n")
    let words = network.prefix + [Machine.chimed]
    let daemon = try await home.start(words[0], Array(words.dropFirst()))
    let kept = try await home.add("Kept", "in 1h")

    @Sendable func ask(_ method: String, _ parameters: JSON, token: String? = nil) async throws -> TimedReply {
      let start = ContinuousClock.now
      let answer = try await blocking { try RawSocket(path: home.socket, timeout: 60).call(method, parameters) }
      return TimedReply(method: method, token: token, took: ContinuousClock.now - start, answer: answer)
    }
    func draft(_ title: String) -> JSON { ["title": .string(title), "when": "in 1h"] }
    // More requests at once than run concurrently, so that some are queued.
    func round(_ name: String) async throws -> [TimedReply] {
      try await withThrowingTaskGroup(of: TimedReply.self) { group in
        for number in 0..<24 {
          let token = "\(name)-\(number)"
          let parameters: JSON = ["reminder": draft(token), "token": .string(token)]
          group.addTask { try await ask("io.chime.Reminders.Add", parameters, token: token) }
        }
        group.addTask { try await ask("io.chime.Reminders.List", ["limit": 10]) }
        group.addTask { try await ask("io.chime.Trackers.List", [:]) }
        let many: JSON = ["reminders": .array((0..<100).map { draft("\(name) of many \($0)") })]
        group.addTask { try await ask("io.chime.Reminders.AddMany", many) }
        group.addTask { try await ask("io.chime.Daemon.Status", [:]) }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }

    switch fault {
    case .cut: try await network.pull(.database)
    case .freeze: try await blocking { try server.freeze(true) }
    }
    // Immediately, during the fault, and after the sessions are lost.
    var heard: [TimedReply] = []
    for number in 0..<5 { heard += try await round("round \(number)") }
    let longest = heard.map(\.took).max() ?? .zero
    print("FleetSilenceTests: \(fault): \(heard.count) requests, the longest wait was \(longest)")
    for one in heard {
      #expect(one.took < .seconds(4) * Sanitizer.slowness, "\(one.method)")
      if one.method == "io.chime.Daemon.Status" {
        #expect(one.answer.parameters["status"]["storeProblem"].string != nil, "\(one.answer)")
      } else {
        #expect(one.answer.error?.hasSuffix(".StoreUnavailable") == true, "\(one.method): \(one.answer)")
      }
    }

    switch fault {
    case .cut: try await network.plugIn(.database)
    case .freeze: try await blocking { try server.freeze(false) }
    }
    // A request that failed can be repeated with its token, and is executed once.
    for token in heard.compactMap(\.token) {
      try await eventually("it is taken", within: .seconds(40)) {
        try await ask("io.chime.Reminders.Add", ["reminder": draft(token), "token": .string(token)]).answer.error == nil
      }
    }
    let titles = try await server.sql("SELECT title FROM chime.reminder", on: database).split(separator: "\n")
    let tokens = titles.map(String.init).filter { !$0.contains(" of many ") && $0 != "Kept" }
    #expect(tokens.sorted() == heard.compactMap(\.token).sorted())
    // Each request is executed completely or not at all.
    let parts = Dictionary(grouping: titles.filter { $0.contains(" of many ") }) { $0.prefix(7) }
    #expect(parts.values.allSatisfy { $0.count == 100 })
    #expect(try await home.json("show", kept)["reminder"]["id"].string == kept)

    // A request that was executed despite its error fires like others.
    let due = try await home.add("Due", "in 1s")
    try await eventually("it fires") { try await home.record(of: due).isEmpty == false }
    try await daemon.stopCleanly()
  }
}
