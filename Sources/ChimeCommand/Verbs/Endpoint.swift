import ChimeControl

/// `chime endpoint add|list|test|remove`
enum Endpoint {
  static let verb = Verb(
    name: "endpoint", group: .deliver, arguments: ["add|list|test|remove …"], summary: "The addresses of webhooks",
    details: ["An endpoint's name is what `--to` takes. Its secret signs every message and is never shown."],
    examples: [
      .init(command: "chime endpoint add team https://chat.example.org/hook --new-secret team.secret"),
      .init(command: "chime endpoint test team"),
    ],
    alsoTried: ["endpoints", "webhook", "hook"], subverbs: [add, list, test, remove],
    run: { _ in throw Failure.usage("add, list, test or remove is missing") })

  static let add = Verb(
    name: "add", group: .deliver, arguments: ["NAME URL"], summary: "Add an endpoint, or replace one of that name",
    details: [
      "The secret is `whsec_` and base64 of 24 to 64 bytes, in a file that nobody else may read. A new endpoint needs "
        + "one; one that is replaced keeps its own when none is given."
    ],
    options: [
      .value("secret-file", nil, "FILE", "Read the secret from a file of mode 0600"),
      .value("new-secret", nil, "FILE", "Make a new secret, write it to a new file of mode 0600, and use it"),
    ],
    examples: [.init(command: "chime endpoint add team http://127.0.0.1:8099/hook --secret-file s")],
    alsoTried: ["put", "set", "new", "create", "replace"], json: "`endpoint`", run: runAdd)

  static let list = Verb(
    name: "list", group: .deliver, arguments: [""], summary: "List the endpoints",
    examples: [.init(command: "chime endpoint list")], alsoTried: ["ls", "show"],
    json: "`endpoints`, and `more`, which is false", run: runList)

  static let test = Verb(
    name: "test", group: .deliver, arguments: ["NAME"], summary: "Send one signed test message now",
    details: ["The exit status is 1 when it was not taken."],
    examples: [.init(command: "chime endpoint test team")], alsoTried: ["try", "ping", "send"], json: "`result`",
    run: runTest)

  static let remove = Verb(
    name: "remove", group: .deliver, arguments: ["NAME"], summary: "Remove an endpoint and its secret",
    details: ["On a terminal it asks first."],
    options: [.flag("yes", "y", "Do not ask")],
    examples: [.init(command: "chime endpoint remove team")], alsoTried: ["rm", "delete", "del"],
    json: "`endpoint`: what was removed", run: runRemove)

  private static func runAdd(_ context: Context) throws -> ExitCode {
    let words = context.line.words
    guard words.count == 2 else {
      throw Failure.usage(
        words.count < 2 ? "a name and a URL are missing" : "a name and a URL are all it takes",
        hint: "chime endpoint add team https://chat.example.org/hook --new-secret team.secret")
    }
    if context.line.has("secret-file"), context.line.has("new-secret") {
      throw Failure.usage("--secret-file and --new-secret exclude each other")
    }
    var secret: String?
    var made: String?
    if let path = context.line.value("secret-file") { secret = try SecretFile.read(path, userID: context.world.userID) }
    let daemon = try context.daemon()
    if let path = context.line.value("new-secret") {
      secret = try SecretFile.make(path)
      made = path
    }
    let endpoint: EndpointsInterface.Endpoint
    do {
      endpoint = try daemon.call(
        EndpointsInterface.Put.method,
        EndpointsInterface.Put.Parameters(name: words[0], url: words[1], secret: secret),
        returning: EndpointsInterface.Put.Reply.self
      ).endpoint
    } catch let failure as Failure {
      // A secret that nobody uses is of no use to anybody. After a time-out the daemon may use it all the same.
      if let made, failure.status == .failed || failure.status == .notPermitted { SecretFile.remove(made) }
      var failure = failure
      if secret == nil, failure.message.contains("secret") {
        failure.hints.append("--new-secret FILE makes one, --secret-file FILE reads one")
      }
      throw failure
    }
    context.print(endpoint, as: Shapes.endpoint) {
      context.out("\(context.style(Harmless.line(endpoint.name), .strong))  \(Harmless.line(endpoint.url))")
      if let made { context.out("  its secret is in \(Harmless.line(made)): give it to the receiver to verify with") }
      context.out("  try it: chime endpoint test \(Harmless.line(endpoint.name))")
    }
    return .success
  }

  private static func runList(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let endpoints = try context.daemon().call(
      EndpointsInterface.List.method, Wire.Empty(), returning: EndpointsInterface.List.Reply.self
    ).endpoints
    let empty = [
      "No endpoints yet.", "Add one: chime endpoint add team https://chat.example.org/hook --new-secret team.secret",
    ]
    context.print(endpoints, as: Shapes.endpoint, empty: empty) {
      let clock = context.clock()
      var table = Table(columns: [
        .init(title: "NAME"), .init(title: "URL", canShrink: true), .init(title: "OWED", alignRight: true),
        .init(title: "STATE", canShrink: true), .init(title: "ADDED", dropOrder: 1),
      ])
      for endpoint in endpoints {
        table.rows.append([
          .init(endpoint.name, .strong), .init(endpoint.url), .init(String(endpoint.owed)),
          endpoint.disabled.map { .init("disabled: \($0)", .bad) } ?? .init("in use", .good),
          .init(clock.text(endpoint.createdAt), .faint),
        ])
      }
      context.print(table: table)
    }
    return .success
  }

  private static func runTest(_ context: Context) throws -> ExitCode {
    let result = try context.daemon().call(
      EndpointsInterface.Test.method, EndpointsInterface.Test.Parameters(name: try name(context)),
      returning: EndpointsInterface.Test.Reply.self
    ).result
    context.print(result, as: Shapes.test) {
      context.out("POST \(Harmless.line(result.url))")
      for header in result.requestHeaders { context.out("  \(context.style(Harmless.line(header), .faint))") }
      for line in Harmless.lines(result.requestBody) { context.out("  \(line)") }
      let took = RelativeTime.lateness(milliseconds: result.tookMs)
      let answer = result.status.map { "\($0)" } ?? result.error ?? "no answer"
      context.out(
        "\(context.style(result.ok ? "taken" : "not taken", result.ok ? .good : .bad)): \(Harmless.line(answer)) after \(took)"
      )
      if result.status != nil, let error = result.error { context.out("  \(Harmless.line(error))") }
      for line in Harmless.lines(result.answer ?? "") where !line.isEmpty { context.out("  \(line)") }
    }
    return result.ok ? .success : .failed
  }

  private static func runRemove(_ context: Context) throws -> ExitCode {
    let name = try name(context)
    let daemon = try context.daemon()
    if context.world.isInteractive, !context.line.has("yes"),
      !Asking.confirm(context, "Remove the endpoint \"\(Harmless.line(name))\" and its secret?")
    {
      context.note("Nothing was removed.")
      return .failed
    }
    let endpoint = try daemon.call(
      EndpointsInterface.Remove.method, EndpointsInterface.Remove.Parameters(name: name),
      returning: EndpointsInterface.Remove.Reply.self
    ).endpoint
    context.print(endpoint, as: Shapes.endpoint) {
      context.out("\(context.style(Harmless.line(endpoint.name), .strong))  \(Harmless.line(endpoint.url))\n  removed")
    }
    return .success
  }

  private static func name(_ context: Context) throws -> String {
    guard context.line.words.count == 1, let name = context.line.words.first else {
      throw Failure.usage("the name of one endpoint is needed", hint: "`chime endpoint list` shows them")
    }
    return name
  }
}
