import Foundation

/// A Matrix homeserver with users in its rooms: a stand-in, or Synapse.
final class Homeserver {
  enum Kind: String, Sendable { case standIn = "stand-in", synapse }

  struct Account {
    let user: String
    let token: String
  }

  /// A Python with Synapse; nil without one (`Tests/Matrix/run` installs it).
  static let synapse = [
    ProcessInfo.processInfo.environment["CHIME_SYNAPSE"], Machine.package + "/.build/synapse/bin/python",
  ].compactMap { $0 }.first { FileManager.default.isExecutableFile(atPath: $0) }

  let kind: Kind
  let port: Int
  private let home: Home
  private var process: Child
  private var count = 0

  private init(_ kind: Kind, _ home: Home, _ process: Child, port: Int) {
    (self.kind, self.home, self.process, self.port) = (kind, home, process, port)
  }

  static func start(_ kind: Kind = .standIn, in home: Home) async throws -> Homeserver {
    // Synapse cannot pick a free port; this one was free a moment ago.
    let (descriptor, port) = try Loopback.listen(backlog: 1)
    close(descriptor)
    if kind == .synapse { try prepareSynapse(home, port: Int(port)) }
    return Homeserver(kind, home, try await spawn(kind, home, port: Int(port)), port: Int(port))
  }

  private static func prepareSynapse(_ home: Home, port: Int) throws {
    let folder = home.path + "/synapse"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try home.write(
      """
      server_name: "stand.in"
      pid_file: \(folder)/pid
      listeners: [{port: \(port), bind_addresses: ["127.0.0.1"], type: http, tls: false, resources: [{names: [client]}]}]
      database: {name: sqlite3, args: {database: \(folder)/db}}
      media_store_path: \(folder)/media
      signing_key_path: \(folder)/key
      registration_shared_secret: "a"
      macaroon_secret_key: "b"
      form_secret: "c"
      report_stats: false
      trusted_key_servers: []
      enable_registration: true
      enable_registration_without_verification: true
      rc_message: {per_second: 1000, burst_count: 1000}
      rc_registration: {per_second: 1000, burst_count: 1000}
      rc_invites: {per_user: {per_second: 1000, burst_count: 1000}, per_room: {per_second: 1000, burst_count: 1000}}

      """, to: folder + "/homeserver.yaml")
  }

  private static func spawn(_ kind: Kind, _ home: Home, port: Int) async throws -> Child {
    let process: Child
    switch kind {
    case .standIn:
      process = try await home.spawn(
        "/usr/bin/python3", [Machine.support("matrix-server"), String(port), home.path + "/matrix.json"])
    case .synapse:
      guard let python = synapse else { throw HarnessFailure("there is no Synapse") }
      process = try await home.spawn(
        python,
        ["-m", "synapse.app.homeserver", "-c", home.path + "/synapse/homeserver.yaml", "--generate-keys"])
      _ = try await process.ended()
      return try await listening(
        home.spawn(python, ["-m", "synapse.app.homeserver", "-c", home.path + "/synapse/homeserver.yaml"]), home, port)
    }
    return try await listening(process, home, port)
  }

  private static func listening(_ process: Child, _ home: Home, _ port: Int) async throws -> Child {
    try await eventually("the homeserver answers", within: .seconds(90), every: .milliseconds(50)) {
      if let end = process.end { throw HarnessFailure("the homeserver ended with \(end): \(process.errors)") }
      return try await home.run("/usr/bin/curl", ["-s", "http://127.0.0.1:\(port)/_matrix/client/versions"]).status == 0
    }
    return process
  }

  /// Kills the server, which closes all connections.
  func stop() async throws {
    process.send(SIGKILL)
    _ = try await process.ended()
  }

