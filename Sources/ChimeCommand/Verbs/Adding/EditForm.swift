import ChimeControl
import ChimeWords

/// A reminder as text for an editor: `name: value` lines, named like the options of `edit`.
///
/// Lines that begin with white space continue a value. Lines that begin with `#` are comments.
struct EditForm: Equatable {
  /// The value of each name.
  var values: [String: String] = [:]
  private var title = ""

  init(_ reminder: RemindersInterface.Reminder) {
    title = "\(reminder.title) (\(reminder.id))"
    values = ["title": reminder.title, "when": reminder.when]
    for field in DraftOptions.fields { values[field.option.name] = field.form(reminder) }
    // Normalize the values as parsing does, so that an unedited form shows no change.
    values = values.mapValues { EditForm.written($0).trimmedLines }
  }

  /// Parses the edited text. A missing name means no change.
  init(text: String) throws {
    var current: String?
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      if line.hasPrefix("#") { continue }
      if line.isEmpty || line.first?.isWhitespace == true {
        if let current { values[current, default: ""] += "\n" + trimmed(String(line)) }
        continue
      }
      let pair = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let name = trimmed(String(pair[0]))
      guard pair.count == 2, let option = Edit.fields.first(where: { $0.name == name }) else {
        throw Failure.usage(
          localized("line %1 is invalid: %2", number + 1, line),
          hint: SpellingSuggestions.question(name, among: Edit.fields.map(\.name)) ?? localized("a line is NAME: VALUE")
        )
      }
      try need(values[name] == nil, localized("line %1 repeats %2", number + 1, name))
      values[name] = trimmed(String(pair[1]))
      current = option.name
    }
    values = values.mapValues { $0.trimmedLines }
  }

  var text: String {
    var text = """
      # \(TerminalSanitizer.line(title))
      # Change what stands after a name; an empty value removes it. A body may go on in lines that begin with spaces.

      """
    for option in Edit.fields {
      let value = (values[option.name] ?? "").split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      text += "\(option.name): \(value.joined(separator: "\n  "))\n"
      if !option.choices.isEmpty {
        text += localized("# %1 is one of %2\n", option.name, option.choices.joined(separator: ", "))
      }
    }
    return text
  }

  /// Parses yes or no; an empty value means no.
  static func isYes(_ value: String, _ name: String) throws -> Bool {
    switch value {
    case "yes": true
    case "no", "": false
    default: throw Failure.usage(localized("%1 is yes or no, not \"%2\"", name, value))
    }
  }

  private static func written(_ value: String) -> String {
    var lines = value.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { trimmed(String($0)) }
    while lines.last == "" { lines.removeLast() }
    return lines.joined(separator: "\n")
  }
}

extension String {
  /// The text without surrounding empty lines and white space.
  fileprivate var trimmedLines: String { trimmed(self) }
}
