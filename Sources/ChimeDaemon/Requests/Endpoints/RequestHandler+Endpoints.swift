import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

extension RequestHandler {
  func handle(_ request: EndpointsInterface.Put) async throws -> EndpointsInterface.Put.Reply {
    let queue = try queue(request.name)
    if commands.book.commands[queue.channel] != nil {
      throw ControlFailure.conflict(
        "\(queue.channel) is the name of a command ([commands.\(queue.channel)] in the configuration): choose "
          + "another name for the endpoint")
    }
    try EndpointFields.check(url: request.url)
    var settings = EndpointSettings()
    if let wire = request.settings { try EndpointFields.apply(wire, to: &settings) }
    let known = try await store.read { [self] transaction in
      let known = try transaction.endpoint(queue)
      // Before its secret is written.
      if known == nil { try requireRoomForEndpoints(transaction, more: 1) }
      return known
    }
    // A webhook's token is no password of a mail server's or a broker's.
    let isNew = known?.kind != Endpoint.Kind(of: request.url)
    let kept = secrets.read(queue, isNew: isNew)
    let new = try secrets(kept, request, settings)
    let token = try request.token.map(EndpointFields.token)
    try check(request.url, settings, token: token ?? kept.sheet.token)
    // The secret first: an endpoint that exists has one. What a crash has left of an attempt, or of an endpoint that was
    // removed, is no part of a new one: its token is not for another address.
    if isNew || new != nil || token != nil {
      try change(queue) { sheet in
        if isNew { sheet = EndpointSecretFile() }
        if let new { sheet.secrets = new }
        if let token { sheet.token = token }
      }
    }
    let endpoint = try await store(queue, changesSecret: !isNew && (new != nil || token != nil)) {
      [now, settings] known in
      var settings = settings
      settings.set = known?.settings.set
      return Endpoint(queue: queue, url: request.url, settings: settings, createdAt: known?.createdAt ?? now)
    }
    let secret = request.newSecret == .hmac ? new?.first?.text : nil
    return EndpointsInterface.Put.Reply(endpoint: endpoint, secret: secret)
  }

  /// The secrets that an endpoint is given; nil when it keeps those that it has.
  private func secrets(
    _ kept: Secrets.Kept, _ request: EndpointsInterface.Put, _ settings: EndpointSettings
  ) throws -> [EndpointSecretFile.Line]? {
    let use = Endpoint.Kind(of: request.url).secretUse
    guard use == .signing else {
      guard request.secret == nil, request.newSecret == nil else {
        throw ControlFailure.invalidValue(
          field: "secret",
          "messages to this address are not signed: leave the secret out; the password for the log-in is its token")
      }
      return use == .answers && kept.sheet.secrets.isEmpty ? [EndpointFields.made(.hmac)] : nil
    }
    if let text = request.secret {
      guard request.newSecret == nil else {
        throw ControlFailure.invalidValue(field: "newSecret", "there is a secret already: leave out one of the two")
      }
      return try EndpointFields.secrets(text)
    }
    if let kind = request.newSecret { return [EndpointFields.made(kind == .hmac ? .hmac : .ed25519)] }
    if !kept.sheet.secrets.isEmpty { return nil }
    // Who takes a template's messages checks no signature, as a rule.
    if settings.template != nil { return [EndpointFields.made(.hmac)] }
    throw ControlFailure.invalidValue(
      field: "secret", "a new endpoint needs a secret: whsec_ and base64 of 24 to 64 bytes, or whsk_ and an Ed25519 key"
    )
  }

  func handle(_ request: EndpointsInterface.Update) async throws -> EndpointsInterface.Update.Reply {
    let queue = try queue(request.name)
    let old = try await store.read { [self] transaction in try known(queue, transaction) }
    if let url = request.url { try EndpointFields.check(url: url) }
    guard Endpoint.Kind(of: request.url ?? old.url) == old.kind else {
      throw ControlFailure.invalidValue(
        field: "url",
        "an address of another kind needs other settings and secrets: add the endpoint anew with chime endpoint add")
    }
    var settings = old.settings
    let reset = request.reset ?? []
    EndpointFields.reset(reset, in: &settings)
    if let wire = request.settings { try EndpointFields.apply(wire, to: &settings) }
    let token = try request.token.map(EndpointFields.token)
    let kept = reset.contains(.token) ? nil : secrets.read(queue).sheet.token
    try check(request.url ?? old.url, settings, token: token ?? kept)
    if token != nil || reset.contains(.token) { try change(queue) { $0.token = token } }
    let endpoint = try await store(queue, changesSecret: token != nil || reset.contains(.token)) { [settings] known in
      var endpoint = known ?? old
      endpoint.url = request.url ?? endpoint.url
      endpoint.settings = settings
      return endpoint
    }
    return EndpointsInterface.Update.Reply(endpoint: endpoint)
  }

