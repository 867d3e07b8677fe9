import ChimeCore
import ChimeSchedule
import Glibc

/// An MQTTLoop is the state of the MQTT thread: a line for each endpoint and for each test message.
///
/// The thread sleeps in poll(2) on its sockets and the mailbox's eventfd until the next deadline. It owns all
/// libmosquitto clients.
struct MQTTLoop: ~Copyable {
  enum Key: Hashable, Sendable {
    case queue(DeliveryQueue)
    case test(UInt64)
  }

  private let limits: HTTPLimits
  private let route: HTTPRoute
  private let mailbox: Mailbox<MQTTEngine.Command>
  private var lines: [Key: MQTTLine] = [:]
  /// The last state published by each queue, sent again when a connection opens in case the broker lost it.
  private var states: [DeliveryQueue: MQTTPublication] = [:]
  /// Connections that send their last publications.
  private var leaving: [MQTTFarewell] = []
  private var serial: UInt64 = 0
  private var stops: [@Sendable () -> Void] = []

  init(limits: HTTPLimits, route: HTTPRoute, mailbox: Mailbox<MQTTEngine.Command>) {
    (self.limits, self.route, self.mailbox) = (limits, route, mailbox)
  }

  /// Runs until the stop and returns the callers to notify of it.
  mutating func run() -> [@Sendable () -> Void] {
    while true {
      if stops.isEmpty {
        obey(mailbox.take())
        if !stops.isEmpty { abandon() }
      }
      if !stops.isEmpty, leaving.isEmpty { return stops }
      // A fixed order relates each poll result to its line.
      let connected = lines.filter { $0.value.connection != nil }.map(\.key)
      var polled = [pollfd(fd: stops.isEmpty ? mailbox.descriptor : -1, events: Int16(POLLIN), revents: 0)]
      for key in connected { if let line = lines[key] { polled.append(line.polled) } }
      polled += leaving.map(\.polled)
      let count = poll(&polled, nfds_t(polled.count), patience())
      for (index, key) in connected.enumerated() where count > 0 && polled[index + 1].revents != 0 {
        drive(key, polled[index + 1].revents)
      }
      leaving = leaving.filter { $0.goesOn() }
      tend()
    }
  }

  /// Returns the poll(2) timeout in milliseconds.
  private func patience() -> Int32 {
    guard let next = (lines.values.map(\.nextMoment) + leaving.map(\.end)).min() else { return -1 }
    let rest = Milliseconds(ContinuousClock.now.duration(to: next)).rawValue
    return Int32(clamping: max(0, rest + 1))
  }

  // MARK: Commands

  private mutating func obey(_ commands: [MQTTEngine.Command]) {
    for command in commands {
      switch command {
      case .send(let job): take(job)
      case .open(let reading): take(reading)
      case .settle(let id, let number):
        guard let key = key(of: number) else { continue }
        lines[key]?.unsettled.remove(id)
        flush(key)
      case .close(let number, let forgetting):
        guard let key = key(of: number) else { continue }
        leave(key, forgetting: forgetting)
      case .found(let key, let serial, let result):
        guard lines[key]?.serial == serial, lines[key]?.connection == nil else { continue }
        found(key, result)
      case .stop(let done): stops.append(done)
      }
    }
  }

  private func key(of number: UInt64) -> Key? { lines.first { $0.value.reading?.number == number }?.key }

  private mutating func take(_ job: MQTTJob) {
    guard let request = job.prepare() else { return }
    serial += 1
    let key = job.queue.map(Key.queue) ?? .test(serial)
    // The endpoint has changed, so the old connection must not be used.
    if let known = lines[key], known.target != request.target {
      leave(key, forgetting: false)
      known.reading?.hear(.ended(.init(reason: "the endpoint has changed")))
    }
    if lines[key] == nil { begin(key, request.target) }
    lines[key]?.waiting.append(
      .init(job: job, publications: request.publications, deadline: .now + Duration(limits.total)))
    publish(key)
  }

  private mutating func take(_ reading: MQTTReading) {
    let key = Key.queue(reading.queue)
    do throws(EndpointUnavailable) {
      let target = try reading.target()
      if let known = lines[key]?.target, known != target { leave(key, forgetting: false) }
      if lines[key] == nil { begin(key, target) }
      lines[key]?.reading = reading
      if lines[key]?.isSubscribed == true { reading.hear(.opened) }
      hand(key)
      publish(key)
    } catch {
      reading.hear(.ended(.init(reason: error.reason)))
    }
  }

  // MARK: Connecting

  private mutating func begin(_ key: Key, _ target: MQTTTarget) {
    serial += 1
    lines[key] = MQTTLine(target, serial: serial, limits: limits)
    let (mailbox, serial, host) = (mailbox, serial, target.address.host)
    if let proxy = route.proxy, !proxy.exceptions.contains(where: { Self.isException($0, host) }) {
      // The job is not queued in the line yet, so it fails in `publish`.
      lines[key]?.doomed = MQTTConnection.Fault(
        "all messages use a proxy, but MQTT cannot: to connect directly, name \(host) in noProxy of [webhook]"
      )
      return
    }
    do {
      try NameLookup.begin(host) { _ = mailbox.post(.found(key, serial: serial, $0)) }
    } catch {
      var fault = MQTTConnection.Fault("cannot look up \(host): \(error)")
      fault.isStarved = error.isShortage
      lines[key]?.doomed = fault
    }
  }

