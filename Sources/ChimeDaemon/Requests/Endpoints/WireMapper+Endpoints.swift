import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

extension WireMapper {
  /// - Parameters:
  ///   - rest: the end of its circuit breaker's pause; nil: it does not rest.
  ///   - replies: the state of its topic for answers; nil: this daemon does not read it.
  func endpoint(
    _ endpoint: Endpoint, _ counts: EndpointCounts, _ kept: Secrets.Kept, backoffUntil rest: Instant? = nil,
    replies: ReplySource.Status? = nil
  ) -> EndpointsInterface.Endpoint {
    let access = kept.access(endpoint)
    let current = access.needsSecret ? kept.sheet.current.map(\.signing.secret) : []
    let signing = endpoint.kind.secretUse == .signing ? current : []
    let fault =
      access.needsSecret && current.isEmpty ? kept.problem ?? "it has no secret" : access.fault ?? kept.problem
    return EndpointsInterface.Endpoint(
      name: endpoint.queue.channel.rawValue, url: endpoint.url, createdAt: time(endpoint.createdAt),
      disabled: endpoint.disabled?.reason, pending: counts.pending, disabledAt: endpoint.disabled.map { time($0.at) },
      failingSince: endpoint.failingSince.map { time($0) }, dead: counts.dead,
      settings: Self.settings(endpoint.settings),
      signing: signing.compactMap { EndpointsInterface.Endpoint.Signing(rawValue: $0.kind.rawValue) },
      publicKeys: signing.compactMap(\.publicKey),
      secretSource: current.isEmpty ? nil : kept.isCredential ? .credential : .file,
      rotationEnds: kept.sheet.rotationEnds.flatMap { $0 > now ? time($0) : nil }, hasToken: kept.sheet.token != nil,
      problem: fault, backoffUntil: rest.map { time($0) },
      replies: endpoint.answersAddress == nil ? nil : self.replies(replies, isRead: endpoint.disabled == nil),
      canWithdraw: access.canWithdraw, set: endpoint.settings.set)
  }

  private func replies(_ status: ReplySource.Status?, isRead: Bool) -> EndpointsInterface.Replies {
    guard let status else {
      return EndpointsInterface.Replies(state: isRead ? .elsewhere : .disabled, answers: 0, refused: 0)
    }
    return EndpointsInterface.Replies(
      state: status.isOpen ? .connected : status.problem == nil ? .connecting : .retrying, problem: status.problem,
      since: status.since.map { time($0) }, answers: status.answers, refused: status.refused,
      lastAnswerAt: status.lastAnswerAt.map { time($0) })
  }

  static func settings(_ settings: EndpointSettings) -> EndpointsInterface.Settings? {
    guard settings != EndpointSettings(set: settings.set) else { return nil }
    var wire = EndpointsInterface.Settings()
    for setting in EndpointSetting.all { setting.show(settings, &wire) }
    return wire
  }

  func test(_ test: EndpointTest) -> EndpointsInterface.TestResult {
    EndpointsInterface.TestResult(
      ok: test.isDelivered, url: test.url, requestHeaders: test.requestHeaders, requestBody: test.requestBody,
      status: test.attempt.status, response: test.attempt.answer, error: test.attempt.error,
      durationMs: Int(test.attempt.took.rawValue), method: test.method, responseHeaders: test.details?.headers,
      address: test.details?.address, httpVersion: test.details?.version,
      timing: test.details.map { details in
        let timing = details.timing
        return EndpointsInterface.Timing(
          nameLookup: Int(timing.nameLookup), connect: Int(timing.connect), tls: Int(timing.tls),
          firstByte: Int(timing.firstByte), total: Int(timing.total))
      })
  }
}