  func check(_ url: String, _ settings: EndpointSettings, token: Token?) throws {
    try EndpointFields.check(url: url, settings)
    if Endpoint.Kind(of: url).logsIn {
      if token?.isPair == true {
        throw ControlFailure.invalidValue(field: "token", "a password has one line: leave out the second")
      }
      if token == nil, settings.user != nil {
        throw ControlFailure.invalidValue(
          field: "token", "a log-in needs a password: give it in a file of mode 0600 (--token-file)")
      }
      if token != nil, settings.user == nil {
        throw ControlFailure.invalidValue(
          field: "user",
          "a password needs a name for the log-in: give it with --user, or remove the password with --reset token")
      }
    }
    guard token == nil else { return }
    if Endpoint.Kind(of: url).needsToken {
      throw ControlFailure.invalidValue(
        field: "token",
        "sending into a room needs the access token of an account: give it in a file of mode 0600 (--token-file)")
    }
    let headers = settings.headers ?? []
    let template = try settings.template.map { text in try Template(setting: text) }
    let needed = headers.contains { $0.value.contains("{{token}}") } || template?.needsToken(besides: headers) == true
    if needed {
      throw ControlFailure.invalidValue(field: "token", "the template or a header uses a token: give the token too")
    }
  }

  func handle(_ request: EndpointsInterface.Enable) async throws -> EndpointsInterface.Enable.Reply {
    EndpointsInterface.Enable.Reply(
      endpoint: try await edit(request.name) { endpoint in
        endpoint.disabled = nil
        endpoint.failingSince = nil
      })
  }

  func handle(
    _ request: EndpointsInterface.Disable
  ) async throws -> EndpointsInterface.Disable.Reply {
    EndpointsInterface.Disable.Reply(
      endpoint: try await edit(request.name) { [now] endpoint in
        endpoint.disabled = endpoint.disabled ?? Endpoint.Disabled(reason: "disabled by hand", at: now)
      })
  }

  func handle(
    _ request: EndpointsInterface.Remove
  ) async throws -> EndpointsInterface.Remove.Reply {
    let queue = try queue(request.name)
    let (endpoint, counts, change) = try await commit { [self] transaction in
      try transaction.lockTrackers()
      let endpoint = try known(queue, transaction)
      let counts = try self.counts(of: queue, transaction)
      var detail = ChangeDetail()
      try detail.remove(endpoint, in: transaction, now: now)
      let change = try record(.endpointRemoved, queue.channel.rawValue, detail, in: transaction)
      return ((endpoint, counts, change), [.endpointsChanged])
    }
    let kept = secrets.read(queue)
    secrets.layAside(queue, change: change)
    return EndpointsInterface.Remove.Reply(endpoint: wire.endpoint(endpoint, counts, kept))
  }

  func handle(_: EndpointsInterface.List) async throws -> EndpointsInterface.List.Reply {
    let (rests, replies) = (await loop.rests(), await loop.replyStatuses())
    return try await store.read { [self] transaction in
      let wire = self.wire
      return EndpointsInterface.List.Reply(
        endpoints: try transaction.endpoints(owner: caller.sees).map {
          wire.endpoint(
            $0, try counts(of: $0.queue, transaction), secrets.read($0.queue), restingUntil: rests[$0.queue],
            replies: replies[$0.queue])
        })
    }
  }

  func handle(_ request: EndpointsInterface.Test) async throws -> EndpointsInterface.Test.Reply {
    let queue = try queue(request.name)
    let endpoint = try await store.read { [self] transaction in try known(queue, transaction) }
    let kept = secrets.read(queue)
    let access = kept.access(endpoint)
    guard !access.needsSecret || !access.secrets.isEmpty else {
      throw ControlFailure.conflict(
        "the secret of \(queue.channel) cannot be read" + (kept.problem.map { " (\($0))" } ?? "")
          + ": put the endpoint again with one")
    }
    if let fault = access.fault { throw ControlFailure.conflict("\(queue.channel) cannot be used: \(fault)") }
    return EndpointsInterface.Test.Reply(result: wire.test(await channels.channel(for: endpoint.kind).test(access)))
  }

  func handle(_: EndpointsInterface.Templates) throws -> EndpointsInterface.Templates.Reply {
    EndpointsInterface.Templates.Reply(
      templates: try ShippedTemplates.names.map { name in
        let template = try Template(setting: name)
        return EndpointsInterface.Template(
          name: name, summary: template.summary, example: template.example,
          needsToken: template.needsToken(besides: []), text: ShippedTemplates.text(name) ?? "")
      })
  }

  // MARK: Parts

  /// Changes one that is known, and tries at once what it is owed unless it is disabled.
  private func edit(
    _ name: String, _ body: @escaping @Sendable (inout Endpoint) -> Void
  ) async throws -> EndpointsInterface.Endpoint {
    let queue = try queue(name)
    _ = try await store.read { [self] transaction in try known(queue, transaction) }
    return try await store(queue) { known in
      guard var endpoint = known else { return nil }
      body(&endpoint)
      return endpoint
    }
  }