  private static func isException(_ exception: String, _ host: String) -> Bool {
    if let block = AddressBlock(exception) { return NetworkAddress(host).map(block.contains) ?? false }
    let name = exception.hasPrefix(".") ? String(exception.dropFirst()) : exception
    return host.lowercased() == name.lowercased() || host.lowercased().hasSuffix("." + name.lowercased())
  }

  private mutating func found(_ key: Key, _ result: Result<[NetworkAddress], DeliveryError>) {
    switch result {
    case .failure(let fault): fail(key, MQTTConnection.Fault(fault.description))
    case .success(let addresses):
      lines[key]?.addresses = addresses[...]
      dial(key, after: nil)
    }
  }

  /// Dials the next permitted address.
  private mutating func dial(_ key: Key, after former: MQTTConnection.Fault?) {
    var last = former
    while let end = lines[key]?.end, .now < end, let address = lines[key]?.addresses.popFirst() {
      // The check applies to the dialed address: libmosquitto gets the address, never the name.
      if let refusal = route.network.refusal(of: address, isOwn: \.isOfThisMachine) {
        last = last ?? MQTTConnection.Fault(refusal.description)
        continue
      }
      guard let target = lines[key]?.target else { return }
      do throws(MQTTConnection.Fault) {
        lines[key]?.connection = try MQTTConnection(target, at: address, certificateFile: route.certificateFile)
        lines[key]?.deadline = min(.now + Duration(limits.connect), end)
        return
      } catch { last = error }
    }
    fail(key, last ?? MQTTConnection.Fault("there is no address to connect to"))
  }

  // MARK: Driving

  private mutating func drive(_ key: Key, _ events: Int16) {
    guard let line = lines[key], let connection = line.connection else { return }
    do throws(MQTTConnection.Fault) {
      let isBroken = events & Int16(POLLERR | POLLHUP) != 0
      if events & Int16(POLLIN) != 0 || isBroken { try connection.read() }
      if events & Int16(POLLOUT) != 0 { try connection.write() }
      if !line.isOpen, connection.isDialled { lines[key]?.deadline = line.end }
      for event in connection.take() { try hear(event, key) }
      flush(key)
    } catch { ended(key, connection, error) }
  }

  /// Handles a broken connection. Events received before the break may give the reason.
  private mutating func ended(_ key: Key, _ connection: MQTTConnection, _ error: MQTTConnection.Fault) {
    var fault = error
    for event in connection.take() {
      switch event {
      // Acknowledgements received before the break still count.
      case .published(let number, let code): lines[key]?.published(number, code)
      case .connected(let code) where code != 0: fault = .init(MQTTConnection.refusal(code, isLogin: true))
      case .connected, .subscribed, .came: break
      }
    }
    if lines[key]?.isOpen == false, !connection.isDialled { return dial(again: key, fault) }
    fail(key, fault)
  }

  private mutating func dial(again key: Key, _ fault: MQTTConnection.Fault) {
    lines[key]?.connection = nil
    dial(key, after: fault)
  }

  private mutating func hear(_ event: MQTTConnection.Event, _ key: Key) throws(MQTTConnection.Fault) {
    switch event {
    case .connected(let code):
      guard code == 0 else { throw .init(MQTTConnection.refusal(code, isLogin: true)) }
      try opened(key)
    case .published(let number, let code): lines[key]?.published(number, code)
    case .subscribed(let code):
      guard code < 128 else {
        // Publishing works without the subscription.
        lines[key]?.reading?.hear(
          .ended(.init(reason: "the topic for answers cannot be read: \(MQTTConnection.refusal(code))")))
        lines[key]?.reading = nil
        return
      }
      lines[key]?.isSubscribed = true
      lines[key]?.reading?.hear(.opened)
    case .came(let topic, let payload, let isRetained):
      guard let line = lines[key], topic == line.target.address.topics.command, !isRetained else { return }
      // Home Assistant sends an empty payload for a button pressed with no open message.
      guard !payload.isEmpty else { return }
      lines[key]?.came(payload)
      hand(key)
    }
  }

  /// Subscribes and publishes once the broker has accepted the connection.
  private mutating func opened(_ key: Key) throws(MQTTConnection.Fault) {
    guard let connection = lines[key]?.connection, let target = lines[key]?.target else { return }
    lines[key]?.isOpen = true
    lines[key]?.deadline = nil
    if let discovery = target.discovery, case .queue(let queue) = key {
      let topics = target.address.topics
      try connection.subscribe(topics.command)
      _ = try connection.publish(
        .init(topic: MQTTTopics.discovery(target.client), payload: discovery, isRetained: true))
      _ = try connection.publish(.init(topic: topics.availability, payload: Array("online".utf8), isRetained: true))
      if let state = states[queue], state.topic == topics.state { _ = try connection.publish(state) }
    }
    publish(key)
  }

