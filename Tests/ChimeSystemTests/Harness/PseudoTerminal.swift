import Foundation
import Glibc
import Synchronization

/// A pseudo-terminal: a program runs on it, its output is parsed into a screen, and keys can be sent.
final class PseudoTerminal: Sendable {
  /// The path of the terminal device.
  let path: String
  // TIOCSPTLCK and TIOCGPTN of <asm/ioctls.h>, as in unlockpt(3) and ptsname(3), which the Glibc module does not export.
  private static let unlock: UInt = 0x4004_5431
  private static let number: UInt = 0x8004_5430
  private let master: Int32
  private let screen: Mutex<ScreenReader>
  private let bytes = Mutex<[UInt8]>([])

  init(columns: Int, rows: Int) throws {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var number: UInt32 = 0
    var isLocked: Int32 = 0
    guard master >= 0, ioctl(master, Self.unlock, &isLocked) == 0, ioctl(master, Self.number, &number) == 0 else {
      throw HarnessFailure("no terminal: \(String(cString: strerror(errno)))")
    }
    path = "/dev/pts/\(number)"
    screen = Mutex(ScreenReader(width: columns, height: rows))
    resize(columns: columns, rows: rows, keepsPicture: true)
    // The reader has a duplicate descriptor, because the number of the other may be reused after it is closed.
    let descriptor = fcntl(master, F_DUPFD_CLOEXEC, 3)
    Thread.detachNewThread { [weak self] in
      var buffer = [UInt8](repeating: 0, count: 1 << 14)
      defer { close(descriptor) }
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        // EIO: no process has the terminal open, or not yet.
        if count < 0, errno == EIO, self != nil {
          usleep(5_000)
          continue
        }
        guard count > 0, let self else { return }
        let new = Array(buffer[..<count])
        bytes.withLock { $0 += new }
        screen.withLock { $0.read(new) }
      }
    }
  }

  deinit { close(master) }

  /// The rows of the screen.
  var rows: [String] { screen.withLock(\.rows) }
  var text: String { rows.joined(separator: "\n") }
  var isAlternate: Bool { screen.withLock(\.isAlternate) }
  var isCursorShown: Bool { screen.withLock(\.isCursorShown) }
  var unknown: [String] { screen.withLock(\.unknown) }
  /// The number of bytes written to it.
  var count: Int { bytes.withLock(\.count) }

  /// All bytes written to it.
  var everything: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

  /// Whether echo and line mode are on, as a shell expects after a program has cleaned up.
  var isCooked: Bool {
    var modes = termios()
    guard tcgetattr(master, &modes) == 0 else { return false }
    return modes.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == tcflag_t(ECHO | ICANON | ISIG)
      && modes.c_iflag & tcflag_t(ICRNL) != 0
  }

  func press(_ keys: String) {
    let bytes = Array(keys.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(master, $0.baseAddress, $0.count) }
  }

  /// The kernel sends SIGWINCH to the program.
  func resize(columns: Int, rows: Int, keepsPicture: Bool = false) {
    if !keepsPicture { screen.withLock { $0 = $0.resized(width: columns, height: rows) } }
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
  }
}
