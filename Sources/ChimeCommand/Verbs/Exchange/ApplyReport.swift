import ChimeControl
import ChimeWords

/// The report of what an apply did, or would do.
struct ApplyReport {
  typealias Change = RemindersInterface.SetChange

  var reply: RemindersInterface.Apply.Reply
  var isDry: Bool
  /// Each file that endpoints receive, with its sentence.
  var files: [(use: RemindersInterface.SetFileUse, sentence: String)]

  init(
    _ reply: RemindersInterface.Apply.Reply, isDry: Bool,
    files: [(use: RemindersInterface.SetFileUse, sentence: String)]
  ) {
    self.reply = reply
    self.isDry = isDry
    self.files = files
  }

  func print(_ context: Context) {
    switch context.format {
    case .json:
      context.print(json: [
        "set": reply.set, "dryRun": isDry, "changed": !reply.changes.isEmpty && !isDry, "changes": reply.changes,
        "unchanged": reply.unchanged, "notPruned": reply.notPruned, "files": files.map(\.use),
        "warnings": reply.warnings,
      ])
      return
    case .plain: context.plain(reply.changes)
    case .human: if !context.isQuiet { for line in lines(context) { context.out(line) } }
    }
    context.warn(reply.warnings)
    // An interactive user has already seen these sentences.
    if isDry { for file in files { context.note(file.sentence, .caution) } }
    context.note(summary)
    let taken = reply.changes.count(where: Self.isTakenOver)
    if taken > 0, let set = reply.set {
      context.note(
        isDry
          ? localized(
            count: taken, "%n added by hand would join the set \"%1\"",
            "%n added by hand would join the set \"%1\"", set)
          : localized(
            count: taken, "%n added by hand joined the set \"%1\"", "%n added by hand joined the set \"%1\"",
            set),
        .faint)
    }
    if reply.notPruned > 0, let set = reply.set {
      context.note(
        localized(
          count: reply.notPruned, "%n of the set \"%1\" is no longer in the files and stays; --prune removes it",
          "%n of the set \"%1\" are no longer in the files and stay; --prune removes them", set), .faint)
    }
  }

  /// Returns a line for each change, with the changed fields below.
  func lines(_ context: Context) -> [String] {
    reply.changes.filter { !Self.isTakenOver($0) }.flatMap { change -> [String] in
      let (mark, tone): (String, Style.Tone) =
        switch change.action {
        case .add: ("+", .good)
        case .change: ("~", .caution)
        case .remove: ("-", .bad)
        }
      let what: String? =
        switch change.kind {
        case .reminder: nil
        case .endpoint: localized("endpoint")
        case .pack: localized("pack")
        case .tracker: localized("tracker")
        }
      let head = [
        what, change.id.map(TerminalSanitizer.line), change.title.map { "\"\(TerminalSanitizer.line($0))\"" },
      ].compactMap { $0 }
      var lines = ["\(context.style(mark, tone)) \(cut(head.joined(separator: "  "), context, 2))"]
      let shown = change.fields.filter { $0.name != "title" || change.action == .change }
      let width = shown.map(\.name.count).max() ?? 0
      for field in shown { lines += self.lines(field, change.action, width, context) }
      if let records = change.records {
        let text = localized(count: records, "with %n entry or item", "with %n entries and items")
        lines.append("    " + context.style(cut(text, context, 4), .caution))
      }
      return lines
    }
  }

  private func lines(
    _ field: RemindersInterface.SetField, _ action: RemindersInterface.SetChange.Action, _ width: Int,
    _ context: Context
  ) -> [String] {
    let name = "    " + field.name + String(repeating: " ", count: max(0, width - field.name.count)) + "  "
    let (old, new) = (field.old.map(TerminalSanitizer.line), field.new.map(TerminalSanitizer.line))
    if action != .change || old == nil && new == nil {
      let value = new ?? old ?? (action == .change ? localized("replaced") : localized("given"))
      return [context.style(name, .faint) + cut(value, context, name.count)]
    }
    let (before, after) = (old ?? localized("none"), new ?? localized("none"))
    let line = "\(before) → \(after)"
    if name.count + TextWidth.of(line) <= context.width || !context.process.output.isTerminal {
      return [context.style(name, .faint) + line]
    }
    let indent = String(repeating: " ", count: min(name.count, 6))
    return [
      context.style(name.trimmingEnd, .faint), "\(indent)\(cut(before, context, indent.count))",
      "\(indent)→ \(cut(after, context, indent.count + 2))",
    ]
  }

  /// Truncates text to the rest of a terminal's line.
  private func cut(_ text: String, _ context: Context, _ used: Int) -> String {
    context.process.output.isTerminal ? TextWidth.truncate(text, to: max(8, context.width - used)) : text
  }

  /// Whether an item set by hand only becomes a member of the set without other changes. This happens to all items when
  /// an export is first applied.
  static func isTakenOver(_ change: Change) -> Bool {
    change.action == .change && change.fields.map(\.name) == ["set"] && change.fields[0].old == nil
  }

  /// Returns `1 added, 2 changed, 1 removed, 14 unchanged`.
  var summary: String {
    let changes = reply.changes.filter { !Self.isTakenOver($0) }
    let unchanged = reply.unchanged + reply.changes.count - changes.count
    guard !changes.isEmpty else {
      return localized(
        count: unchanged, "nothing to change: %n matches the files",
        "nothing to change: all %n match the files")
    }
    func count(_ action: RemindersInterface.SetChange.Action) -> Int { changes.count { $0.action == action } }
    let (added, changed, removed) = (count(.add), count(.change), count(.remove))
    let parts: [(Int, String)] =
      isDry
      ? [
        (added, localized("%1 would be added", added)), (changed, localized("%1 would be changed", changed)),
        (removed, localized("%1 would be removed", removed)),
      ]
      : [
        (added, localized("%1 added", added)), (changed, localized("%1 changed", changed)),
        (removed, localized("%1 removed", removed)),
      ]
    return (parts.filter { $0.0 > 0 }.map(\.1) + [localized("%1 unchanged", unchanged)]).joined(separator: ", ")
  }
}

extension String {
  fileprivate var trimmingEnd: String {
    var rest = self[...]
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }
}
