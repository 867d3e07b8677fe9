import Foundation
import Testing

/// Adding thousands of reminders at once, with a file and with a database.
@Suite(.serialized) struct AddManyTests {
  /// More than the 2,000 that one call takes.
  private static let count = 2_100

  private func line(_ title: String, _ when: String = "daily at 9:00") -> String {
    "{\"title\": \"\(title)\", \"when\": \"\(when)\", \"channels\": [\"team\"]}\n"
  }

  private func addTwice(_ home: Home) async throws {
    let file = home.path + "/many.jsonl"
    try home.write((1...Self.count).map { line("r\($0)") }.joined(), to: file)
    let added = try await home.chime("add", "--from", file, "--token", "once", "--plain")
    #expect(added.status == 0, "\(added.text.suffix(500))")
    #expect(added.err.hasSuffix("\(Self.count) reminders were added\n"), "\(added.err)")
    #expect(
      added.err.components(separatedBy: "there is no endpoint or command team yet").count == 2, "it is printed once")
    let ids = added.out.split(separator: "\n").dropFirst().compactMap { $0.split(separator: "\t").last }
    #expect(Set(ids).count == Self.count)
    let again = try await home.chime("add", "--from", file, "--token", "once", "--plain")
    #expect(again.out == added.out, "the same token has the first answer")
    let last = try await home.json("show", String(try #require(ids.last)))["reminder"]
    #expect(last["title"].string == "r\(Self.count)")
    #expect(last["next"].string != nil)
    #expect(try await count(home) == Self.count)
  }

  private func count(_ home: Home) async throws -> Int {
    try await home.json("list", "-n", "10000")["reminders"].elements.count
  }

  @Test(.timeLimit(.minutes(2))) func manyRemindersAreAddedAllOrNone() async throws {
    try await Home.run { home in
      _ = try await home.start()
      try await addTwice(home)
      let file = home.path + "/bad.jsonl"
      let lines = (1...2_100).map { line("b\($0)", $0 == 2_050 ? "every 31 feb" : "daily at 9:00") }
      try home.write(lines.joined(), to: file)
      let dry = try await home.chime("add", "--from", file, "--dry-run")
      #expect(dry.status == 1 && dry.err.contains("bad.jsonl:2050: when: "), "\(dry.text)")
      #expect(try await count(home) == Self.count)
      let bad = try await home.chime("add", "--from", file)
      #expect(bad.status == 1 && bad.err.contains("lines 1 to 2000 were added"), "\(bad.text)")
      #expect(try await count(home) == Self.count + 2_000)

      let draft: JSON = ["title": "x", "when": "daily at 9:00"]
      let method = "io.chime.Reminders.AddMany"
      let none = try await home.call(method, ["reminders": .array([])])
      #expect(none.error == "io.chime.Reminders.InvalidValue", "\(none)")
      let many = try await home.call(method, ["reminders": .array(Array(repeating: draft, count: 5_001))])
      #expect(many.error == "io.chime.Reminders.InvalidValue", "\(many)")
      let linked = try await home.call(
        method, ["reminders": [draft, ["title": "y", "when": "daily at 9:00", "tracker": ["tracker": "nothing"]]]])
      #expect(linked.error == "io.chime.Reminders.InvalidDrafts", "\(linked)")
      #expect(linked.parameters["faults"].elements.first?["index"].int == 1, "\(linked)")
      #expect(try await count(home) == Self.count + 2_000)
    }
  }

  @Test(.timeLimit(.minutes(2)), .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
  func databaseAcceptsManyRemindersAtOnce() async throws {
    let server = try await PostgresServer.begin()
    let connection = server.connection(try await server.makeDatabase())
    try await Home.run { home in
      try home.configure("[store]\nengine = \"postgres\"\nconnection = \"\(connection)\"\n")
      _ = try await home.start()
      try await addTwice(home)
    }
  }
}
