public import ChimeCore
import ChimeSchedule

/// An MQTTChannel publishes occurrences to MQTT 5 brokers and reads answers, over one outgoing connection per endpoint.
///
/// The connection stays open; while idle, it sends a keepalive every five minutes. Addresses and TLS follow the rules
/// of webhooks (`EndpointConfiguration`).
public final class MQTTChannel: EndpointChannel, AnswerReading {
  private let configuration: EndpointConfiguration
  private let access: @Sendable (DeliveryQueue) -> EndpointAccess?
  private let clock: @Sendable () -> Instant
  private let engine: MQTTEngine

  /// - Parameter access: Returns a queue's current endpoint, as for `WebhookChannel`.
  public convenience init(
    configuration: EndpointConfiguration, access: @escaping @Sendable (DeliveryQueue) -> EndpointAccess?
  ) {
    self.init(configuration: configuration, library: Libmosquitto.name, access: access)
  }

  /// - Parameter library: File name of libmosquitto, loaded for the first endpoint.
  init(
    configuration: EndpointConfiguration, library: String, clock: (@Sendable () -> Instant)? = nil,
    access: @escaping @Sendable (DeliveryQueue) -> EndpointAccess?
  ) {
    (self.configuration, self.access) = (configuration, access)
    self.clock = clock ?? Timestamp.now
    engine = MQTTEngine(
      limits: HTTPLimits(
        connect: configuration.connectTimeout, total: configuration.totalTimeout, answer: configuration.answerLimit,
        idle: configuration.idleTimeout),
      route: HTTPRoute(
        network: configuration.network, proxy: configuration.proxy, certificateFile: configuration.certificateFile),
      library: library)
  }

  /// Publishes a message. Reports `.ended` once; answers arrive on the command topic.
  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    let (access, clock, version) = (access, clock, configuration.version)
    let delivery = message.delivery
    engine.send(
      MQTTJob(
        queue: delivery.queue,
        prepare: {
          let now = clock()
          do throws(EndpointUnavailable) {
            let open = try access(delivery.queue).open(delivery.queue, at: now)
            return MQTTRequest(
              target: try Self.target(open, version: version),
              publications: try Self.publications(of: message, to: open, at: now))
          } catch {
            report(error.report(of: delivery, at: now))
            return nil
          }
        },
        finish: { result in
          let verdict = MQTTVerdict(result)
          let attempt = Self.attempt(result, verdict, number: delivery.attempts + 1, endedAt: clock())
          report(.ended(attempt, next: verdict.next))
        }))
  }

  private static func target(_ access: EndpointAccess, version: String) throws(EndpointUnavailable) -> MQTTTarget {
    do throws(DeliveryError) {
      return try MQTTTarget(access, version: version)
    } catch {
      throw EndpointUnavailable("endpoint \"\(access.endpoint.queue.channel)\" cannot be used: \(error)")
    }
  }

  /// Returns the event and the new retained state. A withdrawal has only the state.
  private static func publications(
    of message: OutboundMessage, to access: EndpointAccess, at now: Instant
  ) throws(EndpointUnavailable) -> [MQTTPublication] {
    let topics: MQTTTopics
    do throws(DeliveryError) { topics = try MQTTAddress(access.endpoint.url).topics } catch {
      throw EndpointUnavailable("endpoint \"\(access.endpoint.queue.channel)\" cannot be used: \(error)")
    }
    let state = MQTTPublication(
      topic: topics.state, payload: MQTTState(after: message, by: access, at: now).bytes, isRetained: true)
    guard message.delivery.event?.isWithdrawal != true else { return [state] }
    var event = WebhookMessage(message)
    event.id = message.delivery.id.rawValue
    do {
      return [MQTTPublication(topic: topics.event, payload: try event.bytes()), state]
    } catch {
      throw EndpointUnavailable("the message cannot be written as JSON")
    }
  }

  private static func attempt(
    _ result: MQTTResult, _ verdict: MQTTVerdict, number: Int, endedAt: Instant
  ) -> Attempt {
    Attempt(
      number: number, startedAt: endedAt - result.took, took: result.took, outcome: verdict.outcome,
      status: result.failure == nil ? nil : result.code, error: result.failure)
  }

  /// Does nothing. A separate message withdraws the open state.
  public func withdraw(_ occurrence: OccurrenceID) {}

  public func prepare() {}

  public func stop() async { await engine.stop() }

  // MARK: Answers

  public func open(
    _ queue: DeliveryQueue, after last: String?, number: UInt64, hear: @escaping @Sendable (ReplyReader.Event) -> Void
  ) {
    let (access, clock, version) = (access, clock, configuration.version)
    engine.open(
      MQTTReading(
        queue: queue, number: number,
        target: { () throws(EndpointUnavailable) in
          try Self.target(access(queue).open(queue, at: clock()), version: version)
        },
        read: { payload in
          let now = clock()
          do throws(TokenFault) {
            return .success(
              try ActionToken(
                String(decoding: payload, as: UTF8.self), keys: access(queue)?.tokenKeys(at: now) ?? [], at: now))
          } catch { return .failure(error) }
        }, hear: hear))
  }

  public func settle(_ id: String, of number: UInt64) { engine.settle(id, of: number) }

  public func close(_ number: UInt64, forgetting: Bool) { engine.close(number, forgetting: forgetting) }

  // MARK: A test

  /// Publishes one `chime.test` event over a connection of its own.
  public func test(_ access: EndpointAccess) async -> EndpointTest {
    let now = clock()
    var random = SystemRandom()
    let id = DeliveryID(at: now, using: &random).rawValue
    func refused(_ reason: String) -> EndpointTest {
      EndpointTest(
        method: "MQTT", url: access.endpoint.url, requestHeaders: [], requestBody: "",
        attempt: Attempt(number: 1, startedAt: now, took: .zero, outcome: .refused, error: reason))
    }
    let request: MQTTRequest
    do {
      var target = try MQTTTarget(access, version: configuration.version)
      target.discovery = nil
      let message = WebhookMessage(
        id: id, type: "chime.test", timestamp: Timestamp.rfc3339(now),
        data: TestNotice(channel: access.endpoint.queue.channel.rawValue))
      request = MQTTRequest(
        target: target, publications: [.init(topic: target.address.topics.event, payload: try message.bytes())])
    } catch let error as DeliveryError {
      return refused(error.description)
    } catch {
      return refused("the message cannot be written as JSON")
    }
    let result = await withCheckedContinuation { continuation in
      engine.send(MQTTJob(queue: nil, prepare: { request }, finish: { continuation.resume(returning: $0) }))
    }
    var attempt = Self.attempt(result, MQTTVerdict(result), number: 1, endedAt: clock())
    // Shows that the broker itself accepted the test.
    attempt.status = result.code
    var details = HTTPDetails()
    details.address = result.address
    details.version = "MQTT 5"
    details.timing.total = result.took.rawValue * 1_000
    return EndpointTest(
      method: "MQTT", url: access.endpoint.url,
      requestHeaders: ["topic: \(request.publications[0].topic)", "qos: 1"],
      requestBody: String(decoding: request.publications[0].payload, as: UTF8.self),
      attempt: attempt,
      details: result.address == nil ? nil : details)
  }
}
