import Foundation
import Testing

@testable import ChimeCommand

/// A completion inserted into a bash command line is a single word to bash, whatever it contains.
@Suite struct BashLineTests {
  /// Each title would run something if one of its signs were not escaped. Each sign is part of a longer `Character`:
  /// U+0600 and U+0D4E join what follows; U+0301, joiners and tags join what precedes.
  static let titles: [String] = {
    let before = ["", "\u{600}", "\u{D4E}", "\u{202E}", "\u{2066}"]
    let after = ["", "\u{301}", "\u{200D}", "\u{E0041}\u{E007F}", "\u{202C}"]
    let signs = [
      ";", "&", "|", "\"", "'", "`", "$(", ")", "(", "<", ">", "{", "}", "*", "?", "~", "#", "!", "\\", " ", "$HOME",
    ]
    let joined = signs.flatMap { sign in
      before.flatMap { first in after.map { "Gym\(first)\(sign)\($0)touch \(first)\(sign)\($0)X" } }
    }
    return joined + [
      "Gym1 \u{600};touch \u{301}X", "Gym \u{600}$(touch \u{301}X)\u{600}`touch X`",
      "\u{600}\"\u{301};touch X;\u{600}\"\u{301}", "\u{600}'\u{301};touch X;\u{600}'\u{301}", "!touch", "a!!b",
      "Ann's !\"x",
      "--to=\u{600};touch X", "8:\u{600};touch X", "caf\u{E9} cafe\u{301}",
    ]
  }()

  private static let breaks = " \t\n\"'@><=;|&(:"

  /// All titles in one interactive bash, with history and history expansion.
  @Test(arguments: ["", "\"", "'"]) func bashReadsEachCompletionAsOneWord(_ quote: String) throws {
    let folder = try RunFolder.makeFolder("bash")
    var script = "set -H\nhistory -s 'touch \"; touch X; \"'\n"
    for title in Self.titles {
      let line = "chime show \(quote)"
      let text = BashLine(line, breaks: Self.breaks).text(for: title)
      script += "printf '%s\\0' \(quote)\(text)\(quote)\n"
    }
    script += "exit 0\n"
    let bash = try ChildProcess.run(
      "/bin/bash", ["--noprofile", "--norc", "-i"],
      environment: ["PATH": "/usr/bin:/bin", "HOME": folder, "HISTFILE": "/dev/null", "LC_ALL": "C.UTF-8"], in: folder,
      input: .bytes(Data(script.utf8)), errors: .nothing)
    let words = bash.output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
    #expect(words.count == Self.titles.count)
    for (title, word) in zip(Self.titles, words) {
      #expect(word == Array(title.utf8), "\(title.debugDescription) became \(String(decoding: word, as: UTF8.self))")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty, "something was run")
  }

  /// A word escaped for insertion is parsed as that word again.
  @Test(arguments: ["", "\"", "'"]) func escapedWordParsesAsTheSameWord(_ quote: String) {
    for title in Self.titles where quote != "\"" || !title.unicodeScalars.contains("!") {
      let text = BashLine("chime show \(quote)", breaks: Self.breaks).text(for: title)
      let line = BashLine("chime show \(quote)\(text)", breaks: Self.breaks)
      #expect(line.words.count == 3)
      #expect(line.words.last.map { Array($0.value.utf8) } == Array(title.utf8), "\(title.debugDescription)")
      #expect(line.quote.map(String.init) ?? "" == quote)
    }
  }

  /// A word that nobody can have meant to type is not offered.
  @Test(arguments: ["a\r\nb", "a\nb", "a\u{1B}[2J", "a\u{7F}", "a\u{9B}2J", "a\u{85}b", "a\tb"])
  func controlCharactersAreNotOffered(_ value: String) {
    #expect(Completion([Candidate(value), Candidate("ab")]).beginning(with: "a").candidates == [Candidate("ab")])
  }
}
