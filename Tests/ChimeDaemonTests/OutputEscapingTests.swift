import ChimeControl
import Testing

@testable import ChimeDaemon

/// Output for other programs, with special characters that merge with combining neighbors into one grapheme cluster.
@Suite struct OutputEscapingTests {
  /// U+0600 and U+0D4E merge with the next character; U+0301, joiners and tags with the previous one; bidirectional
  /// controls with none.
  static let hostile: [String] = {
    let signs = [
      "'''", "\"\"\"", "'", "\"", "\\", "`", "\n", "\r\n", "\t", "\u{1B}[2J", "\u{9B}2J", "\u{7F}", "\u{85}",
    ]
    let before = ["", "\u{600}", "\u{D4E}", "\u{2066}"]
    let after = ["", "\u{301}", "\u{200D}", "\u{E0061}\u{E007F}", "\u{202E}"]
    return signs.flatMap { sign in
      before.flatMap { first in after.flatMap { ["a\(first)\(sign)\($0)b", "a\n\(first)\(sign)\($0)b\n'"] } }
    }
  }()

  @Test func writtenTOMLReadsBack() throws {
    for text in Self.hostile {
      let key = TOMLText.key(text)
      var file = "one = \(TOMLText.quoted(text))\nmany = \(TOMLText.array([text, text]))\n\(key) = 1\n"
      if let lines = TOMLText.lines(text) { file += "lines = \(lines)\nend = true\n" }
      let entries = try TOMLDocument.entries(Array(file.utf8), file: "f")
      func value(_ path: String) -> TOMLEntry.Value? { entries.first { $0.path.utf8.elementsEqual(path.utf8) }?.value }
      for path in ["one", "many[0]", "many[1]"] {
        guard case .string(let read)? = value(path) else {
          Issue.record("\(path) is no string in \(file.debugDescription)")
          continue
        }
        #expect(Array(read.utf8) == Array(text.utf8), "\(path) of \(text.debugDescription)")
      }
      #expect(value(text) == .integer(1), "\(key)")
      guard TOMLText.lines(text) != nil else { continue }
      #expect(value("end") == .boolean(true))
      if case .string(let read)? = value("lines") { #expect(Array(read.utf8) == Array(text.utf8)) }
    }
  }

  /// A log line stays one line without escape sequences; a status text cannot inject another notification.
  @Test func logLineStaysOneLine() {
    for text in Self.hostile {
      let line = Log.line("\"\(text)\" fired")
      #expect(
        line.unicodeScalars.allSatisfy {
          $0.properties.generalCategory != .control && !(0x202A...0x202E).contains($0.value)
            && !(0x2066...0x2069).contains($0.value)
        }, "\(line.debugDescription)")
      #expect(line.hasPrefix("\"a") && line.hasSuffix("fired"))
    }
  }

  @Test func plainLogLinesAreUnchanged() {
    for line in ["", "\"Čaj\" fired", "two  blanks", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}"] { #expect(Log.line(line) == line) }
    #expect(Log.line("a\r\nMAINPID=1\nb\rc") == "a MAINPID=1 b c")
  }

  @Test func metricsEscapeLabelValues() {
    for text in Self.hostile {
      var exposition = Exposition()
      exposition.family("f", .gauge, "A gauge.") { $0.add(1, ["name": text]) }
      let lines = exposition.text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.count == 4)
      // Each quote within the value is escaped.
      let value = Array(lines[2].utf8).dropFirst(#"f{name=""#.utf8.count).dropLast(#""} 1"#.utf8.count)
      var isEscaped = false
      for byte in value {
        if !isEscaped { #expect(byte != UInt8(ascii: "\"")) }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      }
      #expect(!isEscaped)
    }
  }
}
