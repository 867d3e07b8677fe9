import Glibc

/// `chime complete …`, the hidden verb that the completion scripts call at each press of the key.
///
/// No help page lists it. It never reports errors, and it ends after a second.
///
///     chime complete fish -- done Dr
///     chime complete zsh -- done Dr
///     chime complete bash TYPE COLUMNS WORDBREAKS "chime done Dr"
///
/// It prints one candidate per line. For zsh and fish, a line is the word, a tab, and its description. For bash, a line
/// is the text that replaces readline's current word. A line that begins with a tab is an instruction to the script:
/// `files` adds file names, `goes on` suppresses the space.
enum Complete {
  static let name = "complete"

  /// Kills the process after a second, because the shell blocks meanwhile.
  static func limitTime() {
    signal(SIGALRM, SIG_DFL)
    alarm(1)
  }

  static func run(_ arguments: [String], in process: CommandProcess) -> ExitCode {
    var rest = arguments[...]
    let shell = rest.popFirst()
    if shell == "bash" {
      guard rest.count == 4, let line = rest.popLast(), let breaks = rest.popLast(), let width = rest.popLast(),
        let type = rest.popLast()
      else { return .success }
      bash(BashLine(line, breaks: breaks), type: Int(type) ?? 9, width: Int(width) ?? 80, in: process)
    } else if shell == "zsh" || shell == "fish", rest.popFirst() == "--" {
      let current = rest.popLast() ?? ""
      let completion = Completer(TypedLine(Array(rest), at: current), process: process).completion()
      for candidate in completion.candidates {
        process.output.line("\(candidate.value)\t\(TerminalSanitizer.field(candidate.note))")
      }
      signs(completion, in: process)
    }
    return .success
  }

  private static func bash(_ line: BashLine, type: Int, width: Int, in process: CommandProcess) {
    let words = line.words.map(\.value)
    guard let current = words.last, words.count > 1 else { return }
    let completion = Completer(TypedLine(Array(words[1..<(words.count - 1)]), at: current), process: process)
      .completion()
    let texts = completion.candidates.map { line.text(for: $0.value) }
    // Descriptions would be inserted with the word by menu-complete (37), insert-completions (42) and single matches.
    let isListed = texts.count > 1 && type != 37 && type != 42
    let widest = min(texts.map { TextWidth.of($0) }.max() ?? 0, 40)
    for (text, candidate) in zip(texts, completion.candidates) {
      let note = TerminalSanitizer.field(candidate.note)
      guard isListed, !note.isEmpty else {
        process.output.line(text)
        continue
      }
      let room = max(width - max(widest, TextWidth.of(text)) - 5, 10)
      process.output.line("\(TextWidth.pad(text, to: widest))  (\(TextWidth.truncate(note, to: room)))")
    }
    signs(completion, in: process)
  }

  private static func signs(_ completion: Completion, in process: CommandProcess) {
    if completion.files { process.output.line("\tfiles") }
    if completion.goesOn { process.output.line("\tgoes on") }
  }
}
