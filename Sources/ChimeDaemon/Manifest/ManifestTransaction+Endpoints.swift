import ChimeControl
import ChimeCore
import ChimeDelivery

// Endpoints come first, because reminders refer to them.
extension ManifestTransaction {
  private typealias Given = [String: RemindersInterface.SetSecret]

  mutating func endpoints() throws {
    let given = planner.request.secrets.map { Dictionary($0.map { ($0.path, $0) }) { first, _ in first } }
    for endpoint in declared.endpoints {
      for path in [endpoint.secretFile, endpoint.tokenFile].compactMap({ $0 })
      where !plan.reply.secretFiles.contains(path) { plan.reply.secretFiles.append(path) }
      let channel = ChannelName(rawValue: endpoint.name)
      guard channel.isValidForEndpoint else { continue }
      if handler.commands.book.commands[channel] != nil {
        declared.fault(endpoint.place, "name", "is the name of a command of the configuration; choose another one")
        continue
      }
      try put(endpoint, DeliveryQueue(owner: owner, channel: channel), given)
    }
    guard let name = declared.name else { return }
    let named = Set(declared.endpoints.map(\.name))
    let left = try transaction.endpoints(owner: owner).filter {
      $0.settings.set == name && !named.contains($0.queue.channel.rawValue)
    }
    guard planner.request.prune == true else {
      plan.reply.notPruned += left.count
      return
    }
    for endpoint in left {
      plan.steps.append(.take(endpoint.queue))
      plan.reply.changes.append(
        .init(
          action: .remove, kind: .endpoint, id: endpoint.queue.channel.rawValue,
          fields: [quotedField("url", endpoint.url, nil)]))
    }
  }

  private mutating func put(_ wanted: Manifest.Webhook, _ queue: DeliveryQueue, _ given: Given?) throws {
    let known = try transaction.endpoint(queue)
    // A webhook's token must not become the password of a mail server or broker.
    let isNew = known?.kind != Endpoint.Kind(of: wanted.url)
    let kept = handler.secrets.read(queue, isNew: isNew)
    var sheet = isNew ? EndpointSecretFile() : kept.sheet
    let secretUse = Endpoint.Kind(of: wanted.url).secretUse
    if secretUse != .signing, wanted.secretFile != nil {
      declared.fault(
        wanted.place, "secretFile",
        "is not allowed here: messages to this address are not signed; the password for the log-in belongs into "
          + "tokenFile")
    }
    if kept.isCredential { sheet.secrets = [] }
    var fields: [RemindersInterface.SetField] = []

    let secret = text(of: wanted.secretFile, "secretFile", wanted, given, isThere: !kept.sheet.secrets.isEmpty)
    if let secret {
      do {
        let lines = try EndpointFields.secrets(secret)
        if lines.map(\.text).sorted() != sheet.current.map(\.text).sorted() {
          sheet.secrets = lines
          fields.append(.init(name: "secret"))
        }
      } catch ControlFailure.invalidValue(_, let message) {
        declared.fault(wanted.place, "secretFile", "names a file whose content cannot be used: \(message)")
      }
    } else if secretUse != .none, wanted.secretFile == nil, sheet.secrets.isEmpty, kept.sheet.secrets.isEmpty {
      if secretUse == .signing, wanted.settings.template == nil {
        declared.fault(
          wanted.place, "secretFile",
          "is missing: the path of a file of mode 0600 with the secret that signs its messages")
      } else {
        // Receivers of a template's messages usually check no signature.
        sheet.secrets = [EndpointFields.made(.hmac)]
      }
    }
    if let text = text(of: wanted.tokenFile, "tokenFile", wanted, given, isThere: kept.sheet.token != nil) {
      do {
        let token = try EndpointFields.token(text)
        if token.stored != sheet.token?.stored {
          sheet.token = token
          fields.append(.init(name: "token"))
        }
      } catch ControlFailure.invalidValue(_, let message) {
        declared.fault(wanted.place, "tokenFile", "names a file whose content cannot be used: \(message)")
      }
    }
    // A password without a user name is useless: the set has removed both.
    let isDropped =
      Endpoint.Kind(of: wanted.url).logsIn && wanted.settings.user == nil && wanted.tokenFile == nil
      && sheet.token != nil
    if isDropped {
      sheet.token = nil
      fields.append(.init(name: "token"))
    }
    if given != nil || wanted.tokenFile == nil {
      do {
        try EndpointFields.check(wanted.url, wanted.settings, token: isDropped ? nil : sheet.token ?? kept.sheet.token)
      } catch ControlFailure.invalidValue("token", let message) {
        declared.fault(wanted.place, "tokenFile", "is missing: \(message)")
      } catch ControlFailure.invalidValue(let field, let message) {
        declared.fault(wanted.place, field, "does not fit: \(message)")
      }
    }

    var endpoint = known ?? Endpoint(queue: queue, url: wanted.url, createdAt: handler.now)
    endpoint.url = wanted.url
    endpoint.settings = wanted.settings
    endpoint.settings.set = declared.name ?? known?.settings.set
    let now = ManifestWriter.fields(of: endpoint)
    if let known {
      fields = Self.differences(ManifestWriter.fields(of: known), now) + fields
      if known.settings.set != endpoint.settings.set {
        fields.append(quotedField("set", known.settings.set, endpoint.settings.set))
      }
    } else {
      fields = now.filter { $0.text != nil && !$0.isUsual }.map { .init(name: $0.name, new: $0.text) } + fields
    }
    guard known == nil || !fields.isEmpty else {
      plan.reply.unchanged += 1
      return
    }
    if isNew || sheet.text != kept.sheet.text,
      !(kept.isCredential && sheet.secrets.isEmpty && sheet.token == nil)
    {
      plan.secrets.append(.init(queue: queue, sheet: sheet, isNew: isNew))
    }
    noteFiles(of: wanted, sheet, known, fields)
    plan.steps.append(.put(endpoint))
    plan.reply.changes.append(
      .init(action: known == nil ? .add : .change, kind: .endpoint, id: wanted.name, fields: fields))
  }

