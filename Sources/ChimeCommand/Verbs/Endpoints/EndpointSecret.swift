import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime endpoint rotate`
enum EndpointSecret {
  static let rotate = Verb(
    name: "rotate", group: .deliver, arguments: ["NAME"], summary: "Replace an endpoint's secret",
    details: [
      "Until the end of the overlap, messages are signed with both secrets, so the receiver can switch at any "
        + "moment; then the old secret is deleted.",
      "The receiver needs the new secret: choose where to write it. An endpoint that signs only with Ed25519 needs "
        + "no such place; the command prints its new public key.",
    ],
    options: [
      .value("new-secret", nil, "FILE", "Make a new secret, write it to a new file of mode 0600, and use it"),
      .value("secret-file", nil, "FILE", "Read the new secret from a file of mode 0600"),
      .flag("show", nil, "Create a new secret, and print only it, once, to standard output"),
      .value("overlap", nil, "SPAN", "How long the old secret stays valid: 0s to 30d (default 24h)"),
    ],
    examples: [
      "chime endpoint rotate team --new-secret team-2.secret", "chime endpoint rotate team --show --overlap 7d",
    ],
    alsoTried: ["renew", "secret", "key", "rekey"],
    json: "`rotation`, whose `secret` is null unless --show asked for it", run: run)

  private static func run(_ context: Context) throws -> ExitCode {
    let name = try Endpoint.name(context)
    let line = context.line
    let ways = ["secret-file", "new-secret", "show"].filter { line.has($0) }
    try need(ways.count < 2, localized("--%1 and --%2 cannot be used together", ways[0], ways[1]))
    var request = EndpointsInterface.Rotate(name: name)
    request.overlap = try line.value("overlap").map { text in
      guard let span = try? DurationText.parse(text) else {
        throw Failure.usage(localized("--overlap needs a span, such as 24h or 7d, not \"%1\"", text))
      }
      return DurationText.formatISO8601(span)
    }
    if let path = line.value("secret-file") {
      request.secret = try SecretFile.read(path, userID: context.process.userID)
    }
    if ways.isEmpty || line.has("new-secret") { try checkPlace(name, ways.isEmpty, context) }
    let daemon = try context.daemon()
    var made: String?
    if let path = line.value("new-secret") {
      request.secret = try SecretFile.make(path)
      made = path
    }
    let reply: EndpointsInterface.Rotate.Reply
    do {
      reply = try daemon.call(request)
    } catch let failure as Failure {
      if let made, failure.status == .failed || failure.status == .notPermitted { SecretFile.remove(made) }
      throw failure
    }
    tell(context, reply, made)
    return .success
  }

  /// Checks that the new secret will be stored or shown to someone.
  private static func checkPlace(_ name: String, _ isMissing: Bool, _ context: Context) throws {
    guard let endpoint = try Endpoint.known(name, context), let signing = endpoint.signing, !signing.isEmpty else {
      return
    }
    if isMissing, signing.contains(.hmac) {
      throw Failure(
        status: .usage, message: localized("the receiver needs the new secret: choose where to write it"),
        hints: [
          localized("to a new file of mode 0600: chime endpoint rotate %1 --new-secret FILE", name),
          localized("to standard output, once: chime endpoint rotate %1 --show", name),
        ])
    }
    if !isMissing, signing != [.hmac] {
      throw Failure.usage(
        localized("--new-secret creates a secret for HMAC, but \"%1\" signs with Ed25519", name),
        hint: localized("chime endpoint rotate %1 creates a new key pair and prints its public key", name))
    }
  }

  private static func tell(_ context: Context, _ reply: EndpointsInterface.Rotate.Reply, _ made: String?) {
    let endpoint = reply.endpoint
    let rotation = Output.Rotation(
      endpoint: endpoint.name, secret: context.line.has("show") ? reply.secret : nil,
      publicKeys: endpoint.publicKeys ?? [], rotationEnds: endpoint.rotationEnds)
    guard context.format == .human else {
      context.print(rotation, named: "rotation") {}
      return
    }
    let name = TerminalSanitizer.line(endpoint.name)
    if let secret = rotation.secret {
      // The secret is the only text on standard output, so that it can be piped.
      context.out(TerminalSanitizer.line(secret))
    }
    let end =
      endpoint.rotationEnds.map { localized("; the old one stays valid until %1", context.clock().text($0)) } ?? ""
    context.note(localized("%1: messages are now signed with a new secret%2", name, end))
    if let made { context.note(localized("it is in %1: give it to the receiver to verify messages", made)) }
    for key in endpoint.publicKeys ?? [] { context.out(TerminalSanitizer.line(key)) }
  }
}
