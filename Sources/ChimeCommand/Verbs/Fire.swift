import ChimeControl
import ChimeWords

/// `chime fire ID|TITLE`
enum Fire {
  static let verb = Verb(
    name: "fire", group: .change, arguments: ["ID|TITLE"], summary: "Fire a reminder now, in addition to its schedule",
    examples: ["chime fire Stand-up"], alsoTried: ["trigger", "test", "now"],
    json: "`occurrence`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let id = try context.subject()
    let reply: OccurrencesInterface.Fire.Reply = try context.daemon().call(OccurrencesInterface.Fire(id: id))
    context.print(reply.occurrence, named: "occurrence") {
      let id = context.style(TerminalSanitizer.line(reply.occurrence.reminder), .strong)
      context.out("\(id)  \(TerminalSanitizer.line(reply.occurrence.title))")
      context.out(
        localized(
          "  fired; `chime deliveries %1` shows the delivery", TerminalSanitizer.line(reply.occurrence.reminder)))
    }
    return .success
  }
}
