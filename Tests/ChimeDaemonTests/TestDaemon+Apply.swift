import ChimeControl
import ChimeCore
import ChimeTracking
import Glibc

// Requests about sets.
extension TestDaemon {
  func exported() throws -> String {
    try call(RemindersInterface.Export(format: "toml")).text
  }

  /// Returns the changes of a set, a line for each.
  static func summary(_ reply: RemindersInterface.Apply.Reply) -> [String] {
    reply.changes.map { change in
      "\(change.action) \(change.kind) \(change.id ?? "?"): "
        + change.fields.map { "\($0.name) \($0.old ?? "nil") \($0.new ?? "nil")" }.joined(separator: "; ")
    }
  }

  func trackers() async throws -> [String: Tracker] {
    try await store.read { transaction in
      Dictionary(uniqueKeysWithValues: try transaction.trackers(owner: getuid()).map { ($0.id.rawValue, $0) })
    }
  }
}
