import ChimeControl
import ChimeWords

/// `chime endpoint list`, `show`, `test` and `templates`.
enum EndpointLooking {
  static let list = Verb(
    name: "list", group: .deliver, summary: "List the endpoints",
    examples: ["chime endpoint list"], alsoTried: ["ls"],
    json: "`endpoints`, and `more`, which is false", run: runList)

  static let show = Verb(
    name: "show", group: .deliver, arguments: ["NAME"], summary: "Show everything about an endpoint except its secrets",
    examples: ["chime endpoint show team"], alsoTried: ["get", "info", "status"], json: "`endpoint`",
    run: { context in
      let name = try Endpoint.name(context)
      guard let endpoint = try Endpoint.known(name, context) else {
        throw Failure.failed(
          localized("there is no endpoint \"%1\"", name), hint: localized("`chime endpoint list` shows them"))
      }
      context.print(endpoint, named: "endpoint") { details(context, endpoint) }
      return .success
    })

  static let test = Verb(
    name: "test", group: .deliver, arguments: ["NAME"], summary: "Send one test message now",
    details: [
      "It shows the signed request, the response, and how long each part took. An endpoint with a template gets a "
        + "made-up reminder.", "If the receiver does not accept it, the exit status is 1.",
    ],
    examples: ["chime endpoint test team"], alsoTried: ["try", "ping", "send"], json: "`result`",
    run: runTest)

  static let templates = Verb(
    name: "templates", group: .deliver, arguments: ["[NAME]"],
    summary: "List the templates, or print one as a starting point",
    examples: ["chime endpoint templates", "chime endpoint templates ntfy > mine.json"],
    alsoTried: ["template"], json: "`templates`, and `more`, which is false; of one, the template itself",
    run: runTemplates)

