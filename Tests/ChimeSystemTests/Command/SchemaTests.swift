import Foundation
import Testing

/// The `--json` output of every verb, with little and much data, validated by PyPI's jsonschema against
/// docs/json/chime.schema.json.
@Suite struct SchemaTests {
  @Test(.timeLimit(.minutes(3))) func jsonOfEveryVerbMatchesTheSchema() async throws {
    try #require(Machine.hasClients, "Packaging/dependencies test makes .venv")
    try await Home.run { home in
      try home.configure("[commands.backup]\nprogram = \"/bin/true\"\n[commands.fails]\nprogram = \"/bin/false\"\n")
      _ = try await home.start()
      let folder = home.path + "/files"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let run = try await home.run(
        Machine.clients,
        [Machine.support("every-shape"), Machine.chime, Machine.package + "/docs/json/chime.schema.json", folder],
        within: .seconds(170))
      try #require(run.status == 0, "\(run.text)")
      let found = try run.json
      for fault in found["faults"].elements { Issue.record("\(fault.string ?? "")") }
      #expect(found["unseen"].elements.isEmpty, "outputs that no verb has printed: \(found["unseen"])")
      #expect(found["checked"].int ?? 0 > 250)
      #expect(found["events"].int ?? 0 > 20)
    }
  }
}
