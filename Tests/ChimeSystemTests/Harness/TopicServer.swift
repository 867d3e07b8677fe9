import Foundation

/// A server of ntfy that stands in for a real one, and the phones that have its messages.
final class TopicServer {
  let port: Int
  private let home: Home
  private var process: Child

  private init(_ home: Home, _ process: Child, port: Int) {
    (self.home, self.process, self.port) = (home, process, port)
  }

  static func start(in home: Home) async throws -> TopicServer {
    let process = try await spawn(home, port: 0)
    return TopicServer(home, process, port: try await process.saidPort)
  }

  private static func spawn(_ home: Home, port: Int) async throws -> Child {
    try await home.spawn(
      "/usr/bin/python3", [Machine.support("ntfy-server"), String(port), home.path + "/ntfy.cache"])
  }

  /// It is gone, and so are all connections.
  func stop() async throws {
    process.send(SIGKILL)
    _ = try await process.ended()
  }

  /// It is there again, at the same port, with the messages that it had.
  func restart() async throws {
    process = try await Self.spawn(home, port: port)
    _ = try await process.saidPort
  }

  func url(_ topic: String) -> String { "http://127.0.0.1:\(port)/\(topic)" }

  private var said: [JSON] { process.lines.dropFirst().compactMap { try? JSON(parsing: $0) } }

  /// What was published to a topic since it was started last.
  func messages(_ topic: String) -> [JSON] {
    said.filter { $0["topic"].string == topic && $0["event"].string == "message" }
  }

  /// The texts of the messages that stand on the screen of a phone that has the topic.
  func screen(_ topic: String) -> [String] {
    var shown: [(sequence: String, text: String)] = []
    for event in said where event["topic"].string == topic {
      let sequence = event["sequence_id"].string ?? event["id"].string ?? ""
      shown.removeAll { $0.sequence == sequence }
      if event["event"].string == "message" { shown.append((sequence, event["message"].string ?? "")) }
    }
    return shown.map(\.text)
  }

  /// How often something was taken back from a topic.
  func withdrawals(_ topic: String) -> Int {
    said.count { $0["topic"].string == topic && $0["event"].string == "message_clear" }
  }

  /// What its readers asked for since it was started last.
  func readers(_ topic: String) -> [String] {
    said.filter { $0["subscribed"].string == topic }.compactMap { $0["since"].string }
  }

  /// The buttons of a message.
  func buttons(_ message: JSON) -> [JSON] { message["actions"].elements }

  /// Presses one, as a phone does.
  func press(_ button: JSON) async throws {
    try await send(button["body"].string ?? "", to: button["url"].string ?? "")
  }

  func send(_ text: String, to url: String) async throws {
    let done = try await home.run("/usr/bin/curl", ["-sf", "-X", "POST", "--data-binary", text, url])
    guard done.status == 0 else { throw HarnessFailure("curl ended with \(done.status): \(done.text)") }
  }
}
