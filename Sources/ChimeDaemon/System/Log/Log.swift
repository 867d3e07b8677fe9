import CSystemd
import Glibc
import Synchronization

/// A Log writes to the journal natively if standard error is connected to it. Otherwise it writes lines to standard
/// error, with `<N>` prefixes (sd-daemon(3)) unless it is a terminal.
///
/// Libraries throw; only the loop and the mains log. A secret is never logged, because callers choose each logged field.
package final class Log: Sendable {
  /// The fields for filters (`journalctl CHIME_REMINDER=r7k2`).
  package enum Field: String, CaseIterable, Sendable {
    case reminder = "CHIME_REMINDER"
    case occurrence = "CHIME_OCCURRENCE"
    case delivery = "CHIME_DELIVERY"
    case endpoint = "CHIME_ENDPOINT"
    case latenessMicroseconds = "CHIME_LATENESS_USEC"
    case tracker = "CHIME_TRACKER"
    /// The owner of the reminder, in the system daemon.
    case owner = "CHIME_OWNER_UID"
    /// The uid of the client.
    case uid = "CHIME_UID"
  }

  private enum Way: Sendable { case journal, prefixed, plain }

  private let way: Way
  private let threshold: Atomic<Int>
  private let outlet: LogOutlet

  /// Creates a log on `descriptor`, usually standard error.
  package init(level: Configuration.LogLevel, descriptor: Int32 = STDERR_FILENO) {
    threshold = Atomic(level.priority)
    let way: Way =
      if Journal.isBehind(descriptor) { .journal } else { isatty(descriptor) == 1 ? .plain : .prefixed }
    self.way = way
    outlet = LogOutlet(descriptor: descriptor) { count in
      let sentence = count == 1 ? "1 message was dropped" : "\(count) messages were dropped"
      return Self.item(way, .warning, sentence + ": the reader of the log did not keep up", nil, [])
    }
  }

  package func setLevel(_ level: Configuration.LogLevel) { threshold.store(level.priority, ordering: .relaxed) }

  package func callAsFunction(
    _ level: Configuration.LogLevel, _ message: String, id: MessageID? = nil,
    _ fields: @autoclosure () -> [(Field, String)] = []
  ) {
    guard level.priority <= threshold.load(ordering: .relaxed) else { return }
    outlet.put(Self.item(way, level, Self.line(message), id, way == .journal ? fields() : []))
  }

  /// One entry of several.
  struct Entry {
    var level: Configuration.LogLevel
    var message: String
    var id: MessageID?
    /// The fields, evaluated only for the journal.
    var fields: () -> [(Field, String)]
  }

  /// Writes several entries together. Thousands of reminders may fire in one second, and each line would be a system call.
  func callAsFunction(_ entries: some Sequence<Entry>) {
    let threshold = threshold.load(ordering: .relaxed)
    var lines: [UInt8] = []
    for entry in entries where entry.level.priority <= threshold {
      let fields = way == .journal ? entry.fields() : []
      switch Self.item(way, entry.level, Self.line(entry.message), entry.id, fields) {
      case .lines(let line): lines += line
      case let item: outlet.put(item)
      }
      if lines.count > 32_768 {
        outlet.put(.lines(lines))
        lines.removeAll(keepingCapacity: true)
      }
    }
    if !lines.isEmpty { outlet.put(.lines(lines)) }
  }

  /// Waits until everything is written, at most a second. Call it before the process ends.
  func finish() { outlet.finish() }

  private static func item(
    _ way: Way, _ level: Configuration.LogLevel, _ line: String, _ id: MessageID?, _ fields: [(Field, String)]
  ) -> LogOutlet.Item {
    let prefix =
      way == .plain ? "chimed: \(level <= .warning ? "\(level.rawValue): " : "")" : "<\(level.priority)>"
    let bytes = Array("\(prefix)\(line)\n".utf8)
    guard way == .journal else { return .lines(bytes) }
    var entries = ["MESSAGE=\(line)", "PRIORITY=\(level.priority)", "SYSLOG_IDENTIFIER=chimed"]
    if let id { entries.append("MESSAGE_ID=\(id.rawValue)") }
    entries += fields.map { "\($0.0.rawValue)=\($0.1)" }
    return .entry(entries, else: bytes)
  }

  /// Returns a message as one line that is safe for any terminal: quoted text may contain line breaks or control sequences.
  static func line(_ message: String) -> String {
    if message.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return message }
    var scalars = String.UnicodeScalarView()
    var last: Unicode.Scalar?
    for scalar in message.unicodeScalars {
      defer { last = scalar }
      switch scalar {
      case "\n" where last == "\r": continue
      case "\n", "\r", "\t", "\u{85}", "\u{2028}", "\u{2029}": scalars.append(" ")
      default: scalars.append(scalar)
      }
    }
    return TOMLText.harmless(String(scalars))
  }
}

/// The journal of systemd (sd-journal(3)).
enum Journal {
  /// Returns whether systemd connected a descriptor to the journal (systemd.exec(5), $JOURNAL_STREAM).
  static func isBehind(_ descriptor: Int32) -> Bool {
    guard let variable = getenv("JOURNAL_STREAM") else { return false }
    let parts = String(cString: variable).split(separator: ":").compactMap { UInt64($0) }
    var status = stat()
    guard parts.count == 2, fstat(descriptor, &status) == 0 else { return false }
    return parts[0] == UInt64(status.st_dev) && parts[1] == UInt64(status.st_ino)
  }

  /// Sends an entry of `NAME=value` fields. It blocks while the journal does not read, and returns false without a journal.
  static func send(_ fields: [String]) -> Bool {
    let bytes = fields.map { Array($0.utf8) }
    let flat = bytes.flatMap { $0 }
    return flat.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return true }
      // sd_journal_sendv(3) only reads the vectors; its parameter is not const because struct iovec is not.
      let start = UnsafeMutableRawPointer(mutating: base)
      var offset = 0
      var vectors: [iovec] = []
      for field in bytes {
        vectors.append(iovec(iov_base: start + offset, iov_len: field.count))
        offset += field.count
      }
      return sd_journal_sendv(vectors, Int32(vectors.count)) >= 0
    }
  }
}
