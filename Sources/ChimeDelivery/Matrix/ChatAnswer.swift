package import ChimeCore
package import ChimeSchedule
import ChimeWords

/// What a person has answered in a chat, by a reaction or in words, to one message of Chime's.
package struct ChatAnswer: Hashable, Sendable {
  package enum What: Hashable, Sendable {
    case done
    /// It is done, with this item of the reminder's tracker.
    case item(String)
    case dismiss
    /// By the reminder's usual length.
    case snooze
    /// How long or until when it is put off, in the words of the person: `20m`, `tomorrow 9:00`. Nothing may be understood of it.
    case words(String)
  }

  package var what: What
  /// The message that it answers.
  package var delivery: DeliveryID
  /// What the chat knows the answer by.
  package var id: String
  /// When it was given, by the server's clock: what `20m` counts from.
  package var at: Instant
}

extension ChatAnswer.What {
  /// What a reaction says; nil: nothing, as most do.
  init?(reaction key: String) {
    // Whichever way it is drawn, and by a hand of whichever colour.
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

  /// The longest answer that is looked at, in bytes.
  private static let longest = 200

  /// What is replied in words.
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

  /// Without what it replies to, which some programs put before it, a line each behind `>`, and an empty line.
  private static func ownLines(_ text: String) -> String {
    let lines = PlainText.withoutControls(text, lines: true).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.drop { $0.hasPrefix(">") }.joined(separator: "\n")
  }
}
