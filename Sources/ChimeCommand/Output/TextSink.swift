import Glibc

/// Buffered text output to a file descriptor, or to memory in tests. `flush()` writes the buffer.
package final class TextSink {
  package let isTerminal: Bool
  /// The terminal's width in columns; `nil` means unlimited.
  package let width: Int?
  /// The terminal's height in rows; `nil` means unlimited.
  package let height: Int?
  private let descriptor: Int32?
  private var buffer: [UInt8] = []
  /// Called with the error number when a write fails.
  private let onFailure: (Int32) -> Never

  /// Writes to the standard output or error of the process.
  package init(descriptor: Int32, onFailure: @escaping (Int32) -> Never) {
    self.descriptor = descriptor
    self.onFailure = onFailure
    isTerminal = isatty(descriptor) == 1
    let size = isTerminal ? Self.terminalSize(descriptor) : nil
    (width, height) = (size?.width, size?.height)
  }

  /// Keeps the text in memory.
  package init(isTerminal: Bool = false, width: Int? = nil, height: Int? = nil) {
    descriptor = nil
    self.isTerminal = isTerminal
    (self.width, self.height) = (width, height)
    onFailure = { _ in fatalError("memory takes everything") }
  }

  /// The text in memory.
  package var text: String { String(decoding: buffer, as: UTF8.self) }

  func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= 1 << 16 { flush() }
  }

  func write(bytes: [UInt8]) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= 1 << 16 { flush() }
  }

  func line(_ text: String = "") { write(text + "\n") }

  package func flush() {
    guard let descriptor else { return }
    var written = 0
    while written < buffer.count {
      let count = buffer[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        written += count
      } else if errno == EAGAIN {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, -1)
      } else if errno != EINTR {
        buffer.removeAll()
        onFailure(errno)
      }
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private static func terminalSize(_ descriptor: Int32) -> (width: Int, height: Int?) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, nil) }
    return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : nil)
  }
}
