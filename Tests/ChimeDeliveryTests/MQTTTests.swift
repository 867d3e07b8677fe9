import ChimeCore
import ChimeSchedule
import Foundation
import Glibc
import Testing

@testable import ChimeDelivery

@Suite struct MQTTRulesTests {
  @Test(arguments: [
    ("mqtt://broker.lan", "broker.lan", 1_883, false, "chime/state"),
    ("mqtt://broker.lan/", "broker.lan", 1_883, false, "chime/state"),
    ("mqtts://broker.lan/home/chime", "broker.lan", 8_883, true, "home/chime/state"),
    ("MQTTS://broker.lan:8884/a", "broker.lan", 8_884, true, "a/state"),
    ("mqtt://[::1]:1884/a", "::1", 1_884, false, "a/state"),
    ("mqtt://127.0.0.1/a", "127.0.0.1", 1_883, false, "a/state"),
  ])
  func parsesAddresses(_ text: String, _ host: String, _ port: Int, _ isEncrypted: Bool, _ state: String) throws {
    #expect(Endpoint.Kind(of: text) == .mqtt)
    let address = try MQTTAddress(text)
    #expect(address.host == host && address.port == port && address.isEncrypted == isEncrypted)
    #expect(address.topics.state == state)
    #expect(address.isNumeric == !host.hasSuffix("lan"))
  }

  @Test(arguments: [
    "mqtt://", "mqtt:broker.lan", "mqtt://a@broker.lan/a", "mqtt://broker.lan/a/", "mqtt://broker.lan//a",
    "mqtt://broker.lan/+",
    "mqtt://broker.lan/a/#", "mqtt://broker.lan/$SYS", "mqtt://broker.lan/a?b", "mqtt://broker.lan/a%2Fb",
    "mqtt://broker.lan/a b", "mqtt://broker.lan:0/a", "mqtt://broker.lan\\@x.org/a", "mqtt://fe80::1/a",
    "mqtt://broker.lan/\(String(repeating: "a", count: 201))",
  ])
  func refusesInvalidAddresses(_ text: String) {
    #expect(throws: DeliveryError.self) { try MQTTAddress(text) }
  }

  @Test func clientNameIsStable() {
    func client(_ name: String, _ url: String, owner: UInt32 = 1_000, created: Instant = scheduled) -> String {
      Endpoint(queue: DeliveryQueue(owner: owner, channel: ChannelName(rawValue: name)), url: url, createdAt: created)
        .mqttClient
    }
    let one = client("home", "mqtt://a.lan/x")
    #expect(one == client("home", "mqtt://a.lan/x"))
    // MQTT 3.1.1, section 3.1.3.1: the length that every broker accepts.
    #expect(one.utf8.count <= 23 && one.hasPrefix("chime-"))
    let others = [
      client("room", "mqtt://a.lan/x"), client("home", "mqtt://a.lan/y"),
      client("home", "mqtt://a.lan/x", owner: 1_001),
      client("home", "mqtt://a.lan/x", created: scheduled + .milliseconds(1)),
    ]
    #expect(Set(others + [one]).count == 5)
  }

  @Test func brokerReplyDecidesTheOutcome() {
    func next(_ code: Int?, _ failure: String? = "no", change: (inout MQTTResult) -> Void = { _ in })
      -> ChannelReport.NextStep
    {
      var result = MQTTResult(code: code, failure: failure)
      change(&result)
      return MQTTVerdict(result).next
    }
    #expect(next(0, nil) == .settled && next(0x10, nil) == .settled)
    #expect(MQTTVerdict(MQTTResult(code: 0)).outcome == .delivered)
    for code in [nil, 0x80, 0x83, 0x86, 0x87, 0x8E] { #expect(next(code) == .retry) }
    for code in [0x90, 0x95, 0x99] { #expect(next(code) == .giveUp) }
    #expect(next(0x97) == .retryAfter(.minutes(1)))
    #expect(next(nil) { $0.isCutShort = true } == .blocked(.seconds(1)))
    #expect(next(nil) { $0.isImpossible = true } == .blocked(.minutes(5)))
  }
}

@Suite struct MQTTDocumentTests {
  private func access(_ settings: EndpointSettings = EndpointSettings()) throws -> EndpointAccess {
    EndpointAccess(
      endpoint: Endpoint(
        queue: DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "home")), url: "mqtt://broker.lan/chime",
        settings: settings, createdAt: scheduled),
      secrets: [SigningSecret(try Secret(SecretTests.text))])
  }