  /// Publishes the waiting messages.
  private mutating func publish(_ key: Key) {
    if let doomed = lines[key]?.doomed { return fail(key, doomed) }
    guard let line = lines[key], line.isOpen, let connection = line.connection else { return }
    do throws(MQTTConnection.Fault) {
      for index in line.waiting.indices {
        var job = line.waiting[index]
        for publication in job.publications {
          job.numbers.insert(try connection.publish(publication))
          if publication.isRetained, case .queue(let queue) = key { states[queue] = publication }
        }
        lines[key]?.underWay.append(job)
      }
      lines[key]?.waiting = []
      flush(key)
    } catch { fail(key, error) }
  }

  /// Passes received messages to the subscriber.
  private mutating func hand(_ key: Key) {
    guard let line = lines[key], let reading = line.reading, !line.arrived.isEmpty else { return }
    lines[key]?.arrived = []
    let replies = line.arrived.map { ReplyReader.Reply(id: $0.id, token: reading.read($0.payload)) }
    reading.hear(.came(replies, nonsense: 0))
  }

  /// Sends pending output, unless received messages are not recorded yet. Output would include their acknowledgements.
  private mutating func flush(_ key: Key) {
    guard let line = lines[key], line.mayWrite, let connection = line.connection, connection.isDialled else { return }
    // With TLS, writing may first read the broker's answer.
    do throws(MQTTConnection.Fault) { try connection.write() } catch { return ended(key, connection, error) }
    // A test connection ends with its message.
    if case .test = key, line.isOpen, line.waiting.isEmpty, line.underWay.isEmpty { leave(key, forgetting: false) }
  }

  private mutating func tend() {
    let now = ContinuousClock.now
    for (key, line) in lines where line.nextMoment <= now {
      if let deadline = line.deadline, deadline <= now {
        let fault = MQTTConnection.Fault(
          line.connection?.isDialled == true
            ? "the broker did not answer within \(DurationText.format(line.limit))"
            : "there was no connection within \(DurationText.format(line.limit))")
        if line.connection?.isDialled == false { dial(again: key, fault) } else { fail(key, fault) }
        continue
      }
      if line.underWay.contains(where: { $0.deadline <= now }) {
        fail(
          key, MQTTConnection.Fault("the broker did not acknowledge it within \(DurationText.format(limits.total))"))
        continue
      }
      guard line.mayWrite, let connection = line.connection, line.isOpen else { continue }
      if line.isForNobody, now >= line.begun + .seconds(60) {
        leave(key, forgetting: false)
        continue
      }
      do throws(MQTTConnection.Fault) {
        try connection.tend()
        flush(key)
      } catch { ended(key, connection, error) }
    }
  }

  // MARK: Ending

  private mutating func fail(_ key: Key, _ fault: MQTTConnection.Fault) {
    guard let line = lines.removeValue(forKey: key) else { return }
    let reason = line.target.redaction.clean(fault.reason)
    line.finish(
      MQTTResult(
        failure: reason, isImpossible: fault.isImpossible, isStarved: fault.isStarved))
    line.reading?.hear(.ended(.init(reason: reason)))
  }

  /// Closes a line on request, without reporting its end to the subscriber. Its messages in flight are retried.
  private mutating func leave(_ key: Key, forgetting: Bool) {
    guard let line = lines.removeValue(forKey: key) else { return }
    if case .queue(let queue) = key { states[queue] = nil }
    if let connection = line.connection, line.isOpen, line.unsettled.isEmpty, line.arrived.isEmpty {
      farewell(line, connection, forgetting: forgetting)
    }
    line.finish(MQTTResult(failure: "the connection attempt was cancelled", isCutShort: true))
  }

  private mutating func farewell(_ line: MQTTLine, _ connection: MQTTConnection, forgetting: Bool) {
    var last: [MQTTPublication] = []
    let topics = line.target.address.topics
    if forgetting {
      // An empty payload removes a retained message.
      last = [MQTTTopics.discovery(line.target.client), topics.state, topics.availability].map {
        MQTTPublication(topic: $0, payload: [], isRetained: true)
      }
    } else if line.target.discovery != nil {
      last = [MQTTPublication(topic: topics.availability, payload: Array("offline".utf8), isRetained: true)]
    }
    guard !last.isEmpty else { return connection.disconnect(endingSession: true) }
    leaving.append(MQTTFarewell(connection, last, endsSession: forgetting))
  }

  private mutating func abandon() {
    for command in mailbox.close() {
      switch command {
      case .send(let job): job.finish(MQTTResult(failure: HTTPLoop.stopping, isCutShort: true))
      case .open(let reading): reading.hear(.ended(.init(reason: HTTPLoop.stopping)))
      case .stop(let done): stops.append(done)
      case .settle, .close, .found: break
      }
    }
    for key in Array(lines.keys) { leave(key, forgetting: false) }
  }
}
