import Foundation

/// A folder for one test, deleted with its content when the test is over.
final class Folder: Sendable {
  let path: String

  init() throws {
    path = RunFolder.url.appendingPathComponent("chime-store-" + UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The names of its files, sorted.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

  func bytes(_ name: String) -> Data? { FileManager.default.contents(atPath: path + "/" + name) }

  func put(_ data: Data, _ name: String) throws {
    try data.write(to: URL(fileURLWithPath: path + "/" + name))
  }
}
