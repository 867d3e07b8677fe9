import Glibc

/// Reads a terminal's reply to a query, such as its graphics capabilities.
///
/// Source: termios(3); xterm's "Control Sequences" (DA1).
enum TerminalAnswer {
  /// The time limit in milliseconds; a terminal across a network replies late.
  private static let patience: Int32 = 350
  private static let longest = 4_096

  /// Writes the query to standard output, and reads the reply from standard input without echo.
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
      // Read single bytes: input that the user typed after the reply stays unread.
      var byte: UInt8 = 0
      guard Glibc.read(STDIN_FILENO, &byte, 1) == 1 else { break }
      answer.append(byte)
    }
    return answer
  }
}
