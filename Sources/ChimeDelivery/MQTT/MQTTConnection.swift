import CCurl
import CMosquitto
import ChimeSchedule
import Glibc

/// An MQTTConnection wraps a libmosquitto client and buffers its events. Only the MQTT thread uses it.
final class MQTTConnection {
  /// An event of the broker or libmosquitto.
  enum Event {
    /// The reason code of CONNACK.
    case connected(Int)
    case published(number: Int, code: Int)
    /// The reason code of SUBACK.
    case subscribed(Int)
    case came(topic: String, payload: [UInt8], isRetained: Bool)
  }

  /// A fault that ends a connection. The reason is a sentence without a full stop.
  struct Fault: Error {
    var reason: String
    var isImpossible = false
    var isStarved = false

    init(_ reason: String) { self.reason = reason }
  }

  let target: MQTTTarget
  /// The address being dialed.
  let dialled: NetworkAddress
  private let client: OpaquePointer
  private var events: [Event] = []
  /// The reason code of the broker's DISCONNECT.
  private var farewell: Int?
  /// Whether the TCP connection is established.
  private(set) var isDialled = false
  /// Whether CONNACK has arrived.
  private var isAnswered = false
  private let begun = ContinuousClock.now
  private(set) var lastWritten = ContinuousClock.now
  private(set) var lastRead = ContinuousClock.now
  /// When an unanswered ping was sent; nil if none is outstanding.
  private(set) var askedAt: ContinuousClock.Instant?

  /// Keepalive interval in seconds. An idle connection wakes the process twice per interval, for the ping and its
  /// answer.
  static let keepalive = 300
  /// How long the broker keeps the session while no client is connected, in seconds: the lifetime of action tokens.
  private static let session = UInt32(ActionToken.life.rawValue / 1_000)
  /// Limits of received data in bytes: at once, and per second on average. The connection ends if a broker sends more.
  private static let most: Int64 = 1 << 20
  private static let perSecond: Int64 = 16_384

  /// Starts to connect.
  ///
  /// - Parameter certificateFile: Authorities trusted in addition to the system's.
  init(_ target: MQTTTarget, at address: NetworkAddress, certificateFile: String?) throws(Fault) {
    let isTest = target.discovery == nil
    self.target = target
    dialled = address
    let id = isTest ? target.client + "-test" : target.client
    // The box is filled once `self` is complete. No callback comes before the client is driven.
    let box = UnsafeMutablePointer<Unmanaged<MQTTConnection>?>.allocate(capacity: 1)
    box.initialize(to: nil)
    guard let client = chime_mosquitto_new(id, isTest ? 1 : 0, box, Self.calls) else {
      box.deallocate()
      throw Fault("there is not enough memory to connect")
    }
    self.client = client
    self.box = box
    // Unretained: libmosquitto calls back only while the MQTT thread drives the client, which is freed with this
    // object.
    box.pointee = Unmanaged.passUnretained(self)
    try prepare(certificateFile)
    let code = chime_mosquitto_connect(
      client, "\(address)", Int32(target.address.port), Int32(Self.keepalive), isTest ? 0 : Self.session)
    guard code == MOSQ_ERR_SUCCESS.rawValue else { throw fault(code) }
  }

  private let box: UnsafeMutablePointer<Unmanaged<MQTTConnection>?>

  deinit {
    chime_mosquitto_free(client)
    box.deallocate()
  }

  private func prepare(_ certificateFile: String?) throws(Fault) {
    if let user = target.user { chime_mosquitto_login(client, user, target.password) }
    if target.discovery != nil { chime_mosquitto_will(client, target.address.topics.availability, "offline") }
    guard target.address.isEncrypted else { return }
    let isReady = target.address.host.withCString { host in
      Self.withText(target.certificates) { authorities in
        Self.withText(certificateFile) { file in
          chime_mosquitto_tls(
            client,
            chime_mosquitto_tls(
              host: host, is_address: target.address.isNumeric ? 1 : 0, authorities: authorities, file: file))
        }
      }
    }
    guard isReady == 1 else {
      var fault = Fault(
        HTTPFault(code: CURLE_SSL_CACERT_BADFILE, certificateFile: target.certificates == nil ? certificateFile : nil)
          .sentence)
      fault.isImpossible = target.certificates == nil
      throw fault
    }
  }

