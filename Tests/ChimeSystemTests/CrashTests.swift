import Foundation
import Synchronization
import Testing

/// kill -9 at random moments, under a load of adds and fires.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct CrashTests {
  /// What the clients know: every token that was sent, and the id that was acknowledged for it.
  private final class Ledger: Sendable {
    private let state = Mutex<(sent: [String], acknowledged: [String: String])>(([], [:]))

    func send(_ token: String) { state.withLock { $0.sent.append(token) } }
    func acknowledge(_ token: String, _ id: String) { state.withLock { $0.acknowledged[token] = id } }
    var sent: [String] { state.withLock { $0.sent } }
    var acknowledged: [String: String] { state.withLock { $0.acknowledged } }
  }

  @Test(.timeLimit(.minutes(3)))
  func twentyCrashesLoseNothingAndDoubleNothing() async throws {
    let seed = ProcessInfo.processInfo.environment["CHIME_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
    print("CrashTests: CHIME_TEST_SEED=\(seed)")
    var random = SeededGenerator(state: seed)
    try await Home.live { home in
      let receiver = try await Receiver.start(in: home)
      let ledger = Ledger()
      let begin = ContinuousClock.now
      for round in 1...20 {
        // Anywhere from the first request to well into the fires of earlier rounds.
        let life = Duration.milliseconds(Int.random(in: 5...400, using: &random))
        try await liveAndCrash(
          home, after: life, load: "\(seed)-\(round)", ledger, endpoint: round == 1 ? receiver : nil)
      }
      let crashed = ContinuousClock.now
      let daemon = try await home.start(Machine.shipped + "/chimed")
      try await settle(ledger, home)
      try await proveAllIsThereOnce(ledger, receiver, home)
      print("CrashTests: crashes took \(crashed - begin), the rest \(ContinuousClock.now - crashed)")

      #expect(try await daemon.stop() == .exited(0))
      // Another's word on the file that went through all this.
      let check = try await home.run("sqlite3", [home.state + "/chime.db", "PRAGMA integrity_check"])
      #expect(check.out == "ok\n", "\(check.text)")
    }
  }

  /// One short life of the daemon, with three clients adding what is due a second later.
  private func liveAndCrash(
    _ home: Home, after life: Duration, load name: String, _ ledger: Ledger, endpoint: Receiver?
  ) async throws {
    let daemon = try await home.start(Machine.shipped + "/chimed")
    if let endpoint { try await home.addEndpoint("team", endpoint) }
    let socket = home.socket
    let loads = (1...3).map { client in
      Task { try await blocking { Self.load(socket, "\(name)-\(client)", ledger) } }
    }
    let moment = ContinuousClock.now + life
    try await eventually("the moment to crash") { ContinuousClock.now >= moment }
    try await daemon.crash()
    for load in loads { try await load.value }
  }

  private func proveAllIsThereOnce(_ ledger: Ledger, _ receiver: Receiver, _ home: Home) async throws {
    let tokens = Set(ledger.sent)
    let acknowledged = ledger.acknowledged
    #expect(acknowledged.count == tokens.count)
    #expect(acknowledged.count > 100, "a load worth the name: \(acknowledged.count)")

    try await eventually("everything has fired and arrived", within: .seconds(90)) {
      let status = try await home.answer("io.chime.Daemon.Status")["status"]
      return status["owedDeliveries"].int == 0 && status["openOccurrences"].int == tokens.count
    }
    let occurrences = try await all("io.chime.Occurrences.List", "occurrences", home)
    var byReminder: [String: Int] = [:]
    for occurrence in occurrences { byReminder[occurrence["reminder"].string ?? "", default: 0] += 1 }
    #expect(Set(acknowledged.values).isSubset(of: byReminder.keys), "every acknowledged reminder has fired")
    #expect(byReminder.count == tokens.count, "one reminder for one token")
    #expect(byReminder.values.allSatisfy { $0 == 1 }, "and no occurrence is recorded twice")
    #expect(Set(occurrences.compactMap { $0["id"].string }).count == occurrences.count)

    let deliveries = try await all("io.chime.Deliveries.List", "deliveries", home)
    #expect(deliveries.count == tokens.count)
    #expect(deliveries.allSatisfy { $0["state"].string == "delivered" })
    let requests = receiver.requests
    #expect(requests.allSatisfy { $0.verdicts == ["ok", "ok"] })
    let recorded = Set(deliveries.compactMap { $0["id"].string })
    let arrived = Set(requests.map(\.id))
    #expect(arrived == recorded, "at least once each, and under the recorded id")
    let retried = deliveries.filter { ($0["attempts"].int ?? 0) > 1 }.count
    print(
      "CrashTests: \(acknowledged.count) reminders, \(requests.count) requests of which",
      "\(requests.count - arrived.count) repeat one, \(retried) tried again after a failure")
  }

  /// Adds reminders as fast as they are acknowledged, until the daemon is gone.
  private static func load(_ path: String, _ name: String, _ ledger: Ledger) {
    guard let socket = try? RawSocket(path: path) else { return }
    for number in 1...40 {
      let token = "\(name)-\(number)"
      ledger.send(token)
      guard let id = try? add(token, socket) else { return }
      ledger.acknowledge(token, id)
    }
  }

  /// What every client does after a broken connection: asks again with the same token.
  private func settle(_ ledger: Ledger, _ home: Home) async throws {
    let path = home.socket
    try await blocking {
      let socket = try RawSocket(path: path)
      let known = ledger.acknowledged
      for token in ledger.sent where known[token] == nil {
        ledger.acknowledge(token, try Self.add(token, socket))
      }
    }
  }

  private static func add(_ token: String, _ socket: RawSocket) throws -> String {
    let answer = try socket.call(
      "io.chime.Reminders.Add",
      [
        "reminder": ["title": .string("Load \(token)"), "when": "in 1s", "channels": ["team"]], "token": .string(token),
      ])
    guard let id = answer.parameters["reminder"]["id"].string else { throw HarnessFailure("\(answer)") }
    return id
  }

  private func all(_ method: String, _ name: String, _ home: Home) async throws -> [JSON] {
    var found: [JSON] = []
    var cursor = JSON.null
    repeat {
      let page = try await home.answer(method, ["limit": 500, "cursor": cursor])
      found += page[name].elements
      cursor = page["cursor"]
    } while cursor != .null
    return found
  }
}

/// SplitMix64: a seed that is printed makes a run that can be had again.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
