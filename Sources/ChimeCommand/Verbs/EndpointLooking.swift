import ChimeControl
import ChimeWords

/// `chime endpoint list`, `show`, `test` and `templates`.
enum EndpointLooking {
  static let list = Verb(
    name: "list", group: .deliver, arguments: [""], summary: "List the endpoints",
    examples: [.init(command: "chime endpoint list")], alsoTried: ["ls"],
    json: "`endpoints`, and `more`, which is false", run: runList)

  static let show = Verb(
    name: "show", group: .deliver, arguments: ["NAME"], summary: "Show all of one endpoint but its secrets",
    examples: [.init(command: "chime endpoint show team")], alsoTried: ["get", "info", "status"], json: "`endpoint`",
    run: { context in
      let name = try Endpoint.name(context)
      guard let endpoint = try Endpoint.known(name, context) else {
        throw Failure.failed(
          Words.say("there is no endpoint \"%1\"", name), hint: Words.say("`chime endpoint list` shows them"))
      }
      context.print(endpoint, named: "endpoint") { details(context, endpoint) }
      return .success
    })

  static let test = Verb(
    name: "test", group: .deliver, arguments: ["NAME"], summary: "Send one test message now",
    details: [
      "Shows the request with its signatures, what came back, and how long each part took. An endpoint with a template is "
        + "sent a reminder that is made up.", "The exit status is 1 when it was not taken.",
    ],
    examples: [.init(command: "chime endpoint test team")], alsoTried: ["try", "ping", "send"], json: "`result`",
    run: runTest)

  static let templates = Verb(
    name: "templates", group: .deliver, arguments: ["[NAME]"],
    summary: "List the templates, or print one to start from",
    examples: [
      .init(command: "chime endpoint templates"), .init(command: "chime endpoint templates ntfy > mine.json"),
    ],
    alsoTried: ["template"], json: "`templates`, and `more`, which is false; of one, the template itself",
    run: runTemplates)

  private static func runList(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let endpoints = try context.daemon().call(EndpointsInterface.List()).endpoints
    let empty = [
      Words.say("No endpoints yet."),
      Words.say("Add one: chime endpoint add team https://chat.example.org/hook --new-secret team.secret"),
      Words.say("`chime endpoint templates` says how to reach ntfy, Slack and others."),
    ]
    context.print(endpoints, named: "endpoints", empty: empty) {
      let clock = context.clock()
      var table = Table(columns: [
        .init(title: "NAME"), .init(title: "URL", canShrink: true), .init(title: "TEMPLATE", dropOrder: 2),
        .init(title: "OWED", alignRight: true), .init(title: "DEAD", alignRight: true, dropOrder: 3),
        .init(title: "STATE", canShrink: true), .init(title: "ADDED", dropOrder: 1),
      ])
      for endpoint in endpoints {
        let (state, tone) = state(endpoint, context)
        table.rows.append([
          .init(endpoint.name, .strong), .init(endpoint.url), .init(template(endpoint) ?? "-"),
          .init(String(endpoint.owed)), .init(endpoint.dead.map(String.init) ?? "-"), .init(state, tone),
          .init(clock.text(endpoint.createdAt), .faint),
        ])
      }
      context.print(table: table)
    }
    return .success
  }

  private static func state(_ endpoint: EndpointsInterface.Endpoint, _ context: Context) -> (String, Style.Tone) {
    let clock = context.clock()
    if let reason = endpoint.disabled {
      return (
        Words.say("disabled: %1", Words.told(reason)) + (endpoint.disabledAt.map { ", \(clock.relative($0))" } ?? ""),
        .bad
      )
    }
    if let fault = endpoint.fault { return (Words.say("cannot be used: %1", Words.told(fault)), .bad) }
    let failing = endpoint.failingSince.map { Words.say("failing since %1", clock.text($0)) }
    if let until = endpoint.restingUntil.flatMap(WallClock.instant), until > clock.now {
      return (
        ([Words.say("resting until %1", clock.time(until))] + [failing].compactMap { $0 }).joined(separator: ", "),
        .caution
      )
    }
    if let failing { return (failing, .caution) }
    return (Words.say("in use"), .good)
  }

