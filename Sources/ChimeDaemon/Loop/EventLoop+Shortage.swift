import CLinux
import ChimeControl
import ChimeSchedule
import Dispatch
import Glibc

/// What the loop does about a process or a machine that has no descriptor left (EMFILE, ENFILE).
///
/// One descriptor is held in reserve. When a client comes and there is none to accept it with, the reserve is given up
/// for a moment to tell the client to go. Another thread may be quicker to take what was given up; then nobody can be
/// told anything, and the listeners are left alone for a moment, because an epoll set would call the loop for them
/// again and again.
struct DescriptorShortage {
  fileprivate var reserve: Int32 = -1
  /// Clients that were turned away since there was a descriptor for everybody.
  fileprivate var turnedAway = 0
  fileprivate(set) var isOn = false
  /// Whether it is the machine's (fs.file-max) and not the process's own limit.
  fileprivate var isOfMachine = false
  fileprivate var listenersRest = false
  fileprivate var lastSeen = DispatchTime(uptimeNanoseconds: 0)
  fileprivate var timer: LoopTimer?

  /// How long the listeners are left alone when nobody can even be turned away.
  fileprivate static let rest = Milliseconds(rawValue: 100)
  /// The shortage is over when for so long nobody was turned away and descriptors can be had.
  fileprivate static let calm = Milliseconds.seconds(2)

  fileprivate mutating func takeReserve() {
    if reserve < 0 { reserve = open("/dev/null", O_RDONLY | O_CLOEXEC) }
  }

  /// Whether there is a reserve and one more to be had.
  fileprivate mutating func canHaveOne() -> Bool {
    takeReserve()
    let probe = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard probe >= 0 else { return false }
    close(probe)
    return reserve >= 0
  }

  /// What a person should know of it; nil when there is no shortage.
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
  /// Takes the reserve while there are descriptors.
  func prepareForShortage() {
    shortage.takeReserve()
    shortage.timer = LoopTimer(queue: executor.queue) { [unowned self] in assumeIsolated { $0.reviewShortage() } }
  }

  /// There was no descriptor to accept a client with: one client is told to go, so that the listener is not ready
  /// forever.
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

  /// Clients wait in the backlog for a moment: they cannot be accepted now, nor told anything.
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
    // What could not be sent for want of one need not wait longer.
    wakeQueues { _ in true }
  }
}
