import CSystemd
import Glibc
import Synchronization

/// Writes to the journal natively when standard error is connected to it, else to standard error with `<N>` prefixes
/// (sd-daemon(3)) or, on a terminal, without them.
///
/// Libraries throw; the loop and the mains log. A secret never gets here: what is logged is made of fields that the
/// callers choose, one by one.
package final class Log: Sendable {
  /// The fields that a person filters by (`journalctl CHIME_REMINDER=r7k2`).
  package enum Field: String, CaseIterable, Sendable {
    case reminder = "CHIME_REMINDER"
    case occurrence = "CHIME_OCCURRENCE"
    case delivery = "CHIME_DELIVERY"
    case endpoint = "CHIME_ENDPOINT"
    case latenessMicroseconds = "CHIME_LATENESS_USEC"
    case tracker = "CHIME_TRACKER"
    /// Whose reminder it is, in the system's instance.
    case owner = "CHIME_OWNER_UID"
    /// The client's user.
    case uid = "CHIME_UID"
  }

  private enum Way: Sendable { case journal, prefixed, plain }

  private let way: Way
  private let threshold: Atomic<Int>

  package init(level: Configuration.LogLevel) {
    threshold = Atomic(level.priority)
    if Self.isJournal(STDERR_FILENO) {
      way = .journal
    } else {
      way = isatty(STDERR_FILENO) == 1 ? .plain : .prefixed
    }
  }

  package func setLevel(_ level: Configuration.LogLevel) { threshold.store(level.priority, ordering: .relaxed) }

  package func callAsFunction(
    _ level: Configuration.LogLevel, _ message: String, id: MessageID? = nil,
    _ fields: @autoclosure () -> [(Field, String)] = []
  ) {
    guard level.priority <= threshold.load(ordering: .relaxed) else { return }
    var lines: [UInt8] = []
    add(level, message, id, fields, to: &lines)
    Self.write(lines)
  }

  /// One entry of several.
  struct Entry {
    var level: Configuration.LogLevel
    var message: String
    var id: MessageID?
    /// Asked only by the journal.
    var fields: () -> [(Field, String)]
  }

  /// Several at once: thousands of reminders may fire in one second, and on standard error each would be a system call.
  func callAsFunction(_ entries: some Sequence<Entry>) {
    let threshold = threshold.load(ordering: .relaxed)
    var lines: [UInt8] = []
    for entry in entries where entry.level.priority <= threshold {
      add(entry.level, entry.message, entry.id, entry.fields, to: &lines)
      if lines.count > 32_768 {
        Self.write(lines)
        lines.removeAll(keepingCapacity: true)
      }
    }
    Self.write(lines)
  }

  /// Sends an entry to the journal, or adds its line to `lines`.
  private func add(
    _ level: Configuration.LogLevel, _ message: String, _ id: MessageID?, _ fields: () -> [(Field, String)],
    to lines: inout [UInt8]
  ) {
    let message = Self.line(message)
    if way == .journal {
      var entries = ["MESSAGE=\(message)", "PRIORITY=\(level.priority)", "SYSLOG_IDENTIFIER=chimed"]
      if let id { entries.append("MESSAGE_ID=\(id.rawValue)") }
      entries += fields().map { "\($0.0.rawValue)=\($0.1)" }
      if Self.sendToJournal(entries) { return }
    }
    switch way {
    case .journal, .prefixed: lines += "<\(level.priority)>".utf8
    case .plain: lines += "chimed: \(level <= .warning ? "\(level.rawValue): " : "")".utf8
    }
    lines += message.utf8
    lines.append(0x0A)
  }

  /// A message as one line that any terminal can show: what it quotes may be of several, or speak to the terminal.
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

  /// Whether a descriptor is the stream that systemd connected to the journal (systemd.exec(5), $JOURNAL_STREAM).
  private static func isJournal(_ descriptor: Int32) -> Bool {
    guard let variable = getenv("JOURNAL_STREAM") else { return false }
    let parts = String(cString: variable).split(separator: ":").compactMap { UInt64($0) }
    var status = stat()
    guard parts.count == 2, fstat(descriptor, &status) == 0 else { return false }
    return parts[0] == UInt64(status.st_dev) && parts[1] == UInt64(status.st_ino)
  }

  private static func sendToJournal(_ entries: [String]) -> Bool {
    let bytes = entries.map { Array($0.utf8) }
    let flat = bytes.flatMap { $0 }
    return flat.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return true }
      // sd_journal_sendv(3) reads the vectors only; its parameter is not const because struct iovec is not.
      let start = UnsafeMutableRawPointer(mutating: base)
      var offset = 0
      var vectors: [iovec] = []
      for entry in bytes {
        vectors.append(iovec(iov_base: start + offset, iov_len: entry.count))
        offset += entry.count
      }
      return sd_journal_sendv(vectors, Int32(vectors.count)) >= 0
    }
  }

  private static func write(_ lines: [UInt8]) {
    guard !lines.isEmpty else { return }
    // A standard error that is gone must not stop the daemon; SIGPIPE is ignored.
    _ = lines.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
