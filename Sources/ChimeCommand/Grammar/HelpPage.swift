import ChimeWords

/// Help texts, generated from the verb table.
struct HelpPage {
  var table: CommandTable
  var style: Style
  var width: Int

  /// Returns the text of `chime --help`.
  func overview() -> [String] {
    var lines = [
      localized("Reminders that come when they should."), "",
      "\(title(localized("usage"))) chime VERB [WORDS] [OPTIONS]",
    ]
    let names = table.verbs.map(\.name.count).max() ?? 0
    for group in Verb.Group.allCases {
      lines += ["", title(localized(key: group.rawValue))]
      for verb in table.verbs where verb.group == group {
        lines += item(verb.name, localized(key: verb.summary), column: names + 4)
      }
    }
    lines += ["", title(localized("Options of every verb"))] + options(table.globals)
    lines += ["", title(localized("Examples"))]
    lines += [
      "  chime add \"Drink water\" every 90m from 8:00 to 22:00", "  chime in 25m Tea", "  chime next",
      "  chime snooze 20m",
      "", localized("`chime help VERB` explains a verb."),
    ]
    return lines
  }

  /// Returns the text of `chime VERB --help`.
  func verb(_ path: [Verb]) -> [String] {
    guard let verb = path.last else { return overview() }
    let name = "chime " + path.map(\.name).joined(separator: " ")
    var lines = [localized(key: verb.summary) + "."]
    lines.append("")
    let usage = title(localized("usage"))
    for (index, arguments) in verb.usages.enumerated() {
      let head = index == 0 ? usage : String(repeating: " ", count: TextWidth.of(usage))
      lines.append(head + " " + [name, arguments, "[OPTIONS]"].filter { !$0.isEmpty }.joined(separator: " "))
    }
    for detail in verb.details { lines += [""] + wrap(localized(key: detail), indent: 0) }
    if !verb.subverbs.isEmpty {
      lines += ["", title(localized("Verbs"))]
      for subverb in verb.subverbs {
        lines += item("\(subverb.name) \(subverb.usages[0])", localized(key: subverb.summary), column: 20)
      }
    }
    if !verb.options.isEmpty { lines += ["", title(localized("Options"))] + options(verb.options) }
    lines += ["", title(localized("Options of every verb"))] + options(table.globals)
    if !verb.examples.isEmpty {
      lines += ["", title(localized("Examples"))]
      lines += verb.examples.map {
        "  \($0.command)" + ($0.remark.isEmpty ? "" : style("   # \(localized(key: $0.remark))", .faint))
      }
    }
    if let json = verb.json { lines += [""] + wrap(localized("With --json it prints %1.", json), indent: 0) }
    return lines
  }

  private func title(_ text: String) -> String { style(text + ":", .strong) }

  private func options(_ options: [Verb.Option]) -> [String] {
    let usages = options.map { $0.short == nil ? "    \($0.usage)" : $0.usage }
    let longest = usages.map { TextWidth.of($0) }.filter { $0 <= 24 }.max() ?? 24
    return zip(options, usages).flatMap { item($1, localized(key: $0.summary), column: longest + 4) }
  }

  /// Formats a term with its meaning in a second column.
  private func item(_ term: String, _ meaning: String, column: Int) -> [String] {
    let lines = wrap(meaning, indent: column)
    let head = "  " + term
    if TextWidth.of(head) + 2 > column { return [head] + lines }
    return [TextWidth.pad(head, to: column) + lines[0].dropFirst(column)] + lines.dropFirst()
  }

  private func wrap(_ text: String, indent: Int) -> [String] {
    TextWidth.wrap(text, to: width, indent: indent)
  }
}