  /// Restarts the server at the same port with its data.
  func restart() async throws {
    process =
      switch kind {
      case .standIn: try await Self.spawn(kind, home, port: port)
      case .synapse:
        try await Self.listening(
          home.spawn(
            Self.synapse ?? "", ["-m", "synapse.app.homeserver", "-c", home.path + "/synapse/homeserver.yaml"]),
          home, port)
      }
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// Returns the requests to a path of the stand-in since its last start.
  func requests(_ path: String) -> [JSON] {
    process.said.dropFirst().filter { $0["path"].string == path }
  }

  /// Makes the stand-in misbehave; nil for both ends that.
  func misbehave(sync: String? = nil, send: String? = nil) async throws {
    let mode: JSON = ["sync": sync.map(JSON.string) ?? .null, "send": send.map(JSON.string) ?? .null]
    _ = try await post("POST", url + "/test/mode", mode, token: nil)
  }

  // MARK: People

  private func post(_ method: String, _ url: String, _ body: JSON?, token: String?) async throws -> JSON {
    var words = ["-s", "-X", method, url]
    if let token { words += ["-H", "Authorization: Bearer \(token)"] }
    if let body { words += ["--data-binary", String(decoding: try body.bytes, as: UTF8.self)] }
    let done = try await home.run("/usr/bin/curl", words)
    guard done.status == 0 else { throw HarnessFailure("curl ended with \(done.status): \(done.text)") }
    return try JSON(parsing: done.out)
  }

  @discardableResult
  func ask(_ who: Account?, _ method: String, _ path: [String], _ body: JSON? = nil, query: String = "") async throws
    -> JSON
  {
    let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
    let parts = path.map { $0.addingPercentEncoding(withAllowedCharacters: allowed) ?? "" }
    return try await post(
      method, "\(url)/_matrix/client/v3/\(parts.joined(separator: "/"))\(query)", body, token: who?.token)
  }

  func register(_ name: String) async throws -> Account {
    let made = try await ask(
      nil, "POST", ["register"], ["username": .string(name), "password": "secret", "auth": ["type": "m.login.dummy"]])
    guard let user = made["user_id"].string, let token = made["access_token"].string else {
      throw HarnessFailure("nobody was registered: \(made)")
    }
    return Account(user: user, token: token)
  }

  func room(by who: Account, inviting others: [Account] = [], isEncrypted: Bool = false) async throws -> String {
    let encryption: JSON = [
      "type": "m.room.encryption", "state_key": "", "content": ["algorithm": "m.megolm.v1.aes-sha2"],
    ]
    let made = try await ask(
      who, "POST", ["createRoom"],
      [
        "preset": "private_chat", "invite": .array(others.map { .string($0.user) }),
        "initial_state": .array(isEncrypted ? [encryption] : []),
      ])
    guard let room = made["room_id"].string else { throw HarnessFailure("no room was made: \(made)") }
    return room
  }

  func join(_ who: Account, _ room: String) async throws { try await ask(who, "POST", ["join", room], [:]) }

  @discardableResult
  func send(_ who: Account, _ room: String, _ kind: String, _ content: JSON) async throws -> String {
    count += 1
    let sent = try await ask(who, "PUT", ["rooms", room, "send", kind, "test\(count)\(UUID())"], content)
    guard let id = sent["event_id"].string else { throw HarnessFailure("nothing was sent: \(sent)") }
    return id
  }

  @discardableResult
  func react(_ who: Account, _ room: String, to event: String, _ key: String) async throws -> String {
    try await send(
      who, room, "m.reaction",
      ["m.relates_to": ["rel_type": "m.annotation", "event_id": .string(event), "key": .string(key)]])
  }

  @discardableResult
  func reply(_ who: Account, _ room: String, to event: String, _ text: String) async throws -> String {
    try await send(
      who, room, "m.room.message",
      [
        "msgtype": "m.text", "body": .string(text), "m.relates_to": ["m.in_reply_to": ["event_id": .string(event)]],
      ])
  }

  /// Returns a sender's messages in a room, oldest first, as a member sees them.
  func messages(_ who: Account, _ room: String, by sender: Account) async throws -> [JSON] {
    try await ask(who, "GET", ["rooms", room, "messages"], query: "?dir=b&limit=500")["chunk"].elements.reversed()
      .filter { $0["type"].string == "m.room.message" && $0["sender"].string == sender.user }
  }

  /// Returns the texts of a sender's messages after their last edits, without redacted ones.
  func screen(_ who: Account, _ room: String, by sender: Account) async throws -> [(id: String, text: String)] {
    var shown: [(id: String, text: String)] = []
    for event in try await messages(who, room, by: sender) {
      let relation = event["content"]["m.relates_to"]
      if relation["rel_type"].string == "m.replace" {
        let text = event["content"]["m.new_content"]["body"].string ?? ""
        for index in shown.indices where shown[index].id == relation["event_id"].string { shown[index].text = text }
      } else if let text = event["content"]["body"].string {
        shown.append((event["event_id"].string ?? "", text))
      }
    }
    return shown
  }
}
