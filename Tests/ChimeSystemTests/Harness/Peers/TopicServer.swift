import Foundation

/// An ntfy server, a stand-in or a real one, and the phones that subscribe to it.
final class TopicServer {
  enum Kind: Sendable { case standIn, real }

  /// The path of a real server; nil without one (`Tests/Ntfy/run` sets it).
  static let real = ProcessInfo.processInfo.environment["CHIME_NTFY"]

  let kind: Kind
  let port: Int
  private let home: Home
  private var process: Child
  /// For a real server: the process that reads its messages.
  private var reader: Child?

  private init(_ kind: Kind, _ home: Home, _ process: Child, port: Int) {
    (self.kind, self.home, self.process, self.port) = (kind, home, process, port)
  }

  static func start(_ kind: Kind = .standIn, in home: Home) async throws -> TopicServer {
    let server: TopicServer
    switch kind {
    case .standIn:
      let process = try await spawn(home, port: 0)
      server = TopicServer(kind, home, process, port: try await process.saidPort)
    case .real:
      // ntfy cannot pick a free port; this one was free a moment ago.
      let (descriptor, port) = try Loopback.listen(backlog: 1)
      close(descriptor)
      try home.write(
        """
        base-url: "http://127.0.0.1:\(port)"
        listen-http: "127.0.0.1:\(port)"
        cache-file: "\(home.path)/ntfy.db"
        visitor-request-limit-exempt-hosts: "127.0.0.1"

        """, to: home.path + "/ntfy.yml")
      server = TopicServer(kind, home, try await spawnReal(home), port: Int(port))
    }
    try await server.read()
    return server
  }

  private static func spawn(_ home: Home, port: Int) async throws -> Child {
    try await home.spawn(
      "/usr/bin/python3", [Machine.support("ntfy-server"), String(port), home.path + "/ntfy.cache"])
  }

  private static func spawnReal(_ home: Home) async throws -> Child {
    guard let real else { throw HarnessFailure("there is no ntfy") }
    return try await home.spawn(real, ["serve", "--config", home.path + "/ntfy.yml"])
  }

  /// Starts the reader of a real server's messages, from the first.
  private func read() async throws {
    guard kind == .real else { return }
    try await eventually("the server answers", within: .seconds(30)) {
      if let end = process.end { throw HarnessFailure("the server ended with \(end): \(process.errors)") }
      return try await home.run("curl", ["-sf", "http://127.0.0.1:\(port)/v1/health"]).status == 0
    }
    reader = try await home.spawn("curl", ["-sN", url("alerts,answers/json?since=all")])
  }

  /// Kills the server, which closes all connections.
  func stop() async throws {
    process.send(SIGKILL)
    _ = try await process.ended()
  }

  /// Restarts the server at the same port with its messages.
  func restart() async throws {
    switch kind {
    case .standIn:
      process = try await Self.spawn(home, port: port)
      _ = try await process.saidPort
    case .real:
      process = try await Self.spawnReal(home)
      try await read()
    }
  }

  func url(_ topic: String) -> String { "http://127.0.0.1:\(port)/\(topic)" }

  private var said: [JSON] { Array((reader ?? process).said.dropFirst()) }

  /// Returns the messages published to a topic since the last start.
  func messages(_ topic: String) -> [JSON] {
    said.filter { $0["topic"].string == topic && $0["event"].string == "message" }
  }

  /// Returns the texts on the screen of a phone that subscribes to the topic.
  func screen(_ topic: String) -> [String] {
    var shown: [(sequence: String, text: String)] = []
    for event in said where event["topic"].string == topic {
      let sequence = event["sequence_id"].string ?? event["id"].string ?? ""
      shown.removeAll { $0.sequence == sequence }
      if event["event"].string == "message" { shown.append((sequence, event["message"].string ?? "")) }
    }
    return shown.map(\.text)
  }

  /// Returns the number of withdrawals in a topic.
  func withdrawals(_ topic: String) -> Int {
    said.count { $0["topic"].string == topic && $0["event"].string == "message_clear" }
  }

  /// Returns the starting points that its readers requested since the last start.
  func readers(_ topic: String) -> [String] {
    said.filter { $0["subscribed"].string == topic }.compactMap { $0["since"].string }
  }

  /// Returns the buttons of a message.
  func buttons(_ message: JSON) -> [JSON] { message["actions"].elements }

  /// Presses a button as a phone does.
  func press(_ button: JSON) async throws {
    try await send(button["body"].string ?? "", to: button["url"].string ?? "")
  }

  func send(_ text: String, to url: String) async throws {
    let done = try await home.run("/usr/bin/curl", ["-sf", "-X", "POST", "--data-binary", text, url])
    guard done.status == 0 else { throw HarnessFailure("curl ended with \(done.status): \(done.text)") }
  }
}
