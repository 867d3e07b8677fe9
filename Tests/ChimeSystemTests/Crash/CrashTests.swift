import Foundation
import Testing

/// kill -9 at random and chosen moments under a load of all kinds of requests; then the guarantees are checked from
/// outside, through the socket and at the receivers.
@Suite(.serialized, .enabled(if: Machine.has("cc") && Machine.has("sqlite3"), "needs cc and sqlite3"))
struct CrashTests {
  private static let environment = ProcessInfo.processInfo.environment
  /// `make crash ROUNDS=500` runs more.
  private static let rounds =
    environment["CHIME_TEST_ROUNDS"].flatMap { Int($0) }
    ?? ProofTier.amount(quick: 24, proof: 100)
  private static let seed = environment["CHIME_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)

  /// Records its message, and sometimes kills its daemon or fails.
  private static let script = """
    #!/bin/sh
    cat > /dev/null
    echo "$CHIME_DELIVERY" >> "$HOME/runs"
    if rm "$HOME/kill-parent" 2>/dev/null; then kill -9 "$PPID"; fi
    [ -e "$HOME/good" ] || case $$ in *7) exit 1 ;; esac
    """

  @Test(.timeLimit(.minutes(60)))
  func crashesLoseAndDuplicateNothing() async throws {
    print("CrashTests: CHIME_TEST_SEED=\(Self.seed)")
    try await Home.run { home in
      let begin = ContinuousClock.now
      var random = SeededGenerator(state: Self.seed)
      let library = try await home.diesAt()
      try home.write(Self.script, to: home.path + "/note", mode: 0o700)
      try home.write("", to: home.path + "/runs")
      try home.configure(
        """
        [desktop]
        program = "true"
        [commands.note]
        program = "\(home.path)/note"
        overlap = "parallel"
        """)
      let receiver = try await home.spawn(
        "/usr/bin/python3",
        [Machine.support("crash-receiver"), "\(Self.seed)", home.path + "/good", home.path + "/kill"])
      let port = try await eventually("the receiver says its port") { () -> Int? in
        try receiver.lines.first.map { try JSON(parsing: $0)["port"].int } ?? nil
      }
      let url = "http://127.0.0.1:\(port)/"
      let expectations = CrashExpectations()
      let recurring = try await prepare(home, url, expectations)

      var deaths: [CrashDeath: Int] = [:]
      for round in 1...Self.rounds {
        let death = CrashDeath.random(using: &random)
        deaths[death, default: 0] += 1
        var run = CrashRun(
          home: home,
          clients: (0..<4).map {
            CrashClient(
              number: $0, round: round, seed: Self.seed, expectations: expectations, receiver: url,
              recurring: recurring.keys.sorted())
          },
          death: death, library: library, killFile: home.path + "/kill", random: random)
        do {
          try await run.run()
          try CrashProof.checkSecret(expectations, home)
        } catch {
          throw HarnessFailure("CHIME_TEST_SEED=\(Self.seed), round \(round), death \(death): \(error)")
        }
        random = run.random
      }
      let crashed = ContinuousClock.now

      try home.write("", to: home.path + "/good")
      let daemon = try await home.start(Machine.programs + "/chimed")
      let last = Int64(Date().timeIntervalSince1970)
      try await settle(home, recurring, expectations, url)
      let proof = CrashProof(
        home: home, expectations: expectations.now,
        requests: receiver.lines.dropFirst().compactMap { try? JSON(parsing: $0) },
        recurring: recurring, last: last)
      let figures = try await proof.prove()
      try await daemon.stopCleanly()
      // An independent program checks the database, and no other files are left.
      let check = try await home.run("sqlite3", [home.state + "/chime.db", "PRAGMA integrity_check"])
      #expect(check.out == "ok\n", "\(check.text)")
      let left = try leftovers(home)
      #expect(left.isEmpty, "\(left)")

      let now = expectations.now
      let told = [
        ("rounds", Self.rounds), ("acknowledged requests", now.acknowledged), ("answers that got lost", now.doubts),
        ("changes among them that were made", now.doubtsDone),
      ]
      print("CrashTests: deaths: " + deaths.map { "\($0) \($1)" }.sorted().joined(separator: ", "))
      for (name, number) in told + figures { print("CrashTests:   \(number)\t\(name)") }
      print("CrashTests: the crashes took \(crashed - begin), the proof \(ContinuousClock.now - crashed)")
      // The amount depends on the machine.
      let least = ProofTier.isProof ? Self.rounds * 8 / Sanitizer.slowness : 0
      #expect(now.acknowledged > least, "a load worth the name")
    }
  }

  /// Creates the endpoints and the recurring reminders.
  private func prepare(_ home: Home, _ url: String, _ expectations: CrashExpectations) async throws -> [String: Int64] {
    let daemon = try await home.start(Machine.programs + "/chimed")
    for name in ["team", "side"] {
      _ = try await home.answer(
        "io.chime.Endpoints.Put",
        [
          "name": .string(name), "url": .string(url), "secret": .string(Receiver.secret),
          "settings": ["headers": [["name": "x-edit", "value": "0"]]],
        ])
    }
    expectations.change { $0.header = ("0", nil) }
    expectations.change { $0.secret = (Receiver.secret, nil) }
    var recurring: [String: Int64] = [:]
    for (period, channels, catchUp) in [
      (1, ["team"], "latest"), (2, ["note"], "all"), (3, ["team", "desktop"], "skip"),
    ] as [(Int64, [JSON], String)] {
      let answer = try await home.answer(
        "io.chime.Reminders.Add",
        [
          "reminder": [
            "title": .string("Every \(period) s"),
            "when": .string(period == 1 ? "* * * * * *" : "*/\(period) * * * * *"),
            "channels": .array(channels),
            "catchUp": ["suspend": .string(catchUp), "downtime": .string(catchUp)],
          ]
        ])
      recurring[try #require(answer["reminder"]["id"].string)] = period
    }
    try await daemon.crash()
    return recurring
  }

  /// Settles open requests, and waits until no delivery is pending.
  private func settle(_ home: Home, _ recurring: [String: Int64], _ expectations: CrashExpectations, _ url: String)
    async throws
  {
    let socket = home.socket
    try await blocking {
      let connection = try RawSocket(path: socket)
      for number in 0..<4 {
        try CrashClient(number: number, round: 0, seed: 0, expectations: expectations, receiver: url, recurring: [])
          .settle(connection)
      }
    }
    for name in ["team", "side"] { _ = try await home.answer("io.chime.Endpoints.Enable", ["name": .string(name)]) }
    for id in recurring.keys { _ = try await home.answer("io.chime.Reminders.Pause", ["id": .string(id)]) }
    try await eventually("all that is soon has come, and all is delivered", within: .seconds(90)) {
      // Dismiss occurrences that repeat after half a minute, or are retried in five.
      let open = try await home.answer("io.chime.Occurrences.List", ["filter": ["open": true], "limit": 10_000])
      for one in open["occurrences"].elements {
        // A receiver snoozes for a minute at least, a client here for a second.
        let until = one["snoozedUntil"]["at"].string.flatMap { try? Date($0, strategy: .iso8601) }
        guard one["repeatAt"] != .null || until.map({ $0.timeIntervalSinceNow > 5 }) == true else { continue }
        _ = try await home.call("io.chime.Occurrences.Dismiss", ["id": one["id"]])
      }
      for state in ["waiting", "dead"] {
        let found = try await home.answer(
          "io.chime.Deliveries.List", ["filter": ["state": .string(state)], "limit": 1_000])
        for one in found["deliveries"].elements {
          _ = try await home.call("io.chime.Deliveries.Redeliver", ["which": ["id": one["id"]]])
        }
      }
      let upcoming = try await home.answer("io.chime.Occurrences.Upcoming", ["limit": 10_000])["upcoming"].elements
      // Read this after the list: firings in between are pending by then.
      let status = try await home.answer("io.chime.Daemon.Status")["status"]
      let isQuiet = !upcoming.contains { one in
        one["paused"].bool != true
          && (one["when"].string?.hasPrefix("at ") == true || one["snoozed"].bool == true
            || one["repeats"].bool == true)
      }
      return status["pendingDeliveries"].int == 0 && status["deadDeliveries"].int == 0 && isQuiet
    }
    // Stop recurring firings, which would move entries between pages of a listing.
    for id in recurring.keys { _ = try await home.answer("io.chime.Reminders.Remove", ["id": .string(id)]) }
  }

  /// Returns files that the daemons left without need.
  private func leftovers(_ home: Home) throws -> [String] {
    let names =
      try FileManager.default.subpathsOfDirectory(atPath: home.state)
      + FileManager.default.subpathsOfDirectory(atPath: home.runtime)
    let known = ["chime", "chime.db", "chime.db.lock", "secrets", "snapshots"]
    return names.filter { name in
      !known.contains(name) && !name.hasPrefix("secrets/\(geteuid())-")
        && !(name.hasPrefix("snapshots/") && name.hasSuffix("Z.db"))
    }
  }
}

extension Home {
  /// Builds the library that kills its process at a chosen system call.
  func diesAt() async throws -> String { try await preloaded("die-at") }

  /// Builds a library that changes system calls of its process.
  func preloaded(_ name: String) async throws -> String {
    let library = "\(path)/\(name).so"
    let output = try await run(
      "cc", ["-std=gnu11", "-O1", "-shared", "-fPIC", "-o", library, Machine.support("\(name).c"), "-ldl"])
    guard output.status == 0 else { throw HarnessFailure("cc: \(output.text)") }
    return library
  }
}

/// SplitMix64; a printed seed reproduces a run.
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
