import ChimeControl
import ChimeWords

/// `chime next`
enum Next {
  static let verb = Verb(
    name: "next", group: .look, arguments: [""], summary: "Show what comes next",
    details: ["The next time of each reminder, earliest first, and when it last came."],
    options: [Listings.limit("reminders", usually: 20)],
    examples: [.init(command: "chime next"), .init(command: "chime next -n 3 --plain")],
    alsoTried: ["upcoming", "agenda", "timers", "today", "soon"],
    json: "`upcoming`, and `more`: whether there are more than were asked for", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let limit = try Listings.limit(context.line, usually: 20) ?? 10_000
    // One more than is shown tells whether there are more.
    let reply: OccurrencesInterface.Upcoming.Reply = try context.daemon().call(
      OccurrencesInterface.Upcoming.method, OccurrencesInterface.Upcoming.Parameters(limit: min(limit + 1, 10_000)))
    let upcoming = Array(reply.upcoming.prefix(limit))
    let empty = [Words.say("Nothing is coming."), Words.say("Set a reminder: chime in 25m \"Tea\"")]
    context.print(upcoming, as: Shapes.coming, isCut: reply.upcoming.count > limit, empty: empty) {
      let clock = context.clock()
      var table = Table(columns: [
        .init(title: "NEXT"), .init(title: "LEFT"), .init(title: "LAST", dropOrder: 2),
        .init(title: "PASSED", dropOrder: 1), .init(title: "REMINDER", canShrink: true),
      ])
      for coming in upcoming {
        let tone: Style.Tone = coming.paused || coming.passedOver != nil ? .faint : .plain
        let mark = ComingMark.text(coming).map { " (\($0))" } ?? ""
        table.rows.append([
          .init(clock.text(coming.at), tone), .init(clock.relative(coming.at), tone),
          .init(clock.text(coming.last), .faint), .init(clock.relative(coming.last), .faint),
          .init("\(coming.reminder)  \(coming.title)\(mark)", tone),
        ])
      }
      context.print(table: table)
    }
    return .success
  }
}
