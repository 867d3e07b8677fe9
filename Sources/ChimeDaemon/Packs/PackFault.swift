/// A PackFault is the location of a fault in a pack and the expected value.
package struct PackFault: Hashable, Sendable, CustomStringConvertible {
  package var file: String
  /// The line, from 1; 0 for a fault of the whole file.
  package var line: Int
  package var column: Int
  /// The key, such as `achievement[first_sip].title.cs`; empty for a fault of the whole file. An element without an id is
  /// shown by its number, from 1.
  package var key: String
  /// The message after the key: `has to be a whole number from 1 to 31; here is a string`.
  package var message: String

  package var description: String {
    [line > 0 ? "\(file):\(line):\(column)" : file, key, message].filter { !$0.isEmpty }.joined(separator: ": ")
  }
}

/// All faults of a pack, in the order of the file.
package struct PackFaults: Error, Hashable, Sendable, CustomStringConvertible {
  /// The maximum number of faults; a last one says that there are more.
  package static let most = 200

  package var faults: [PackFault]

  package init(_ faults: [PackFault]) { self.faults = faults }

  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
