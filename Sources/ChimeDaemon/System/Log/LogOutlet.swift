import CLinux
import Dispatch
import Glibc
import Synchronization

/// A LogOutlet writes log items in order and never blocks the caller. A stopped journald, a full pipe or a held terminal
/// therefore delays nothing else.
///
/// Items that cannot be written at once are buffered, up to a limit, for a separate queue. Items beyond the limit are
/// counted, and the count is logged once there is space again.
final class LogOutlet: Sendable {
  enum Item: Sendable {
    case lines([UInt8])
    /// The fields for the journal, and the line for standard error without a journal.
    case entry([String], else: [UInt8])

    /// The number of messages.
    var count: Int {
      switch self {
      case .lines(let bytes): bytes.count { $0 == 0x0A }
      case .entry: 1
      }
    }

    var bytes: Int {
      switch self {
      case .lines(let bytes): bytes.count
      case .entry(let fields, let line): fields.reduce(line.count) { $0 + $1.utf8.count }
      }
    }
  }

  /// The maximum number of buffered bytes: minutes of a busy daemon.
  static let limit = 1 << 20

  private struct State {
    var waiting: [Item] = []
    var bytes = 0
    /// The number of messages dropped for lack of space.
    var dropped = 0
    /// Whether a block on the queue is writing the buffer.
    var isWorking = false
  }

  /// The method of writing to a descriptor without blocking.
  private enum Way {
    /// A separate non-blocking open file description of the same pipe or terminal. Other processes may share the given one.
    case own
    case socket
    /// A file never blocks.
    case file
    /// Polled before each small write: a write that fits does not block.
    case shared
  }

  private let descriptor: Int32
  private let way: Way
  private let note: @Sendable (Int) -> Item
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "io.chime.log")

  /// Creates an outlet. `note` returns the item that reports a number of dropped messages.
  init(descriptor: Int32, note: @escaping @Sendable (Int) -> Item) {
    self.note = note
    var status = stat()
    let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    switch kind {
    case S_IFSOCK: (self.descriptor, way) = (descriptor, .socket)
    case S_IFREG: (self.descriptor, way) = (descriptor, .file)
    default:
      let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
      (self.descriptor, way) = own >= 0 ? (own, .own) : (descriptor, .shared)
    }
  }

  deinit { if case .own = way { close(descriptor) } }

  func put(_ item: Item) {
    let begins = state.withLock { state in
      var item = item
      if !state.isWorking, case .lines(let bytes) = item {
        let rest = write(bytes)
        if rest.isEmpty { return false }
        item = .lines(rest)
      }
      // Once one was dropped, none is taken before their number is logged, so that the gap is where the number is.
      guard state.dropped == 0, state.bytes + item.bytes <= Self.limit else {
        state.dropped += item.count
        return false
      }
      state.waiting.append(item)
      state.bytes += item.bytes
      defer { state.isWorking = true }
      return !state.isWorking
    }
    if begins { queue.async { self.work() } }
  }

  /// Waits until everything is written or the time has passed. Call it at the end of a process.
  func finish(within time: DispatchTimeInterval = .seconds(1)) {
    guard state.withLock({ $0.isWorking }) else { return }
    let end = DispatchSemaphore(value: 0)
    queue.async { end.signal() }
    _ = end.wait(timeout: .now() + time)
  }

  /// Writes the buffered items, as fast as they are taken.
  private func work() {
    while true {
      let items: [Item] = state.withLock { state in
        if state.waiting.isEmpty, state.dropped > 0 {
          defer { state.dropped = 0 }
          return [note(state.dropped)]
        }
        defer { (state.waiting, state.bytes) = ([], 0) }
        state.isWorking = !state.waiting.isEmpty
        return state.waiting
      }
      if items.isEmpty { return }
      for item in items { deliver(item) }
    }
  }

  private func deliver(_ item: Item) {
    switch item {
    case .lines(let bytes): deliver(bytes)
    case .entry(let fields, let line): if !Journal.send(fields) { deliver(line) }
    }
  }

  private func deliver(_ bytes: [UInt8]) {
    var rest = write(bytes)
    while !rest.isEmpty {
      var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      poll(&waited, 1, -1)
      rest = write(rest)
    }
  }

  /// Writes as much as possible without blocking, and returns the rest. A closed standard error counts as written: it
  /// must not stop the daemon.
  private func write(_ bytes: [UInt8]) -> [UInt8] {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { buffer in
        switch way {
        case .own, .file: return Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        case .socket:
          return send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        case .shared:
          var looked = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          guard poll(&looked, 1, 0) > 0 else {
            errno = EAGAIN
            return -1
          }
          return Glibc.write(descriptor, buffer.baseAddress, min(buffer.count, Int(PIPE_BUF)))
        }
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        return Array(rest)
      } else if errno != EINTR {
        return []
      }
    }
    return []
  }
}
