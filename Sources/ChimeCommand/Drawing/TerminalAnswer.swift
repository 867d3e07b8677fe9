import Glibc

/// What a terminal answers to a question, such as which pictures it can show.
///
/// Source: termios(3); xterm's "Control Sequences" (DA1).
enum TerminalAnswer {
  /// How long there is for an answer, in milliseconds: a terminal at the other end of a network gives it late.
  private static let patience: Int32 = 350
  private static let longest = 4_096

  /// Asks on standard output, and reads from standard input without showing what comes.
  static func read(after question: String, upTo end: UInt8) -> [UInt8] {
    var modes = termios()
    guard tcgetattr(STDIN_FILENO, &modes) == 0, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return [] }
    var taken = modes
    taken.c_lflag &= ~tcflag_t(ECHO | ICANON)
    guard tcsetattr(STDIN_FILENO, TCSANOW, &taken) == 0 else { return [] }
    defer { tcsetattr(STDIN_FILENO, TCSANOW, &modes) }
    guard Files.write(Array(question.utf8), to: STDOUT_FILENO) else { return [] }
    var answer: [UInt8] = []
    while answer.last != end, answer.count < longest {
      var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, patience) > 0 else { break }
      // A byte at a time: what a person has typed behind the answer stays theirs.
      var byte: UInt8 = 0
      guard Glibc.read(STDIN_FILENO, &byte, 1) == 1 else { break }
      answer.append(byte)
    }
    return answer
  }
}
