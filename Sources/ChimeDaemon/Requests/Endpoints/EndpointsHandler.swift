import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// An EndpointsHandler answers the methods about endpoints.
struct EndpointsHandler: EndpointsInterface.Handler, RequestPart {
  let requestContext: RequestContext

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
      // This comes before the secret is written.
      if known == nil { try caller.requireRoomForEndpoints(in: transaction, more: 1) }
      return known
    }
    // The token of a webhook is not the password of a mail server or broker.
    let isNew = known?.kind != Endpoint.Kind(of: request.url)
    let kept = secrets.read(queue, isNew: isNew)
    let new = try secrets(kept, request, settings)
    let token = try request.token.map(EndpointFields.token)
    try EndpointFields.check(request.url, settings, token: token ?? kept.sheet.token)
    // The secret is written first, because an endpoint that exists must have one. A file that a crash or a removed endpoint
    // has left belongs to another address, and is discarded.
    if isNew || new != nil || token != nil {
      try endpointSecrets.change(queue) { sheet in
        if isNew { sheet = EndpointSecretFile() }
        if let new { sheet.secrets = new }
        if let token { sheet.token = token }
      }
    }
    let endpoint = try await put(queue, changesSecret: !isNew && (new != nil || token != nil)) {
      [now, settings] known in
      var settings = settings
      settings.set = known?.settings.set
      return Endpoint(queue: queue, url: request.url, settings: settings, createdAt: known?.createdAt ?? now)
    }
    let secret = request.newSecret == .hmac ? new?.first?.text : nil
    return EndpointsInterface.Put.Reply(endpoint: endpoint, secret: secret)
  }

  /// Returns the secrets to set; nil: the endpoint keeps its own.
  private func secrets(
    _ kept: Secrets.Kept, _ request: EndpointsInterface.Put, _ settings: EndpointSettings
  ) throws -> [EndpointSecretFile.Line]? {
    let use = Endpoint.Kind(of: request.url).secretUse
    guard use == .signing else {
      try need(
        request.secret == nil && request.newSecret == nil, "secret",
        "messages to this address are not signed: leave the secret out; the password for the log-in is its token")
      return use == .answers && kept.sheet.secrets.isEmpty ? [EndpointFields.made(.hmac)] : nil
    }
    if let text = request.secret {
      try need(request.newSecret == nil, "newSecret", "there is a secret already: leave out one of the two")
      return try EndpointFields.secrets(text)
    }
    if let kind = request.newSecret { return [EndpointFields.made(kind == .hmac ? .hmac : .ed25519)] }
    if !kept.sheet.secrets.isEmpty { return nil }
    // The receivers of templates usually check no signature.
    if settings.template != nil { return [EndpointFields.made(.hmac)] }
    throw ControlFailure.invalidValue(
      field: "secret", "a new endpoint needs a secret: whsec_ and base64 of 24 to 64 bytes, or whsk_ and an Ed25519 key"
    )
  }

  func handle(_ request: EndpointsInterface.Update) async throws -> EndpointsInterface.Update.Reply {
    let queue = try queue(request.name)
    let old = try await store.read { transaction in try EndpointLookup.endpoint(queue, in: transaction) }
    if let url = request.url { try EndpointFields.check(url: url) }
    try need(
      Endpoint.Kind(of: request.url ?? old.url) == old.kind, "url",
      "an address of another kind needs other settings and secrets: add the endpoint anew with chime endpoint add")
    var settings = old.settings
    let reset = request.reset ?? []
    EndpointFields.reset(reset, in: &settings)
    if let wire = request.settings { try EndpointFields.apply(wire, to: &settings) }
    let token = try request.token.map(EndpointFields.token)
    let kept = reset.contains(.token) ? nil : secrets.read(queue).sheet.token
    try EndpointFields.check(request.url ?? old.url, settings, token: token ?? kept)
    if token != nil || reset.contains(.token) { try endpointSecrets.change(queue) { $0.token = token } }
    let endpoint = try await put(queue, changesSecret: token != nil || reset.contains(.token)) { [settings] known in
      var endpoint = known ?? old
      endpoint.url = request.url ?? endpoint.url
      endpoint.settings = settings
      return endpoint
    }
    return EndpointsInterface.Update.Reply(endpoint: endpoint)
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
      let endpoint = try EndpointLookup.endpoint(queue, in: transaction)
      let counts = try EndpointCounts(of: queue, in: transaction)
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
            $0, try EndpointCounts(of: $0.queue, in: transaction), secrets.read($0.queue),
            backoffUntil: rests[$0.queue],
            replies: replies[$0.queue])
        })
    }
  }

  func handle(_ request: EndpointsInterface.Test) async throws -> EndpointsInterface.Test.Reply {
    let queue = try queue(request.name)
    let endpoint = try await store.read { transaction in try EndpointLookup.endpoint(queue, in: transaction) }
    let kept = secrets.read(queue)
    let access = kept.access(endpoint)
    try need(
      !access.needsSecret || !access.secrets.isEmpty,
      conflict: "the secret of \(queue.channel) cannot be read" + (kept.problem.map { " (\($0))" } ?? "")
        + ": put the endpoint again with one")
    if let fault = access.fault { throw ControlFailure.conflict("\(queue.channel) cannot be used: \(fault)") }
    return EndpointsInterface.Test.Reply(
      result: wire.test(await requestContext.channels.channel(for: endpoint.kind).test(access)))
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

  // MARK: Rotation

  /// The most secrets that sign at once: each adds 50 bytes or more to one header.
  private static let mostSecrets = 8

  func handle(_ request: EndpointsInterface.Rotate) async throws -> EndpointsInterface.Rotate.Reply {
    let queue = try queue(request.name)
    let endpoint = try await store.read { transaction in try EndpointLookup.endpoint(queue, in: transaction) }
    try need(
      endpoint.kind.secretUse != .none,
      conflict: "messages to this address are not signed; chime endpoint edit \(queue.channel) --token-file FILE sets "
        + "another password or token")
    let overlap =
      try request.overlap.map { try ReminderFields.duration($0, "overlap", EndpointFields.overlap) } ?? .days(1)
    let kept = secrets.read(queue)
    try need(
      !kept.isCredential,
      conflict:
        "its secret is the credential endpoint.\(queue.channel), which chimed cannot change: add a second line with "
        + "the new secret to the credential's file, and restart chimed")
    let current = kept.sheet.current
    try need(!current.isEmpty, conflict: "\(queue.channel) has no secret to replace: put the endpoint again with one")
    let new =
      try request.secret.map(EndpointFields.secrets) ?? current.map { EndpointFields.made($0.signing.secret.kind) }
    try need(
      !new.contains(where: { new in kept.sheet.secrets.contains { $0.signing.secret == new.signing.secret } }),
      "secret", "the endpoint has this secret already: give a new one")
    let (now, end) = (now, now + overlap)
    var old = kept.sheet
    for index in old.secrets.indices where old.secrets[index].signing.until == nil {
      old.secrets[index].signing.until = end
    }
    _ = old.forget(before: now)
    try need(
      new.count + old.secrets.count <= Self.mostSecrets,
      conflict:
        "\(old.secrets.count) replaced secrets of \(queue.channel) are still valid: rotate again when some have "
        + "expired, or with a shorter overlap")
    // The secret must be durable before the client gets it.
    try endpointSecrets.change(queue) { $0.secrets = new + old.secrets }
    let changed = try await put(queue, changesSecret: true) { $0 }
    let shown = request.secret == nil ? new.filter { $0.signing.secret.kind == .hmac }.map(\.text) : []
    return EndpointsInterface.Rotate.Reply(endpoint: changed, secret: shown.first)
  }

  // MARK: Parts

  /// Changes an endpoint that exists. Its pending messages are tried at once unless it is disabled.
  private func edit(
    _ name: String, _ body: @escaping @Sendable (inout Endpoint) -> Void
  ) async throws -> EndpointsInterface.Endpoint {
    let queue = try queue(name)
    _ = try await store.read { transaction in try EndpointLookup.endpoint(queue, in: transaction) }
    return try await put(queue) { known in
      guard var endpoint = known else { return nil }
      body(&endpoint)
      return endpoint
    }
  }

  /// Writes what `body` makes of the current endpoint, in one transaction.
  ///
  /// - Parameter changesSecret: whether its secret or token was changed, which undo cannot revert.
  private func put(
    _ queue: DeliveryQueue, changesSecret: Bool = false, _ body: @escaping @Sendable (Endpoint?) -> Endpoint?
  ) async throws -> EndpointsInterface.Endpoint {
    let (endpoint, counts) = try await commit { [self] transaction in
      try transaction.lockTrackers()
      let known = try transaction.endpoint(queue)
      guard let endpoint = body(known) else { throw try EndpointLookup.missing(queue, in: transaction) }
      try transaction.put(endpoint)
      if endpoint != known {
        var detail = ChangeDetail(endpoints: [.init(before: known, after: endpoint)])
        detail.changesSecret = changesSecret
        try record(known == nil ? .endpointAdded : .endpointEdited, queue.channel.rawValue, detail, in: transaction)
      } else if changesSecret {
        // No store keeps the former secret.
        try note(.rotated, queue.channel.rawValue, in: transaction)
      }
      if known == nil { try caller.requireRoomForEndpoints(in: transaction) }
      if endpoint.disabled == nil { try transaction.wake(queue: queue, now: now) }
      return ((endpoint, try EndpointCounts(of: queue, in: transaction)), [.endpointsChanged])
    }
    return wire.endpoint(
      endpoint, counts, secrets.read(queue), backoffUntil: await loop.rests()[queue],
      replies: await loop.replyStatuses()[queue])
  }

  private func queue(_ name: String) throws -> DeliveryQueue { try EndpointLookup.queue(name, of: caller.owner) }
}
