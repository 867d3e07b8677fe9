import Foundation
import Testing

@testable import ChimeCommand

/// Compares the JSON Schema of the `--json` output with the table of verbs.
@Suite struct SchemaTests {
  private static let file = URL(filePath: Package.folder).appending(path: "docs/json/chime.schema.json")

  private func definitions() throws -> [String: [String: Any]] {
    let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: Self.file)) as? [String: Any]
    return try #require(schema?["$defs"] as? [String: [String: Any]])
  }

  /// Each verb that prints JSON has its output in the schema, and each output belongs to a verb.
  @Test func everyVerbIsInTheSchema() throws {
    var names: Set<String> = []
    for verb in CommandTable.standard.verbs {
      for path in [[verb]] + verb.subverbs.map({ [verb, $0] }) {
        let name = "output-of-" + path.map(\.name).joined(separator: "-")
        let isThere = try definitions()[name] != nil
        if path.last?.json != nil { #expect(isThere, "\(name) is not in docs/json/chime.schema.json") }
        names.insert(name)
      }
    }
    for name in try definitions().keys where name.hasPrefix("output-of-") { #expect(names.contains(name), "\(name)") }
  }
}
