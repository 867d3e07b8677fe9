import ChimeControl
import ChimeWords
import Glibc

/// `chime ping ID|TITLE`
enum PingVerb {
  static let verb = Verb(
    name: "ping", group: .answer, arguments: ["ID|TITLE"], summary: "Report that a job is done, begins, or has failed",
    details: [
      "The ping answers the expectation (`chime expect`). With --fail, or a --status other than 0, Chime notifies "
        + "you at once. With --start the run has the expectation's time to end; if it takes longer, Chime notifies "
        + "you.",
      "Chime keeps the last 100 pings of each, with the end of their output: `chime expect show`.",
    ],
    options: [
      .flag("start", nil, "Report that a run begins"), .flag("fail", nil, "Report a failure"),
      .value("status", nil, "N", "Its exit status; any value but 0 is a failure"),
      .value("message", "m", "FILE", "Its output, of which the last 10 kB are kept; - for standard input"),
    ],
    examples: ["chime ping backup", "chime ping backup --status $?", "chime ping backup --fail --message backup.log"],
    alsoTried: ["beat", "checkin", "check-in", "alive", "report-in"],
    json: "`id`, `title`, and `wasDownMs`: how long it was down, if this ended it", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let line = context.line
    let status = try line.count("status", minimum: 0, maximum: 255)
    let isFailure = line.has("fail") || (status ?? 0) != 0
    try need(
      !line.has("start") || !isFailure && status == nil,
      localized("a run that begins cannot have failed yet: --start cannot be used with --fail or --status"),
      hint: "chime ping backup --start")
    try need(
      !line.has("fail") || status != 0, localized("--fail and --status 0 contradict each other"),
      hint: "chime ping backup --fail")
    let id = try context.subject()
    let reply = try context.daemon().call(
      ExpectationsInterface.Ping(
        id: id, kind: line.has("start") ? .started : isFailure ? .failed : .succeeded, status: status,
        output: try line.value("message").map { try output($0) }))
    switch context.format {
    case .json: context.print(json: context.json(reply))
    case .plain: context.plain([reply])
    case .human: tell(context, reply, hasBegun: line.has("start"), hasFailed: isFailure)
    }
    return .success
  }

  private static func tell(
    _ context: Context, _ reply: ExpectationsInterface.Ping.Reply, hasBegun: Bool, hasFailed: Bool
  ) {
    guard !context.isQuiet else { return }
    let what =
      if hasBegun {
        localized("has begun")
      } else if hasFailed {
        localized("has failed; Chime notifies you")
      } else if let down = reply.wasDownMs {
        localized("is up again after %1", RelativeTime.lateness(milliseconds: down))
      } else {
        localized("is done")
      }
    context.print(heading: reply.id, reply.title)
    context.out("  \(what)")
  }

  /// Returns the end of a file of any length.
  private static func output(_ path: String) throws -> String {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure.system(localized("cannot read %1", path), errno: errno) }
    defer { if path != "-" { close(descriptor) } }
    var end = OutputTail(limit: Product.pingOutputLimit)
    while true {
      switch end.read(descriptor) {
      case 0: return end.text
      case -1 where errno == EINTR: continue
      case -1: throw Failure.system(localized("cannot read %1", path), errno: errno)
      default: continue
      }
    }
  }
}

/// The end of a stream, in constant memory.
struct OutputTail {
  private let limit: Int
  private var bytes: [UInt8] = []

  init(limit: Int) { self.limit = limit }

  /// Reads once.
  ///
  /// - Parameter passing: a descriptor to which the data are copied; nil for none.
  /// - Returns: the number of bytes; 0 at the end, -1 with the reason in `errno`.
  mutating func read(_ descriptor: Int32, passing: Int32? = nil) -> Int {
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { part in
      let count = Glibc.read(descriptor, part.baseAddress, part.count)
      guard count > 0 else { return count }
      let fresh = part[..<count]
      // Ignore write errors: a closed reader must not affect the program otherwise than usual.
      if let passing { _ = Files.write(Array(fresh), to: passing) }
      bytes.append(contentsOf: fresh.suffix(limit))
      if bytes.count > 8 * limit { bytes.removeFirst(bytes.count - limit) }
      return count
    }
  }

  var text: String { String(decoding: bytes.suffix(limit), as: UTF8.self) }
}
