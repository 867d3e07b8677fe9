import ChimeWords

/// A progress line on standard error, on a terminal without --quiet.
///
/// It appears only after half a second, so that short work shows none, and it is erased at the end.
///
///     let progress = Progress(context, localized("Sending %1", name), total: bytes.count, of: .bytes)
///     defer { progress.end() }
///     progress.tell(sent)               // Sending calendar.ics: 45 %, 12 of 27 MiB, 8 s left
final class Progress {
  /// The unit of the count.
  enum Unit { case bytes, lines, nothing }

  private let context: Context
  private let text: String
  private let total: Int?
  private let unit: Unit
  private let begun: Duration
  private var toldAt: Duration?
  private var shown = ""
  private var done = 0

  /// The delay before the first line, and the minimum interval between updates.
  static let patience = Duration.milliseconds(500)
  private static let pace = Duration.milliseconds(100)

  init(_ context: Context, _ text: String, total: Int? = nil, of unit: Unit = .nothing) {
    (self.context, self.text, self.total, self.unit) = (context, text, total, unit)
    begun = context.process.elapsed()
  }

  private var isWanted: Bool { context.process.errors.isTerminal && !context.isQuiet }

  /// Updates the count; nil keeps it and only updates the time.
  func tell(_ more: Int? = nil) {
    done = more ?? done
    guard isWanted else { return }
    let now = context.process.elapsed()
    guard now - begun >= Self.patience, toldAt.map({ now - $0 >= Self.pace }) ?? true else { return }
    let line = TextWidth.truncate(
      Self.line(text, done, of: total, unit, after: now - begun), to: max(20, context.process.errors.width ?? 80) - 1)
    toldAt = now
    guard line != shown else { return }
    write(line)
  }

  /// Returns `Sending calendar.ics: 45 %, 12 of 27 MiB, 8 s left`; without a total, the count and the elapsed time.
  static func line(_ text: String, _ done: Int, of total: Int?, _ unit: Unit, after elapsed: Duration) -> String {
    let seconds = Double(elapsed / .milliseconds(1)) / 1_000
    guard let total, total > 0 else {
      let taken = RelativeTime.amount(seconds: Int64(seconds))
      return unit == .nothing ? "\(text): \(taken)" : "\(text): \(amount(done, unit)), \(taken)"
    }
    let done = min(max(0, done), total)
    let counted = localized("%1 of %2", number(done, unit, total), amount(total, unit))
    var parts = [localized("%1 %", LocalizedFormat.number(Double(done * 100 / total))), counted]
    // An earlier estimate would be a guess.
    if seconds >= 2, done > 0, done < total {
      let left = seconds * Double(total - done) / Double(done)
      parts.append(localized("%1 left", RelativeTime.amount(seconds: Int64(min(left, 8_640_000).rounded(.up)))))
    }
    return "\(text): \(parts.joined(separator: ", "))"
  }

  private static func amount(_ count: Int, _ unit: Unit) -> String {
    switch unit {
    case .bytes: Sizes.text(count)
    case .lines: localized(count: count, "%n line", "%n lines")
    case .nothing: LocalizedFormat.number(Double(count))
    }
  }

  /// Returns a part of `total` as a number in the total's unit.
  private static func number(_ count: Int, _ unit: Unit, _ total: Int) -> String {
    guard unit == .bytes else { return LocalizedFormat.number(Double(count)) }
    return total * 10 / 1_048_576 < 10
      ? LocalizedFormat.number(Double((count + 1_023) / 1_024))
      : LocalizedFormat.number(Double(count * 10 / 1_048_576) / 10, decimals: 1)
  }

  /// Erases the line.
  func end() {
    guard !shown.isEmpty else { return }
    write("")
  }

  private func write(_ line: String) {
    let errors = context.process.errors
    let isDumb = context.process.environment["TERM"].map { $0 == "dumb" } ?? false
    // Dumb terminals cannot erase the rest of a line.
    let gone = max(0, TextWidth.of(shown) - TextWidth.of(line))
    let rest =
      isDumb
      ? String(repeating: " ", count: gone) + (line.isEmpty ? "\r" : String(repeating: "\u{8}", count: gone))
      : "\u{1B}[K"
    // Flush standard output first to keep the order.
    context.process.output.flush()
    errors.write("\r\(line)\(rest)")
    errors.flush()
    shown = line
  }
}
