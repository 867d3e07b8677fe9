import ChimeControl
import ChimeWords
import Glibc

/// `chime report [FILE]`
enum Report {
  static let verb = Verb(
    name: "report", group: .track, arguments: ["[FILE]"],
    summary: "Write a page with charts of your trackers",
    details: [
      "The page is one HTML file: today, the week, charts with averages and forecasts, calendars, flowers, badges, "
        + "milestones with photos. It loads nothing and runs nothing, so you can keep, mail and print it. Without "
        + "FILE it is chime-report.html in this folder; - is standard output.",
      "The file is written completely or not at all, and only you can read it (mode 0600). It replaces an older "
        + "report of the same name, and never another file. It contains notes and photos: consider that before you "
        + "send it on. It leaves out what a camera wrote into a photo, such as the place.",
    ],
    options: [
      .value(
        "browser", nil, "WHEN", "Show it in the browser: yes, no, or auto (the default: on a terminal of a desktop)",
        choices: ["auto", "yes", "no"]),
      RangeText.option, .value("pack", nil, "ID", "Only what belongs to this pack"),
    ],
    examples: [
      "chime report", "chime report --range 1Y --browser no year.html",
      .init(command: "chime report --pack weight - | lpr", remark: "on standard output"),
    ],
    alsoTried: ["html", "page", "dashboard", "web", "summary"],
    json: "`file` (null for standard output), `bytes`, `trackers`, `photos` and `photosOmitted`", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let line = context.line
    try need(
      line.words.count < 2, localized("chime report writes one file, not %1", String(line.words.count)),
      hint: localized("a name of several words needs quotes"))
    let path = line.words.first ?? "chime-report.html"
    try need(!path.isEmpty, localized("the name of the file is empty"))
    let toOutput = path == "-"
    if toOutput, context.format == .json {
      throw Failure.usage(localized("--json and - would both use standard output"))
    }
    if !toOutput { try ReportFile.judge(path) }
    let range = try RangeText.parse(line.value("range") ?? "3M", today: context.today())
    let contents = try ReportReader(context: context).read(range: range, pack: line.value("pack"))
    let html = ReportPage(contents: contents, words: context.trackerWords).html()
    if toOutput {
      context.process.output.write(html)
      return .success
    }
    try ReportFile.write(html, to: path)
    tell(context, path, html, contents)
    if opens(context) {
      context.process.output.flush()
      try ReportFile.open(path)
    }
    return .success
  }

  private static func tell(_ context: Context, _ path: String, _ html: String, _ contents: ReportContents) {
    let bytes = html.utf8.count
    switch context.format {
    case .json:
      context.print(json: [
        "file": path, "bytes": bytes, "trackers": contents.parts.map(\.tracker.id), "photos": contents.photos.count,
        "photosOmitted": contents.photosOmitted,
      ])
    case .plain: context.out(Plain.line([TerminalSanitizer.field(path)]))
    case .human:
      if !context.isQuiet {
        let size = LocalizedFormat.number(Double(max(bytes / 1_024, 1)))
        context.out(localized("%1 was written (%2 KiB)", TerminalSanitizer.line(path), size))
      }
      if contents.photosOmitted > 0 {
        context.note(
          localized(
            count: contents.photosOmitted,
            "%n photo was left out: larger than 2 MB, or of a kind that browsers do not show",
            "%n photos were left out: larger than 2 MB (8 MB in all), or of a kind that browsers do not show"), .caution
        )
      }
      if contents.parts.isEmpty { for line in TrackerArgument.beginning { context.note(line) } }
    }
  }

  private static func opens(_ context: Context) -> Bool {
    switch context.line.value("browser") {
    case "yes": return true
    case "no": return false
    default:
      let hasDesktop = ["WAYLAND_DISPLAY", "DISPLAY"].contains { !(context.process.environment[$0] ?? "").isEmpty }
      return hasDesktop && context.process.output.isTerminal && context.format == .human
    }
  }
}

/// Checks, writes and opens the report's file.
enum ReportFile {
  /// Refuses to replace a file that is no report, before any work is done.
  static func judge(_ path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      // A missing file is fine; a missing folder is reported when the file is created.
      if errno == ENOENT { return }
      throw Failure.system(localized("cannot access %1", path), errno: errno)
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      throw Failure.failed(
        localized("%1 is a folder", path), hint: localized("name a file in it: chime report %1/report.html", path))
    }
    let beginning = head(path) ?? []
    try need(
      status.st_mode & S_IFMT == S_IFREG && (isReport(beginning) || status.st_size == 0),
      failed: localized("%1 exists already and is not a report of Chime", path), hint: localized("choose another name"))
  }

  private static func head(_ path: String) -> [UInt8]? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 2_048)
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  private static func isReport(_ bytes: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).contains(ReportPage.mark)
  }

  /// Writes a temporary file with mode 0600 in the same folder, syncs it, and renames it.
  static func write(_ text: String, to path: String) throws {
    let (folder, name) =
      path.lastIndex(of: "/").map { (String(path[...$0]), String(path[path.index(after: $0)...])) }
      ?? ("", path)
    var template = Array("\(folder).\(name.prefix(40)).XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    let scratch = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let problem = localized("cannot write %1", path)
    guard descriptor >= 0 else { throw Failure.system(problem, errno: errno) }
    let isWritten =
      Files.write(Array(text.utf8), to: descriptor) && fchmod(descriptor, 0o600) == 0 && fsync(descriptor) == 0
    var code = errno
    close(descriptor)
    if isWritten {
      if rename(scratch, path) == 0 { return Files.synchronizeFolder(of: path) }
      code = errno
    }
    unlink(scratch)
    throw Failure.system(problem, errno: code)
  }

  /// Opens the file in the desktop's browser without waiting.
  static func open(_ path: String) throws {
    let absolute =
      path.hasPrefix("/")
      ? path
      : realpath(path, nil).map { text in
        defer { free(text) }
        return String(cString: text)
      } ?? path
    // xdg-open starts the browser and ends; its output is not useful.
    let status = try Editor.run(["/bin/sh", "-c", "xdg-open \"$1\" >/dev/null 2>&1", "sh", absolute])
    guard status != 0 else { return }
    throw Failure.failed(
      localized("the report was written, but no browser could be started (xdg-open)"),
      hint: localized("open it yourself: %1", absolute))
  }
}
