import ChimeCore
import ChimeSchedule

/// A MessageSender sends the messages of HTTP, Matrix and mail endpoints through the per-endpoint queues of an
/// HTTPEngine.
struct MessageSender: Sendable {
  let engine: HTTPEngine
  let configuration: EndpointConfiguration
  let access: @Sendable (DeliveryQueue) -> EndpointAccess?
  let clock: @Sendable () -> Instant

  /// Sends a message. Reports `.ended` once, then `.answered` if the verdict contains an answer.
  ///
  /// - Parameters:
  ///   - make: Builds the request when the attempt starts; called on the engine's thread.
  ///   - judge: Maps the HTTP result to a verdict; called on the same thread.
  ///   - receipt: Extracts the receiver's identifier for the message from its complete answer.
  func send(
    _ message: OutboundMessage, report: @escaping @Sendable (ChannelReport) -> Void,
    make: @escaping @Sendable (EndpointAccess, Instant) throws -> HTTPRequest,
    judge: @escaping @Sendable (HTTPResult) -> WebhookVerdict,
    receipt: @escaping @Sendable (EndpointAccess, [UInt8]) -> String? = { _, _ in nil }
  ) {
    let (access, clock) = (access, clock)
    let delivery = message.delivery
    engine.send(
      HTTPJob(
        queue: delivery.queue,
        capacity: access(delivery.queue)?.endpoint.settings.concurrency ?? configuration.concurrentPerEndpoint,
        delivery: delivery.id,
        prepare: { draft in
          let now = clock()
          do throws(EndpointUnavailable) {
            let open = try access(delivery.queue).open(delivery.queue, at: now)
            if let draft, draft.fits(message, open, at: now) { return draft.request }
            do {
              return try make(open, now)
            } catch let nothing as NothingToSend {
              let attempt = Attempt(
                number: delivery.attempts + 1, startedAt: now, took: .zero, outcome: .refused, error: nothing.reason)
              report(.ended(attempt, next: .cancel))
              return nil
            } catch let error as DeliveryError {
              throw EndpointUnavailable("endpoint \"\(delivery.queue.channel)\" cannot be used: \(error)")
            } catch {
              throw EndpointUnavailable("the message cannot be written as JSON")
            }
          } catch {
            report(error.report(of: delivery, at: now))
            return nil
          }
        },
        finish: { result in
          let verdict = judge(result)
          var attempt = verdict.attempt(result, number: delivery.attempts + 1, endedAt: clock())
          if delivery.event == nil, attempt.outcome == .delivered, result.isWhole, let access = access(delivery.queue) {
            attempt.receipt = receipt(access, result.answer)
          }
          report(.ended(attempt, next: verdict.next))
          if let answer = verdict.answer { report(.answered(answer)) }
        }))
  }

  /// Builds the request of a message that may be sent at `time`, in a moment.
  ///
  /// - Parameter make: as for `send`.
  func draft(
    _ message: OutboundMessage, at time: Instant,
    make: @escaping @Sendable (EndpointAccess, Instant) throws -> HTTPRequest
  ) {
    let access = access
    engine.draft(for: time) {
      let queue = message.delivery.queue
      // What cannot be built is told of when it is to be sent.
      guard let open = try? access(queue).open(queue, at: time), let request = try? make(open, time) else { return nil }
      return HTTPDraft(message: message, access: open, time: time, request: request)
    }
  }

  /// Sends a message about a made-up reminder now.
  ///
  /// - Parameter make: Builds the request from an id, a time and the made-up reminder's values. It is called a second
  ///   time with `isShown`, for a copy whose tokens are redacted.
  func test(
    _ access: EndpointAccess, make: (DeliveryID, Instant, TemplateValues, _ isShown: Bool) throws -> HTTPRequest
  ) async -> EndpointTest {
    let now = clock()
    var random = SystemRandom()
    let (id, channel) = (DeliveryID(at: now, using: &random), access.endpoint.queue.channel)
    let values = TemplateValues(sampleFor: channel, delivery: id, at: now) { configuration.timeOfDay($0, .local) }
    let (sent, shown): (HTTPRequest, HTTPRequest)
    do {
      (sent, shown) = (try make(id, now, values, false), try make(id, now, values, true))
    } catch {
      let reason = (error as? DeliveryError)?.description ?? "the message cannot be written as JSON"
      return EndpointTest(
        method: access.template?.message.method ?? "POST", url: access.endpoint.url, requestHeaders: [],
        requestBody: "",
        attempt: Attempt(number: 1, startedAt: now, took: .zero, outcome: .refused, error: reason))
    }
    let result = await inspect(sent)
    return EndpointTest(of: shown, result, WebhookVerdict(result, channel: channel), endedAt: clock())
  }

  /// Sends a request now, outside all queues, and collects its details.
  func inspect(_ request: HTTPRequest) async -> HTTPResult {
    await withCheckedContinuation { continuation in
      engine.send(
        HTTPJob(
          queue: nil, isInspected: true, prepare: { _ in request }, finish: { continuation.resume(returning: $0) }))
    }
  }
}

/// Cancels a delivery that has nothing to send. The reason is a sentence without a full stop.
struct NothingToSend: Error { let reason: String }

extension WebhookVerdict {
  /// Returns the attempt that the verdict describes.
  func attempt(_ result: HTTPResult, number: Int, endedAt: Instant) -> Attempt {
    Attempt(
      number: number, startedAt: endedAt - result.took, took: result.took, outcome: outcome, status: result.status,
      answer: PlainText.excerpt(result.redaction.clean(result.answer, isWhole: result.isWhole)), error: error)
  }
}

extension EndpointTest {
  /// - Parameter shown: The request with its secrets redacted.
  init(of shown: HTTPRequest, _ result: HTTPResult, _ verdict: WebhookVerdict, endedAt: Instant) {
    self.init(
      method: shown.method, url: shown.url, requestHeaders: shown.lines,
      requestBody: String(decoding: shown.body, as: UTF8.self),
      attempt: verdict.attempt(result, number: 1, endedAt: endedAt), details: result.details)
  }
}
