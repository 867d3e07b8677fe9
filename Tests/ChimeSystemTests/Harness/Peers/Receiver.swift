import Foundation

/// A webhook receiver in Python, which verifies each request with PyPI's standardwebhooks and svix.
struct Receiver: Sendable {
  var address = "127.0.0.1"
  let port: Int
  private let process: Child

  /// A secret as in Standard Webhooks: `whsec_` and base64 of at least 24 bytes.
  static let secret = "whsec_" + Data((1...32).map { UInt8($0) }).base64EncodedString()

  var url: String { "http://\(address):\(port)/hook" }

  struct Request: Sendable {
    /// When its headers had arrived, in seconds since 1970.
    let at: Double
    let headers: JSON
    let body: JSON
    let path: String
    let answered: Int
    /// "ok" twice if both libraries accept the signature.
    let verdicts: [String]
    var id: String { headers["webhook-id"].string ?? "" }
  }

  /// - Parameters:
  ///   - answers: the statuses of the first responses; later ones are 204.
  ///   - bodies: the bodies of the first responses, with status 200 instead.
  ///   - isHeld: whether responses wait for `Home.releaseReceiver`.
  ///   - prefix: a command that runs the receiver, such as nsenter(1).
  ///   - address: an address of this machine.
  static func start(
    in home: Home, answering answers: [Int] = [], saying bodies: [String] = [], isHeld: Bool = false,
    behind prefix: [String] = [], at address: String = "127.0.0.1"
  ) async throws -> Receiver {
    let file = home.path + "/receiver.secret"
    try home.write(secret, to: file)
    if isHeld { try home.write("", to: file + ".hold") }
    let words =
      prefix + [Machine.clients, Machine.support("webhook-receiver"), file] + answers.map(String.init)
      + bodies.map { "200:" + $0 }
    let process = try await home.spawn(
      words[0], Array(words.dropFirst()), environment: ["RECEIVER_ADDRESS": address])
    return Receiver(address: address, port: try await port(of: process), process: process)
  }

  /// Starts a receiver in a container, reachable only there.
  static func start(on machine: BootedSystem, answering answers: [Int] = []) async throws -> Receiver {
    try machine.write(secret, to: "/srv/receiver.secret", mode: 0o600)
    let process = try await machine.spawn(
      "/srv/clients/bin/python", ["/srv/support/webhook-receiver", "/srv/receiver.secret"] + answers.map(String.init))
    return Receiver(port: try await port(of: process), process: process)
  }

  private static func port(of process: Child) async throws -> Int {
    try await eventually("the receiver says its port") { () -> Int? in
      if let end = process.end { throw HarnessFailure("the receiver ended with \(end): \(process.errors)") }
      return try process.lines.first.map { try JSON(parsing: $0)["port"].int } ?? nil
    }
  }

  var requests: [Request] {
    process.output.split(separator: "\n").dropFirst().compactMap { line in
      guard let seen = try? JSON(parsing: String(line)) else { return nil }
      return Request(
        at: seen["at"].number ?? 0, headers: seen["headers"],
        body: (try? JSON(parsing: seen["body"].string ?? "")) ?? .null,
        path: seen["path"].string ?? "", answered: seen["answered"].int ?? 0,
        verdicts: [seen["standardwebhooks"].string ?? "", seen["svix"].string ?? ""])
    }
  }
}

extension Receiver {
  /// The event types received for each reminder, by title, in order of first arrival.
  var told: [String: [String]] {
    var seen: Set<String> = []
    return requests.filter { $0.answered == 204 && seen.insert($0.id).inserted }.reduce(into: [:]) {
      $0[$1.body["data"]["title"].string ?? "", default: []].append($1.body["type"].string ?? "")
    }
  }
}

extension Home {
  /// Releases the responses of a held receiver.
  func releaseReceiver() { unlink(path + "/receiver.secret.hold") }

  /// Changes the secret or public key with which receivers verify.
  func verify(with secret: String) throws { try write(secret, to: path + "/receiver.secret") }

  /// Adds the receiver as an endpoint.
  func addEndpoint(_ name: String, _ receiver: Receiver) async throws {
    _ = try await answer(
      "io.chime.Endpoints.Put",
      ["name": .string(name), "url": .string(receiver.url), "secret": .string(Receiver.secret)])
  }

  /// Adds a reminder and returns its id.
  func add(_ title: String, _ when: String, to channels: [String] = ["desktop"], token: String? = nil) async throws
    -> String
  {
    let answer = try await answer(
      "io.chime.Reminders.Add",
      [
        "reminder": [
          "title": .string(title), "when": .string(when), "channels": .array(channels.map(JSON.string)),
        ], "token": token.map(JSON.string) ?? .null,
      ])
    guard let id = answer["reminder"]["id"].string else { throw HarnessFailure("no id in \(answer)") }
    return id
  }

  /// Returns the newest occurrence of a reminder; null if there is none.
  func latestOccurrence(of reminder: String) async throws -> JSON {
    try await answer("io.chime.Occurrences.List", ["filter": ["reminder": .string(reminder)]])["occurrences"][0]
  }
}
