import ChimeControl
import ChimeSchedule
import ChimeWords
import Glibc

/// `chime import FILE.ics`, `chime import crontab`
enum Import {
  static let verb = Verb(
    name: "import", group: .set,
    arguments: [
      "FILE.ics|-", "crontab [FILE|-]", "at [FILE|-]", "systemd [FILE…]", "remind [FILE|-]", "taskwarrior [FILE|-]",
    ],
    summary: "Import reminders from a calendar, a crontab or another program's file",
    details: [
      "From a calendar (iCalendar: the export of Google, Apple, Outlook, Thunderbird and Nextcloud) each alarm of "
        + "an event or to-do becomes a reminder; without alarms an event reminds at its start, a to-do when it is "
        + "due.",
      "From a crontab (without a file, the output of `crontab -l`) each job becomes a reminder with its schedule; "
        + "the comment above it is the title, the command the text. The same works for the jobs of `atq`, the "
        + "timers of systemd (without files your own; with --system the system's), the simple lines of remind's "
        + "script (~/.reminders) and the taskwarrior tasks that have a due date. Chime reminds and does not run "
        + "the commands: keep the jobs where they are.",
      "The import leaves out past times, and reminders that exist already with the same title, schedule and time "
        + "zone: you can import the same file again. It reports each line that it cannot import, with the reason; "
        + "docs/exchange.md describes the mapping.",
      "`chime entry import` imports tracker entries (CSV, JSON, Loop Habit Tracker).",
    ],
    options: [
      DraftOptions.dryRun,
      .value(
        "to", nil, "CHANNEL", "Their channels: desktop, an endpoint or a command; several with commas", repeats: true),
      .value("tag", nil, "TAG", "A tag for each of them; several with commas or repeated", repeats: true),
      .value("tz", nil, "ZONE", "The time zone of times that name none, such as Europe/Prague"),
      .value("all-day-at", nil, "HH:MM", "The time for a day event without an alarm (default 09:00)"),
      .flag("user-column", nil, "A user stands before each command, as in /etc/crontab, whose format is recognized"),
      .flag("again", nil, "Add reminders even if they exist already"),
      .flag(
        "expect", nil, "Make each an expectation: it notifies if the job has not pinged (`chime run`, `chime ping`)"),
      .value(
        "within", nil, "LENGTH",
        "With --expect: how long after its time a ping may come, and how long a run may take (default 1h)"),
    ],
    examples: [
      "chime import calendar.ics --dry-run", "chime import holidays.ics --tag holiday --all-day-at 8:00",
      "chime import crontab", "chime import crontab --expect --within 2h",
      "chime import crontab /etc/crontab --tag server",
      "chime import systemd /usr/lib/systemd/system/apt-daily.timer --dry-run", "chime import taskwarrior --tag tasks",
      .init(command: "chime import - --to team", remark: "a calendar from standard input"),
    ],
    alsoTried: ["load", "read", "ics", "crontab"],
    json: "`imported`, `remarks`, `warnings`: a list of sentences, and `dryRun`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let source = try ImportSource(context)
    var request = RemindersInterface.Import(
      text: "", format: source.format, system: source.hasUsers ? true : nil,
      dryRun: context.line.has("dry-run") ? true : nil, again: context.line.has("again") ? true : nil,
      allDayAt: try allDayTime(context.line), timezone: context.line.value("tz"), channels: context.line.list("to"),
      tags: context.line.list("tag"), within: try within(context.line))
    let daemon = try context.daemon()
    var result = RemindersInterface.Import.Reply(added: [], remarks: [], warnings: [])
    let parts = try source.parts()
    let progress = Progress(
      context, localized("Importing %1", TerminalSanitizer.line(source.name)), total: parts.reduce(0) { $0 + $1.lines },
      of: .lines)
    defer { progress.end() }
    var done = 0
    for (index, part) in parts.enumerated() {
      request.text = part.text
      do {
        let reply: RemindersInterface.Import.Reply = try daemon.call(request, telling: progress)
        result.added += reply.added.map { part.placed($0) }
        result.remarks += reply.remarks.map { part.placed($0) }
        result.warnings += reply.warnings.filter { !result.warnings.contains($0) }
        done += part.lines
        progress.tell(done)
      } catch let failure as Failure {
        throw placed(failure, in: part, of: source, done: index)
      }
    }
    progress.end()
    ImportReport(result, isDry: request.dryRun == true).print(context)
    let isNothing = result.added.isEmpty && !result.remarks.contains { $0.kind == .duplicate }
    return isNothing && result.remarks.contains { $0.kind == .refused } ? .failed : .success
  }

  private static func within(_ line: ParsedLine) throws -> String? {
    try need(
      line.has("expect") || !line.has("within"), localized("--within needs --expect"),
      hint: "chime import crontab --expect --within 2h")
    return line.has("expect") ? try LengthText.iso(line.value("within") ?? Expect.usualWithin, option: "within") : nil
  }

  private static func allDayTime(_ line: ParsedLine) throws -> String? {
    guard let text = line.value("all-day-at") else { return nil }
    let padded = text.prefix { $0 != ":" }.count == 1 ? "0\(text)" : text
    guard let time = CivilTime(padded) else {
      throw Failure.usage(localized("--all-day-at needs a time of day such as 08:30, not \"%1\"", text))
    }
    return time.description
  }