  private func object(_ bytes: [UInt8]) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  @Test func stateListsWhatIsShown() throws {
    let access = try access()
    var message = try message("Tea \"hot\"", channel: "home")
    message.shown = [message, try ChimeDeliveryTests.message("Older", id: "a1", channel: "home")]
    let state = try object(MQTTState(after: message, by: access, at: scheduled).bytes)
    #expect(state.keys.sorted() == ["dismiss", "done", "newest", "open", "snooze"])
    #expect(state["open"] as? Int == 2)
    #expect((state["newest"] as? [String: Any])?["title"] as? String == "Tea \"hot\"")
    // Each token is valid for this endpoint and this round of this occurrence.
    for (name, action) in [
      ("done", ActionToken.Action.done), ("snooze", .snooze(.minutes(10))), ("dismiss", .dismiss),
    ] {
      let token = try ActionToken(
        try #require(state[name] as? String), keys: access.tokenKeys(at: scheduled), at: scheduled)
      #expect(
        token.subject
          == .answer(action, message.occurrence.id, round: 1, expiry: message.delivery.createdAt + ActionToken.life))
    }

    message.shown = []
    let none = try object(MQTTState(after: message, by: access, at: scheduled).bytes)
    #expect(none.keys.sorted() == state.keys.sorted() && none["open"] as? Int == 0)
    #expect(none.values.filter { $0 is NSNull }.count == 4)
  }

  /// The keys that Home Assistant knows (homeassistant/components/mqtt: schemas.py, sensor.py, event.py and button.py
  /// of 2026), and the required ones.
  private static let common: Set = [
    "platform", "unique_id", "name", "icon", "json_attributes_topic", "json_attributes_template", "qos",
  ]
  private static let platforms: [String: (needs: Set<String>, may: Set<String>)] = [
    "sensor": (["state_topic"], ["value_template"]), "event": (["state_topic", "event_types"], ["value_template"]),
    "button": (["command_topic"], ["command_template", "payload_press"]),
  ]

  @Test func discoveryHasOnlyKeysThatHomeAssistantKnows() throws {
    let target = try MQTTTarget(access(), version: "1.2.3")
    let said = try object(try #require(target.discovery))
    #expect(said.keys.sorted() == ["availability_topic", "components", "device", "origin", "qos"])
    #expect(MQTTTopics.discovery(target.client) == "homeassistant/device/\(target.client)/config")
    let device = try #require(said["device"] as? [String: Any])
    #expect(device["identifiers"] as? [String] == [target.client])
    #expect(Set(device.keys).isSubset(of: ["identifiers", "manufacturer", "name", "sw_version"]))
    #expect((said["origin"] as? [String: Any])?["name"] as? String == "chimed")
    let components = try #require(said["components"] as? [String: [String: Any]])
    #expect(components.keys.sorted() == ["done", "events", "open", "snooze"])
    for (name, component) in components {
      let platform = try #require(component["platform"] as? String)
      let known = try #require(Self.platforms[platform])
      #expect(known.needs.isSubset(of: component.keys), "\(name)")
      #expect(Set(component.keys).isSubset(of: Self.common.union(known.needs).union(known.may)), "\(name)")
      #expect(component["unique_id"] as? String == "\(target.client)-\(name)")
    }
    let types = try #require(components["events"]?["event_types"] as? [String])
    // Includes every `type` of an event, so that Home Assistant refuses none.
    for kind in OccurrenceEvent.allCases {
      var told = try message(channel: "home")
      told.delivery = Delivery(
        id: told.delivery.id, occurrence: told.occurrence.id, queue: told.delivery.queue, round: 1,
        createdAt: scheduled,
        event: [.fired, .repeated].contains(kind) ? nil : DeliveryEvent(.event(kind)))
      let type = try #require(try object(WebhookMessage(told).bytes())["type"] as? String)
      #expect(types.contains(type), "\(type)")
    }
  }
}

/// A machine without libmosquitto, and addresses that may not be dialed.
@Suite struct MQTTChannelTests {
  private func channel(
    _ url: String, library: String = Libmosquitto.name, change: (inout EndpointConfiguration) -> Void = { _ in }
  ) throws -> MQTTChannel {
    var configuration = EndpointConfiguration(version: "1.2.3")
    change(&configuration)
    let secret = try Secret(SecretTests.text)
    return MQTTChannel(configuration: configuration, library: library) { queue in
      EndpointAccess(endpoint: Endpoint(queue: queue, url: url, createdAt: scheduled), secrets: [SigningSecret(secret)])
    }
  }