  private static func withText<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    if let text { text.withCString { body($0) } } else { body(nil) }
  }

  // MARK: Callbacks

  private static let calls = chime_mosquitto_events(
    connected: { context, code in
      MQTTConnection.at(context)?.isAnswered = true
      MQTTConnection.at(context)?.events.append(.connected(Int(code)))
    },
    published: { MQTTConnection.at($0)?.events.append(.published(number: Int($1), code: Int($2))) },
    subscribed: { MQTTConnection.at($0)?.events.append(.subscribed(Int($1))) },
    came: { context, topic, payload, size, isRetained in
      guard let topic else { return }
      let bytes = UnsafeRawBufferPointer(start: payload, count: payload == nil ? 0 : Int(size))
      // A longer payload cannot be a token, so its rest is dropped.
      MQTTConnection.at(context)?.events.append(
        .came(topic: String(cString: topic), payload: Array(bytes.prefix(1_024)), isRetained: isRetained != 0))
    },
    ended: { MQTTConnection.at($0)?.farewell = Int($1) })

  private static func at(_ context: UnsafeMutableRawPointer?) -> MQTTConnection? {
    context?.assumingMemoryBound(to: Unmanaged<MQTTConnection>?.self).pointee?.takeUnretainedValue()
  }

  /// Removes and returns the buffered events.
  func take() -> [Event] {
    defer { events = [] }
    return events
  }

  // MARK: Driving

  var socket: Int32 { chime_mosquitto_socket(client) }
  /// Whether the socket should be polled for writing.
  var wantsWrite: Bool { !isDialled || chime_mosquitto_wants_write(client) != 0 }

  func read() throws(Fault) {
    try noteDialled()
    lastRead = .now
    askedAt = nil
    let socket = socket
    let code = chime_mosquitto_read(client)
    guard code == MOSQ_ERR_SUCCESS.rawValue else { throw fault(code) }
    let seconds = begun.duration(to: .now).components.seconds
    guard chime_socket_received(socket) <= Self.most + Self.perSecond * seconds else {
      throw Fault(
        "the broker sends too much: more than \(Self.most >> 10) KiB, or \(Self.perSecond) bytes in a second")
    }
  }

  func write() throws(Fault) {
    try noteDialled()
    // The TLS handshake starts and continues by reading.
    if !isAnswered, target.address.isEncrypted { try read() }
    guard chime_mosquitto_wants_write(client) != 0 else { return }
    lastWritten = .now
    let code = chime_mosquitto_write(client)
    guard code == MOSQ_ERR_SUCCESS.rawValue else { throw fault(code) }
  }

  private func noteDialled() throws(Fault) {
    guard !isDialled else { return }
    let number = chime_socket_error(socket)
    guard number == 0 else { throw Fault("\(SystemError("connect", number))") }
    isDialled = true
  }

  /// When the next keepalive action is due, if no other traffic occurs.
  var tendAt: ContinuousClock.Instant {
    if let askedAt { return askedAt + .seconds(30) }
    return min(lastRead, lastWritten) + .seconds(Self.keepalive + 1)
  }

  /// Sends a ping if one is due. Throws if the previous ping has no answer.
  func tend() throws(Fault) {
    guard ContinuousClock.now >= tendAt else { return }
    guard askedAt == nil else { throw Fault("the broker does not respond") }
    askedAt = .now
    let code = chime_mosquitto_tend(client)
    guard code == MOSQ_ERR_SUCCESS.rawValue else { throw fault(code) }
  }

  /// - Returns: The packet id, by which `.published` reports the result.
  func publish(_ publication: MQTTPublication) throws(Fault) -> Int {
    var number: Int32 = 0
    let code = publication.payload.withUnsafeBytes { bytes in
      chime_mosquitto_publish(
        client, &number, publication.topic, bytes.baseAddress, Int32(clamping: bytes.count),
        publication.isRetained ? 1 : 0)
    }
    guard code == MOSQ_ERR_SUCCESS.rawValue else { throw fault(code) }
    return Int(number)
  }

  func subscribe(_ topic: String) throws(Fault) {
    let code = chime_mosquitto_subscribe(client, topic)
    guard code == MOSQ_ERR_SUCCESS.rawValue else { throw fault(code) }
  }

  /// Sends DISCONNECT as far as the socket accepts it, without waiting.
  func disconnect(endingSession: Bool) {
    chime_mosquitto_disconnect(client, endingSession ? 1 : 0)
    chime_mosquitto_write(client)
  }

  // MARK: Faults

  /// Maps a libmosquitto error to a fault, with TLS and DISCONNECT details.
  private func fault(_ code: Int32) -> Fault {
    let number = errno
    let verification = chime_mosquitto_verification(client)
    if verification != 0 {
      var fault = HTTPFault(code: CURLE_PEER_FAILED_VERIFICATION, certificateFile: nil)
      fault.verification = Int(verification)
      return Fault(
        [62, 64].contains(verification)
          ? "the broker's certificate is for another name than \(target.address.host)" : fault.sentence)
    }
    if let farewell, farewell >= 128 { return Fault(Self.refusal(farewell, isLogin: !isAnswered)) }
    switch code {
    case MOSQ_ERR_ERRNO.rawValue where [EMFILE, ENFILE].contains(number):
      var fault = Fault("no file descriptor is free for a connection")
      fault.isStarved = true
      return fault
    case MOSQ_ERR_ERRNO.rawValue where number != 0: return Fault("\(SystemError("connection", number))")
    case MOSQ_ERR_TLS.rawValue:
      let detail = String(cString: chime_mosquitto_complaint(client))
      return Fault("TLS with the broker fails: \(detail.isEmpty ? "it gives no reason" : PlainText.sentence(detail))")
    case MOSQ_ERR_CONN_LOST.rawValue, MOSQ_ERR_ERRNO.rawValue: return Fault("the broker has ended the connection")
    case MOSQ_ERR_QOS_NOT_SUPPORTED.rawValue: return Fault(Self.refusal(0x9B))
    case MOSQ_ERR_PROTOCOL.rawValue, MOSQ_ERR_MALFORMED_PACKET.rawValue:
      return Fault("the server does not speak MQTT 5")
    default: return Fault(PlainText.sentence(String(cString: chime_mosquitto_strerror(code))))
    }
  }

  /// Returns a sentence that explains an MQTT 5 reason code (section 2.4) to the user.
  ///
  /// - Parameter isLogin: Whether the code refuses the connection rather than a message.
  static func refusal(_ code: Int, isLogin: Bool = false) -> String {
    switch code {
    // Codes 1, 4 and 5 are those of CONNACK in MQTT 3.1.1. Older brokers answer with them.
    case 1, 0x84: "the broker does not speak MQTT 5"
    case 4, 5, 0x86,
      0x87 where isLogin:
      "the broker rejects the log-in: give the name with --user and its password with --token-file"
    case 0x87: "the broker does not permit it: the user needs the right (docs/mqtt.md describes which)"
    case 0x8E: "another client has connected with the same id"
    case 0x9B: "the broker rejects QoS 1, with which it confirms arrival: allow it there (max_qos)"
    default: "the broker rejects it: \(PlainText.sentence(String(cString: chime_mosquitto_reason(Int32(code)))))"
    }
  }
}

extension HTTPFault {
  /// Creates a TLS fault that did not come from libcurl.
  fileprivate init(code: CURLcode, certificateFile: String?) {
    self.init(code: code, detail: "OpenSSL")
    self.certificateFile = certificateFile
  }
}
