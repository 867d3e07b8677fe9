public import ChimeCore
import ChimeSchedule
import Synchronization

/// A MatrixChannel sends occurrences to Matrix rooms, withdraws them by edits, and reads named people's answers. It
/// refuses encrypted rooms.
///
/// Addresses and TLS follow the rules of webhooks. It shares their threads: messages use the WebhookChannel's engine,
/// and reading uses the ReplyReader's.
public final class MatrixChannel: EndpointChannel, AnswerReading {
  private let configuration: EndpointConfiguration
  private let access: @Sendable (DeliveryQueue) -> EndpointAccess?
  private let sender: MessageSender
  private let reading: HTTPEngine
  private let executor: (any TaskExecutor)?
  /// A mutex guards the state, because the loop opens and closes readings while they run in tasks.
  private let state = Mutex(State())

  private struct State {
    var readings: [UInt64: MatrixReading] = [:]
    /// Times of recent explanations per queue.
    var explained: [DeliveryQueue: [Instant]] = [:]
  }

  /// Maximum explanations of unclear answers per time span.
  private static let explanations = (count: 5, span: Milliseconds.minutes(10))

  /// - Parameter executor: Where rooms are read; nil for the global pool, which wakes an idle process once a second.
  public init(beside webhooks: WebhookChannel, _ replies: ReplyReader, on executor: (any TaskExecutor)? = nil) {
    (configuration, access, sender) = (webhooks.configuration, webhooks.access, webhooks.sender)
    reading = replies.engine
    self.executor = executor
  }

  public func prepare() { sender.engine.prepare() }

  /// Sends a message. Reports `.ended` once; answers arrive through the room.
  public func send(_ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void) {
    let configuration = configuration
    sender.send(
      message, report: report,
      make: { access, _ in try Self.request(for: message, to: access, configuration) },
      judge: { WebhookVerdict(matrix: $0, of: message.delivery) },
      receipt: { _, answer in MatrixReply.Sent.id(in: answer) })
  }

  private static func request(
    for message: OutboundMessage, to access: EndpointAccess, _ configuration: EndpointConfiguration
  ) throws -> HTTPRequest {
    let room = try MatrixAddress(access.endpoint.url).room
    let zone = message.reminder?.governingZone ?? .local
    let timeOfDay = { configuration.timeOfDay($0, zone) }
    // All attempts share the transaction id, so a server that received an earlier attempt returns its event.
    let transaction = message.delivery.id.rawValue
    let (action, body): (String, [UInt8])
    if message.delivery.event?.isWithdrawal == true {
      guard let event = message.receipt else {
        throw NothingToSend(reason: "the event id of the message to take back is unknown")
      }
      guard let content = MatrixContent(insteadOf: message, timeOfDay: timeOfDay) else {
        return try MatrixClient.request(
          access, "PUT", Matrix.path("rooms", room, "redact", event, transaction), body: Array("{}".utf8),
          version: configuration.version)
      }
      (action, body) = ("m.room.message", content.bytes(replacing: event))
    } else {
      (action, body) = ("m.room.message", MatrixContent(message, to: access, timeOfDay: timeOfDay).bytes)
    }
    return try MatrixClient.request(
      access, "PUT", Matrix.path("rooms", room, "send", action, transaction), body: body,
      version: configuration.version)
  }

  /// Does nothing. A separate message withdraws the original.
  public func withdraw(_ occurrence: OccurrenceID) {}

  /// Closes the readings. The owners of the engines stop those.
  public func stop() async { for reading in state.withLock({ Array($0.readings.values) }) { reading.close() } }

  // MARK: Answers

  public func open(
    _ queue: DeliveryQueue, after last: String?, number: UInt64, hear: @escaping @Sendable (ReplyReader.Event) -> Void
  ) {
    let access = access
    let client = MatrixClient(engine: reading, configuration: configuration, access: { access(queue) })
    let reading = MatrixReading(queue, number: number, client: client, hear: hear)
    state.withLock { $0.readings[number] = reading }
    Task(executorPreference: executor) {
      await reading.run(after: last)
      _ = self.state.withLock { $0.readings.removeValue(forKey: number) }
    }
  }

  public func settle(_ id: String, of number: UInt64) { state.withLock { $0.readings[number] }?.settle(id) }

  public func close(_ number: UInt64, forgetting: Bool) {
    state.withLock { $0.readings.removeValue(forKey: number) }?.close()
  }