  private static func template(_ endpoint: EndpointsInterface.Endpoint) -> String? {
    endpoint.settings?.template.map { $0.utf8.contains(UInt8(ascii: "{")) ? Words.say("its own") : $0 }
  }

  /// All of one, for a person.
  static func details(_ context: Context, _ endpoint: EndpointsInterface.Endpoint) {
    let clock = context.clock()
    let settings = endpoint.settings
    context.out("\(context.style(Harmless.line(endpoint.name), .strong))  \(Harmless.line(endpoint.url))")
    let (state, _) = state(endpoint, context)
    var facts: [(String, String?)] = [
      (Words.say("state"), state), (Words.say("owed"), String(endpoint.owed)),
      (Words.say("given up"), endpoint.dead.map(String.init)),
      (Words.say("template"), template(endpoint)),
    ]
    facts += (settings?.headers ?? []).map { (Words.say("header"), "\($0.name): \($0.value)") }
    facts += [
      (Words.say("trusts"), settings?.certificates == nil ? nil : Words.say("certificates of its own only")),
      (Words.say("at once"), settings?.concurrency.map { Words.say("at most %1", $0) }),
      (Words.say("rate"), settings?.rate.map { Words.say("at most %1 in %2", $0.count, LengthText.human($0.span)) }),
      (Words.say("order"), settings?.inOrder == true ? Words.say("one after the other") : nil),
      (Words.say("answers"), replies(endpoint, clock)),
      (Words.say("read from"), settings?.replies),
      (Words.say("sent via"), settings?.via), (Words.say("from"), settings?.from),
      (Words.say("answers go to"), settings?.replyTo), (Words.say("logs in as"), settings?.user),
      (Words.say("may answer"), settings?.senders?.joined(separator: ", ")),
      (Words.say("is told"), settings?.events.map { $0.map { StateWords.event($0.rawValue) }.joined(separator: ", ") }),
      (Words.say("also of"), settings?.reminders),
      (Words.say("signs with"), signing(endpoint)),
    ]
    facts += (endpoint.publicKeys ?? []).map { (Words.say("public key"), $0) }
    facts += [
      (
        Words.say("rotation"),
        endpoint.rotationEnds.map { Words.say("the replaced secret signs too until %1", clock.text($0)) }
      ),
      (Words.say("token"), endpoint.hasToken == true ? Words.say("yes") : nil),
      (Words.say("takes back"), endpoint.takesBack.map(takingBack)),
      (Words.say("added"), "\(clock.text(endpoint.createdAt)), \(clock.relative(endpoint.createdAt))"),
    ]
    context.print(facts: facts)
  }

  private static func takingBack(_ takesBack: Bool) -> String {
    takesBack
      ? Words.say("what is answered") : Words.say("nothing; a second token does, below the first in --token-file")
  }

  /// `are read; 3 given, the last 5 minutes ago, 1 refused`
  private static func replies(_ endpoint: EndpointsInterface.Endpoint, _ clock: WallClock) -> String? {
    guard let replies = endpoint.replies else { return nil }
    var parts: [String] = []
    switch replies.state {
    case .open: parts = [Words.say("are read")]
    case .connecting: parts = [Words.say("the server is being called")]
    case .waiting:
      parts = [
        Words.say(
          "cannot be read since %1: %2", clock.text(replies.since), replies.problem.map { Words.told($0) } ?? "-")
      ]
    case .elsewhere: parts = [Words.say("are read by another daemon")]
    case .off: parts = [Words.say("are not read")]
    }
    if replies.answers > 0 {
      parts.append(
        Words.say("%1 given, the last %2", replies.answers, replies.answeredAt.map { clock.relative($0) } ?? "-"))
    }
    if replies.refused > 0 { parts.append(Words.say("%1 refused", replies.refused)) }
    return parts.joined(separator: "; ")
  }

  private static func signing(_ endpoint: EndpointsInterface.Endpoint) -> String? {
    guard let signing = endpoint.signing, !signing.isEmpty else { return nil }
    let names = signing.map { $0 == .hmac ? "HMAC" : "Ed25519" }.joined(separator: Words.say(" and "))
    return endpoint.secretFrom == .credential ? Words.say("%1, by a credential of the service manager", names) : names
  }

