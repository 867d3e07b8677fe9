public import ChimeCore
public import ChimeSchedule
import ChimeWords

/// Builds the text of popups from occurrences.
public enum Presentation {
  /// Maximum length of a title in bytes of UTF-8.
  public static let titleLimit = 256
  /// Maximum length of a body in bytes of UTF-8, before markup is escaped.
  public static let bodyLimit = 2_048

  /// Returns one line of plain text without control characters, at most `titleLimit` bytes and never empty.
  public static func title(of message: OutboundMessage) -> String {
    let line = PlainText.withoutControls(message.title, lines: false)
    return line.allSatisfy(\.isWhitespace) ? localized("Reminder") : PlainText.clipped(line, bytes: titleLimit)
  }

  /// Returns the text of a message, escaped as markup (Desktop Notifications Specification, "Markup").
  ///
  /// - Parameter timeOfDay: Formats a time in the user's clock format, such as `08:30`.
  public static func body(of message: OutboundMessage, timeOfDay: (Instant) -> String) -> String {
    escaped(text(of: message, timeOfDay: timeOfDay))
  }

  /// Returns the title, such as `12 more reminders while you were away`.
  static func title(of summary: PopupSummary) -> String {
    localized(
      count: summary.titles.count, "%n more reminder while you were away", "%n more reminders while you were away")
  }

  /// Maximum lines of a summary. If there are more titles, the last line says how many.
  static let listedTitles = 12

  /// Returns the titles, one per line, each at most 80 bytes.
  static func text(of summary: PopupSummary) -> String {
    let fits = summary.titles.count <= listedTitles
    var lines = summary.titles.prefix(fits ? listedTitles : listedTitles - 1).map { title in
      PlainText.clipped(PlainText.withoutControls(title, lines: false), bytes: 80)
    }
    if !fits { lines.append(localized(count: summary.titles.count - lines.count, "and %n more", "and %n more")) }
    return lines.joined(separator: "\n")
  }

  /// Returns the plain body: the reminder's text, its accompanying texts, and remarks on repetition and lateness.
  static func text(of message: OutboundMessage, timeOfDay: (Instant) -> String) -> String {
    var lines: [String] = []
    if let body = message.body {
      lines.append(PlainText.clipped(PlainText.withoutControls(body, lines: true), bytes: bodyLimit))
    }
    for text in Reminder.messageTexts {
      guard let value = message.reminder?[keyPath: text.path], !value.isEmpty else { continue }
      lines.append(PlainText.clipped(PlainText.withoutControls(value, lines: false), bytes: bodyLimit))
    }
    if let again = repeatRemark(message, timeOfDay: timeOfDay) { lines.append(again) }
    if let remark = lateRemark(message.occurrence, timeOfDay: timeOfDay) { lines.append(remark) }
    return lines.joined(separator: "\n")
  }

  /// Returns `3rd time, since 08:30` for a repeated message; nil for the first.
  static func repeatRemark(_ message: OutboundMessage, timeOfDay: (Instant) -> String) -> String? {
    let number = message.delivery.round
    guard number > 1 else { return nil }
    let since = message.occurrence.firedAt ?? message.occurrence.id.scheduledAt
    return localized("%1 time, since %2", Words.ordinal(number), timeOfDay(since))
  }

  /// Returns `was due at 08:30, 2 h late` or `was due at 23:15, in quiet hours`; nil if it was on time.
  public static func lateRemark(_ occurrence: Occurrence, timeOfDay: (Instant) -> String) -> String? {
    guard occurrence.late != nil, let lateness = occurrence.lateness, lateness > .zero else { return nil }
    let time = timeOfDay(occurrence.id.scheduledAt)
    return occurrence.late == .quiet
      ? localized("was due at %1, in quiet hours", time) : localized("was due at %1, %2 late", time, span(lateness))
  }

  /// Returns a span in at most two units, rounded down: `45 s`, `10 min`, `1 h 30 min`, `2 d 3 h`.
  ///
  ///     Presentation.span(.minutes(90))   // "1 h 30 min"
  public static func span(_ span: Milliseconds) -> String {
    let seconds = max(0, span.rawValue / 1_000)
    func pair(_ large: Int64, _ largeName: String, _ small: Int64, _ smallName: String) -> String {
      small == 0 ? "\(large) \(largeName)" : "\(large) \(largeName) \(small) \(smallName)"
    }
    switch seconds {
    case ..<60: return "\(seconds) s"
    case ..<3_600:
      // From ten minutes on, seconds are left out.
      return seconds < 600 ? pair(seconds / 60, "min", seconds % 60, "s") : "\(seconds / 60) min"
    case ..<86_400: return pair(seconds / 3_600, "h", seconds % 3_600 / 60, "min")
    default: return pair(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h")
    }
  }

  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