  /// Puts what `body` makes of an endpoint as it is, in one transaction.
  ///
  /// - Parameter changesSecret: whether its secret or its token has become another, which undoing cannot take back.
  func store(
    _ queue: DeliveryQueue, changesSecret: Bool = false, _ body: @escaping @Sendable (Endpoint?) -> Endpoint?
  ) async throws -> EndpointsInterface.Endpoint {
    let (endpoint, counts) = try await commit { [self] transaction in
      try transaction.lockTrackers()
      let known = try transaction.endpoint(queue)
      guard let endpoint = body(known) else { throw try missing(queue, transaction) }
      try transaction.put(endpoint)
      if endpoint != known {
        var detail = ChangeDetail(endpoints: [.init(before: known, after: endpoint)])
        detail.changesSecret = changesSecret
        try record(known == nil ? .endpointAdded : .endpointEdited, queue.channel.rawValue, detail, in: transaction)
      } else if changesSecret {
        // What its secret was is kept nowhere.
        try note(.rotated, queue.channel.rawValue, in: transaction)
      }
      if known == nil { try requireRoomForEndpoints(transaction) }
      if endpoint.disabled == nil { try transaction.wake(queue: queue, now: now) }
      return ((endpoint, try self.counts(of: queue, transaction)), [.endpointsChanged])
    }
    return wire.endpoint(
      endpoint, counts, secrets.read(queue), restingUntil: await loop.rests()[queue],
      replies: await loop.replyStatuses()[queue])
  }

  /// How many endpoints an owner may have: each may have several transfers under way, and each of those has a descriptor,
  /// of which all owners have some thousands together.
  static let maxEndpoints = 100

  /// Ends a change that has brought an owner above the number of endpoints.
  func requireRoomForEndpoints(_ transaction: any StoreTransaction, more: Int = 0) throws {
    guard try transaction.endpoints(owner: caller.owner).count + more > Self.maxEndpoints else { return }
    throw ControlFailure.limitExceeded("endpoints: at most \(Self.maxEndpoints); remove one first")
  }

  /// Says what a restored endpoint lacks, as its secret is not in the backup; nil: nothing. One that has a template is given a new secret,
  /// because who takes such messages checks no signature. To be called on the request handler's queue.
  func lackingSecret(_ endpoint: Endpoint) throws -> String? {
    let (kept, name) = (secrets.read(endpoint.queue), endpoint.queue.channel)
    if endpoint.kind.secretUse != .none, kept.sheet.secrets.isEmpty {
      guard endpoint.settings.template != nil || endpoint.kind.secretUse == .answers else {
        return "the backup does not have the secret of \(name): give it with chime endpoint add \(name) "
          + "\(endpoint.url) --secret-file FILE"
      }
      try change(endpoint.queue) { $0.secrets = [EndpointFields.made(.hmac)] }
    }
    do {
      try check(endpoint.url, endpoint.settings, token: kept.sheet.token)
      return nil
    } catch {
      return "the backup does not have the token of \(name): give it with chime endpoint edit \(name) --token-file FILE"
    }
  }

  /// To be called on the request handler's queue, which has one thread at a time.
  func change(_ queue: DeliveryQueue, _ body: (inout EndpointSecretFile) -> Void) throws {
    // A shipped daemon is not to end for it.
    #if DEBUG
      loop.requestExecutor.checkIsolated()
    #endif
    do {
      try secrets.change(queue, body)
    } catch {
      throw ControlFailure.storeUnavailable("the secret cannot be written (\(error.call): \(error.reason))")
    }
  }

  func queue(_ name: String) throws -> DeliveryQueue {
    let channel = ChannelName(rawValue: name)
    guard channel.isValidForEndpoint else {
      throw ControlFailure.invalidValue(
        field: "name",
        "'\(TrackerFields.shown(name))' is not a name for an endpoint: use 1 to 64 letters, digits, . _ or -, and "
          + "not desktop")
    }
    return DeliveryQueue(owner: caller.owner, channel: channel)
  }

  func known(_ queue: DeliveryQueue, _ transaction: any StoreTransaction) throws -> Endpoint {
    guard let endpoint = try transaction.endpoint(queue) else { throw try missing(queue, transaction) }
    return endpoint
  }

  private func missing(_ queue: DeliveryQueue, _ transaction: any StoreTransaction) throws -> ControlFailure {
    let names = try transaction.endpoints(owner: queue.owner).map(\.queue.channel.rawValue)
    return .notFound(
      what: "endpoint", id: queue.channel.rawValue, near: SpellingSuggestions.to(queue.channel.rawValue, among: names))
  }

  /// Messages of a queue that are owed, and that were given up.
  struct Counts: Sendable {
    var owed: Int
    var dead: Int
  }

  func counts(of queue: DeliveryQueue, _ transaction: any StoreTransaction) throws -> Counts {
    func count(_ state: DeliveryFilter.State) throws -> Int {
      try transaction.deliveries(
        DeliveryFilter(owner: queue.owner, channel: queue.channel, state: state), page: Page(limit: 10_000)
      ).count
    }
    return Counts(owed: try count(.pending) + count(.waiting), dead: try count(.dead))
  }
}
