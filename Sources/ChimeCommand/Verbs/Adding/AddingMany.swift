import ChimeControl
import ChimeWords
import Glibc

/// `chime add --from FILE`: one reminder per line, as JSON.
///
/// Lines are sent in batches of up to 2,000. Each batch is added completely or not at all. A faulty line stops the run
/// between two batches, and is reported with its number.
struct AddingMany {
  private let context: Context
  private let name: String
  private let source: TextSource
  private let size: Int?
  private let reader: DraftLine
  private let isDry: Bool
  private let token: String?
  private var added: [Output.AddedLine] = []
  private var warnings: [String] = []
  private var faults: [Fault] = []
  /// The number of the last line read, and the bytes read so far.
  private var line = 0
  private var bytes = 0
  /// The last line up to which everything is added.
  private var doneThrough = 0
  /// The number of reminders added, or valid in a dry run.
  private var taken = 0

  /// The limits of a batch in lines and bytes. A message holds 1 MiB, and a line may be longer there.
  private static let most = 2_000
  private static let heaviest = 256 << 10
  private static let longestLine = 64 << 10
  /// The most faults that are printed.
  private static let maxListed = 20

  /// A rejected line.
  private struct Fault {
    var line: Int
    var message: String
  }

  /// A batch of lines.
  private struct Part {
    var drafts: [RemindersInterface.Draft] = []
    var lines: [Int] = []
    var bytes = 0
  }

  static func run(_ context: Context, path: String) throws -> ExitCode {
    var many = try AddingMany(context, path: path)
    try many.addAll()
    return try many.tell()
  }

  private init(_ context: Context, path: String) throws {
    self.context = context
    try RepeatOptions.checkNew(context.line)
    try LinkOptions.checkNew(context.line)
    reader = DraftLine(defaults: try DraftOptions.draft(context.line, title: "", when: ""))
    isDry = context.line.has("dry-run")
    token = context.line.value("token")
    if path == "-" {
      (name, source, size) = (localized("standard input"), context.process.input, nil)
      return
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure.system(localized("cannot read %1", path), errno: errno) }
    // The descriptor stays open until this run ends.
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    (name, source, size) = (path, TextSource(descriptor: descriptor), isFile ? Int(status.st_size) : nil)
  }

  private mutating func addAll() throws {
    let daemon = try context.daemon()
    let progress = Progress(
      context, localized("Adding %1", TerminalSanitizer.line(name)), total: size, of: size == nil ? .lines : .bytes)
    defer { progress.end() }
    while let part = nextPart() {
      // A dry run continues to the end to report all faults.
      if faults.isEmpty || isDry, !part.drafts.isEmpty { try send(part, to: daemon, telling: progress) }
      if !faults.isEmpty, !isDry || faults.count >= Self.maxListed { return }
      doneThrough = line
      progress.tell(size == nil ? line : bytes)
    }
  }

  /// Returns the next batch; nil at the end. It does not wait for slow input, unless a token requires identical batches
  /// on a retry.
  private mutating func nextPart() -> Part? {
    var part = Part()
    var isAtEnd = true
    while part.lines.count < Self.most, part.bytes < Self.heaviest {
      if !part.lines.isEmpty, token == nil, size == nil, !source.hasLine { return part }
      guard let read = source.line(limit: Self.longestLine) else { break }
      isAtEnd = false
      line += 1
      bytes += read.bytes.count + 1
      if read.bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
      do throws(DraftLine.Refusal) {
        if read.isCut { throw DraftLine.Refusal(localized("it is longer than %1 KiB", Self.longestLine >> 10)) }
        part.drafts.append(try reader.read(read.bytes))
        part.lines.append(line)
        part.bytes += read.bytes.count
      } catch {
        faults.append(Fault(line: line, message: error.message))
      }
    }
    return isAtEnd ? nil : part
  }

  private mutating func send(_ part: Part, to daemon: Daemon, telling progress: Progress) throws {
    do {
      let reply: RemindersInterface.AddMany.Reply = try daemon.call(
        RemindersInterface.AddMany(
          reminders: part.drafts, dryRun: isDry ? true : nil, token: token.map { "\($0):\(part.lines[0])" }),
        telling: progress)
      added += zip(part.lines, reply.ids).map { Output.AddedLine(line: $0, id: $1) }
      taken += part.drafts.count
      warnings += reply.warnings.filter { !warnings.contains($0) }
    } catch var failure as Failure {
      guard !failure.drafts.isEmpty else {
        if !added.isEmpty { failure.hints.append(addedSoFar) }
        throw failure
      }
      faults += failure.drafts.map { fault in
        let message = localizedServerMessage(fault.message)
        return Fault(
          line: part.lines.indices.contains(fault.index) ? part.lines[fault.index] : 0,
          message: fault.field.map { "\($0): \(message)" } ?? message)
      }
    }
  }

  /// Describes what was added, and how to continue.
  private var addedSoFar: String {
    doneThrough == 0
      ? localized("nothing was added")
      : localized(
        "lines 1 to %1 were added; correct the file, then add the rest: tail -n +%2 FILE | chime add --from -",
        doneThrough,
        doneThrough + 1)
  }

  private mutating func tell() throws -> ExitCode {
    switch context.format {
    case .json: context.print(json: ["added": added, "dryRun": isDry, "warnings": warnings])
    case .plain: context.plain(added)
    case .human: break
    }
    if context.format != .json { context.warn(warnings) }
    guard faults.isEmpty else {
      faults.sort { $0.line < $1.line }
      throw Failure(
        status: .failed,
        message: localized(
          count: faults.count, "%n line of %1 is invalid", "%n lines of %1 are invalid", name),
        detail: faults.prefix(Self.maxListed).map { "\(name):\($0.line): \($0.message)" },
        hints: isDry ? [] : [addedSoFar]
      )
    }
    context.note(
      isDry
        ? localized(count: taken, "%n reminder would be added", "%n reminders would be added")
        : localized(count: taken, "%n reminder was added", "%n reminders were added"))
    return .success
  }
}
