import ChimeControl
import ChimeWords

/// `chime entry export|import`: entries in file formats of other programs.
enum EntryExchange {
  static let export = Verb(
    name: "export", group: .keep, arguments: ["[TRACKER]"], summary: "Write entries as CSV or JSON",
    details: [
      "On standard output, for spreadsheets and programs: one line or object for each entry. To write everything, "
        + "with photos and achievements, into a file that can be restored: `chime backup`. To write reminders as a "
        + "calendar: `chime export --format ics`."
    ],
    options: [
      .value("format", nil, "FORMAT", "csv (the default) or json", choices: ["csv", "json"]),
      RangeText.option,
    ],
    examples: ["chime entry export > entries.csv", "chime entry export weight --format json --range 1Y"],
    alsoTried: ["dump", "save", "csv", "write"], json: "the same as `--format json`", run: runExport)

  static let load = Verb(
    name: "import", group: .keep, arguments: ["FILE|-"], summary: "Import entries from elsewhere",
    details: [
      "The file is one of `chime entry export`, or of Loop Habit Tracker: the Checkmarks.csv of its export, which "
        + "holds all habits, or of one habit's folder with --into. Entries that exist already stay unchanged, so "
        + "you can import a file again, also after an interrupted import. A file has at most 200,000 entries and "
        + "32 MiB. `chime undo` undoes an import.",
      "Without --format the ending of the file's name and its first line decide.",
    ],
    options: [
      .value("format", nil, "FORMAT", "csv, json or loop", choices: ["csv", "json", "loop"]),
      .flag("loop", nil, "Short for --format loop"),
      .value("into", nil, "TRACKER", "The tracker for all entries, instead of those that the file names"),
      DraftOptions.dryRun,
    ],
    examples: [
      "chime entry import entries.csv --dry-run", "chime entry import --loop Checkmarks.csv",
      "chime entry import --loop Checkmarks.csv --into reading",
    ],
    alsoTried: ["load", "read", "loop"],
    json: "`imported`: `trackers` (their ids), `added`, `duplicates`, `remarks` (sentences) and `dryRun`",
    run: runImport)

  private static func runExport(_ context: Context) throws -> ExitCode {
    let tracker = context.line.words.isEmpty ? nil : try TrackerArgument.one(context.line.words, context)
    if context.format == .json, context.line.value("format") == "csv" {
      throw Failure.usage(localized("--json and --format csv cannot be used together"))
    }
    let isJSON = context.format == .json || context.line.value("format") == "json"
    let range = try RangeText.parse(context)
    let progress = Progress(context, localized("Reading"), of: .bytes)
    var count = 0
    try context.daemon().stream(
      TrackersInterface.Export(format: isJSON ? .json : .csv, tracker: tracker?.id, range: range)
    ) { reply in
      count += reply.text.utf8.count
      if !context.process.output.isTerminal { progress.tell(count) }
      context.process.output.write(reply.text)
      return true
    }
    progress.end()
    return .success
  }

  private static func runImport(_ context: Context) throws -> ExitCode {
    let line = context.line
    guard line.words.count == 1, let path = line.words.first else {
      throw Failure.usage(
        line.words.isEmpty ? localized("a file is missing") : localized("one file at a time"),
        hint: "chime entry import entries.csv")
    }
    let isDry = line.has("dry-run")
    let tracker = try line.value("into").map { try TrackerArgument.one([$0], context) }
    let bytes = try Uploading.bytes(path, limit: Uploading.longest, context)
    let format = try format(line, path, bytes)
    let upload = try Uploading.send(bytes, called: path, context)
    let daemon = try context.daemon()
    daemon.patience += .seconds(600)
    let progress = Progress(
      context, isDry ? localized("Checking %1", TerminalSanitizer.line(path)) : localized("Importing"))
    defer { progress.end() }
    let reply: TrackersInterface.Import.Reply
    do {
      reply = try daemon.call(
        TrackersInterface.Import(
          upload: upload, format: format, tracker: tracker?.id, dryRun: isDry ? true : nil), telling: progress)
    } catch var failure as Failure {
      if failure.isInvalidText { failure.message = "\(path), \(failure.message)" }
      throw failure
    }
    progress.end()
    tell(reply, isDry: isDry, context)
    return .success
  }

  /// Returns the format given by options, else the one detected from the file.
  static func format(
    _ line: ParsedLine, _ path: String, _ bytes: [UInt8]
  ) throws -> TrackersInterface.Import.Format {
    if line.has("loop") {
      try need(
        line.value("format") ?? "loop" == "loop",
        localized("--loop and --format %1 cannot be used together", line.value("format") ?? ""))
      return .loop
    }
    if let named = line.value("format").flatMap({ TrackersInterface.Import.Format(rawValue: $0) }) {
      return named
    }
    let begin = bytes.prefix(2_048).drop { [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0) }
    if begin.first == UInt8(ascii: "{") || begin.first == UInt8(ascii: "[") { return .json }
    // A zip archive is an export of Loop Habit Tracker.
    if begin.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return .loop }
    let first = String(decoding: begin.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self).lowercased()
    if path.lowercased().hasSuffix("checkmarks.csv") || first.hasPrefix("date,") && !first.contains("tracker") {
      return .loop
    }
    if first.utf8.contains(UInt8(ascii: ",")) { return .csv }
    throw Failure.failed(
      localized("%1 does not look like CSV or JSON", path), hint: localized("--format names its format"))
  }

  private static func tell(_ reply: TrackersInterface.Import.Reply, isDry: Bool, _ context: Context) {
    switch context.format {
    case .json:
      context.print(json: [
        "imported": Output.ImportedEntries(
          trackers: reply.trackers, added: reply.added, duplicates: reply.duplicates, remarks: reply.remarks,
          dryRun: isDry)
      ])
      return
    case .plain:
      context.out(Plain.line(["trackers", "added", "duplicates"]))
      context.out(Plain.line([reply.trackers.joined(separator: ","), String(reply.added), String(reply.duplicates)]))
    case .human:
      guard !context.isQuiet else { break }
      let added =
        isDry
        ? localized(count: reply.added, "%n entry would be added", "%n entries would be added")
        : localized(count: reply.added, "%n entry added", "%n entries added")
      let present =
        reply.duplicates > 0
        ? ", " + localized(count: reply.duplicates, "%n existed already", "%n existed already") : ""
      context.out(added + present)
      if !reply.trackers.isEmpty {
        let list = reply.trackers.map { TerminalSanitizer.line($0) }.joined(separator: ", ")
        context.out("  " + localized("of %1", list))
      }
    }
    for remark in reply.remarks.prefix(20) { context.note(localizedServerMessage(remark), .caution) }
    if reply.remarks.count > 20 {
      let rest = reply.remarks.count - 20
      context.note(localized(count: rest, "and %n more; --json lists all", "and %n more; --json lists all"), .caution)
    }
  }
}
