import ChimeControl
import ChimeWords

/// Shorthand in the words of a line: `#tag`, `!critical`, `@phone`, and `//` before a note up to the end of the line.
///
/// Quoted words that contain a space stay as they are, and so do `#12`, `@5pm` and `https://…`.
struct QuickMarks: Equatable {
  var tags: [String] = []
  var urgency: RemindersInterface.Reminder.Urgency?
  var channels: [String] = []
  var note: String?

  /// The help text shared by verbs that accept marks.
  static let rule = localizable(
    """
    `#tag`, `!low`, `!normal`, `!critical` and `@channel` among the words mean --tag, --urgency and --to, and the \
    text after `//` is the body. The shell interprets `#` and `!`: put the line in single quotes.
    """)

  /// Removes the marks from the words of a line.
  static func taken(from words: [String]) throws -> (marks: QuickMarks, words: [String]) {
    var words = words
    if words.count == 1 { words = words[0].split(whereSeparator: \.isWhitespace).map(String.init) }
    var marks = QuickMarks()
    if let start = words.firstIndex(where: { $0.hasPrefix("//") }) {
      let note = trimmed(String(words[start...].joined(separator: " ").trimmingPrefix { $0 == "/" }))
      if !note.isEmpty { marks.note = note }
      words.removeSubrange(start...)
    }
    var rest: [String] = []
    for word in words {
      guard try !marks.take(word) else { continue }
      rest.append(word)
    }
    return (marks, rest)
  }

  private mutating func take(_ word: String) throws -> Bool {
    guard let sign = word.first, "#!@".contains(sign) else { return false }
    let name = String(word.dropFirst())
    let isName = name.first?.isLetter == true && name.allSatisfy { $0.isLetter || $0.isNumber || "-_/.".contains($0) }
    guard isName else { return false }
    switch sign {
    case "#": tags.append(name)
    case "@": channels.append(name)
    default:
      guard let level = RemindersInterface.Reminder.Urgency(rawValue: name.lowercased()) else {
        let levels = RemindersInterface.Reminder.Urgency.allCases.map { "!\($0.rawValue)" }
        throw Failure.usage(
          localized(
            "\"%1\" is not an urgency: there are %2", TerminalSanitizer.line(word), levels.joined(separator: ", ")),
          hint: SpellingSuggestions.question(word, among: levels) ?? localized("put a title with such a word in quotes")
        )
      }
      try need(
        urgency == nil || urgency == level,
        localized("a reminder has one urgency, not !%1 and !%2", urgency?.rawValue ?? "", name))
      urgency = level
    }
    return true
  }

  /// Merges the marks with the options.
  func add(to draft: inout RemindersInterface.Draft) throws {
    func refuse(_ mark: String, _ option: String) -> Failure {
      Failure.usage(localized("%1 and --%2 contradict each other", TerminalSanitizer.line(mark), option))
    }
    if !tags.isEmpty { draft.tags = (draft.tags ?? []) + tags.filter { draft.tags?.contains($0) != true } }
    if !channels.isEmpty {
      draft.channels = (draft.channels ?? []) + channels.filter { draft.channels?.contains($0) != true }
    }
    if let urgency {
      guard draft.urgency == nil || draft.urgency == urgency else { throw refuse("!\(urgency.rawValue)", "urgency") }
      draft.urgency = urgency
    }
    if let note {
      guard draft.body == nil else { throw refuse("//", "body") }
      draft.body = note
    }
  }
}

extension QuickMarks {
  /// The marks as JSON members.
  var members: [JSONText.Member] {
    var members: [JSONText.Member] = []
    if !tags.isEmpty { members.append(.init(name: "tags", value: .strings(tags))) }
    if let urgency { members.append(.init(name: "urgency", value: .string(urgency.rawValue))) }
    if !channels.isEmpty { members.append(.init(name: "channels", value: .strings(channels))) }
    if let note { members.append(.init(name: "body", value: .string(note))) }
    return members
  }

  /// The marks as lines for a person.
  var lines: [String] {
    let marks = tags.map { "#\($0)" } + (urgency.map { ["!\($0.rawValue)"] } ?? []) + channels.map { "@\($0)" }
    return (marks.isEmpty ? [] : [marks.joined(separator: " ")]) + (note.map { ["// \($0)"] } ?? [])
  }
}
