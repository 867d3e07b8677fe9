import Foundation
import Testing

/// Invalid requests get typed errors and change nothing.
@Suite(.serialized) struct BadInputTests {
  /// A request that must be refused, with the expected error name and a word in its parameters.
  struct Refusal: Sendable, CustomStringConvertible {
    let description: String
    let method: String
    let parameters: JSON
    let error: String
    let mentions: String

    init(_ description: String, _ method: String, _ parameters: JSON, _ error: String, _ mentions: String = "") {
      self.description = description
      self.method = "io.chime." + method
      self.parameters = parameters
      self.error = error
      self.mentions = mentions
    }

    static func draft(_ title: String, _ when: String, _ more: [String: JSON] = [:]) -> JSON {
      ["reminder": .object(more.merging(["title": .string(title), "when": .string(when)]) { $1 })]
    }
  }

  static let refusals: [Refusal] = [
    Refusal("empty title", "Reminders.Add", Refusal.draft("", "in 1h"), "Reminders.InvalidValue", "title"),
    Refusal("blank title", "Reminders.Add", Refusal.draft(" \u{3000} ", "in 1h"), "Reminders.InvalidValue", "title"),
    Refusal(
      "title of 100 kB", "Reminders.Add", Refusal.draft(String(repeating: "x", count: 100_000), "in 1h"),
      "Reminders.InvalidValue", "title"),
    Refusal(
      "escape sequence in a title", "Reminders.Add", Refusal.draft("\u{1B}[2JBoo", "in 1h"),
      "Reminders.InvalidValue", "U+1B"),
    Refusal(
      "NUL in a title", "Reminders.Add", Refusal.draft("a\u{0}b", "in 1h"), "Reminders.InvalidValue", "title"),
    Refusal(
      "C1 control in a title", "Reminders.Add", Refusal.draft("a\u{9B}b", "in 1h"), "Reminders.InvalidValue", "title"),
    Refusal("no schedule", "Reminders.Add", Refusal.draft("x", ""), "Reminders.InvalidSchedule", "expected"),
    Refusal(
      "no such words", "Reminders.Add", Refusal.draft("x", "whenever I like"), "Reminders.InvalidSchedule", "expected"),
    Refusal(
      "a misspelt word", "Reminders.Add", Refusal.draft("x", "every 90m form 8:00 to 22:00"),
      "Reminders.InvalidSchedule", "from"),
    Refusal(
      "hour 25", "Reminders.Add", Refusal.draft("x", "daily at 25:00"), "Reminders.InvalidSchedule", "column"),
    Refusal(
      "30 February", "Reminders.Add", Refusal.draft("x", "at 9:00 on 2027-02-30"), "Reminders.InvalidSchedule"),
    Refusal(
      "year 12000", "Reminders.Add", Refusal.draft("x", "at 9:00 on 12000-01-01"), "Reminders.InvalidSchedule"),
    Refusal(
      "an interval of nothing", "Reminders.Add", Refusal.draft("x", "every 0m"), "Reminders.InvalidSchedule"),
    Refusal(
      "a schedule of 100 kB", "Reminders.Add", Refusal.draft("x", String(repeating: "every ", count: 17_000)),
      "Reminders.InvalidValue", "when"),
    Refusal("the past", "Reminders.Add", Refusal.draft("x", "at 9:00 on 2001-01-01"), "Reminders.NeverOccurs"),
    Refusal(
      "unknown zone", "Reminders.Add", Refusal.draft("x", "daily at 9:00", ["timezone": "Europe/Pragu"]),
      "Reminders.InvalidValue", "Europe/Prague"),
    Refusal(
      "zone that leaves its folder", "Reminders.Add",
      Refusal.draft("x", "daily at 9:00", ["timezone": "../../etc/passwd"]), "Reminders.InvalidValue", "timezone"),
    Refusal(
      "no channel", "Reminders.Add", Refusal.draft("x", "in 1h", ["channels": []]), "Reminders.InvalidValue",
      "channels"),
    Refusal(
      "grace that is not a duration", "Reminders.Add", Refusal.draft("x", "in 1h", ["grace": "soon"]),
      "Reminders.InvalidValue", "grace"),
    Refusal("unknown id", "Reminders.Get", ["id": "nobody"], "Reminders.NotFound", "nobody"),
    Refusal("unknown id removed", "Reminders.Remove", ["id": "nobody"], "Reminders.NotFound"),
    Refusal(
      "pause until the year 12000", "Reminders.Pause", ["id": "Kept", "until": "12000-01-01T00:00:00Z"],
      "Reminders.InvalidValue", "until"),
    Refusal("skip minus one", "Reminders.Skip", ["id": "Kept", "count": -1], "Reminders.InvalidValue", "count"),
    Refusal("a page of nothing", "Reminders.List", ["limit": 0], "Reminders.InvalidValue", "limit"),
    Refusal("a cursor of ours it is not", "Reminders.List", ["cursor": "zzz"], "Reminders.InvalidValue", "cursor"),
    Refusal("nothing to be done", "Occurrences.Done", [:], "Occurrences.Conflict"),
    Refusal("snooze of an age", "Occurrences.Snooze", ["length": "P900Y"], "Occurrences.InvalidValue", "length"),
    Refusal(
      "snooze until the past", "Occurrences.Snooze", ["until": "2020-01-01T09:00:00Z"], "Occurrences.InvalidValue",
      "until"),
    Refusal(
      "snooze for an hour, and until a time", "Occurrences.Snooze",
      ["length": "PT1H", "until": "2120-01-01T09:00:00Z"],
      "Occurrences.InvalidValue", "until"),
    Refusal("an unknown delivery", "Deliveries.Get", ["id": "msg_no"], "Deliveries.NotFound"),
    Refusal(
      "URL that is none", "Endpoints.Put", ["name": "e", "url": "not a url", "secret": .string(Receiver.secret)],
      "Endpoints.InvalidValue", "url"),
    Refusal(
      "URL of another scheme", "Endpoints.Put",
      ["name": "e", "url": "file:///etc/passwd", "secret": .string(Receiver.secret)], "Endpoints.InvalidValue", "url"),
    Refusal(
      "secret too short", "Endpoints.Put", ["name": "e", "url": "http://127.0.0.1/", "secret": "whsec_c2hvcnQ="],
      "Endpoints.InvalidValue", "secret"),
    Refusal(
      "no secret", "Endpoints.Put", ["name": "e", "url": "http://127.0.0.1/"], "Endpoints.InvalidValue", "secret"),
    Refusal(
      "endpoint named desktop", "Endpoints.Put",
      ["name": "desktop", "url": "http://127.0.0.1/", "secret": .string(Receiver.secret)], "Endpoints.InvalidValue",
      "name"),
    Refusal(
      "endpoint that leaves its folder", "Endpoints.Put",
      ["name": "../x", "url": "http://127.0.0.1/", "secret": .string(Receiver.secret)], "Endpoints.InvalidValue",
      "name"),
    Refusal("unknown endpoint", "Endpoints.Test", ["name": "nobody"], "Endpoints.NotFound"),
  ]

