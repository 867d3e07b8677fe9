import ChimeControl
import ChimeWords

/// `chime endpoint add|edit|list|show|test|rotate|enable|disable|templates|remove`
enum Endpoint {
  static let verb = Verb(
    name: "endpoint", group: .deliver,
    summary: "The addresses of webhooks, emails, MQTT and Matrix",
    details: ["`--to` takes an endpoint's name. The endpoint's secret signs every message and is never shown."],
    examples: [
      "chime endpoint add team https://chat.example.org/hook --new-secret team.secret",
      "chime endpoint add phone https://ntfy.sh/my-topic --template ntfy",
      "chime endpoint add me mailto:me@example.org --via smtps://example.org --from me@example.org",
      "chime endpoint add home mqtts://broker.lan/chime --user chime --token-file password",
      "chime endpoint add room matrix:roomid/abc:example.org --via https://example.org --token-file t",
      "chime endpoint test phone",
    ],
    alsoTried: ["endpoints", "webhook", "hook", "email", "mail", "mqtt", "homeassistant", "matrix", "element"],
    subverbs: [
      EndpointAdding.add, EndpointAdding.edit, EndpointLooking.list, EndpointLooking.show, EndpointLooking.test,
      EndpointSecret.rotate, enable, disable, EndpointLooking.templates, remove,
    ])

  static let enable = Verb(
    name: "enable", group: .deliver, arguments: ["NAME"], summary: "Enable an endpoint",
    details: ["Pending messages are sent at once."],
    examples: ["chime endpoint enable team"], alsoTried: ["on", "resume", "start"],
    json: "`endpoint`",
    run: { context in
      let endpoint = try context.daemon().call(EndpointsInterface.Enable(name: name(context))).endpoint
      return tell(context, endpoint, localized("enabled; pending messages are sent now"))
    })

  static let disable = Verb(
    name: "disable", group: .deliver, arguments: ["NAME"], summary: "Disable an endpoint until it is enabled again",
    details: ["Its messages stay pending."],
    examples: ["chime endpoint disable team"], alsoTried: ["off", "pause", "stop"],
    json: "`endpoint`",
    run: { context in
      let endpoint = try context.daemon().call(EndpointsInterface.Disable(name: name(context))).endpoint
      return tell(context, endpoint, localized("disabled; chime endpoint enable enables it again"))
    })

  static let remove = Verb(
    name: "remove", group: .deliver, arguments: ["NAME"], summary: "Remove an endpoint and its secret",
    details: [
      "On a terminal it asks first. For 30 days `chime undo` restores both; the daemon keeps the secret for that time."
    ],
    options: [.flag("yes", "y", "Do not ask")],
    examples: ["chime endpoint remove team"], alsoTried: ["rm", "delete", "del"],
    json: "`endpoint`: what was removed", run: runRemove)

  private static func tell(
    _ context: Context, _ endpoint: EndpointsInterface.Endpoint, _ sentence: String
  ) -> ExitCode {
    context.print(endpoint, named: "endpoint") {
      context.print(heading: endpoint.name, endpoint.url)
      context.out("  \(sentence)")
    }
    return .success
  }

  private static func runRemove(_ context: Context) throws -> ExitCode {
    let name = try name(context)
    let daemon = try context.daemon()
    let question = localized("Remove the endpoint \"%1\" and its secret?", TerminalSanitizer.line(name))
    guard Asking.mayRemove(context, question) else { return .failed }
    let endpoint = try daemon.call(EndpointsInterface.Remove(name: name)).endpoint
    context.print(endpoint, named: "endpoint") {
      context.print(heading: endpoint.name, endpoint.url)
      context.out("  removed")
    }
    UndeliverableReminders.tell(context, to: name)
    return .success
  }

  static func name(_ context: Context) throws -> String {
    guard context.line.words.count == 1, let name = context.line.words.first else {
      throw Failure.usage(
        localized("the name of an endpoint is missing"), hint: localized("`chime endpoint list` shows them"))
    }
    return name
  }

  /// Returns an endpoint by name; nil if there is none, which the daemon reports better.
  static func known(_ name: String, _ context: Context) throws -> EndpointsInterface.Endpoint? {
    try context.daemon().call(EndpointsInterface.List()).endpoints.first { $0.name == name }
  }
}
