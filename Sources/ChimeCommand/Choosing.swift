import ChimeControl
import ChimeWords

/// Asks a person which of several things of one name was meant.
enum Choosing {
  /// The command line with the id of the one that was chosen in the place of the name; nil where nobody can be asked, or
  /// where the name was not given by the words of the line.
  ///
  /// - Throws: ``Failure`` when none was chosen.
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

  /// The words that make up a name: a title needs no quotes.
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
