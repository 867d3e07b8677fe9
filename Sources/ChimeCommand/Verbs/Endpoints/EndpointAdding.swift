import ChimeControl
import ChimeSchedule
import ChimeWords
import Glibc

/// `chime endpoint add` and `edit`.
enum EndpointAdding {
  static let add = Verb(
    name: "add", group: .deliver, arguments: ["NAME URL"], summary: "Add an endpoint, or replace one of the same name",
    details: [
      "A secret signs every message: `whsec_` and base64 of 24 to 64 bytes (HMAC), or `whsk_` and an Ed25519 key. "
        + "Keep it in a file that only you may read. A new endpoint needs a secret; with a template, whose "
        + "receivers check no signature, the daemon creates one. Replacing an endpoint keeps only its secret and "
        + "its token (`chime endpoint edit` changes single fields).",
      "A template replaces Chime's own JSON in the request: give the name of one that comes with Chime (`chime "
        + "endpoint templates`), or a file of your own.",
      "An address that begins with `mailto:` is one or several mailboxes, separated by commas. Chime hands these "
        + "emails to the server of `--via`. It does not sign them; `--token-file` reads the password for the log-in.",
      "An address that begins with `mqtts://` or `mqtt://` is a broker of MQTT 5 and the prefix of its topics: Home "
        + "Assistant finds there a device that shows open reminders and has the buttons *Done* and *Snooze*.",
      "An address that begins with `matrix:` is a Matrix room, by its id: `matrix:roomid/abc:example.org`. `--via` "
        + "is the homeserver, `--token-file` has the access token of an account in the room, and only the people "
        + "in `--senders` may answer there.",
    ],
    options: [
      .value("secret-file", nil, "FILE", "Read the secret from a file of mode 0600"),
      .value("new-secret", nil, "FILE", "Make a new secret, write it to a new file of mode 0600, and use it"),
      .flag("ed25519", nil, "Make a key pair that never leaves the daemon, and print its public key"),
    ] + settings,
    examples: [
      "chime endpoint add team http://127.0.0.1:8099/hook --secret-file s",
      "chime endpoint add phone https://ntfy.sh/my-topic --template ntfy",
      "chime endpoint add phone https://ntfy.sh/alerts --template ntfy --replies https://ntfy.sh/answers",
      "chime endpoint add me mailto:me@example.org --via smtps://example.org --from me@example.org",
      "chime endpoint add home mqtts://broker.lan/chime --user chime --token-file password",
      "chime endpoint add room matrix:roomid/abc:example.org --via https://example.org --token-file t",
      "chime endpoint add list https://a.example --new-secret s --reminders all --events done",
      "chime endpoint add push https://gotify.example.org --template gotify --token-file t",
    ],
    alsoTried: ["put", "set", "new", "create", "replace"], json: "`endpoint`", run: runAdd)

  static let edit = Verb(
    name: "edit", group: .deliver, arguments: ["NAME"], summary: "Change fields of an endpoint",
    details: ["Fields without an option stay unchanged. `chime endpoint rotate` replaces the secret."],
    options: [.value("url", nil, "URL", "Its address")] + settings + [
      .value(
        "reset", nil, "WHAT",
        "Reset fields to their defaults: headers, template, certificates, replies, via, from, replyTo, user, "
          + "senders, events, reminders, concurrency, rate, inOrder, token; several with commas", repeats: true)
    ],
    examples: [
      "chime endpoint edit team --rate 30/1m", "chime endpoint edit me --user ann --token-file password",
      "chime endpoint edit team --reset template",
    ],
    alsoTried: ["change", "update", "modify"], json: "`endpoint`", run: runEdit)

