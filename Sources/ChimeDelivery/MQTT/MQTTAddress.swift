import ChimeCore
import ChimeSchedule

/// An MQTTAddress names a broker and a topic prefix, as in `mqtts://broker.lan/home/chime`.
struct MQTTAddress: Hashable, Sendable {
  /// Host without brackets.
  let host: String
  let port: Int
  let isEncrypted: Bool
  let topics: MQTTTopics

  private static let example = "mqtts://broker.lan/chime"
  /// Maximum length of a topic prefix in bytes.
  static let longestPrefix = 200

  /// - Throws: `DeliveryError`, whose sentence says what to write instead.
  init(_ text: String) throws(DeliveryError) {
    try need(
      !text.utf8.contains(UInt8(ascii: "@")),
      "the broker's address contains a name or a password: remove them, and give the name with --user and the "
        + "password with --token-file")
    try need(
      ["mqtt://", "mqtts://"].contains(where: text.lowercased().hasPrefix),
      "the broker's address must begin with mqtts:// or mqtt://, as in \(Self.example)")
    let parts = try EndpointURL.parts(text, Self.example, schemes: ["mqtts", "mqtt"])
    let path = parts.path.dropFirst()
    let levels = path.split(separator: "/", omittingEmptySubsequences: false)
    try need(
      !text.utf8.contains(where: { "?#+$%".utf8.contains($0) }) && (path.isEmpty || levels.allSatisfy({ !$0.isEmpty })),
      "the text after the broker is the prefix of its topics, without + # $ ? % and without empty parts, as in "
        + "\(Self.example)")
    try need(
      path.utf8.count <= Self.longestPrefix,
      "the prefix of topics has at most \(Self.longestPrefix) bytes, not \(path.utf8.count)")
    isEncrypted = parts.scheme == "mqtts"
    port = parts.port ?? (isEncrypted ? 8_883 : 1_883)
    host = String(parts.host.filter { $0 != "[" && $0 != "]" })
    topics = MQTTTopics(prefix: path.isEmpty ? "chime" : String(path))
  }

  /// Whether the host is a numeric address.
  var isNumeric: Bool { NetworkAddress(String(host.prefix { $0 != "%" })) != nil }
}

/// The topics of an endpoint.
struct MQTTTopics: Hashable, Sendable {
  let prefix: String

  /// Retained topic of the open messages.
  var state: String { "\(prefix)/state" }
  /// Topic of events, one message each.
  var event: String { "\(prefix)/event" }
  /// Retained topic with `online` or `offline`. `offline` is the connection's last will.
  var availability: String { "\(prefix)/availability" }
  /// Topic that receives action tokens.
  var command: String { "\(prefix)/command" }
  /// Retained topic of Home Assistant's device discovery.
  static func discovery(_ device: String) -> String { "homeassistant/device/\(device)/config" }
}

extension Endpoint {
  /// The MQTT client id. It is stable while the endpoint keeps its name and address, so that the broker keeps messages
  /// that arrive while no daemon runs. It does not reveal the owner.
  var mqttClient: String {
    let digest = SHA256.digest(
      of: Array("chime mqtt 1\n\(queue.owner)\n\(queue.channel)\n\(createdAt.milliseconds)\n\(url)".utf8))
    return "chime-\(digest.prefix(16))"
  }
}
