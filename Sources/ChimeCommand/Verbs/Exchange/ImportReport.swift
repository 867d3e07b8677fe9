import ChimeControl
import ChimeWords

/// The result of an import, for people and programs.
struct ImportReport {
  var reply: RemindersInterface.Import.Reply
  var isDry: Bool

  /// The most remarks that are printed.
  private static let maxListed = 20

  init(_ reply: RemindersInterface.Import.Reply, isDry: Bool) {
    self.reply = reply
    self.isDry = isDry
  }

  func print(_ context: Context) {
    switch context.format {
    case .json:
      context.print(json: [
        "dryRun": isDry, "imported": reply.added, "remarks": reply.remarks, "warnings": reply.warnings,
      ])
    case .plain: context.plain(reply.added)
    case .human:
      if !context.isQuiet, !reply.added.isEmpty { context.print(table: table(context)) }
    }
    guard context.format != .json else { return }
    tell(context)
    context.warn(reply.warnings)
    context.note(summary)
  }

  private func table(_ context: Context) -> Table {
    let clock = context.clock()
    var table = Table(columns: [
      .init(title: isDry ? "LINE" : "ID"), .init(title: "TITLE", canShrink: true),
      .init(title: "SCHEDULE", canShrink: true, dropOrder: 2), .init(title: "NEXT", dropOrder: 1), .init(title: "LEFT"),
    ])
    for imported in reply.added {
      table.rows.append([
        .init(imported.id ?? String(imported.line), .strong), .init(imported.title),
        .init(imported.when.hasPrefix("at ") ? "once" : imported.when, .faint), .init(clock.text(imported.next)),
        .init(clock.relative(imported.next)),
      ])
    }
    return table
  }

  /// Prints skipped and lossy entries one by one; past, finished and existing ones are only counted.
  private func tell(_ context: Context) {
    let remarks = reply.remarks.filter { $0.kind == .refused || $0.kind == .note }
    for remark in remarks.prefix(Self.maxListed) {
      let place = [remark.line.map { localized("line %1", $0) }, remark.title.map { "\"\($0)\"" }].compactMap { $0 }
      let what = remark.kind == .refused ? localized("skipped") : localized("note")
      context.note("\(what): \((place + [localizedServerMessage(remark.message)]).joined(separator: ": "))", .caution)
    }
    if remarks.count > Self.maxListed {
      context.note(localized("and %1 more; --json lists them all", remarks.count - Self.maxListed), .caution)
    }
  }

  /// Returns `12 reminders added, 3 skipped: 2 have passed, 1 is there already`.
  var summary: String {
    let count = reply.added.count
    let added =
      isDry
      ? localized(count: count, "%n reminder would be added", "%n reminders would be added")
      : localized(count: count, "%n reminder added", "%n reminders added")
    let reasons: [(RemindersInterface.ImportRemark.Kind, (Int) -> String)] = [
      (.past, { localized(count: $0, "%n has passed", "%n have passed") }),
      (.closed, { localized(count: $0, "%n is cancelled or done", "%n are cancelled or done") }),
      (.duplicate, { localized(count: $0, "%n exists already", "%n exist already") }),
      (.refused, { localized(count: $0, "%n rejected", "%n rejected") }),
    ]
    let skipped = reasons.compactMap { kind, text -> (Int, String)? in
      let count = reply.remarks.count { $0.kind == kind }
      return count == 0 ? nil : (count, text(count))
    }
    guard !skipped.isEmpty else { return added }
    return localized(
      "%1, %2 skipped: %3", added, skipped.reduce(0) { $0 + $1.0 }, skipped.map(\.1).joined(separator: ", "))
  }
}
