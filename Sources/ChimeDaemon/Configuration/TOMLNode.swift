/// A value of a TOML file with its children.
struct TOMLNode: Hashable, Sendable {
  let entry: TOMLEntry
  /// The values of a table with their names, or the elements of an array.
  var children: [TOMLNode] = []

  var value: TOMLEntry.Value { entry.value }
  var isTable: Bool { value == .table }

  subscript(name: String) -> TOMLNode? { isTable ? children.first { $0.entry.name == name } : nil }

  /// Builds the tree of a document's entries, which are in the order of `TOMLDocument.entries`. Returns nil if there are none.
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
