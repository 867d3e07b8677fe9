import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime expect NAME SCHEDULE…`, and `chime expect list|show|pause|resume|remove`
enum Expect {
  /// The default time limit for a ping.
  static let usualWithin = "1h"

  static let verb = Verb(
    name: "expect", group: .set,
    arguments: ["NAME SCHEDULE…", "NAME --every LENGTH", "list|show|token|pause|resume|remove …"],
    summary: "Be notified when a job has not run",
    details: [
      "A job pings when it is done: run it with `chime run NAME -- PROGRAM`, or end it with `chime ping NAME`. "
        + "Chime waits for a ping from each time of the schedule on. If the ping comes, nobody is notified. If no "
        + "ping comes in time, if a ping reports a failure, or if a run takes too long, Chime notifies you as with "
        + "a reminder, until you answer. The next successful ping reports that the job is up again, and for how "
        + "long it was down.",
      "An expectation is a reminder with --within: it takes the options of `add`, and edit, pause, skip, remove, "
        + "history and undo work on it. Its urgency is critical unless --urgency sets another. While the machine "
        + "sleeps or Chime does not run, no ping can arrive: Chime then waits for the full time again.",
    ],
    examples: [
      "chime expect backup daily at 3:00 --within 2h --to phone", "chime expect heartbeat --every 10m --within 1m",
      "chime expect list",
    ],
    alsoTried: ["monitor", "heartbeat", "deadman", "watchdog", "check", "cron"],
    subverbs: [add, list, show, token, pause, resume, remove], usualSubverb: "add",
    run: { _ in throw Failure.usage(localized("which job? A name and a schedule are missing"), hint: usage) })

  private static let usage = "chime expect backup daily at 3:00 --within 2h"

  // MARK: Adding

  static let add = Verb(
    name: "add", group: .set, arguments: ["NAME SCHEDULE…", "NAME --every LENGTH"],
    summary: "Expect a ping at each time of a schedule", details: [TitleAndTime.rule],
    options: [
      .value(
        "every", nil, "LENGTH", "Expect a ping this long after the last one, instead of by a schedule")
    ] + Adding.options,
    examples: [
      "chime expect add backup \"cron: 0 3 * * *\" --within 2h --to phone",
      "chime expect add sensor --every 5m --within 30s --nag 1h",
    ],
    alsoTried: ["new", "create", "set"], json: "`reminder`, and `warnings`: a list of sentences", run: runAdd)

  private static func runAdd(_ context: Context) throws -> ExitCode {
    var line = context.line
    if !line.has("within") { try line.set(RepeatOptions.within, usualWithin) }
    let context = Context(line: line, after: context)
    guard let every = line.value("every") else {
      return try Adding.add(
        context, TitleAndTime.read(context, line.words, place: .anywhere, verb: "expect", usage: usage))
    }
    guard let name = context.optionalSubject() else {
      throw Failure.usage(localized("which job? A name is missing"), hint: usage)
    }
    let length = LengthText.human(try LengthText.iso(every, option: "every"))
    return try Adding.add(
      context, TitleAndTime.Reading(title: name, when: "every \(length) after done", marks: QuickMarks()))
  }

  // MARK: Listing and showing

  typealias Expectation = ExpectationsInterface.Expectation

  static let list = Verb(
    name: "list", group: .look, summary: "List expectations, with a row of green and red for each",
    details: [
      "The list is ordered by the next time. A row has one sign for each run, the latest on the right: ● a success, "
        + "✗ a failure, ○ a time without a ping. The exit status is 1 if any job is down."
    ],
    options: [
      .value(
        "state", nil, "STATE", "Only those that are new, up, awaited, running, down or paused",
        choices: Expectation.State.allCases.map(\.rawValue)), Pagination.limit("expectations", usually: 100),
    ],
    examples: ["chime expect list", "chime expect list --state down --json"],
    alsoTried: ["ls", "status", "all"],
    json: "`expectations`, and `more`: whether there are more than were asked for", run: runList)

  private static func runList(_ context: Context) throws -> ExitCode {
    try context.noWords()
    let state = context.line.value("state").flatMap { Expectation.State(rawValue: $0) }
    let limit = try Pagination.limit(context.line, usually: 100)
    let daemon = try context.daemon()
    let (found, isCut) = try Pagination.pages(limit: limit) { limit, cursor in
      let reply = try daemon.call(ExpectationsInterface.List(state: state, limit: limit, cursor: cursor))
      return (reply.expectations, reply.cursor)
    }
    let empty =
      state == nil
      ? [localized("There is no expectation yet."), localized("Expect a job: %1", usage)]
      : [localized("No expectation is in that state.")]
    context.print(found, named: "expectations", isCut: isCut, empty: empty) {
      context.print(table: table(context, found))
    }
    return found.contains { $0.state == .down } ? .failed : .success
  }

  private static func table(_ context: Context, _ found: [Expectation]) -> Table {
    let clock = context.clock()
    var table = Table(columns: [
      .init(title: "ID"), .init(title: "NAME", canShrink: true), .init(title: "STATE"),
      .init(title: "LAST PING", dropOrder: 3), .init(title: "NEXT", dropOrder: 2),
      .init(title: "WITHIN", dropOrder: 4), .init(title: "RUNS", alignRight: true, dropOrder: 1),
    ])
    for one in found {
      table.rows.append([
        .init(one.id, .strong), .init(one.title), state(one, clock),
        .init(one.last.map { clock.relative($0.at) } ?? localized("never"), .faint),
        .init(clock.text(one.next)), .init(LengthText.human(one.within), .faint),
        .init(row(one.recentRuns.suffix(20)), one.state == .down ? .bad : .good),
      ])
    }
    return table
  }

  static func state(_ one: Expectation, _ clock: WallClock) -> Table.Cell {
    switch one.state {
    case .up: return .init(StateWords.say("up"), .good)
    case .down:
      return .init(localized("down since %1", clock.text(one.downSince)), short: StateWords.say("down"), .bad)
    case .awaited, .running:
      return .init(
        localized("%1 until %2", StateWords.say(one.state.rawValue), clock.text(one.pingDeadline)),
        short: StateWords.say(one.state.rawValue), .caution)
    case .new, .paused: return .init(StateWords.say(one.state.rawValue), .faint)
    }
  }

  static func row(_ runs: some Sequence<ExpectationsInterface.RunResult>) -> String {
    runs.map { run in
      switch run.result {
      case .succeeded: "●"
      case .failed: "✗"
      case .missed: "○"
      }
    }.joined()
  }

  static let show = Verb(
    name: "show", group: .look, arguments: ["ID|TITLE"], summary: "Show an expectation with its last pings",
    options: [
      .value("limit", "n", "N", "The number of pings, of the 100 that are kept (default 10)"),
      .flag("output", nil, "The full output of the latest ping that has some"),
    ],
    examples: ["chime expect show backup", "chime expect show backup --output"],
    alsoTried: ["get", "pings", "log", "history"], json: "`expectation` and `pings`, the newest first", run: runShow)

  private static func runShow(_ context: Context) throws -> ExitCode {
    let limit = try Pagination.limit(context.line, usually: 10)
    let reply = try context.daemon().call(ExpectationsInterface.Get(id: context.subject()))
    let pings = reply.pings.prefix(limit ?? .max)
    switch context.format {
    case .json: context.print(json: ["expectation": reply.expectation, "pings": Array(pings)])
    case .plain: context.plain(Array(pings))
    case .human where context.line.has("output"):
      guard let ping = reply.pings.first(where: { $0.output != nil }) else {
        context.note(localized("No ping has brought any output."))
        return .failed
      }
      for line in TerminalSanitizer.lines(ping.output ?? "") { context.out(line) }
    case .human: show(context, reply.expectation, Array(pings))
    }
    return .success
  }

  private static func show(_ context: Context, _ one: Expectation, _ pings: [ExpectationsInterface.PingRecord]) {
    let clock = context.clock()
    let state = state(one, clock)
    context.print(heading: one.id, one.title)
    context.print(facts: [
      (localized("state"), state.text), (localized("schedule"), one.when),
      (localized("within"), LengthText.human(one.within)),
      (localized("next"), one.next.map { "\(clock.text($0)), \(clock.relative($0))" }),
      (
        localized("last good"), one.lastSuccess.map { "\(clock.text($0)), \(clock.relative($0))" } ?? localized("never")
      ),
      (localized("runs"), row(one.recentRuns)),
    ])
    guard !pings.isEmpty else {
      context.out(
        localized("  no ping has come yet: chime ping %1", ShellText.quoted(TerminalSanitizer.line(one.title))))
      return
    }
    context.out()
    var table = Table(columns: [
      .init(title: "PING"), .init(title: "RESULT"), .init(title: "DURATION", alignRight: true, dropOrder: 2),
      .init(title: "STATUS", alignRight: true), .init(title: "SENDER", dropOrder: 3),
      .init(title: "OUTPUT", canShrink: true, dropOrder: 1),
    ])
    for ping in pings {
      table.rows.append([
        .init(clock.text(ping.at)),
        .init(
          StateWords.say(ping.kind.rawValue), ping.kind == .failed ? .bad : ping.kind == .succeeded ? .good : .faint),
        .init(ping.durationMs.map { RelativeTime.lateness(milliseconds: $0) } ?? "-", .faint),
        .init(ping.status.map(String.init) ?? "-", .faint),
        .init(ping.endpoint ?? ping.tenant ?? "\(ping.uid)", .faint),
        .init(ping.output?.split(separator: "\n").last.map(String.init) ?? "-", .faint),
      ])
    }
    context.print(table: table)
  }

  // MARK: Pinging from elsewhere

  static let token = Verb(
    name: "token", group: .set, arguments: ["ID|TITLE"],
    summary: "Make tokens that let a job on any machine ping through an endpoint's topic",
    details: [
      "A token can be used many times: anyone who sends it to the topic from which the endpoint reads answers "
        + "(`chime endpoint add … --replies URL`) pings. Keep tokens like passwords. They become invalid when the "
        + "endpoint's secret is replaced: at once with `chime endpoint rotate NAME --show --overlap 0s`."
    ],
    options: [.value("endpoint", nil, "NAME", "The endpoint to use, if several read answers")],
    examples: ["chime expect token backup", "chime expect token backup --endpoint phone --json"],
    alsoTried: ["key", "curl", "remote", "url"],
    json: "`id`, `title`, `endpoint`, `address`, and the tokens `succeeded`, `started` and `failed`", run: runToken)

  private static func runToken(_ context: Context) throws -> ExitCode {
    let reply = try context.daemon().call(
      ExpectationsInterface.Tokens(id: context.subject(), endpoint: context.line.value("endpoint")))
    switch context.format {
    case .json: context.print(json: context.json(reply))
    case .plain: context.plain([reply])
    case .human:
      context.print(heading: reply.id, reply.title)
      for (what, token) in [
        (localized("it is done"), reply.succeeded), (localized("it begins"), reply.started),
        (localized("it failed"), reply.failed),
      ] {
        context.out("\(what):")
        context.out(
          "  curl -d \(ShellText.quoted(TerminalSanitizer.line(token))) \(ShellText.quoted(TerminalSanitizer.line(reply.address)))"
        )
      }
    }
    return .success
  }

  // MARK: Changing

  static let pause = Verb(
    name: "pause", group: .change, arguments: ["ID|TITLE", "ID|TITLE until TIME", "ID|TITLE for LENGTH"],
    summary: "Pause an expectation", details: ["The same as `chime pause`."], options: Pause.verb.options,
    examples: ["chime expect pause backup until monday"], alsoTried: ["stop", "disable", "mute"],
    json: "`reminder`", run: Pause.run)

  static let resume = Verb(
    name: "resume", group: .change, arguments: ["ID|TITLE"], summary: "End the pause",
    details: ["The same as `chime resume`."], options: Resume.verb.options,
    examples: ["chime expect resume backup"], alsoTried: ["start", "enable"], json: "`reminder`",
    run: Resume.verb.run)

  static let remove = Verb(
    name: "remove", group: .change, arguments: ["ID|TITLE"], summary: "Remove an expectation; its history stays",
    details: ["The same as `chime remove`. `chime undo` restores it."], options: Remove.verb.options,
    examples: ["chime expect remove backup"], alsoTried: ["rm", "delete", "del"],
    json: "`reminder`: what was removed", run: Remove.run)
}