  private static func placed(_ failure: Failure, in part: ImportPart, of source: ImportSource, done: Int) -> Failure {
    var failure = failure
    if let line = failure.line {
      failure.message = localized("%1, line %2: %3", source.name, part.line(line), failure.message)
    }
    if failure.isInvalidText, source.format == .icalendar, !source.looksLikeCalendar, source.looksLikeEntries {
      failure.hints.append(localized("for tracker entries: chime entry import %1", source.name))
    } else if failure.isInvalidText, source.format == .icalendar, !source.looksLikeCalendar {
      failure.hints.append(
        localized("for a crontab: chime import crontab %1", source.name == "standard input" ? "-" : source.name))
    }
    if done > 0 {
      failure.hints.append(
        localized("the earlier lines were imported; correct the file and import it again: it adds nothing twice"))
    }
    return failure
  }
}

/// The source of an import's text.
struct ImportSource {
  var format: RemindersInterface.Import.Format
  /// The name in messages.
  var name: String
  var hasUsers = false
  private var bytes: [UInt8]

  /// The size limit of a file, in bytes.
  private static let longest = 64 << 20

  /// The words that name a program; any other word is a calendar file.
  private static let programs: [String: RemindersInterface.Import.Format] = [
    "crontab": .crontab, "at": .at, "systemd": .systemd, "remind": .remind, "taskwarrior": .taskwarrior,
  ]

  init(_ context: Context) throws {
    var words = context.line.words[...]
    guard let first = words.first else {
      throw Failure.usage(
        localized("what should be imported? A file is missing"),
        hint: localized("chime import calendar.ics, or chime import crontab"))
    }
    format = Self.programs[first] ?? .icalendar
    if format != .icalendar { words.removeFirst() }
    if let word = words.dropFirst().first, format != .systemd {
      throw Failure.usage(
        localized("chime import takes one file; \"%1\" is one too many", word),
        hint: localized("put a name of several words in quotes"))
    }
    var path = words.first
    if path == nil, format == .remind { path = Self.script(context.process.environment) }
    name = path == "-" ? localized("standard input") : path ?? Self.source(of: format)
    hasUsers = context.line.has("user-column")
    switch (path, format) {
    case ("-", _):
      bytes = context.process.input.all(limit: Self.longest)
      guard bytes.count <= Self.longest else { throw Self.tooLong(name) }
    case (nil, .at): bytes = try ExternalTool.queue()
    case (nil, .systemd): bytes = try ExternalTool.timers(ofSystem: context.line.has("system"))
    case (nil, .taskwarrior): bytes = try ExternalTool.tasks()
    case (nil, _): bytes = try ExternalTool.crontab()
    case (_, .systemd): bytes = try ExternalTool.units(Array(words), limit: Self.longest)
    case (let path?, _):
      guard let read = Files.read(path, limit: Self.longest) else {
        throw Failure.system(localized("cannot read %1", path), errno: errno)
      }
      bytes = read
      if format == .crontab, path == "/etc/crontab" || path.hasPrefix("/etc/cron.d/") { hasUsers = true }
    }
  }

  /// Returns the default file of remind(1).
  private static func script(_ environment: [String: String]) -> String {
    environment["DOTREMINDERS"] ?? (environment["HOME"] ?? "") + "/.reminders"
  }

  private static func source(of format: RemindersInterface.Import.Format) -> String {
    switch format {
    case .at: localized("the queue of at")
    case .systemd: localized("the timers of systemd")
    case .taskwarrior: localized("the tasks of taskwarrior")
    default: localized("the crontab")
    }
  }

  private static func tooLong(_ name: String) -> Failure {
    Failure.failed(localized("%1 is longer than %2 MiB", name, longest >> 20))
  }

  /// Whether the file name is that of CSV or JSON.
  var looksLikeEntries: Bool { [".csv", ".json"].contains { name.lowercased().hasSuffix($0) } }

  var looksLikeCalendar: Bool { CalendarParts.looksLikeCalendar(bytes) }

  /// Splits the text into messages that the daemon accepts.
  func parts() throws -> [ImportPart] {
    if format == .icalendar, looksLikeCalendar { return try CalendarParts.split(bytes, name: name) }
    let text = String(decoding: bytes, as: UTF8.self)
    try need(
      CalendarParts.weight(text.utf8) <= CalendarParts.heaviest,
      failed: localized("%1 is too long: %2 KiB", name, bytes.count >> 10), hint: localized("a message may have 1 MiB"))
    return [ImportPart(text: text)]
  }
}

/// The text of one message.
struct ImportPart {
  var text: String
  /// The line numbers in the file; `nil` if they are the same.
  var numbers: [Int]?

  /// The number of lines.
  var lines: Int { numbers?.count ?? text.utf8.count { $0 == 0x0A } }

  func line(_ line: Int) -> Int {
    guard let numbers else { return line }
    return numbers.indices.contains(line - 1) ? numbers[line - 1] : line
  }

  func placed(_ imported: RemindersInterface.Imported) -> RemindersInterface.Imported {
    var imported = imported
    imported.line = line(imported.line)
    return imported
  }

  func placed(_ remark: RemindersInterface.ImportRemark) -> RemindersInterface.ImportRemark {
    var remark = remark
    remark.line = remark.line.map(line)
    return remark
  }
}
