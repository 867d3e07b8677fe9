import ChimeControl

/// The manual page chime(1) in scdoc(5) format, generated from the verb table.
enum ManualPage {
  static func scdoc(_ table: CommandTable) -> String {
    var lines = [
      "chime(1) \"Chime \(Product.version)\" \"Chime\"", "",
      "; Made by chime help --scdoc from the table of verbs and options; a test holds this file to it.", "", "# NAME",
      "", "chime - set reminders and answer them", "",
      "# SYNOPSIS", "", "*chime* _VERB_ \\[_WORDS_] \\[_OPTIONS_]", "", "# DESCRIPTION", "",
      "*chime* sets and answers reminders, shows what comes, and logs what you did. *chimed*(8) stores and fires the reminders. "
        + "*chime-schedules*(7) describes schedules.", "",
      "Options may stand anywhere, as *--name* _value_, *--name=*_value_, *-n 8* or *-n8*; *--* ends them. Abbreviations "
        + "of verbs and options are not accepted. Data goes to standard output, everything else to standard error.", "",
      "A reminder is named by its id, a unique prefix of it, or its title; a title of several words needs no quotes, except "
        + "after *add*.", "", "# OPTIONS OF EVERY VERB", "",
    ]
    lines += options(table.globals, indent: "")
    var documented: [(name: String, options: [Verb.Option])] = []
    for group in Verb.Group.allCases {
      lines += ["# \(group.rawValue.uppercased())", ""]
      for verb in table.verbs where verb.group == group { lines += section([verb], documented: &documented) }
    }
    lines += [
      "# OUTPUT FOR PROGRAMS", "",
      "With *--json* a verb prints one object with all its fields; unknown values are null. Times are RFC 3339 "
        + "with an offset, lengths of time ISO 8601. With *--plain* a listing prints the same fields as tab-separated lines "
        + "under a header line. Fields may be added.", "", "# EXIT STATUS", "",
    ]
    for code in ExitCode.allCases { lines += ["*\(code.rawValue)*", "\t\(plain(code.meaning))", ""] }
    lines += ["# ENVIRONMENT", ""]
    for (names, meaning) in Manual.environment {
      // Several names are separated by what ends and begins code in Markdown.
      let names = names.split(separator: "`, `").map { "*\(plain(String($0)))*" }
      lines += [names.joined(separator: ", "), "\t\(plain(meaning))", ""]
    }
    lines += ["# EXAMPLES", ""]
    for (remark, command) in examples { lines += [remark, "", "```", command, "```", ""] }
    lines += ["# SEE ALSO", "", "*chimed*(8), *chimed.toml*(5), *chime-schedules*(7), *io.chime*(7)"]
    return lines.joined(separator: "\n") + "\n"
  }

  private static let examples = [
    (
      "A glass of water every ninety minutes, and the next time:",
      "chime add \"Drink water\" every 90m from 8:00 to 22:00\nchime next"
    ),
    ("Tea in a while:", "chime in 25m Tea"),
    ("Mark the latest reminder as done, or snooze it:", "chime done\nchime snooze 20m"),
    (
      "The effect of a clock change on a schedule:",
      "chime when daily at 2:30 --tz Europe/Prague --after 2026-03-27"
    ),
    (
      "The messages pending for the team, for a script:",
      "chime deliveries --to team --state pending --json | jq -r '.deliveries[].title'"
    ),
  ]

  private static func section(
    _ path: [Verb], documented: inout [(name: String, options: [Verb.Option])]
  ) -> [String] {
    guard let verb = path.last else { return [] }
    let name = "chime " + path.map(\.name).joined(separator: " ")
    var lines: [String] = []
    if verb.subverbs.isEmpty {
      lines.append(
        verb.usages.map { "*\(name)*" + ($0.isEmpty ? "" : " \(arguments($0))") }.joined(separator: "++\n"))
      lines += ["\t\(plain(verb.summary))."]
    } else {
      lines += ["## \(name)", "", "\(plain(verb.summary))."]
    }
    let indent = verb.subverbs.isEmpty ? "\t" : ""
    for detail in verb.details { lines += ["", indent + plain(detail)] }
    lines.append("")
    lines += verb.subverbs.isEmpty ? listed(verb, name, &documented) : []
    if let json = verb.json { lines += ["\t*--json* prints \(plain(json)).", ""] }
    for subverb in verb.subverbs { lines += section(path + [subverb], documented: &documented) }
    return lines
  }

  /// Lists a verb's options; if another verb has already listed most of them, only the rest.
  private static func listed(
    _ verb: Verb, _ name: String, _ documented: inout [(name: String, options: [Verb.Option])]
  ) -> [String] {
    func key(_ option: Verb.Option) -> String { "\(option.usage) \(option.summary)" }
    let keys = Set(verb.options.map(key))
    let shared = documented.map { (name: $0.name, keys: Set($0.options.map(key)).intersection(keys)) }
      .max { $0.keys.count < $1.keys.count }
    documented.append((name, verb.options))
    guard let shared, shared.keys.count > 5, let known = documented.first(where: { $0.name == shared.name }) else {
      return options(verb.options, indent: "\t")
    }
    let missing = known.options.filter { !shared.keys.contains(key($0)) }.map { "*--\($0.name)*" }
    let rest = verb.options.filter { !shared.keys.contains(key($0)) }
    let but = missing.isEmpty ? "" : " but \(missing.joined(separator: ", "))"
    return ["\tThe options of *\(shared.name)*\(but)\(rest.isEmpty ? "." : ", and:")", ""] + options(rest, indent: "\t")
  }

  private static func options(_ options: [Verb.Option], indent: String) -> [String] {
    options.flatMap { option -> [String] in
      let short = option.short.map { "*-\($0)*, " } ?? ""
      let value = option.value.map { " _\(plain($0))_" } ?? ""
      return ["\(indent)\(short)*--\(option.name)*\(value)", "\(indent)\t\(plain(option.summary))", ""]
    }
  }

  /// Formats a usage line: placeholders underlined, literals bold.
  private static func arguments(_ usage: String) -> String {
    usage.split(separator: " ").map { part -> String in
      let head = part.prefix { $0 == "[" }
      let core = part.dropFirst(head.count).prefix { $0 != "]" && $0 != "…" }
      let tail = part.dropFirst(head.count + core.count)
      let mark = core.contains { $0.isUppercase } ? "_" : "*"
      return "\(head.map { _ in "\\[" }.joined())\(mark)\(plain(String(core)))\(mark)\(tail)"
    }.joined(separator: " ")
  }

  /// Escapes text for scdoc; text in backticks becomes bold.
  static func plain(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\", "*", "_", "#", "|", "~", "[": result += "\\\(scalar)"
      case "`": result += "*"
      default: result.unicodeScalars.append(scalar)
      }
    }
    // These characters begin lists and tables at the start of a line.
    if let first = result.first, "-.]:;".contains(first) { result = "\\" + result }
    return result
  }
}