  /// Notes the files that need the user's consent: secrets that are new to the endpoint, and a token that would be sent
  /// to another address. A signing secret is not sent, so an existing one may sign for another address.
  private mutating func noteFiles(
    of wanted: Manifest.Webhook, _ sheet: EndpointSecretFile, _ known: Endpoint?,
    _ fields: [RemindersInterface.SetField]
  ) {
    var uses: [RemindersInterface.SetFileUse] = []
    if let path = wanted.secretFile, fields.contains(where: { $0.name == "secret" }) {
      uses.append(.init(endpoint: wanted.name, key: .secretFile, path: path, url: wanted.url))
    }
    let isNewToken = sheet.token != nil && fields.contains { $0.name == "token" }
    if isNewToken
      || sheet.token != nil && known.map({ ($0.url, $0.settings.via) != (wanted.url, wanted.settings.via) }) == true
    {
      let path = isNewToken ? wanted.tokenFile : nil
      uses.append(.init(endpoint: wanted.name, key: .tokenFile, path: path, url: wanted.url))
    }
    if !uses.isEmpty { plan.reply.fileUses = (plan.reply.fileUses ?? []) + uses }
  }

  /// Returns the content of a file that the set names; nil if it is missing or faulty.
  ///
  /// - Parameter isThere: whether the endpoint has a secret already. It then keeps that if the file is missing, so that a
  ///   set can be applied where secrets were placed by hand.
  private mutating func text(
    of path: String?, _ key: String, _ wanted: Manifest.Webhook, _ given: Given?, isThere: Bool
  ) -> String? {
    guard let path, let given else { return nil }
    guard let file = given[path] else {
      if isThere {
        plan.reply.warnings.append("\(path) does not exist: the endpoint \(wanted.name) keeps its present value")
      } else {
        declared.fault(wanted.place, key, "names a file that does not exist: \(TOMLText.quoted(path))")
      }
      return nil
    }
    if let problem = file.problem {
      declared.fault(wanted.place, key, "names a file that cannot be used: \(problem)")
      return nil
    }
    return file.text ?? ""
  }
}
