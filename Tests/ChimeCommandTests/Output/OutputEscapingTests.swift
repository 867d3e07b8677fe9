import ChimeControl
import Foundation
import Testing

@testable import ChimeCommand

/// Output for terminals, shells and other programs, with signs that form one `Character` with their neighbors.
@Suite struct OutputEscapingTests {
  /// U+0600 and U+0D4E join what follows; U+0301, joiners and tags join what precedes; bidirectional controls join nothing.
  static let hostile: [String] = {
    let signs = [
      "'", "\"", "\\", "`", "$(touch X)", ";", "<", ">", "&", "\n", "\r\n", "\t", "\u{1B}]52;c;eA==\u{7}", "\u{1B}[2J",
      "\u{9B}2J", "\u{7F}", "\u{85}", "\u{2028}",
    ]
    let before = ["", "\u{600}", "\u{D4E}", "\u{2066}"]
    let after = ["", "\u{301}", "\u{200D}", "\u{E0061}\u{E007F}", "\u{202E}"]
    return signs.flatMap { sign in before.flatMap { first in after.map { "a\(first)\(sign)\($0)b" } } }
  }()

  private static func isHarmless(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy {
      $0.properties.generalCategory != .control && !(0x202A...0x202E).contains($0.value)
        && !(0x2066...0x2069).contains($0.value) && !(0x2028...0x2029).contains($0.value)
    }
  }

  /// The names of an item's attributes are chosen by the user, like the values.
  @Test func hostileTextStaysOnePlainField() {
    for text in Self.hostile {
      let all: [JSONText] = [
        .string(text), .strings([text]), .object([.init(name: text, value: .string(text))]),
        .list([.object([.init(name: text, value: .list([.string(text)]))])]),
      ]
      for value in all { #expect(Self.isHarmless(Plain.text(value)), "\(Plain.text(value).debugDescription)") }
      #expect(
        Self.isHarmless(TerminalSanitizer.line(text)) && TerminalSanitizer.lines(text).allSatisfy(Self.isHarmless))
    }
  }

  @Test func hostileItemTextIsEscaped() throws {
    let daemon = try FakeDaemon { _, _ in
      .reply(
        TrackersInterface.Items.Reply(
          items: Self.hostile.enumerated().map { index, text in
            .init(id: "i\(index)", tracker: "watches", title: text, attributes: [text: text], entries: 0)
          }, total: Self.hostile.count))
    }
    for arguments in [["item", "list", "--plain"], ["item", "list"]] {
      let outcome = chime(arguments, daemon: daemon)
      #expect(outcome.status == .success, "\(outcome.errors)")
      #expect(outcome.lines.filter { !$0.isEmpty }.count == Self.hostile.count + 1)
      for line in outcome.lines { #expect(Self.isHarmless(line.replacingOccurrences(of: "\t", with: " "))) }
    }
  }

  /// Failures are reported on standard error safely, even if a daemon quotes its input.
  @Test func hostileErrorTextIsEscaped() throws {
    for text in Self.hostile {
      let daemon = try FakeDaemon { _, _ in .hangUp }
      for arguments in [["show", text], ["list", "--state", text], ["nonsense\(text)"], ["add", text, "at", text]] {
        let outcome = chime(arguments, daemon: daemon)
        for line in outcome.errors.split(separator: "\n") {
          #expect(Self.isHarmless(String(line)), "\(line.debugDescription)")
        }
      }
    }
  }

  @Test func writtenJSONReadsBack() throws {
    for text in Self.hostile {
      let written = JSONText.object([.init(name: text, value: .string(text))]).text()
      #expect(Self.isHarmless(written))
      let read = try JSONDecoder().decode([String: String].self, from: Data(written.utf8))
      #expect(read.count == 1)
      for (name, value) in read {
        #expect(Array(name.utf8) == Array(text.utf8) && Array(value.utf8) == Array(text.utf8))
      }
    }
  }

  @Test func reportEscapesMarkupInTexts() {
    for text in Self.hostile {
      let html = tag("p", ["title": text]) { text }.html
      #expect(html.utf8.count { $0 == UInt8(ascii: "<") } == 2 && html.utf8.count { $0 == UInt8(ascii: "\"") } == 2)
    }
  }

  /// A shell takes each quoted word unchanged.
  @Test func shellReadsEachQuotedTextAsOneWord() throws {
    let words = Self.hostile + ["", "it's", "-n", "~", "a b"]
    let script = words.map { "printf '%s\\0' \(ShellText.quoted($0))\n" }.joined()
    let shell = try ChildProcess.run("/bin/sh", in: "/", input: .bytes(Data(script.utf8)))
    let read = shell.output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
    #expect(read == words.map { Array($0.utf8) })
  }
}
