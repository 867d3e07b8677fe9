/// The manual in Markdown, generated from the verb table.
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
    lines += ["", "## Output for programs", ""]
    lines.append(
      "`--json` prints one object, and `--plain` the same fields, tab separated under a header line: [json.md](json.md) describes "
        + "the output of each verb, and [json/chime.schema.json](json/chime.schema.json) is its JSON Schema.")
    lines += ["", "## Exit status", "", "| status | meaning |", "|---|---|"]
    lines += ExitCode.allCases.map { "| \($0.rawValue) | \($0.meaning) |" }
    lines += ["", "A message begins with `chime:` and says what to do next, if there is something to do.", ""]
    lines += ["## Environment", ""]
    lines += environment.map { "- `\($0)`: \($1)" }
    return lines.joined(separator: "\n") + "\n"
  }

  static let environment: [(String, String)] = [
    ("CHIME_SOCKET", "the daemon's socket; `--socket` overrides it"),
    ("CHIME_TENANT", "the tenant to act for; `--tenant` overrides it"),
    (
      "XDG_RUNTIME_DIR",
      "the folder of the socket of the user's own daemon, `chime/io.chime`; `/run/user/UID` if unset"
    ),
    ("NO_COLOR", "no colors, if set and not empty; `TERM=dumb` does the same"),
    (
      "LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG",
      "the language of messages and of the texts of packs, by the rules of gettext"
    ),
    ("VISUAL`, `EDITOR", "the editor of `chime edit`"),
    ("TZ", "the time zone for displayed times and for `local`, instead of the machine's"),
    ("CHIME_LOCALTIME", "the link that names the machine's time zone, instead of `/etc/localtime`"),
    ("TZDIR", "the folder of the time zone database, instead of `/usr/share/zoneinfo`"),
  ]

  private static func section(_ path: [Verb]) -> [String] {
    guard let verb = path.last else { return [] }
    let name = "chime " + path.map(\.name).joined(separator: " ")
    var lines = ["", "\(path.count == 1 ? "###" : "####") `\(name)`", "", "\(verb.summary).", ""]
    for arguments in verb.usages {
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

  /// Escapes `<` and `[`, which would begin a tag or a link.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { $0 += $1 == "<" || $1 == "[" ? "\\\($1)" : String($1) }
  }

  private static func options(_ options: [Verb.Option]) -> [String] {
    ["| option | meaning |", "|---|---|"]
      + options.map { "| `\($0.usage)` | \(escaped($0.summary)) |" }
  }
}
