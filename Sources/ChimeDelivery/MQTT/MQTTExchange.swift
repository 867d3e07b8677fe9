import ChimeCore
import ChimeSchedule

/// The parameters of a connection to a broker.
struct MQTTTarget: Hashable, Sendable {
  var address: MQTTAddress
  var user: String?
  var password: String?
  /// PEM authorities for the broker's certificate; nil for the system's.
  var certificates: String?
  /// The MQTT client id.
  var client: String
  /// Payload of Home Assistant's discovery topic; nil for the connection of a test message.
  var discovery: [UInt8]?

  init(_ access: EndpointAccess, version: String) throws(DeliveryError) {
    let (endpoint, settings) = (access.endpoint, access.endpoint.settings)
    address = try MQTTAddress(endpoint.url)
    user = settings.user
    password = settings.user == nil ? nil : access.token?.text
    certificates = settings.certificates
    client = endpoint.mqttClient
    discovery =
      MQTTDiscovery(
        device: client, name: "Chime (\(endpoint.queue.channel))", topics: address.topics, version: version
      ).bytes
  }

  var redaction: Redaction { Redaction(token: password) }
}

struct MQTTPublication: Hashable, Sendable {
  var topic: String
  var payload: [UInt8]
  var isRetained = false
}

/// The publications of one attempt, at QoS 1. They are delivered once the broker has acknowledged all of them.
struct MQTTJob: Sendable {
  /// The endpoint's queue; nil for a test message, which uses a connection of its own.
  var queue: DeliveryQueue?
  /// Builds the request on the MQTT thread as it is sent; nil if there is nothing to send.
  var prepare: @Sendable () -> MQTTRequest?
  /// Called once on the MQTT thread, unless `prepare` returned nil.
  var finish: @Sendable (MQTTResult) -> Void
}

struct MQTTRequest: Sendable {
  var target: MQTTTarget
  var publications: [MQTTPublication]
}

/// The result of an MQTTJob.
struct MQTTResult: Hashable, Sendable {
  /// The broker's last reason code (MQTT 5); nil if it sent none.
  var code: Int?
  /// A sentence without a full stop; nil if everything was acknowledged.
  var failure: String?
  /// Whether nothing can be sent to any broker at present.
  var isImpossible = false
  /// Whether the machine had no descriptor left, which does not count as a failed attempt.
  var isStarved = false
  /// Whether the channel stopped or the endpoint changed, which does not count as a failed attempt.
  var isCutShort = false
  var took = Milliseconds.zero
  /// The address that was dialed.
  var address: String?
}

/// Maps the result of an attempt to the delivery's next step, as a pure function.
///
///     acknowledged → settled · the message itself is refused → given up · quota → a minute · all else → the retry schedule
struct MQTTVerdict: Hashable, Sendable {
  var outcome = Attempt.Outcome.failed
  var next = ChannelReport.NextStep.retry

  init(_ result: MQTTResult) {
    guard result.failure != nil else {
      (outcome, next) = (.delivered, .settled)
      return
    }
    if result.isCutShort { (outcome, next) = (.refused, .blocked(.seconds(1))) }
    if result.isStarved { (outcome, next) = (.refused, .blocked(.seconds(30))) }
    if result.isImpossible { (outcome, next) = (.refused, .blocked(.minutes(5))) }
    // Topic name invalid, packet too large, payload format invalid; quota exceeded (MQTT 5.0, section 2.4).
    if let code = result.code, [0x90, 0x95, 0x99].contains(code) { next = .giveUp }
    if result.code == 0x97 { next = .retryAfter(.minutes(1)) }
  }
}
