import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

extension Desk {
  func putEndpoint(_ request: EndpointsInterface.Put.Parameters) async throws -> EndpointsInterface.Put.Reply {
    let lane = try lane(request.name)
    if commands.book.commands[lane.channel] != nil {
      throw ControlFailure.conflict(
        "\(lane.channel) is the name of a command ([commands.\(lane.channel)] in the configuration): give the endpoint "
          + "another one")
    }
    do {
      try EndpointURL.validate(request.url)
    } catch {
      throw ControlFailure.invalidValue(field: "url", "\(error)")
    }
    if let secret = request.secret {
      do {
        _ = try Secret(secret.trimmed)
      } catch {
        throw ControlFailure.invalidValue(field: "secret", "\(error)")
      }
    } else if secrets.read(lane) == nil {
      throw ControlFailure.invalidValue(
        field: "secret", "a new endpoint needs a secret: whsec_ and base64 of 24 to 64 bytes")
    }
    // The secret first: an endpoint that exists has one. Left behind by a crash, it is replaced by the next attempt.
    if let secret = request.secret {
      do {
        try secrets.write(secret.trimmed, for: lane)
      } catch {
        throw ControlFailure.storeUnavailable("the secret cannot be written (\(error.call): \(error.reason))")
      }
    }
    let (endpoint, owed) = try await commit { [self] transaction in
      let known = try transaction.endpoint(lane)
      let endpoint = Endpoint(lane: lane, url: request.url, createdAt: known?.createdAt ?? now)
      try transaction.put(endpoint)
      try transaction.wake(lane: lane, now: now)
      return ((endpoint, try self.owed(to: lane, transaction)), [.endpointsChanged])
    }
    return EndpointsInterface.Put.Reply(endpoint: wire.endpoint(endpoint, owed: owed))
  }

  func removeEndpoint(
    _ request: EndpointsInterface.Remove.Parameters
  ) async throws -> EndpointsInterface.Remove.Reply {
    let lane = try lane(request.name)
    let (endpoint, owed) = try await commit { [self] transaction in
      let endpoint = try known(lane, transaction)
      let owed = try self.owed(to: lane, transaction)
      try transaction.removeEndpoint(lane, now: now)
      return ((endpoint, owed), [.endpointsChanged])
    }
    secrets.remove(lane)
    return EndpointsInterface.Remove.Reply(endpoint: wire.endpoint(endpoint, owed: owed))
  }

  func listEndpoints() async throws -> EndpointsInterface.List.Reply {
    try await store.read { [self] transaction in
      let wire = self.wire
      return EndpointsInterface.List.Reply(
        endpoints: try transaction.endpoints(owner: caller.sees).map {
          wire.endpoint($0, owed: try owed(to: $0.lane, transaction))
        })
    }
  }

  func testEndpoint(_ request: EndpointsInterface.Test.Parameters) async throws -> EndpointsInterface.Test.Reply {
    let lane = try lane(request.name)
    let endpoint = try await store.read { [self] transaction in try known(lane, transaction) }
    guard var access = endpoints.access(lane), !access.secrets.isEmpty else {
      throw ControlFailure.conflict("the secret of \(lane.channel) cannot be read: put the endpoint again with one")
    }
    access.endpoint = endpoint
    let test = await webhooks.test(access)
    return EndpointsInterface.Test.Reply(
      result: EndpointsInterface.TestResult(
        ok: test.isDelivered, url: endpoint.url, requestHeaders: test.requestHeaders, requestBody: test.requestBody,
        status: test.attempt.status, answer: test.attempt.answer, error: test.attempt.error,
        tookMs: Int(test.attempt.took.rawValue)))
  }

  private func lane(_ name: String) throws -> Lane {
    let channel = ChannelName(rawValue: name)
    guard channel.isValidForEndpoint else {
      throw ControlFailure.invalidValue(
        field: "name",
        "'\(name.prefix(64))' is no name for an endpoint: 1 to 64 letters, digits, . _ or -, and not desktop")
    }
    return Lane(owner: caller.owner, channel: channel)
  }

  private func known(_ lane: Lane, _ transaction: any StoreTransaction) throws -> Endpoint {
    if let endpoint = try transaction.endpoint(lane) { return endpoint }
    let names = try transaction.endpoints(owner: lane.owner).map(\.lane.channel.rawValue)
    throw ControlFailure.notFound(
      what: "endpoint", id: lane.channel.rawValue,
      near: Nearest.to(lane.channel.rawValue, among: names))
  }

  private func owed(to lane: Lane, _ transaction: any StoreTransaction) throws -> Int {
    try [DeliveryFilter.State.pending, .waiting].reduce(0) { sum, state in
      sum
        + (try transaction.deliveries(
          DeliveryFilter(owner: lane.owner, channel: lane.channel, state: state), page: Page(limit: 10_000)
        ).count)
    }
  }
}
