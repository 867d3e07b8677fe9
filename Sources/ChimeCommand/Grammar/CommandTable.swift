import ChimeControl
import ChimeWords

/// The table of all verbs and options, from which parser and help are made.
struct CommandTable: Sendable {
  var verbs: [Verb]
  /// The options that every verb accepts.
  var globals: [Verb.Option]

  static let standard = CommandTable(
    verbs: [
      Add.verb, In.verb, At.verb, Remind.verb, Import.verb, Apply.verb, Expect.verb, PingVerb.verb, Run.verb,
      Next.verb, List.verb, Show.verb, Why.verb, History.verb, Audit.verb, When.verb, Calendars.verb, Export.verb,
      Init.verb, Log.verb, Today.verb, Week.verb, Achievements.verb, Stats.verb, Undo.verb,
      TrackerVerbs.verb, ItemVerbs.verb, MilestoneVerbs.verb, EntryVerbs.verb, StockVerbs.verb, PackVerbs.verb,
      Backup.verb, StartOver.verb,
      Restore.verb,
      Month.verb, NumberedDays.verb, Chart.verb, Logbook.verb, Report.verb,
      Done.verb, Snooze.verb, Dismiss.verb,
      Edit.verb, Copy.verb, Pause.verb, Resume.verb, Skip.verb, Move.verb, Fire.verb, Remove.verb,
      Endpoint.verb, Command.verb, Deliveries.verb, Redeliver.verb, Discard.verb,
      Watch.verb, Status.verb, Snapshot.verb, StoreVerbs.verb, Completing.verb, Help.verb, Version.verb,
      Doctor.verb, Metrics.verb, Fleet.verb,
    ],
    globals: [
      .flag("json", nil, "Print one JSON object, for programs"),
      .flag("plain", nil, "Print tab-separated lines under a header line, for scripts and screen readers"),
      .flag("quiet", "q", "Print only what was asked for: no confirmations, hints or warnings"),
      .value("socket", nil, "PATH", "The daemon's socket; the default is CHIME_SOCKET or the usual one"),
      .flag("system", nil, "Talk to the system's daemon at /run/chime/io.chime"),
      .value(
        "tenant", nil, "NAME",
        "Act for this tenant; the default is CHIME_TENANT; \"\": for yourself", mayBeEmpty: true),
      .value(
        "color", nil, "WHEN", "Colors: auto (the default: on a terminal, unless NO_COLOR is set), always, never",
        choices: ["auto", "always", "never"]),
      .flag("help", "h", "Print help for the command or the verb"),
      .flag("version", nil, "Print the version"),
    ])

  /// Returns the options that a verb accepts.
  func accepted(by verb: Verb?) -> [Verb.Option] { (verb?.options ?? []) + globals }

  /// All verbs, including nested ones.
  var allVerbs: [Verb] { verbs.flatMap { [$0] + $0.subverbs } }

  var allOptions: [Verb.Option] { globals + allVerbs.flatMap(\.options) }

  /// Returns the failure for an unknown verb.
  func unknown(verb word: String, within path: [Verb]) -> Failure {
    let choices = path.last?.subverbs ?? verbs
    let name = (["chime"] + path.map(\.name)).joined(separator: " ")
    let meant =
      choices.filter { $0.alsoTried.contains(word.lowercased()) }.map(\.name)
      + SpellingSuggestions.to(word, among: choices.map(\.name))
    let unique = meant.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    if let question = SpellingSuggestions.question(unique.map { "\(name) \($0)" }) {
      return .usage(localized("\"%1\" is not a verb of %2", word, name), hint: question)
    }
    if !path.isEmpty {
      return .usage(
        localized("\"%1\" is not a verb of %2", word, name),
        hint: localized("there are: %1", choices.map(\.name).joined(separator: ", ")))
    }
    return Failure(
      status: .usage, message: localized("\"%1\" is not a verb of %2", word, name),
      hints: [localized("to set a reminder: chime add \"TITLE\" SCHEDULE"), localized("`chime help` lists the verbs")])
  }
}