  @Test func messagesWaitUntilTheLibraryIsInstalled() async throws {
    let channel = try channel("mqtt://127.0.0.1:9", library: "libmosquitto-that-nobody-has.so.1")
    // Twice: each message tries to load it again.
    for _ in 0..<2 {
      let report = try await channel.deliver(message(channel: "home"))
      #expect(report.next == .blocked(.minutes(5)) && report.attempt?.outcome == .refused)
      #expect(report.attempt?.error?.contains("install it (Debian: libmosquitto1)") == true)
    }
    await channel.stop()
  }

  @Test func dialedAddressIsChecked() async throws {
    for url in ["mqtt://127.0.0.1:9", "mqtt://localhost:9", "mqtts://[::1]:9", "mqtt://169.254.169.254"] {
      let channel = try channel(url) { $0.network = NetworkPolicy(isPersonal: false) }
      let report = try await channel.deliver(message(channel: "home"))
      #expect(report.next == .retry)
      #expect(report.attempt?.error?.contains("may not connect") == true, "\(report)")
      await channel.stop()
    }
  }

  /// Starts a scripted broker that accepts one connection.
  private func broker(_ talk: @escaping @Sendable (Int32) -> Void) throws -> UInt16 {
    let (listener, port) = try Loopback.listen(backlog: 1)
    Thread.detachNewThread {
      let socket = accept(listener, nil, nil)
      talk(socket)
      close(socket)
      close(listener)
    }
    return port
  }

  private static func read(_ socket: Int32) {
    _ = [UInt8](unsafeUninitializedCapacity: 4_096) { $1 = max(0, recv(socket, $0.baseAddress, 4_096, 0)) }
  }

  private static func say(_ socket: Int32, _ bytes: [UInt8]) {
    _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  private static let letIn: [UInt8] = [0x20, 3, 0, 0, 0]

  /// Brokers that disconnect early, are too old, or send garbage or too much. Nothing counts as delivered.
  @Test(.timeLimit(.minutes(1)), arguments: ["drops", "old", "garbage", "floods"])
  func faultyBrokersDeliverNothing(_ kind: String) async throws {
    let port = try broker { socket in
      Self.read(socket)
      switch kind {
      case "drops":
        Self.say(socket, Self.letIn)
        // The subscription, and the published message.
        Self.read(socket)
      case "old": Self.say(socket, [0x20, 2, 0, 1])
      case "garbage": Self.say(socket, Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
      default:
        Self.say(socket, Self.letIn)
        let flood = [0x30, 0xFF, 0x07, 0, 1, UInt8(ascii: "a"), 0] + [UInt8](repeating: 0x78, count: 1_019)
        for _ in 0..<4_096 { Self.say(socket, flood) }
      }
    }
    let channel = try channel("mqtt://127.0.0.1:\(port)")
    let report = try await channel.deliver(message(channel: "home"))
    #expect(report.next == .retry && report.attempt?.outcome == .failed, "\(report)")
    let error = report.attempt?.error ?? ""
    switch kind {
    case "old": #expect(error == "the broker does not speak MQTT 5")
    case "floods": #expect(error.hasPrefix("the broker sends too much") || error.contains("connection"), "\(error)")
    default: #expect(!error.isEmpty)
    }
    await channel.stop()
  }

  @Test func configuredProxyBlocksDirectConnections() async throws {
    let proxy = try ProxyServer("http://proxy.invalid:3128", except: [".lan"])
    let channel = try channel("mqtt://127.0.0.1:9") { $0.proxy = proxy }
    let report = try await channel.deliver(message(channel: "home"))
    #expect(report.attempt?.error?.contains("noProxy") == true, "\(report)")
    await channel.stop()
    let direct = try self.channel("mqtt://127.0.0.1:9") {
      $0.proxy = try? ProxyServer("http://proxy.invalid:3128", except: ["127.0.0.0/8"])
    }
    let other = try await direct.deliver(message(channel: "home"))
    #expect(other.attempt?.error?.contains("onnection refused") == true, "\(other)")
    await direct.stop()
  }
}

private let mosquitto = "/usr/sbin/mosquitto"

extension SerialTests {
  @Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: mosquitto), "needs mosquitto"))
  struct MQTTBrokerTests {
    private let script: Script
    private let port: UInt16

