import Foundation

/// A stand-in for a Gotify server, and the app that shows its messages.
final class PushServer {
  /// An application token, which sends, and a client token, which deletes.
  static let (application, client) = ("AzPlJ5zwUYpPLGm", "CxJsb3r9NnKqGWs")

  let port: Int
  private let home: Home
  private var process: Child
  /// The output before its last start.
  private var former: [JSON] = []

  private init(_ home: Home, _ process: Child, port: Int) {
    (self.home, self.process, self.port) = (home, process, port)
  }

  static func start(in home: Home) async throws -> PushServer {
    let process = try await spawn(home, port: 0)
    return PushServer(home, process, port: try await process.saidPort)
  }

  private static func spawn(_ home: Home, port: Int) async throws -> Child {
    try await home.spawn(
      "/usr/bin/python3", [Machine.support("gotify-server"), String(port), home.path + "/gotify.json"])
  }

  /// Kills the server, which closes all connections.
  func stop() async throws {
    process.send(SIGKILL)
    _ = try await process.ended()
    former = said
  }

  /// Restarts the server at the same port with its messages.
  func restart() async throws {
    process = try await Self.spawn(home, port: port)
    _ = try await process.saidPort
  }

  var url: String { "http://127.0.0.1:\(port)" }

  private var said: [JSON] { former + process.said.dropFirst() }

  /// The texts of the messages in the app.
  var screen: [String] {
    var shown: [Int: String] = [:]
    for line in said {
      if let id = line["sent"]["id"].int { shown[id] = line["sent"]["message"].string ?? "" }
      if let id = line["deleted"].int { shown[id] = nil }
    }
    return shown.values.sorted()
  }

  /// The number of messages received.
  var sent: Int { said.count { $0["sent"]["id"].int != nil } }
  /// The number of deletion requests, for existing messages or not.
  var deletions: Int { said.count { $0["deleted"].int != nil } }
  /// The number of refused deletions.
  var denials: Int { said.count { $0["denied"].string != nil } }
}
