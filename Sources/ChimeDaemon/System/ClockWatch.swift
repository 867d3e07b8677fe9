import CLinux
import ChimeSchedule
import Glibc

/// A ClockWatch detects steps of the clock, sleep of the machine, and changes of its time zone.
///
/// libdispatch reports none of these: its wall-clock timers are absolute timerfds without TFD_TIMER_CANCEL_ON_SET. The watch has
/// two descriptors for the loop's epoll set. One is a timerfd that becomes readable when the clock is set (timerfd_create(2)).
/// The other is an inotify watch on the folder of the local-time link, which is replaced by a rename (localtime(5)).
final class ClockWatch {
  enum Change: Hashable, Sendable {
    /// No relevant change.
    case none
    /// The step of the clock, and the length of the machine's sleep.
    case stepped(by: Milliseconds, slept: Milliseconds)
  }

  let clock: Int32
  let link: Int32
  private let linkName: String
  private var offset: Int64
  private var slept: Int64

  /// Smaller differences, in milliseconds, are slewing and rounding.
  private static let threshold: Int64 = 500

  init(localLink: String) throws(SystemError) {
    clock = chime_clock_watch(-1)
    guard clock >= 0 else { throw SystemError("timerfd") }
    link = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard link >= 0 else { throw SystemError("inotify_init1") }
    let slash = localLink.lastIndex(of: "/") ?? localLink.startIndex
    linkName = String(localLink[slash...].drop { $0 == "/" })
    let folder = String(localLink[..<slash])
    let events = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE) | UInt32(IN_CLOSE_WRITE)
    // Without the watch, the next step of the clock or reload detects a change of zone.
    inotify_add_watch(link, folder.isEmpty ? "/" : folder, events)
    offset = Self.offset()
    slept = SystemClock.sleptMilliseconds
  }

  deinit {
    close(clock)
    close(link)
  }

  /// Returns the change since the last call, and re-arms the watch.
  func clockChange() -> Change {
    var expirations: UInt64 = 0
    // The read fails with ECANCELED if the clock was set; that is the event, not an error.
    _ = read(clock, &expirations, 8)
    chime_clock_watch(clock)
    let newOffset = Self.offset()
    let newSlept = SystemClock.sleptMilliseconds
    defer { (offset, slept) = (newOffset, newSlept) }
    let step = newOffset - offset
    let sleep = newSlept - slept
    guard abs(step) > Self.threshold || sleep > Self.threshold else { return .none }
    return .stepped(by: .milliseconds(step), slept: .milliseconds(sleep))
  }

  /// Returns whether the local-time link was touched since the last call.
  func linkChanged() -> Bool {
    var touched = false
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(link, &buffer, buffer.count)
      guard count > 0 else { return touched }
      var position = 0
      while position + 16 <= count {
        // struct inotify_event: wd, mask, cookie, len (each 32 bits), then the name, padded with NULs.
        let length = buffer.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: position + 12, as: UInt32.self)) }
        let name = buffer[(position + 16)..<min(position + 16 + length, count)].prefix { $0 != 0 }
        if String(decoding: name, as: UTF8.self) == linkName { touched = true }
        position += 16 + length
      }
    }
  }

  /// Returns the wall clock minus the time since boot. The value includes sleep and changes only when the clock is set.
  private static func offset() -> Int64 {
    var wall = timespec()
    var boot = timespec()
    clock_gettime(CLOCK_REALTIME, &wall)
    clock_gettime(CLOCK_BOOTTIME, &boot)
    return Int64(wall.tv_sec - boot.tv_sec) * 1_000 + Int64(wall.tv_nsec - boot.tv_nsec) / 1_000_000
  }
}
