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
  package enum Field: String, Sendable {
    case reminder = "CHIME_REMINDER"
    case occurrence = "CHIME_OCCURRENCE"
    case delivery = "CHIME_DELIVERY"
    case endpoint = "CHIME_ENDPOINT"
    case latenessMicroseconds = "CHIME_LATENESS_USEC"
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
    _ level: Configuration.LogLevel, _ message: String, _ fields: @autoclosure () -> [(Field, String)] = []
  ) {
    guard level.priority <= threshold.load(ordering: .relaxed) else { return }
    var message = message
    // Thousands of lines are written in one second, and hardly any has an end of line in it.
    if message.utf8.contains(0x0A) {
      message = message.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: " ")
    }
    switch way {
    case .journal:
      var entries = ["MESSAGE=\(message)", "PRIORITY=\(level.priority)", "SYSLOG_IDENTIFIER=chimed"]
      entries += fields().map { "\($0.0.rawValue)=\($0.1)" }
      if Self.sendToJournal(entries) { return }
      Self.writeLine("<\(level.priority)>\(message)")
    case .prefixed: Self.writeLine("<\(level.priority)>\(message)")
    case .plain: Self.writeLine("chimed: \(level <= .warning ? "\(level.rawValue): " : "")\(message)")
    }
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

  private static func writeLine(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    // A standard error that is gone must not stop the daemon; SIGPIPE is ignored.
    _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
