import Foundation
import Glibc
import Synchronization

/// A terminal without a screen: a program runs on it as on a real one, what it writes is read into a picture, and keys are
/// sent to it.
final class PseudoTerminal: Sendable {
  /// What a program on it opens as its terminal.
  let path: String
  // TIOCSPTLCK and TIOCGPTN of <asm/ioctls.h>: what unlockpt(3) and ptsname(3) do, which Glibc's module keeps to itself.
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
    // A descriptor of its own: when the terminal is let go of, the number of the other may soon be another's.
    let descriptor = fcntl(master, F_DUPFD_CLOEXEC, 3)
    Thread.detachNewThread { [weak self] in
      var buffer = [UInt8](repeating: 0, count: 1 << 14)
      defer { close(descriptor) }
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        // EIO: nobody has it open any more, or not yet.
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

  /// What stands on it.
  var rows: [String] { screen.withLock(\.rows) }
  var text: String { rows.joined(separator: "\n") }
  var isAlternate: Bool { screen.withLock(\.isAlternate) }
  var isCursorShown: Bool { screen.withLock(\.isCursorShown) }
  var unknown: [String] { screen.withLock(\.unknown) }
  /// How many bytes have been written to it.
  var count: Int { bytes.withLock(\.count) }

  /// All that has been written to it.
  var everything: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

  /// Whether what is typed is shown, and comes by the line: what a shell finds after a program that cleans up.
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

  /// The program on it gets SIGWINCH from the kernel.
  func resize(columns: Int, rows: Int, keepsPicture: Bool = false) {
    if !keepsPicture { screen.withLock { $0 = $0.resized(width: columns, height: rows) } }
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
  }
}
