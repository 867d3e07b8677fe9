import ChimeCore
import ChimeSchedule

/// All that a connection to a broker needs.
struct MQTTTarget: Hashable, Sendable {
  var address: MQTTAddress
  var user: String?
  var password: String?
  /// The authorities, in PEM, that the broker's certificate has to go back to; nil for those that the system trusts.
  var certificates: String?
  /// What the broker knows it by.
  var client: String
  /// What is said to Home Assistant, in its topic's words; nil: the connection is for one test message.
  var discovery: [UInt8]?

  init(_ access: EndpointAccess, version: String) throws(EndpointURLError) {
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

/// What is to be published for one attempt, at QoS 1; it has arrived when the broker has acknowledged all of it.
struct MQTTJob: Sendable {
  /// Nil for a test message, which has a connection of its own.
  var queue: DeliveryQueue?
  /// Made at the moment it leaves, on the MQTT thread; nil when there is nothing to send after all.
  var prepare: @Sendable () -> MQTTRequest?
  /// Called once on the MQTT thread if `prepare` gave a request or was never asked.
  var finish: @Sendable (MQTTResult) -> Void
}

struct MQTTRequest: Sendable {
  var target: MQTTTarget
  var publications: [MQTTPublication]
}

/// What came of one.
struct MQTTResult: Hashable, Sendable {
  /// The broker's last word on it, a reason code of MQTT 5; nil when it said nothing.
  var code: Int?
  /// A sentence without a full stop; nil when all was taken.
  var failure: String?
  /// Whether nothing could be sent to anybody, for the time being.
  var isImpossible = false
  /// Whether this machine had no descriptor for it just now, which is nobody's failure either.
  var isStarved = false
  /// Whether it was given up because the channel stops or the endpoint is another, which is nobody's failure.
  var isCutShort = false
  var took = Milliseconds.zero
  /// What was dialled.
  var address: String?
}

/// Which faults end a message for good, and which are a matter of time: pure.
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