  private static func runTest(_ context: Context) throws -> ExitCode {
    let result = try context.daemon().call(EndpointsInterface.Test(name: try Endpoint.name(context))).result
    context.print(result, named: "result") {
      context.out("\(result.method ?? "POST") \(Harmless.line(result.url))")
      for header in result.requestHeaders { context.out("  \(context.style(Harmless.line(header), .faint))") }
      for line in Harmless.lines(IndentedJSON.text(result.requestBody)) { context.out(line.isEmpty ? "" : "  \(line)") }
      let took = RelativeTime.lateness(milliseconds: result.tookMs)
      let answer = result.status.map { "\($0)" } ?? result.error.map { Words.told($0) } ?? Words.say("no answer")
      context.out(
        Words.say(
          "%1: %2 after %3",
          context.style(result.ok ? Words.say("taken") : Words.say("not taken"), result.ok ? .good : .bad),
          Harmless.line(answer), took)
      )
      if result.status != nil, let error = result.error { context.out("  \(Harmless.line(Words.told(error)))") }
      if let timing = result.timing { context.out("  \(context.style(parts(timing, result), .faint))") }
      for header in result.responseHeaders ?? [] { context.out("  \(context.style(Harmless.line(header), .faint))") }
      for line in Harmless.lines(IndentedJSON.text(result.answer ?? "")) where !line.isEmpty {
        context.out("  \(line)")
      }
    }
    return result.ok ? .success : .failed
  }

  /// `HTTP/2 from 192.0.2.1: name 1.2 ms, connection 0.8 ms, TLS 9.0 ms, first byte 20.1 ms, in all 20.4 ms`: each from
  /// the end of the one before.
  private static func parts(_ timing: EndpointsInterface.Timing, _ result: EndpointsInterface.TestResult) -> String {
    func length(_ microseconds: Int) -> String {
      let tenths = max(0, microseconds + 50) / 100
      return "\(Figures.number(Double(tenths) / 10, decimals: 1)) ms"
    }
    var parts: [String] = []
    var before = 0
    for (name, time) in [
      (Words.say("name"), timing.nameLookup), (Words.say("connection"), timing.connect), ("TLS", timing.tls),
      (Words.say("first byte"), timing.firstByte),
    ] where time > 0 {
      parts.append("\(name) \(length(time - before))")
      before = time
    }
    parts.append(Words.say("in all %1", length(timing.total)))
    let who = [result.httpVersion, result.address.map { Words.say("from %1", $0) }].compactMap { $0 }.joined(
      separator: " ")
    return Harmless.line((who.isEmpty ? "" : "\(who): ") + parts.joined(separator: ", "))
  }

  private static func runTemplates(_ context: Context) throws -> ExitCode {
    let words = context.line.words
    guard words.count < 2 else { throw Failure.usage(Words.say("one template at a time")) }
    let templates = try context.daemon().call(EndpointsInterface.Templates()).templates
    if let name = words.first {
      guard let template = templates.first(where: { $0.name == name }) else {
        throw Failure.failed(
          Words.say("there is no template \"%1\"", name), hint: Nearest.question(name, among: templates.map(\.name)))
      }
      guard context.format == .human else {
        context.print(template, named: "template") {}
        return .success
      }
      var lines = template.text.split(separator: "\n", omittingEmptySubsequences: false)
      if lines.last?.isEmpty == true { lines.removeLast() }
      for line in lines { context.out(Harmless.line(line)) }
      return .success
    }
    context.print(templates, named: "templates", empty: [Words.say("No templates.")]) {
      var table = Table(columns: [
        .init(title: "NAME"), .init(title: "FOR", canShrink: true), .init(title: "TOKEN"),
        .init(title: "ADDRESS", dropOrder: 1),
      ])
      for template in templates {
        table.rows.append([
          .init(template.name, .strong), .init(template.summary), .init(template.needsToken ? "needed" : "-"),
          .init(template.example ?? "-", .faint),
        ])
      }
      context.print(table: table)
    }
    return .success
  }
}