  private static let settings: [Verb.Option] = [
    .value(
      "header", nil, "'NAME: VALUE'",
      "Send one more header; it may contain {{title}} and other fields of a template, and {{token}}",
      repeats: true),
    .value("template", nil, "NAME|FILE", "Send by a template: ntfy, slack … or a file, with a / or .json in its name"),
    .value(
      "token-file", nil, "FILE",
      "Read a token from a file of mode 0600: for {{token}} in a header, or else a bearer token; with --user, the "
        + "password"),
    .value(
      "replies", nil, "URL",
      "Read answers from this ntfy topic, or with poll:URL ask for them: messages get buttons (docs/answers.md)"
    ),
    .value(
      "via", nil, "URL",
      "For email, the server: smtps://HOST, or smtp://HOST:587 with STARTTLS; for a Matrix room, the homeserver: "
        + "https://HOST"),
    .value("from", nil, "MAILBOX", "The sender of emails"),
    .value("reply-to", nil, "MAILBOX", "The address for replies to emails, if not that of --from"),
    .value("user", nil, "NAME", "Log in to the server or broker as NAME, with the password in --token-file"),
    .value(
      "senders", nil, "USERS", "People whose answers in a Matrix room count: @ann:example.org; several with commas",
      repeats: true),
    .value(
      "events", nil, "EVENTS",
      "Events to send: fired, repeated, done, snoozed, dismissed, missed, reopened, given-up, and for trackers "
        + "logged, goal, unlocked; several with commas (default fired,repeated)", repeats: true),
    .value(
      "reminders", nil, "WHICH", "Send events of these reminders too, even if they do not name it: all, or tag:health"),
    .value("ca-file", nil, "FILE", "Trust only the certificates in this file (PEM)"),
    .value("concurrency", nil, "N", "Concurrent attempts, 1 to 64 (8 unless configured)"),
    .value("rate", nil, "N/SPAN", "At most N messages in a span of time, such as 30/1m"),
    .flag("in-order", nil, "Send a message only after all earlier ones are settled"),
  ]

  private static func runAdd(_ context: Context) throws -> ExitCode {
    let words = context.line.words
    try need(
      words.count == 2,
      words.count < 2 ? localized("a name and a URL are missing") : localized("give only a name and a URL"),
      hint: localized("chime endpoint add team https://chat.example.org/hook --new-secret team.secret"))
    let ways = ["secret-file", "new-secret", "ed25519"].filter { context.line.has($0) }
    try need(ways.count < 2, localized("--%1 and --%2 cannot be used together", ways[0], ways[1]))
    var request = EndpointsInterface.Put(name: words[0], url: words[1])
    if let path = context.line.value("secret-file") {
      request.secret = try SecretFile.read(path, userID: context.process.userID)
    }
    request.newSecret = context.line.has("ed25519") ? .ed25519 : nil
    request.token = try token(context)
    request.settings = try settings(context)
    let daemon = try context.daemon()
    var made: String?
    if let path = context.line.value("new-secret") {
      request.secret = try SecretFile.make(path)
      made = path
    }
    let endpoint: EndpointsInterface.Endpoint
    do {
      endpoint = try daemon.call(request).endpoint
    } catch let failure as Failure {
      // Remove the unused secret file. After a timeout keep it, since the daemon may have accepted the secret.
      if let made, failure.status == .failed || failure.status == .notPermitted { SecretFile.remove(made) }
      throw hinted(failure, request)
    }
    context.print(endpoint, named: "endpoint") {
      context.print(heading: endpoint.name, endpoint.url)
      if let made {
        context.out(
          localized("  its secret is in %1: give it to the receiver to verify messages", TerminalSanitizer.line(made)))
      }
      for key in endpoint.publicKeys ?? [] {
        context.out(localized("  its public key, for the receiver to verify messages: %1", TerminalSanitizer.line(key)))
      }
      context.out(localized("  try it: chime endpoint test %1", TerminalSanitizer.line(endpoint.name)))
    }
    return .success
  }

  private static func hinted(_ failure: Failure, _ request: EndpointsInterface.Put) -> Failure {
    var failure = failure
    if request.secret == nil, request.newSecret == nil, failure.said.contains("a new endpoint needs a secret") {
      failure.hints.append(localized("--new-secret FILE creates one, --secret-file FILE reads one"))
      failure.hints.append(localized("--template NAME needs none; `chime endpoint templates` lists them"))
    }
    if request.token == nil, failure.said.contains("token") {
      failure.hints.append(localized("--token-file FILE reads one"))
    }
    return failure
  }

