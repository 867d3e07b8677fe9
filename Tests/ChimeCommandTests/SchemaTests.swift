import Foundation
import Testing

@testable import ChimeCommand

/// The JSON Schema of what `--json` prints, held to what the command prints it from.
@Suite struct SchemaTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "docs/json/chime.schema.json")

  private func definitions() throws -> [String: [String: Any]] {
    let schema = try JSONSerialization.jsonObject(with: Data(contentsOf: Self.file)) as? [String: Any]
    return try #require(schema?["$defs"] as? [String: [String: Any]])
  }

  /// Each field of a shape is there, with the same words, and nothing else is.
  private func hold<Value>(_ shape: Shape<Value>, _ name: String? = nil) throws {
    let name = name ?? shape.item
    let definition = try #require(try definitions()[name], "\(name) is not in docs/json/chime.schema.json")
    let properties = try #require(definition["properties"] as? [String: [String: Any]])
    #expect(Set(properties.keys) == Set(shape.fields.map(\.name)), "\(name)")
    #expect(Set(definition["required"] as? [String] ?? []) == Set(shape.fields.map(\.name)), "\(name)")
    #expect(definition["additionalProperties"] as? Bool == false, "\(name)")
    for field in shape.fields {
      #expect(properties[field.name]?["description"] as? String == field.summary, "\(name).\(field.name)")
    }
  }

  @Test func everyShapeIsInTheSchema() throws {
    let words = TrackerWords(tongue: Tongue(languages: ["en"]))
    try hold(Shapes.reminder)
    try hold(Shapes.addedLine)
    try hold(Shapes.imported)
    try hold(Shapes.importRemark)
    try hold(Shapes.setChange, "setChange")
    try hold(Shapes.setFile, "setFile")
    try hold(Shapes.coming)
    try hold(Shapes.occurrence)
    try hold(Shapes.reason)
    try hold(Shapes.delivery)
    try hold(Shapes.attempt)
    try hold(Shapes.endpoint)
    try hold(Shapes.rotation)
    try hold(Shapes.template)
    try hold(Shapes.test, "endpointTest")
    try hold(Shapes.command)
    try hold(Shapes.commandTest, "commandTest")
    try hold(Shapes.snapshot)
    try hold(Shapes.health)
    try hold(Shapes.fleet)
    try hold(Shapes.daemon)
    try hold(Shapes.share)
    try hold(Shapes.owedChannel)
    try hold(Shapes.event)
    try hold(Shapes.finding)
    try hold(Shapes.tracker(words))
    try hold(Shapes.standing(words))
    try hold(Shapes.change(words))
    try hold(Shapes.entry)
    try hold(Shapes.day(words), "dayView")
    try hold(Shapes.dayMark, "dayMark")
    try hold(Shapes.dayTotal, "dayTotal")
    try hold(Shapes.statistics(words))
    try hold(Shapes.achievement(words))
    try hold(Shapes.level)
    try hold(Shapes.packStreak)
    try hold(Shapes.item)
    try hold(Shapes.milestone)
    try hold(Shapes.pack(words))
    try hold(Shapes.fault)
    try hold(Shapes.undoable)
    try hold(Shapes.contents)
  }

  /// Each verb that prints JSON has its output there, and each output is a verb's.
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
