/// Where a pack is wrong, and what was expected there.
package struct PackFault: Hashable, Sendable, CustomStringConvertible {
  package var file: String
  /// From 1; 0 for what is about the whole file.
  package var line: Int
  package var column: Int
  /// `achievement[first_sip].title.cs`; empty for what is about the whole file. An element without an id has its number in
  /// the file, from 1.
  package var key: String
  /// Without the key, which stands before it: `has to be a whole number from 1 to 31; here is a string`.
  package var message: String

  package init(file: String, line: Int, column: Int, key: String, message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.key = key
    self.message = message
  }

  package var description: String {
    [line > 0 ? "\(file):\(line):\(column)" : file, key, message].filter { !$0.isEmpty }.joined(separator: ": ")
  }
}

/// All that is wrong with a pack, in the order of the file.
package struct PackFaults: Error, Hashable, Sendable, CustomStringConvertible {
  /// More than these nobody reads; a last one says so.
  package static let most = 200

  package var faults: [PackFault]

  package init(_ faults: [PackFault]) { self.faults = faults }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
