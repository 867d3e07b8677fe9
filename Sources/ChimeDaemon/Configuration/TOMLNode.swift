/// A value of a TOML file with what is in it.
struct TOMLNode: Hashable, Sendable {
  let entry: TOMLEntry
  /// Of a table its values, each with its name; of an array its elements.
  var children: [TOMLNode] = []

  var value: TOMLEntry.Value { entry.value }
  var isTable: Bool { value == .table }

  subscript(name: String) -> TOMLNode? { isTable ? children.first { $0.entry.name == name } : nil }

  /// The root of a document's entries, which are in the order of `TOMLDocument.entries`; nil for none.
  init?(_ entries: [TOMLEntry]) {
    var open: [TOMLNode] = []
    for entry in entries {
      while let last = open.last, open.count > max(1, entry.depth) {
        open.removeLast()
        open[open.count - 1].children.append(last)
      }
      open.append(TOMLNode(entry: entry))
    }
    while open.count > 1 {
      let last = open.removeLast()
      open[open.count - 1].children.append(last)
    }
    guard let root = open.first else { return nil }
    self = root
  }

  private init(entry: TOMLEntry) { self.entry = entry }
}