    init() async throws {
      let (descriptor, port) = try Loopback.listen(backlog: 1)
      close(descriptor)
      self.port = port
      let folder = try RunFolder.makeFolder("broker")
      let user = String(cString: getpwuid(geteuid()).pointee.pw_name)
      let lines = ["listener \(port) 127.0.0.1", "allow_anonymous true", "user \(user)"]
      try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: folder + "/conf"))
      let run = """
        \(mosquitto) -c "$0" > >(sed -un 's/.* running$/{"ready":true}/p') 2>&1 &
        read -r _; kill $!; wait
        """
      script = try Script("/bin/bash", ["-c", run, folder + "/conf"])
      _ = try await script.lines.next()
    }

    /// Reads until that number of answers has arrived.
    private func read(_ count: Int, settling: Bool, before: () throws -> Void = {}) async throws -> [TokenFault?] {
      let secret = try Secret(SecretTests.text)
      let channel = MQTTChannel(
        configuration: EndpointConfiguration(version: "1.2.3"), library: Libmosquitto.name,
        clock: { ActionTokenTests.now }
      ) { [port] queue in
        EndpointAccess(
          endpoint: Endpoint(queue: queue, url: "mqtt://127.0.0.1:\(port)", createdAt: scheduled),
          secrets: [SigningSecret(secret)])
      }
      let events = Events<ReplyReader.Event>()
      channel.open(DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "home")), after: nil, number: 7) {
        events.append($0)
      }
      var (faults, isOpen): ([TokenFault?], Bool) = ([], false)
      // Stored messages arrive before the subscription is confirmed, and the confirmation waits until they are processed.
      while faults.count < count || count == 0 && !isOpen {
        switch try await events.next() {
        case .opened:
          isOpen = true
          try before()
        case .came(let replies, _):
          for reply in replies {
            if case .failure(let fault) = reply.said { faults.append(fault) } else { faults.append(nil) }
            if settling { channel.settle(reply.id, of: 7) }
          }
        case .ended(let end): throw Failure(end.reason)
        }
      }
      await channel.stop()
      return faults
    }

    private func send(_ text: String) throws {
      let done = try ChildProcess.run(
        "/usr/bin/mosquitto_pub", ["-h", "127.0.0.1", "-p", "\(port)", "-q", "1", "-t", "chime/command", "-m", text])
      guard done.status == 0 else { throw Failure(done.complaint) }
    }

    /// An acknowledgement is sent only after a message is processed; libmosquitto itself would have sent it earlier.
    @Test(.timeLimit(.minutes(1))) func unprocessedMessageIsReceivedAgain() async throws {
      defer { script.end() }
      #expect(try await read(1, settling: false) { try send("one") } == [.malformed])
      // Messages sent while nobody was connected are stored too.
      try send("two")
      #expect(try await read(1, settling: false) == [.malformed])
      #expect(try await read(2, settling: true) == [.malformed, .malformed])
      let text = try #require(
        try Secret(SecretTests.text).tokenKey(of: DeliveryQueue(owner: 1_000, channel: ChannelName(rawValue: "home")))
          .text(
            ActionTokenTests.subjects[0]))
      #expect(try await read(1, settling: true) { try send(text) } == [nil])
      #expect(try await read(0, settling: true) == [])
    }
  }
}

extension TokenKey {
  fileprivate func text(_ subject: ActionToken.Subject) -> String? { ActionToken(subject).text(self) }
}
