import ChimeControl
import ChimeWords

/// Asks the user which of several items with the same name they mean.
enum Choosing {
  /// Returns the command line with the chosen id in place of the name.
  ///
  /// Returns nil if nobody can be asked, or if the name does not come from the words of the line.
  ///
  /// - Throws: ``Failure`` when the user chooses none.
  static func line(after failure: Failure, _ context: Context) throws -> ParsedLine? {
    guard let ambiguity = failure.ambiguity, (2..<10).contains(ambiguity.candidates.count),
      context.process.isInteractive, context.format == .human, !context.isQuiet,
      let place = place(of: ambiguity.id, in: context.line.words)
    else { return nil }
    context.note("chime: \(failure.message)")
    for (number, candidate) in ambiguity.candidates.enumerated() { context.note("  \(number + 1)  \(candidate)") }
    let question = localized(
      "Which one do you mean? 1 to %1; any other key changes nothing: ", ambiguity.candidates.count)
    guard let key = context.process.key(after: question), let number = Int(String(decoding: [key], as: UTF8.self)),
      ambiguity.candidates.indices.contains(number - 1),
      let id = ambiguity.candidates[number - 1].split(separator: " ").first
    else { throw Failure(status: .failed, message: localized("nothing was changed")) }
    var line = context.line
    line.words.replaceSubrange(place, with: [String(id)])
    return line
  }

  /// Finds the words that make up a name: a title needs no quotes.
  private static func place(of name: String, in words: [String]) -> Range<Int>? {
    for first in words.indices {
      for end in (first + 1)...words.count
      where trimmed(words[first..<end].joined(separator: " ")).lowercased() == name.lowercased() {
        return first..<end
      }
    }
    return nil
  }
}
