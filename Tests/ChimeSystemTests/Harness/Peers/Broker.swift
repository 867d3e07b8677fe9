import Foundation

/// An MQTT broker (mosquitto), with an observer subscribed to all topics.
final class Broker {
  /// A message on the broker.
  struct Message {
    let topic: String
    let payload: String
    let isRetained: Bool

    var body: JSON { (try? JSON(parsing: payload)) ?? .null }
  }

  static let isThere = Machine.has("mosquitto") && Machine.has("mosquitto_sub") && Machine.has("openssl")

  let port: Int
  /// The path of its self-signed certificate; nil without TLS.
  let certificate: String?
  private let home: Home
  private let folder: String
  private var process: Child
  private var observer: Child?

  private init(_ home: Home, port: Int, certificate: String?, folder: String, _ process: Child) {
    (self.home, self.port, self.certificate, self.folder, self.process) = (home, port, certificate, folder, process)
  }

  /// - Parameters:
  ///   - login: the required login, `NAME:PASSWORD`.
  ///   - rules: the permissions in `acl_file` format; nil allows everything.
  ///   - most: the highest supported quality of service.
  ///   - names: the subjectAltName of its certificate; nil disables TLS.
  static func start(
    in home: Home, login: String? = nil, rules: String? = nil, qualityUpTo most: Int = 2, names: String? = nil
  ) async throws -> Broker {
    let folder = home.path + "/broker"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // mosquitto cannot pick a free port; this one was free a moment ago.
    let (descriptor, number) = try Loopback.listen(backlog: 1)
    close(descriptor)
    let user = try await home.run("id", ["-un"]).out.trimmingCharacters(in: .whitespacesAndNewlines)
    var lines = [
      "listener \(number) 127.0.0.1", "allow_anonymous \(login == nil)", "user \(user)", "persistence true",
      "persistence_location \(folder)/", "autosave_interval 1", "autosave_on_changes true", "log_dest stderr",
      // A flood must arrive completely.
      "max_queued_messages 2000000", "max_qos \(most)",
    ]
    if let login {
      try home.write(login + "\n", to: folder + "/passwords")
      let done = try await home.run("mosquitto_passwd", ["-U", folder + "/passwords"])
      guard done.status == 0 else { throw HarnessFailure("mosquitto_passwd: \(done.text)") }
      lines.append("password_file \(folder)/passwords")
    }
    if let rules {
      try home.write(rules + "\n", to: folder + "/rules")
      lines.append("acl_file \(folder)/rules")
    }
    var certificate: String?
    if let names {
      let (file, key) = (folder + "/broker.pem", folder + "/broker.key")
      let made = try await home.run(
        "openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
          file, "-days", "3650", "-subj", "/CN=broker", "-addext", "subjectAltName=\(names)",
        ])
      guard made.status == 0 else { throw HarnessFailure("openssl: \(made.text)") }
      lines += ["certfile \(file)", "keyfile \(key)"]
      certificate = file
    }
    try home.write(lines.joined(separator: "\n") + "\n", to: folder + "/mosquitto.conf")
    let process = try await spawn(home, folder)
    return Broker(home, port: Int(number), certificate: certificate, folder: folder, process)
  }

  private static func spawn(_ home: Home, _ folder: String) async throws -> Child {
    let process = try await home.spawn("mosquitto", ["-c", folder + "/mosquitto.conf"])
    try await eventually("the broker is there") {
      if let end = process.end { throw HarnessFailure("the broker ended with \(end): \(process.errors)") }
      return process.errors.contains(" running")
    }
    return process
  }

  /// Stops the broker, which closes all connections.
  func stop(_ signal: Int32 = SIGTERM) async throws {
    process.send(signal)
    _ = try await process.ended()
  }

  /// Restarts the broker with its persistent state.
  func restart() async throws { process = try await Self.spawn(home, folder) }

  func url(_ prefix: String = "chime") -> String {
    "\(certificate == nil ? "mqtt" : "mqtts")://127.0.0.1:\(port)/\(prefix)"
  }

  private func words(_ login: String?) -> [String] {
    var words = ["-h", "127.0.0.1", "-p", String(port), "-V", "mqttv5"]
    if let login {
      let parts = login.split(separator: ":").map(String.init)
      words += ["-u", parts[0], "-P", parts[1]]
    }
    return words
  }

  /// Starts the observer, which also receives retained messages.
  func listen(as login: String? = nil) async throws {
    observer = try await home.spawn("mosquitto_sub", words(login) + ["-t", "#", "-q", "1", "-F", "%j"])
    try await send("ready", to: "test/ready", as: login, "-r")
    try await eventually("somebody listens") { messages("test/ready").isEmpty == false }
  }

  /// All observed messages, in order.
  var messages: [Message] {
    (observer?.said ?? []).compactMap { json in
      guard let topic = json["topic"].string else { return nil }
      return Message(topic: topic, payload: json["payload"].string ?? "", isRetained: json["retain"].int == 1)
    }
  }

  func messages(_ topic: String) -> [Message] { messages.filter { $0.topic == topic } }

  /// Returns the last message of a retained topic.
  func state(_ topic: String = "chime/state") -> JSON { messages(topic).last?.body ?? .null }

  func send(_ text: String, to topic: String = "chime/command", as login: String? = nil, _ more: String...) async throws
  {
    let done = try await home.run("mosquitto_pub", words(login) + ["-q", "1", "-t", topic, "-m", text] + more)
    guard done.status == 0 else { throw HarnessFailure("mosquitto_pub: \(done.text)") }
  }

  /// Publishes each line of a file as fast as the broker accepts them.
  func flood(_ file: String, to topic: String = "chime/command") async throws -> Child {
    let words = (["mosquitto_pub"] + words(nil) + ["-q", "1", "-t", topic, "-l"]).joined(separator: " ")
    return try await home.spawn("/bin/sh", ["-c", "exec \(words) < \(file)"])
  }
}