  private static func runEdit(_ context: Context) throws -> ExitCode {
    var request = EndpointsInterface.Update(name: try Endpoint.name(context))
    request.url = context.line.value("url")
    request.token = try token(context)
    request.settings = try settings(context)
    request.reset = try context.line.list("reset")?.map { word in
      let names = EndpointsInterface.Update.Reset.allCases
      guard let name = names.first(where: { $0.rawValue.lowercased() == word.lowercased() }) else {
        throw Failure.usage(
          localized("--reset needs %1, not \"%2\"", names.map(\.rawValue).joined(separator: ", "), word),
          hint: SpellingSuggestions.question(word, among: names.map(\.rawValue)))
      }
      return name
    }
    try need(
      request.url != nil || request.token != nil || request.settings != nil || request.reset != nil,
      localized("give an option that changes something"),
      hint: localized("`chime endpoint edit --help` lists the options"))
    let endpoint = try context.daemon().call(request).endpoint
    context.print(endpoint, named: "endpoint") { EndpointLooking.details(context, endpoint) }
    return .success
  }

  private static func token(_ context: Context) throws -> String? {
    try context.line.value("token-file").map { try SecretFile.token($0, userID: context.process.userID) }
  }

  /// Returns the settings given by options; nil without any.
  private static func settings(_ context: Context) throws -> EndpointsInterface.Settings? {
    let line = context.line
    var settings = EndpointsInterface.Settings()
    if line.has("header") { settings.headers = try line.values("header").map(header) }
    settings.template = try line.value("template").map(template)
    settings.certificates = try line.value("ca-file").map {
      try file($0, localized("the file of certificates"), limit: 262_144)
    }
    settings.replies = line.value("replies")
    settings.via = line.value("via")
    settings.from = line.value("from")
    settings.replyTo = line.value("reply-to")
    settings.user = line.value("user")
    settings.senders = line.list("senders")
    settings.events = try line.list("events").map { try $0.map(event) }
    settings.reminders = line.value("reminders")
    settings.concurrency = try line.count("concurrency", maximum: 64)
    settings.rate = try line.value("rate").map(rate)
    settings.inOrder = line.has("in-order") ? true : nil
    return settings == EndpointsInterface.Settings() ? nil : settings
  }

  private static func header(_ text: String) throws -> EndpointsInterface.Header {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { trimmed(String($0)) }
    try need(
      parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty,
      localized("--header needs a name and a value, such as 'X-Priority: 5', not \"%1\"", text))
    return EndpointsInterface.Header(name: parts[0], value: parts[1])
  }

  private static func event(_ text: String) throws -> EndpointsInterface.Settings.Events {
    let names = eventNames
    guard let place = names.firstIndex(of: text.lowercased()) else {
      throw Failure.usage(
        localized("--events needs %1, not \"%2\"", names.joined(separator: ", "), text),
        hint: SpellingSuggestions.question(text, among: names))
    }
    return EndpointsInterface.Settings.Events.allCases[place]
  }

  /// Event names as typed: `given-up` for the protocol's `givenUp`.
  static let eventNames = EndpointsInterface.Settings.Events.allCases.map { event in
    event.rawValue.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
  }

  private static func template(_ text: String) throws -> String {
    guard text.contains("/") || text.hasSuffix(".json") else { return text }
    return try file(text, localized("the template"), limit: 65_536)
  }

  private static func file(_ path: String, _ what: String, limit: Int) throws -> String {
    guard let bytes = Files.read(path, limit: limit) else {
      throw Failure.system(localized("cannot read %1 %2", what, path), errno: errno)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure.failed(localized("%1 %2 is not text in UTF-8", what, path))
    }
    return text
  }

  private static func rate(_ text: String) throws -> EndpointsInterface.Rate {
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    guard parts.count == 2, let count = Int(parts[0]), let span = try? DurationText.parse(parts[1]) else {
      throw Failure.usage(localized("--rate needs a number and a span, such as 30/1m, not \"%1\"", text))
    }
    return EndpointsInterface.Rate(count: count, span: DurationText.formatISO8601(span))
  }
}
