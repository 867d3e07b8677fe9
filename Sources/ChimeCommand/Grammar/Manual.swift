/// The manual in Markdown, made from the table of verbs and options and from the shapes of what is printed.
enum Manual {
  static func markdown(_ table: CommandTable) -> String {
    var lines = [
      "# The command `chime`", "",
      "<!-- Made by `chime help --markdown` from the table of verbs and options; a test holds this file to it. -->", "",
      "    chime VERB [WORDS] [OPTIONS]", "",
      "Options may stand anywhere, as `--name value`, `--name=value`, `-n 8` or `-n8`; `--` ends them. Abbreviations of verbs "
        + "and options are not accepted. Data goes to standard output, everything else to standard error.", "",
      "A reminder is named by its id, a unique prefix of it, or its title; a title of several words needs no quotes, except "
        + "after `add`.", "", "## Options of every verb", "",
    ]
    lines += options(table.globals)
    for group in Verb.Group.allCases {
      lines += ["", "## \(group.rawValue)"]
      for verb in table.verbs where verb.group == group { lines += section([verb]) }
    }
    lines += ["", "## What programs read", ""]
    lines += shapes()
    lines += ["", "## Exit status", "", "| status | meaning |", "|---|---|"]
    lines += ExitCode.allCases.map { "| \($0.rawValue) | \($0.meaning) |" }
    lines += ["", "A message begins with `chime:` and says what to do next where there is something to do.", ""]
    lines += ["## Environment", ""]
    lines += environment.map { "- `\($0)`: \($1)" }
    return lines.joined(separator: "\n") + "\n"
  }

  static let environment: [(String, String)] = [
    ("CHIME_SOCKET", "the daemon's socket; `--socket` overrules it"),
    ("CHIME_TENANT", "the tenant to act for; `--tenant` overrules it"),
    (
      "XDG_RUNTIME_DIR",
      "where the user's own daemon has its socket, `chime/io.chime`; `/run/user/UID` when it is unset"
    ),
    ("NO_COLOR", "no colours, when it is set and not empty; `TERM=dumb` does the same"),
    (
      "LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG",
      "the language of messages and of the texts of packs, as gettext has it"
    ),
    ("VISUAL`, `EDITOR", "the editor of `chime edit`"),
    ("TZ", "the time zone in which times are shown and `local` is read, instead of the machine's"),
    ("CHIME_LOCALTIME", "the link that names the machine's time zone, instead of `/etc/localtime`"),
    ("TZDIR", "where the rules of time zones are, instead of `/usr/share/zoneinfo`"),
  ]

  private static func section(_ path: [Verb]) -> [String] {
    guard let verb = path.last else { return [] }
    let name = "chime " + path.map(\.name).joined(separator: " ")
    var lines = ["", "\(path.count == 1 ? "###" : "####") `\(name)`", "", "\(verb.summary).", ""]
    for arguments in verb.arguments {
      lines.append("    " + [name, arguments].filter { !$0.isEmpty }.joined(separator: " "))
    }
    for detail in verb.details { lines += ["", escaped(detail)] }
    if !verb.options.isEmpty { lines += [""] + options(verb.options) }
    if !verb.examples.isEmpty {
      lines += ["", "Examples:", ""]
      lines += verb.examples.map { "    \($0.command)" + ($0.remark.isEmpty ? "" : "   # \($0.remark)") }
    }
    if let json = verb.json { lines += ["", "`--json` prints \(json)."] }
    return lines + verb.subverbs.flatMap { section(path + [$0]) }
  }

  /// `<`, and what would begin a link, as text.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { $0 += $1 == "<" || $1 == "[" ? "\\\($1)" : String($1) }
  }

  private static func options(_ options: [Verb.Option]) -> [String] {
    ["| option | meaning |", "|---|---|"]
      + options.map { "| `\($0.usage)` | \(escaped($0.summary)) |" }
  }

