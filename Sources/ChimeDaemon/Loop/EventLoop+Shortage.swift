import CLinux
import ChimeControl
import ChimeSchedule
import Dispatch
import Glibc

/// A DescriptorShortage handles a process or machine without free file descriptors (EMFILE, ENFILE).
///
/// It keeps one descriptor in reserve. If no descriptor is left to accept a client, it closes the reserve for a moment,
/// accepts the client and refuses it. Another thread may take the freed descriptor first. Then the listeners are
/// paused, because the epoll set would report them without end.
struct DescriptorShortage {
  fileprivate var reserve: Int32 = -1
  /// The number of clients turned away since the shortage began.
  fileprivate var turnedAway = 0
  fileprivate(set) var isOn = false
  /// Whether the machine's limit (fs.file-max) is reached rather than the process's own.
  fileprivate var isOfMachine = false
  fileprivate var listenersRest = false
  fileprivate var lastSeen = DispatchTime(uptimeNanoseconds: 0)
  fileprivate var timer: LoopTimer?

  /// The pause of the listeners.
  fileprivate static let rest = Milliseconds(rawValue: 100)
  /// The shortage is over after this time without a refused client, if descriptors are available.
  fileprivate static let calm = Milliseconds.seconds(2)

  fileprivate mutating func takeReserve() {
    if reserve < 0 { reserve = open("/dev/null", O_RDONLY | O_CLOEXEC) }
  }

  /// Returns whether the reserve is held and one more descriptor is available.
  fileprivate mutating func canHaveOne() -> Bool {
    takeReserve()
    let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard probe >= 0 else { return false }
    close(probe)
    return reserve >= 0
  }

  /// The sentence for the user; nil without a shortage.
  var sentence: String? {
    guard isOn else { return nil }
    if isOfMachine { return "the machine has no file descriptor left and clients are turned away: see fs.file-max" }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return "all \(limit.rlim_cur) file descriptors are in use and clients are turned away: end some of the clients, or "
      + "raise LimitNOFILE= of the service"
  }
}

extension EventLoop {
  /// Opens the reserve descriptor at the start.
  func prepareForShortage() {
    shortage.takeReserve()
    shortage.timer = LoopTimer(queue: executor.queue) { [unowned self] in assumeIsolated { $0.reviewShortage() } }
  }

  /// Turns one client away after accept(2) failed for lack of a descriptor, so that the listener does not stay ready.
  func shedClient(_ listener: Int32, _ code: Int32) {
    shortage.isOfMachine = code == ENFILE
    shortage.takeReserve()
    var socket: Int32 = -1
    if shortage.reserve >= 0 {
      close(shortage.reserve)
      shortage.reserve = -1
      socket = chime_accept(listener)
      if socket >= 0 {
        turnAway(socket, .limitExceeded("descriptors"))
        shortage.turnedAway += 1
      }
      shortage.takeReserve()
    }
    if socket < 0 || shortage.reserve < 0 { restListeners() }
    shortage.lastSeen = .now()
    complain(.clientTurnedAway, nil, "no descriptor is left: a client was turned away")
    guard !shortage.isOn else { return }
    shortage.isOn = true
    if !shortage.listenersRest { shortage.timer?.arm(after: DescriptorShortage.calm) }
    staleSummary()
  }

  /// Pauses the listeners. Clients wait in the backlog, because they can neither be accepted nor refused now.
  func restListeners() {
    shortage.listenersRest = true
    for token in listeners.keys { poller?.change(token, []) }
    shortage.timer?.arm(after: DescriptorShortage.rest)
  }

  private func reviewShortage() {
    if shortage.listenersRest {
      shortage.listenersRest = false
      for token in listeners.keys { poller?.change(token, .readable) }
    }
    guard shortage.isOn else { return }
    let calmFor = DispatchTime.now().uptimeNanoseconds - shortage.lastSeen.uptimeNanoseconds
    guard calmFor >= UInt64(DescriptorShortage.calm.rawValue) * 1_000_000, shortage.canHaveOne() else {
      shortage.timer?.arm(after: DescriptorShortage.calm)
      return
    }
    let count = shortage.turnedAway
    shortage.isOn = false
    shortage.turnedAway = 0
    log(
      .notice,
      "there are descriptors again; meanwhile \(count) \(count == 1 ? "client was" : "clients were") turned away")
    staleSummary()
    // Deliveries may have failed for lack of a descriptor; retry them now.
    wakeQueues { _ in true }
  }
}
