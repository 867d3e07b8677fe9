import Foundation
import Testing

/// `chime audit` over a real daemon's history, and over a history with a missing record.
@Suite struct AuditTests {
  private func audit(_ home: Home, _ arguments: String...) async throws -> (status: Int32, audits: [String: JSON]) {
    let output = try await home.run(Machine.chime, ["audit", "--json"] + arguments)
    let audits = try JSON(parsing: output.out)["audits"].elements
    return (output.status, Dictionary(audits.map { ($0["title"].string ?? "", $0) }) { $1 })
  }

  private func sql(_ statement: String, _ home: Home) async throws {
    let output = try await home.run("sqlite3", ["-cmd", ".timeout 10000", home.state + "/chime.db", statement])
    try #require(output.status == 0, "\(output.text)")
  }

  private func count(_ id: String, _ home: Home, _ state: String? = nil) async throws -> Int {
    try await home.record(of: id).count { state == nil || $0.state == state }
  }

  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.has("sqlite3"), "needs sqlite3"))
  func auditExplainsEveryTimeAndFindsAMissingRecord() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let first = try await home.start()
      let empty = try await home.run(Machine.chime, ["audit"])
      #expect(empty.status == 0 && empty.text.contains("Nothing has been due since"), "\(empty.text)")

      let beat = try await home.add("Beat", "every 1s")
      let gone = try await home.add("Gone", "every 1s")
      let later = try await home.add("Later", "at 2096-12-01 09:00")
      try await eventually("both have fired") {
        let (one, other) = (try await count(beat, home), try await count(gone, home))
        return one > 1 && other > 1
      }
      // After edits, a removal, a kill, a restart and a pause, each time still has a record.
      try await home.mustRun("edit", beat, "--when", "every 2s")
      try await home.mustRun("remove", gone)
      let before = try await count(beat, home)
      try await eventually("it has fired since") { try await count(beat, home) > before }
      try await first.crash()
      _ = try await home.start()
      try await eventually("it has fired again") { try await count(beat, home) > before + 2 }
      try await home.mustRun("pause", beat)
      try await eventually("a time is missed") { try await count(beat, home, "missed") > 0 }
      try await home.mustRun("fire", later)

      let (status, audits) = try await audit(home)
      #expect(status == 0)
      for title in ["Beat", "Gone"] {
        let one = try #require(audits[title])
        #expect(one["unexplained"] == 0 && one["uncertain"] == 0, "\(one)")
        #expect(one["times"].int ?? 0 > 1, "\(one)")
      }
      #expect(audits["Beat"]?["versions"] == 2, "a pause is no other schedule: \(audits)")
      #expect(audits["Beat"]?["missed"].elements.contains { $0["reason"] == "paused" } == true, "\(audits)")
      #expect(audits["Gone"]?["removed"] == .bool(true))
      #expect(audits["Later"]?["times"] == 0 && audits["Later"]?["onRequest"] == 1, "\(audits)")
      let said = try await home.mustRun("audit", gone)
      #expect(said.contains("Every time is accounted for.") && said.contains("removed"), "\(said)")
      let unknown = try await home.run(Machine.chime, ["audit", "Nothing of the kind"])
      #expect(unknown.status == 1 && unknown.text.contains("Nothing of the kind"), "\(unknown.text)")

      try await sql(
        "DELETE FROM occurrence WHERE scheduled_at = (SELECT min(scheduled_at) FROM occurrence o "
          + "JOIN reminder_name a ON a.key = o.reminder WHERE a.id = '\(beat)')", home)
      let lost = try await home.run(Machine.chime, ["audit", beat])
      #expect(lost.status == 1, "\(lost.text)")
      #expect(lost.text.contains("No record of") && lost.text.contains("1 time is unexplained."), "\(lost.text)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func invalidAuditPeriodIsRefused() async throws {
    try await Home.run { home in
      _ = try await home.start()
      for (parameters, field) in [
        (["since": "2096-01-01T00:00:00Z"], "since"), (["since": "yesterday"], "since"), (["before": "?"], "before"),
      ] as [([String: JSON], String)] {
        let reply = try await home.call("io.chime.Occurrences.Audit", .object(parameters))
        #expect(reply.error == "io.chime.Occurrences.InvalidValue", "\(reply)")
        #expect(reply.parameters["field"].string == field, "\(reply)")
      }
    }
  }
}