  private static func shapes() -> [String] {
    var lines = [
      "`--json` prints one object. A listing's list is named after what it lists, and `more` says whether there are more; one "
        + "thing stands under its own name. `--plain` prints the same fields, tab separated under a header line: lists are "
        + "joined with commas, and an empty field stands for null. Every field is always there. Times are RFC 3339 with the "
        + "offset of the zone they are meant in, durations ISO 8601. Fields may be added; "
        + "[json/chime.schema.json](json/chime.schema.json) has the type of each, as JSON Schema."
    ]
    lines += shape(
      Shapes.reminder, "list` (`reminders`), `add`, `in`, `at`, `show`, `edit`, `pause`, `resume`, `skip`, `remove")
    lines += shape(Shapes.addedLine, "add --from")
    lines += shape(Shapes.imported, "import")
    lines += shape(Shapes.importRemark, "import` (`remarks`)", isOpen: true)
    lines += shape(Shapes.setChange, "apply` (`changes`)", isOpen: true)
    lines += shape(Shapes.setFile, "apply` (`files`)", isOpen: true)
    lines += shape(Shapes.coming, "next` (`upcoming`)", isOpen: true)
    lines += shape(Shapes.occurrence, "history` (`occurrences`), `show`, `done`, `snooze`, `dismiss`, `fire")
    lines += shape(Shapes.delivery, "deliveries` (`deliveries`)", isOpen: true)
    lines += shape(Shapes.attempt, "deliveries --id")
    lines += shape(Shapes.endpoint, "endpoint list` (`endpoints`), `endpoint add`, `endpoint remove")
    lines += shape(Shapes.test, "endpoint test")
    lines += shape(Shapes.command, "command list` (`commands`)", isOpen: true)
    lines += shape(Shapes.commandTest, "command test")
    lines += shape(Shapes.health, "status")
    lines += shape(Shapes.fleet, "fleet")
    lines += shape(Shapes.daemon, "fleet` (`daemons`), `status` (`daemons`)", isOpen: true)
    lines += shape(Shapes.share, "fleet` (`outbox`)", isOpen: true)
    lines += shape(Shapes.owedChannel, "fleet` (`channels`)", isOpen: true)
    lines += shape(Shapes.event, "watch")
    lines += trackingShapes()
    lines += [
      "",
      "`--dry-run` of `add`, `in`, `at` and `edit` prints `dryRun` (true), `title`, `canonical`, `timezone`, `next` and "
        + "`remarks`; `remove --dry-run` prints the `reminder` that would go, and `import --dry-run` what `import` does, with null "
        + "for each `id`.",
    ]
    return lines
  }

  private static func trackingShapes() -> [String] {
    let words = TrackerWords(tongue: Tongue(languages: ["en"]))
    var lines = shape(
      Shapes.tracker(words),
      "tracker list` (`trackers`), `tracker add`, `edit`, `show`, `pause`, `resume`, `skip`, `remove")
    lines += shape(Shapes.standing(words), "today`, `stats` (`standings`) and within a `change", isOpen: false)
    lines += shape(Shapes.change(words), "log`, `entry edit")
    lines += shape(Shapes.entry, "entry list` (`entries`) and within a `change")
    lines += shape(Shapes.day(words), "today")
    lines += shape(Shapes.dayTotal, "week` (`days` of each tracker)", isOpen: true)
    lines += shape(Shapes.statistics(words), "stats TRACKER")
    lines += shape(Shapes.achievement(words), "achievements` (`achievements`), and wherever something is `unlocked")
    lines += shape(Shapes.level, "achievements` (`levels`) and `today")
    lines += shape(Shapes.packStreak, "achievements` (`streaks`) and `today")
    lines += shape(Shapes.item, "item list` (`items`), `item add`, `edit`, `remove")
    lines += shape(Shapes.milestone, "milestone list` (`milestones`), `milestone add`, `edit`, `remove")
    lines += shape(Shapes.pack(words), "pack list` (`packs`), `init` (`packs`), `pack show`, `add`, `remove")
    lines += shape(Shapes.fault, "pack check` (`faults`)", isOpen: true)
    lines += shape(Shapes.undoable, "undo` (`undone`), `undo --list` (`changes`)", isOpen: true)
    lines += shape(Shapes.contents, "restore")
    lines += shape(Shapes.startedOver, "start-over")
    lines += [
      "",
      "`log` and `entry edit` with `--plain` print one line of `id`, `tracker`, `day`, `value`, `unit`, `item`, `reached`, "
        + "`remaining`, `percent`, `met`, `streak`, `unlocked`, `milestones` and `level`; `today` prints lines of `part` (`mood`, "
        + "`morning`, `anytime`, `evening`, `day`, `achievement`, `level`, `streak`, `quote`), `name`, `state`, `percent` and `streak`; `stats "
        + "TRACKER` prints lines of `field` and `value`. Titles and texts of packs are in the user's language, in `--json` too; "
        + "numbers and dates there are the same in every locale.",
    ]
    return lines
  }

  private static func shape<Value>(_ shape: Shape<Value>, _ verbs: String, isOpen: Bool = false) -> [String] {
    ["", "### `\(shape.item)`", "", "From `\(verbs)\(isOpen ? "" : "`").", "", "| field | value |", "|---|---|"]
      + shape.fields.map { "| `\($0.name)` | \($0.summary) |" }
  }
}
