package import ChimeCore
package import ChimeSchedule
import ChimeWords

/// A ChatAnswer is a person's answer to one message of Chime, by a reaction or a reply.
package struct ChatAnswer: Hashable, Sendable {
  package enum What: Hashable, Sendable {
    case done
    /// Done, with this item of the reminder's tracker.
    case item(String)
    case dismiss
    /// Snooze by the reminder's first snooze length.
    case snooze
    /// A free-form snooze time, such as `20m` or `tomorrow 9:00`. It may be invalid.
    case words(String)
  }

  package var what: What
  /// The message that is answered.
  package var delivery: DeliveryID
  /// The chat's event id of the answer.
  package var id: String
  /// Server time of the answer. A snooze of `20m` counts from it.
  package var at: Instant
}

extension ChatAnswer.What {
  /// Maps a reaction to an answer; nil for one without meaning.
  init?(reaction key: String) {
    // Variation selectors and skin tones do not matter.
    let key = String(String.UnicodeScalarView(key.unicodeScalars.filter { !Self.styles.contains($0.value) }))
    guard let found = Self.reactions[key] else { return nil }
    self = found
  }

  private static let styles: Set<UInt32> = [0xFE0E, 0xFE0F, 0x1F3FB, 0x1F3FC, 0x1F3FD, 0x1F3FE, 0x1F3FF]
  private static let reactions: [String: Self] = [
    "✅": .done, "✔": .done, "☑": .done, "👍": .done, "💤": .snooze, "😴": .snooze, "⏰": .snooze, "❌": .dismiss,
    "✖": .dismiss,
    "👎": .dismiss,
  ]

  /// Maximum length of a free-form answer in bytes.
  private static let longest = 200

  /// Parses a reply.
  init(reply text: String) {
    let words = Self.ownLines(text).split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
    let line = words.joined(separator: " ")
    if let found = Self(reaction: line) {
      self = found
      return
    }
    let end = line.hasSuffix(".") || line.hasSuffix("!") ? String(line.dropLast()) : line
    func says(_ english: String, _ own: String) -> Bool { end == english || end == own.lowercased() }
    if says("done", localized("Done")) {
      self = .done
    } else if says("dismiss", localized("Dismiss")) {
      self = .dismiss
    } else if says("snooze", localized("Snooze")) {
      self = .snooze
    } else if words.count == 2, words[0] == "done", let item = Occurrence.Answer(item: words[1]),
      case .item(let id) = item
    {
      self = .item(id)
    } else {
      let rest = words.drop { ["snooze", "for", "until"].contains($0) }.joined(separator: " ")
      self = .words(rest.utf8.count <= Self.longest ? rest : "")
    }
  }

  /// Removes a leading quotation of the message, which some clients add as `>` lines and an empty line.
  private static func ownLines(_ text: String) -> String {
    let lines = PlainText.withoutControls(text, lines: true).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.drop { $0.hasPrefix(">") }.joined(separator: "\n")
  }
}