  private static func runList(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let endpoints = try context.daemon().call(EndpointsInterface.List()).endpoints
    let empty = [
      localized("No endpoints yet."),
      localized("Add one: chime endpoint add team https://chat.example.org/hook --new-secret team.secret"),
      localized("`chime endpoint templates` says how to reach ntfy, Slack and others."),
    ]
    context.print(endpoints, named: "endpoints", empty: empty) {
      let clock = context.clock()
      var table = Table(columns: [
        .init(title: "NAME"), .init(title: "URL", canShrink: true), .init(title: "TEMPLATE", dropOrder: 2),
        .init(title: "PENDING", alignRight: true), .init(title: "DEAD", alignRight: true, dropOrder: 3),
        .init(title: "STATE", canShrink: true), .init(title: "ADDED", dropOrder: 1),
      ])
      for endpoint in endpoints {
        let (state, tone) = state(endpoint, context)
        table.rows.append([
          .init(endpoint.name, .strong), .init(endpoint.url), .init(template(endpoint) ?? "-"),
          .init(String(endpoint.pending)), .init(endpoint.dead.map(String.init) ?? "-"), .init(state, tone),
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
        localized("disabled: %1", localizedServerMessage(reason))
          + (endpoint.disabledAt.map { ", \(clock.relative($0))" } ?? ""),
        .bad
      )
    }
    if let fault = endpoint.problem { return (localized("cannot be used: %1", localizedServerMessage(fault)), .bad) }
    let failing = endpoint.failingSince.map { localized("failing since %1", clock.text($0)) }
    if let until = endpoint.backoffUntil.flatMap(WallClock.instant), until > clock.now {
      return (
        ([localized("backing off until %1", clock.time(until))] + [failing].compactMap { $0 }).joined(separator: ", "),
        .caution
      )
    }
    if let failing { return (failing, .caution) }
    return (localized("in use"), .good)
  }

  private static func template(_ endpoint: EndpointsInterface.Endpoint) -> String? {
    endpoint.settings?.template.map { $0.utf8.contains(UInt8(ascii: "{")) ? localized("its own") : $0 }
  }

  /// Prints all details of an endpoint for a person.
  static func details(_ context: Context, _ endpoint: EndpointsInterface.Endpoint) {
    let clock = context.clock()
    let settings = endpoint.settings
    context.print(heading: endpoint.name, endpoint.url)
    let (state, _) = state(endpoint, context)
    var facts: [(String, String?)] = [
      (localized("state"), state), (localized("pending"), String(endpoint.pending)),
      (localized("given up"), endpoint.dead.map(String.init)),
      (localized("template"), template(endpoint)),
    ]
    facts += (settings?.headers ?? []).map { (localized("header"), "\($0.name): \($0.value)") }
    facts += [
      (localized("trusts"), settings?.certificates == nil ? nil : localized("only its own certificates")),
      (localized("at once"), settings?.concurrency.map { localized("at most %1", $0) }),
      (localized("rate"), settings?.rate.map { localized("at most %1 in %2", $0.count, LengthText.human($0.span)) }),
      (localized("order"), settings?.inOrder == true ? localized("one after the other") : nil),
      (localized("answers"), replies(endpoint, clock)),
      (localized("read from"), settings?.replies),
      (localized("sent via"), settings?.via), (localized("from"), settings?.from),
      (localized("answers go to"), settings?.replyTo), (localized("logs in as"), settings?.user),
      (localized("may answer"), settings?.senders?.joined(separator: ", ")),
      (localized("events"), settings?.events.map { $0.map { StateWords.event($0.rawValue) }.joined(separator: ", ") }),
      (localized("reminders"), settings?.reminders),
      (localized("signs with"), signing(endpoint)),
    ]
    facts += (endpoint.publicKeys ?? []).map { (localized("public key"), $0) }
    facts += [
      (
        localized("rotation"),
        endpoint.rotationEnds.map { localized("the replaced secret signs too until %1", clock.text($0)) }
      ),
      (localized("token"), endpoint.hasToken == true ? localized("yes") : nil),
      (localized("takes back"), endpoint.canWithdraw.map(takingBack)),
      (localized("added"), "\(clock.text(endpoint.createdAt)), \(clock.relative(endpoint.createdAt))"),
    ]
    context.print(facts: facts)
  }

  private static func takingBack(_ canWithdraw: Bool) -> String {
    canWithdraw
      ? localized("what is answered")
      : localized(
        "nothing; to enable that, put a second token below the first in --token-file")
  }

  /// Returns `are read; 3 given, the last 5 minutes ago, 1 refused`.
  private static func replies(_ endpoint: EndpointsInterface.Endpoint, _ clock: WallClock) -> String? {
    guard let replies = endpoint.replies else { return nil }
    var parts: [String] = []
    switch replies.state {
    case .connected: parts = [localized("are read")]
    case .connecting: parts = [localized("connecting to the server")]
    case .retrying:
      parts = [
        localized(
          "cannot be read since %1: %2", clock.text(replies.since),
          replies.problem.map { localizedServerMessage($0) } ?? "-")
      ]
    case .elsewhere: parts = [localized("another daemon reads them")]
    case .disabled: parts = [localized("are not read")]
    }
    if replies.answers > 0 {
      parts.append(
        localized("%1 received, the last %2", replies.answers, replies.lastAnswerAt.map { clock.relative($0) } ?? "-"))
    }
    if replies.refused > 0 { parts.append(localized("%1 refused", replies.refused)) }
    return parts.joined(separator: "; ")
  }

  private static func signing(_ endpoint: EndpointsInterface.Endpoint) -> String? {
    guard let signing = endpoint.signing, !signing.isEmpty else { return nil }
    let names = signing.map { $0 == .hmac ? "HMAC" : "Ed25519" }.joined(separator: localized(" and "))
    return endpoint.secretSource == .credential
      ? localized("%1, from a credential of the service manager", names) : names
  }

  private static func runTest(_ context: Context) throws -> ExitCode {
    let result = try context.daemon().call(EndpointsInterface.Test(name: try Endpoint.name(context))).result
    context.print(result, named: "result") {
      context.out("\(result.method ?? "POST") \(TerminalSanitizer.line(result.url))")
      for header in result.requestHeaders { context.out("  \(context.style(TerminalSanitizer.line(header), .faint))") }
      for line in TerminalSanitizer.lines(IndentedJSON.text(result.requestBody)) {
        context.out(line.isEmpty ? "" : "  \(line)")
      }
      let took = RelativeTime.lateness(milliseconds: result.durationMs)
      let answer =
        result.status.map { "\($0)" } ?? result.error.map { localizedServerMessage($0) } ?? localized("no answer")
      context.out(
        localized(
          "%1: %2 after %3",
          context.style(result.ok ? localized("accepted") : localized("not accepted"), result.ok ? .good : .bad),
          TerminalSanitizer.line(answer), took)
      )
      if result.status != nil, let error = result.error {
        context.out("  \(TerminalSanitizer.line(localizedServerMessage(error)))")
      }
      if let timing = result.timing { context.out("  \(context.style(parts(timing, result), .faint))") }
      for header in result.responseHeaders ?? [] {
        context.out("  \(context.style(TerminalSanitizer.line(header), .faint))")
      }
      for line in TerminalSanitizer.lines(IndentedJSON.text(result.response ?? "")) where !line.isEmpty {
        context.out("  \(line)")
      }
    }
    return result.ok ? .success : .failed
  }

  /// Returns the phases of a request, each measured from the end of the one before: `HTTP/2 from 192.0.2.1: name 1.2
  /// ms, connection 0.8 ms, TLS 9.0 ms, first byte 20.1 ms, in all 20.4 ms`.
  private static func parts(_ timing: EndpointsInterface.Timing, _ result: EndpointsInterface.TestResult) -> String {
    func length(_ microseconds: Int) -> String {
      let tenths = max(0, microseconds + 50) / 100
      return "\(LocalizedFormat.number(Double(tenths) / 10, decimals: 1)) ms"
    }
    var parts: [String] = []
    var before = 0
    for (name, time) in [
      (localized("name"), timing.nameLookup), (localized("connection"), timing.connect), ("TLS", timing.tls),
      (localized("first byte"), timing.firstByte),
    ] where time > 0 {
      parts.append("\(name) \(length(time - before))")
      before = time
    }
    parts.append(localized("in all %1", length(timing.total)))
    let who = [result.httpVersion, result.address.map { localized("from %1", $0) }].compactMap { $0 }.joined(
      separator: " ")
    return TerminalSanitizer.line((who.isEmpty ? "" : "\(who): ") + parts.joined(separator: ", "))
  }

  private static func runTemplates(_ context: Context) throws -> ExitCode {
    let words = context.line.words
    try need(words.count < 2, localized("one template at a time"))
    let templates = try context.daemon().call(EndpointsInterface.Templates()).templates
    if let name = words.first {
      guard let template = templates.first(where: { $0.name == name }) else {
        throw Failure.failed(
          localized("there is no template \"%1\"", name),
          hint: SpellingSuggestions.question(name, among: templates.map(\.name)))
      }
      guard context.format == .human else {
        context.print(template, named: "template") {}
        return .success
      }
      var lines = template.text.split(separator: "\n", omittingEmptySubsequences: false)
      if lines.last?.isEmpty == true { lines.removeLast() }
      for line in lines { context.out(TerminalSanitizer.line(line)) }
      return .success
    }
    context.print(templates, named: "templates", empty: [localized("No templates.")]) {
      var table = Table(columns: [
        .init(title: "NAME"), .init(title: "SUMMARY", canShrink: true), .init(title: "TOKEN"),
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
