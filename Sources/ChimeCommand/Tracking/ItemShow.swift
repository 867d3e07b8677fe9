import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime item show TRACKER ITEM`
enum ItemShow {
  typealias T = TrackersInterface

  static let verb = Verb(
    name: "show", group: .keep, arguments: ["TRACKER ITEM"],
    summary: "Show an item with its photo and its achievements",
    details: [
      "Its attributes, how often and when it was used, and the achievements that it has earned or is close to. A "
        + "terminal that can show pictures (kitty's protocol, or sixel) shows its photo; --save writes that to a "
        + "file."
    ],
    options: [
      .value("save", nil, "FILE", "Write its photo to a new file; - for standard output"),
      .flag("no-photo", nil, "Do not draw the photo"),
    ],
    examples: ["chime item show watches Speedmaster", "chime item show watches Speedmaster --save speedmaster.jpg"],
    alsoTried: ["info", "get", "photo"],
    json: "`item`, `entries` (a list of each `entry`, the newest first, at most 20) and `achievements`", run: run)

  /// The most entries in the output for programs.
  private static let maxEntries = 20
  /// The most entries shown to a person.
  private static let entriesShown = 5

  static func run(_ context: Context) throws -> ExitCode {
    let (tracker, item) = try ItemVerbs.chosen(context)
    if let file = context.line.value("save") { return try save(item, to: file, context) }
    let daemon = try context.daemon()
    let achievements = try daemon.call(
      T.Achievements(tracker: tracker.id, item: item.id)
    ).achievements
    let entries = try daemon.call(
      T.Entries(tracker: tracker.id, item: item.id, limit: maxEntries)
    ).entries
    switch context.format {
    case .json: context.print(json: ["item": item, "entries": entries, "achievements": achievements])
    case .plain: context.plain([item])
    case .human: show(item, of: tracker, entries, achievements, context)
    }
    return .success
  }

  private static func show(
    _ item: T.Item, of tracker: T.Tracker, _ entries: [T.Entry], _ achievements: [T.Achievement], _ context: Context
  ) {
    let words = context.trackerWords
    let today = (try? context.today().description) ?? ""
    let isGone = item.until.map { $0 <= today } ?? false
    let title = TerminalSanitizer.line(item.title) + (isGone ? "  ✗ " + localized("no longer there") : "")
    for line in TextWidth.wrap(title, to: context.width) { context.out(context.style(line, .strong)) }
    if let photo = item.photo, !context.line.has("no-photo") { TerminalPhoto(context).show(photo) }
    var facts: [(name: String, value: String?)] = [(localized("id"), TerminalSanitizer.line(item.id))]
    facts += item.attributes.sorted { $0.key < $1.key }.map {
      (TerminalSanitizer.line($0.key), TerminalSanitizer.line($0.value))
    }
    facts.append((localized("since"), item.since.map { words.date($0) }))
    facts.append((localized("until"), item.until.map { words.date($0) }))
    facts.append((localized("used"), localized(count: item.entries, "%n time", "%n times")))
    facts.append((localized("last"), item.lastDay.map { words.day($0) } ?? localized("never")))
    facts.append((localized("note"), item.note.map { TerminalSanitizer.line($0) }))
    context.print(facts: facts)
    for entry in entries.prefix(entriesShown) where entry.note != nil || entry.photo != nil {
      let note = [
        words.day(entry.day), entry.note.map { TerminalSanitizer.line($0) },
        entry.photo.map { _ in localized("(photo)") },
      ]
      for line in TextWidth.wrap("• " + note.compactMap { $0 }.joined(separator: "  "), to: context.width, indent: 2) {
        context.out(line)
      }
    }
    guard !achievements.isEmpty else { return }
    context.out()
    context.out(context.style(localized("Achievements with it"), .strong))
    for one in achievements {
      for line in Achievements.lines(one, among: achievements, context) { context.out(line) }
    }
  }

  private static func save(_ item: T.Item, to file: String, _ context: Context) throws -> ExitCode {
    guard let photo = item.photo else {
      throw Failure.failed(
        localized("%1 has no photo", item.id),
        hint: localized("`%1` adds one", "chime item edit \(item.tracker) \(item.id) --photo FILE"))
    }
    guard let bytes = try ReportPhotos.bytes(photo, limit: Uploading.longestPhoto, context.daemon()) else {
      throw Failure.failed(localized("the photo of %1 is missing", item.id))
    }
    if file == "-" {
      try need(
        !context.process.output.isTerminal,
        localized("a photo cannot be printed on a terminal: name a file, or use a pipe"))
      context.process.output.write(bytes: bytes)
      return .success
    }
    try Files.create(file, bytes)
    if !context.isQuiet, context.format == .human {
      context.out(
        localized(
          "%1 was written (%2 KiB)", TerminalSanitizer.line(file),
          LocalizedFormat.number(Double(max(bytes.count >> 10, 1)))))
    }
    return .success
  }
}