  /// Replies once to an answer that had no effect, unless that happened too often recently.
  public func explain(_ reply: ReplyReader.Reply, of queue: DeliveryQueue, isImpossible: Bool) {
    guard case .success(.answer(let answer)) = reply.said, let open = access(queue),
      let room = try? MatrixAddress(open.endpoint.url).room, mayExplain(queue)
    else { return }
    let content = MatrixContent(explaining: answer.delivery, isImpossible: isImpossible)
    // The same answer gets the same transaction id, in case it is read again.
    let transaction = "chime-\(SHA256.digest(of: Array(answer.id.utf8)).prefix(24))"
    let client = MatrixClient(engine: reading, configuration: configuration, access: { open })
    Task(executorPreference: executor) {
      try? await client.ask(
        "PUT", Matrix.path("rooms", room, "send", "m.room.message", transaction),
        body: content.bytes(answering: answer.id))
    }
  }

  private func mayExplain(_ queue: DeliveryQueue) -> Bool {
    let now = sender.clock()
    return state.withLock { state in
      var times = (state.explained[queue] ?? []).filter { now - $0 < Self.explanations.span }
      guard times.count < Self.explanations.count else { return false }
      times.append(now)
      state.explained[queue] = times
      return true
    }
  }

  // MARK: A test

  /// Checks that the room exists and is not encrypted, then sends a message.
  public func test(_ access: EndpointAccess) async -> EndpointTest {
    let now = sender.clock()
    var random = SystemRandom()
    let id = DeliveryID(at: now, using: &random)
    func refused(_ fault: MatrixClient.Fault) -> EndpointTest {
      EndpointTest(
        method: "PUT", url: access.endpoint.settings.via ?? "", requestHeaders: [], requestBody: "",
        attempt: Attempt(
          number: 1, startedAt: now, took: .zero, outcome: .refused, status: fault.status, error: fault.reason))
    }
    let request: HTTPRequest
    do {
      let room = try MatrixAddress(access.endpoint.url).room
      let client = MatrixClient(engine: sender.engine, configuration: configuration, access: { access })
      _ = try await client.enter(room, number: 0)
      request = try MatrixClient.request(
        access, "PUT", Matrix.path("rooms", room, "send", "m.room.message", id.rawValue),
        body: MatrixContent(testOf: id).bytes, version: configuration.version)
    } catch let error as DeliveryError {
      return refused(.init(reason: error.description))
    } catch let fault as MatrixClient.Fault {
      return refused(fault)
    } catch {
      return refused(.init(reason: "\(error)"))
    }
    let result = await sender.inspect(request)
    let delivery = Delivery(
      id: id, occurrence: OccurrenceID(reminder: ReminderID(rawValue: "test"), scheduledAt: now),
      queue: access.endpoint.queue, round: 1, createdAt: now)
    var shown = request
    shown.headers = request.lines.map {
      $0.hasPrefix("authorization:") ? "authorization: Bearer \(Redaction.mark)" : $0
    }
    return EndpointTest(
      of: shown, result, WebhookVerdict(matrix: result, of: delivery), endedAt: sender.clock())
  }
}

extension WebhookVerdict {
  /// Maps a homeserver's response to the delivery's next step.
  ///
  ///     200 with an event's id → settled · 429 → that long · 400, 413 → given up · all else → the retry schedule
  init(matrix result: HTTPResult, of delivery: Delivery) {
    self.init(result, channel: delivery.queue.channel)
    answer = nil
    guard let status = result.status, result.failure == nil else { return }
    let said = MatrixReply.Fault(result.answer)
    switch status {
    case 200..<300:
      guard MatrixReply.Sent.id(in: result.answer) == nil else { return }
      (outcome, next) = (.failed, .retry)
      error = "the server's answer is not Matrix: is --via the homeserver's address?"
    case 400 where said != nil, 413 where said != nil:
      (outcome, next) = (.failed, .giveUp)
      error = "answered \(status) \(said?.errcode ?? ""): the server rejects the message permanently"
    case 404 where delivery.event?.isWithdrawal == true && said?.errcode == "M_NOT_FOUND":
      (outcome, next) = (.refused, .cancel)
      error = "answered \(status): there is nothing to take back"
    default:
      let wait = said?.wait ?? result.retryAfter
      (outcome, next) = (.failed, [429, 503].contains(status) ? wait.map { .retryAfter($0) } ?? .retry : .retry)
      error = MatrixClient.sentence(status, said)
    }
  }
}
