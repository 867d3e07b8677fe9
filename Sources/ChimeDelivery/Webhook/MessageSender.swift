import ChimeCore
import ChimeSchedule

/// How the messages of endpoints leave by HTTP, and by what goes the same way: through the queue of their queue.
struct MessageSender: Sendable {
  let engine: HTTPEngine
  let configuration: EndpointConfiguration
  let access: @Sendable (DeliveryQueue) -> EndpointAccess?
  let clock: @Sendable () -> Instant

  /// Reports `.ended` once, and then `.answered` when the verdict has an answer.
  ///
  /// - Parameters:
  ///   - make: the request, at the moment it leaves; called on the engine's thread.
  ///   - judge: what came of it; on the same thread.
  ///   - receipt: what the receiver calls the message, by its whole answer.
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
        prepare: {
          let now = clock()
          do throws(Shut) {
            let open = try access(delivery.queue).open(delivery.queue, at: now)
            do {
              return try make(open, now)
            } catch let nothing as NothingToSend {
              let attempt = Attempt(
                number: delivery.attempts + 1, startedAt: now, took: .zero, outcome: .refused, error: nothing.reason)
              report(.ended(attempt, next: .cancel))
              return nil
            } catch let error as TemplateError {
              throw Shut("endpoint \"\(delivery.queue.channel)\" cannot be used: \(error)")
            } catch let error as EndpointURLError {
              throw Shut("endpoint \"\(delivery.queue.channel)\" cannot be used: \(error)")
            } catch {
              throw Shut("the message cannot be written as JSON")
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

  /// Sends a message about a reminder that is made up, now.
  ///
  /// - Parameter make: the request of an id, a time and the values of that reminder. What is shown of it is made a second time, with
  ///   a word in the place of each token.
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
      let reason =
        (error as? TemplateError)?.description ?? (error as? EndpointURLError)?.description
        ?? "the message cannot be written as JSON"
      return EndpointTest(
        method: access.template?.message.method ?? "POST", url: access.endpoint.url, requestHeaders: [],
        requestBody: "",
        attempt: Attempt(number: 1, startedAt: now, took: .zero, outcome: .refused, error: reason))
    }
    let result = await inspect(sent)
    return EndpointTest(of: shown, result, WebhookVerdict(result, channel: channel), endedAt: clock())
  }

  /// Sends a request now, past all queues, and has all be told of it.
  func inspect(_ request: HTTPRequest) async -> HTTPResult {
    await withCheckedContinuation { continuation in
      engine.send(
        HTTPJob(queue: nil, isInspected: true, prepare: { request }, finish: { continuation.resume(returning: $0) }))
    }
  }
}

/// That a delivery comes to nothing; a sentence without a full stop.
struct NothingToSend: Error { let reason: String }

extension WebhookVerdict {
  /// The attempt that it is about.
  func attempt(_ result: HTTPResult, number: Int, endedAt: Instant) -> Attempt {
    Attempt(
      number: number, startedAt: endedAt - result.took, took: result.took, outcome: outcome, status: result.status,
      answer: PlainText.excerpt(result.redaction.clean(result.answer, isWhole: result.isWhole)), error: error)
  }
}

extension EndpointTest {
  /// - Parameter shown: the request, with what is secret taken out.
  init(of shown: HTTPRequest, _ result: HTTPResult, _ verdict: WebhookVerdict, endedAt: Instant) {
    self.init(
      method: shown.method, url: shown.url, requestHeaders: shown.lines,
      requestBody: String(decoding: shown.body, as: UTF8.self),
      attempt: verdict.attempt(result, number: 1, endedAt: endedAt), details: result.details)
  }
}