  @Test(.timeLimit(.minutes(1)))
  func everyInvalidRequestGetsATypedErrorAndChangesNothing() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      _ = try await home.add("Kept", "in 1h")
      let before = try await everything(home)
      for refusal in Self.refusals {
        let answer = try await home.call(refusal.method, refusal.parameters)
        #expect(answer.error == "io.chime." + refusal.error, "\(refusal): \(answer.error ?? "no error") \(answer)")
        if !refusal.mentions.isEmpty {
          let told = String(decoding: try answer.parameters.bytes, as: UTF8.self)
          #expect(told.replacing("\\/", with: "/").contains(refusal.mentions), "\(refusal): \(told)")
          #expect(!told.contains("c2hvcnQ="), "a secret is never repeated")
        }
      }
      #expect(try await everything(home) == before)
      #expect(daemon.process.isRunning)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func titlesInAnyScriptAreAccepted() async throws {
    try await Home.run { home in
      _ = try await home.start()
      for title in ["שתה מים", "اشرب الماء", "喝水 💧", "e\u{301}te\u{301}", "a\u{202E}b"] {
        let id = try await home.add(title, "in 1h")
        #expect(
          try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"]["title"].string == title)
      }
      // Characters that reverse the terminal's writing direction are escaped.
      let listed = try await home.mustRun("list")
      #expect(!listed.unicodeScalars.contains("\u{202E}"))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func titleOfTwoRemindersIsAmbiguous() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let ids = [try await home.add("Twin", "in 1h"), try await home.add("Twin", "in 2h")]
      let answer = try await home.call("io.chime.Reminders.Remove", ["id": "Twin"])
      #expect(answer.error == "io.chime.Reminders.Ambiguous")
      let candidates = answer.parameters["candidates"].elements.compactMap(\.string)
      #expect(ids.allSatisfy { id in candidates.contains { $0.contains(id) } }, "\(candidates)")
      #expect(try await home.answer("io.chime.Reminders.List")["reminders"].elements.count == 2)
      let output = try await home.chime("remove", "Twin", "--yes")
      #expect(output.status == 1)
      #expect(ids.allSatisfy { output.err.contains($0) }, "\(output.err)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func invalidBytesAffectOnlyTheirConnection() async throws {
    try await Home.run { home in
      try home.configure("[control]\nmessageTimeout = \"300ms\"\n")
      let daemon = try await home.start()
      _ = try await home.add("Kept", "in 1h")
      let path = home.socket
      let deep = String(repeating: "[", count: 100_000)
      let bad: [(String, [UInt8])] = [
        ("no JSON", Array("hello".utf8) + [0]),
        ("not an object", Array("[1,2]".utf8) + [0]),
        ("nothing at all", [0]),
        ("no method", Array("{}".utf8) + [0]),
        ("bytes that are no UTF-8", [0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x7D, 0]),
        ("nested without end", Array(#"{"method":"io.chime.Reminders.Get","parameters":{"id":\#(deep)"#.utf8) + [0]),
        ("larger than the limit", [UInt8](repeating: 0x20, count: (1 << 20) + 1)),
        ("half a message, and waiting", Array(#"{"method":"io.chime.Dae"#.utf8)),
      ]
      for (what, bytes) in bad {
        let reply = try await blocking { () -> String? in
          let socket = try RawSocket(path: path)
          socket.send(bytes)
          return try socket.receive().map { String(decoding: $0, as: UTF8.self) }
        }
        // Either the connection is closed, or the reply is a Varlink error.
        if let reply {
          #expect(reply.contains("\"error\""), "\(what): \(reply)")
          #expect(!reply.contains("\"parameters\":{\"reminder"), "\(what): \(reply)")
        }
        #expect(try await home.answer("io.chime.Reminders.List")["reminders"].elements.count == 1, "after: \(what)")
      }
      let unknown: [(String, JSON, String)] = [
        ("io.chime.Reminders.Obliterate", [:], "org.varlink.service.MethodNotFound"),
        ("io.chime.Nothing.Get", [:], "org.varlink.service.InterfaceNotFound"),
        ("io.chime.Reminders.Get", [:], "org.varlink.service.InvalidParameter"),
        ("io.chime.Reminders.Get", ["id": 5], "org.varlink.service.InvalidParameter"),
        ("io.chime.Daemon.Monitor", [:], "org.varlink.service.ExpectedMore"),
      ]
      for (method, parameters, error) in unknown {
        #expect(try await home.call(method, parameters).error == error, "\(method) \(parameters)")
      }
      #expect(daemon.process.isRunning)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func invalidConfigurationStopsTheDaemonWithItsPosition() async throws {
    try await Home.run { home in
      let cases: [(String, String, String)] = [
        ("[log]\nlevel = \"info\"\n\n[defaults]\n  colour = \"red\"\n", ":5:3:", "colour"),
        ("[control]\nmaxConnections = \"many\"\n", ":2:", "number"),
        ("[control]\nmaxConnections = 0\n", ":2:", "from 1"),
        ("[log\n", ":1:", "TOML"),
        ("[defaults]\ntimezone = \"../etc\"\n", ":2:", "zone"),
      ]
      for (toml, place, word) in cases {
        try home.configure(toml)
        for arguments in [[], ["--check"]] {
          let output = try await home.run(Machine.chimed, arguments)
          #expect(output.status == 78, "\(toml) \(arguments): \(output.text)")
          #expect(output.err.contains(home.configuration + place), "\(output.err)")
          #expect(output.err.contains(word), "\(output.err)")
        }
      }
      try home.configure("[log]\nlevel = \"debug\"\n")
      #expect(try await home.run(Machine.chimed, ["--check"]).status == 0)
      let inForce = try await home.run(Machine.chimed, ["--print-config"])
      #expect(inForce.out.contains("chimed.toml:2"), "each value with its origin: \(inForce.out)")
      #expect(try await home.run(Machine.chimed, ["--chekc"]).status == 64)
    }
  }

  /// Returns all state that a client can see.
  private func everything(_ home: Home) async throws -> [JSON] {
    var all: [JSON] = []
    for method in ["Reminders.List", "Occurrences.List", "Deliveries.List", "Endpoints.List"] {
      all.append(try await home.answer("io.chime." + method))
    }
    return all
  }
}
