import CLinux
import Glibc

/// A Supervisor runs programs and watches all of them from one thread with epoll(7) and pidfd_open(2).
///
/// Each program's handler gets its events in order on the supervisor's thread. The last is `.ended` or `.notStarted`.
package final class Supervisor: Sendable {
  package enum Event: Sendable {
    /// Bytes of standard output.
    case output([UInt8])
    /// Bytes of standard error.
    case errors([UInt8])
    /// The deadline passed.
    case deadline
    /// The program ended, and all its output has been reported.
    case ended(ProgramExit)
    case notStarted(SpawnFailure)
  }

  /// Identifies one run. Callers choose it and never reuse it.
  typealias RunID = UInt64

  enum Command: Sendable {
    case start(RunID, Program, deadline: Duration, @Sendable (Event) -> Void)
    /// Sets a new deadline, counted from now.
    case await(RunID, Duration)
    /// Sends the signal to the program's group, then SIGKILL if the program survives it.
    case end(RunID, Int32)
    case stop(@Sendable () -> Void)
  }

  static let terminate = SIGTERM
  static let interrupt = SIGINT

  /// How long to wait for a program to handle SIGINT before the signal is sent anyway.
  static let attention = Duration.seconds(1)

  private let worker: Worker<Command>

  /// - Parameter name: Name of the thread, at most 15 bytes.
  init(name: String = "chime-children") {
    worker = Worker<Command>(name: name) { mailbox in
      do throws(SystemError) {
        let stops = try SupervisorLoop(mailbox).run()
        for done in stops { done() }
      } catch {
        Supervisor.refuse(mailbox.close(), .system(error))
      }
    }
  }

  /// Starts a program and reports its events to `handler`, never from within this call.
  ///
  /// - Returns: Why no events will follow; nil if they will.
  func start(
    _ run: RunID, _ program: Program, deadline: Duration, handler: @escaping @Sendable (Event) -> Void
  ) -> SpawnFailure? {
    do throws(SystemError) {
      let isTaken = try worker.post(.start(run, program, deadline: deadline, handler))
      return isTaken ? nil : .system(SystemError("start", ECANCELED))
    } catch {
      return .system(error)
    }
  }

  /// Sets the run's deadline to `span` from now.
  func setDeadline(_ run: RunID, in span: Duration) { _ = try? worker.post(.await(run, span)) }

  /// Signals the run's process group, and kills it after the program's `patience`.
  func end(_ run: RunID, with signal: Int32) { _ = try? worker.post(.end(run, signal)) }

  /// Ends all runs, first with SIGTERM, and returns when none is left.
  func stop() async {
    await withCheckedContinuation { continuation in
      if !worker.stop(.stop { continuation.resume() }) { continuation.resume() }
    }
  }

  fileprivate static func refuse(_ commands: [Command], _ failure: SpawnFailure) {
    for command in commands {
      switch command {
      case .start(_, _, _, let handler): handler(.notStarted(failure))
      case .stop(let done): done()
      case .await, .end: break
      }
    }
  }
}

/// The state of the supervisor's thread.
private struct SupervisorLoop: ~Copyable {
  private let mailbox: Mailbox<Supervisor.Command>
  private let epoll: Int32
  private var runs: [Supervisor.RunID: Run] = [:]
  private var stops: [@Sendable () -> Void] = []
  private var buffer = [UInt8](repeating: 0, count: 4_096)

  /// One child. It is a class because `Subprocess` cannot be copied.
  private final class Run {
    var child: Subprocess
    let handler: @Sendable (Supervisor.Event) -> Void
    var deadline: SuspendingClock.Instant
    /// When the child is killed; nil unless it is being ended.
    var killAt: SuspendingClock.Instant?
    /// A pending SIGINT: time of the next check whether the child handles it, and time limit.
    var interrupt: (next: SuspendingClock.Instant, limit: SuspendingClock.Instant)?

    init(
      _ child: consuming Subprocess, deadline: SuspendingClock.Instant,
      handler: @escaping @Sendable (Supervisor.Event) -> Void
    ) {
      self.child = child
      self.deadline = deadline
      self.handler = handler
    }

    var wakeAt: SuspendingClock.Instant { interrupt?.next ?? killAt ?? deadline }
  }

  /// The mailbox's key in the epoll set. The keys of runs begin at 1.
  private static let mailboxMark: UInt64 = 0

  init(_ mailbox: Mailbox<Supervisor.Command>) throws(SystemError) {
    epoll = try Self.makeSet(watching: mailbox.descriptor)
    self.mailbox = mailbox
  }

  deinit { close(epoll) }

  /// Runs until the stop and returns the callers to notify of it.
  consuming func run() -> [@Sendable () -> Void] {
    var events = [epoll_event](repeating: epoll_event(), count: 64)
    while stops.isEmpty || !runs.isEmpty {
      let count = epoll_wait(epoll, &events, Int32(events.count), waitMilliseconds())
      var ready: Set<Supervisor.RunID> = []
      for event in events.prefix(Int(max(0, count))) {
        let mark = event.data.u64
        if mark != Self.mailboxMark { ready.insert(mark) }
      }
      obey(mailbox.take())
      for run in ready.sorted() { addEvents(run) }
      enforceDeadlines()
    }
    for command in mailbox.close() {
      switch command {
      case .start(_, _, _, let handler): handler(.notStarted(.system(SystemError("start", ECANCELED))))
      case .stop(let done): stops.append(done)
      case .await, .end: break
      }
    }
    return stops
  }

  private mutating func obey(_ commands: [Supervisor.Command]) {
    for command in commands {
      switch command {
      case .start(_, _, _, let handler) where !stops.isEmpty:
        handler(.notStarted(.system(SystemError("start", ECANCELED))))
      case .start(let number, let program, let deadline, let handler):
        start(number, program, deadline: deadline, handler: handler)
      case .await(let number, let span):
        runs[number]?.deadline = .now.advanced(by: span)
      case .end(let number, let signal):
        guard let run = runs[number] else { continue }
        if signal == SIGINT {
          run.interrupt = (.now, .now.advanced(by: Supervisor.attention))
        } else {
          end(run, with: signal)
        }
      case .stop(let done):
        stops.append(done)
        for run in runs.values { end(run, with: SIGTERM) }
      }
    }
  }

  private mutating func start(
    _ number: Supervisor.RunID, _ program: Program, deadline: Duration,
    handler: @escaping @Sendable (Supervisor.Event) -> Void
  ) {
    do throws(SpawnFailure) {
      let run = Run(try Subprocess(program), deadline: .now.advanced(by: deadline), handler: handler)
      for descriptor in [run.child.pidfd, run.child.output, run.child.errors] {
        guard Self.watch(descriptor, number, in: epoll) else { throw .system(SystemError("epoll_ctl", errno)) }
      }
      run.child.feed()
      if run.child.input >= 0, !Self.watch(run.child.input, number, for: EPOLLOUT, in: epoll) {
        throw .system(SystemError("epoll_ctl", errno))
      }
      runs[number] = run
    } catch {
      handler(.notStarted(error))
    }
  }

  private func end(_ run: Run, with signal: Int32) {
    run.interrupt = nil
    run.child.signal(signal)
    let limit = SuspendingClock.now.advanced(by: run.child.patience)
    run.killAt = min(run.killAt ?? limit, limit)
  }

  /// Reports a run's output and exit. Standard error comes first, since it may explain the output.
  private mutating func addEvents(_ number: Supervisor.RunID) {
    guard let run = runs[number] else { return }
    // Closing a descriptor removes it from the epoll set.
    run.child.feed()
    let exit = run.child.reap()
    // Drain an exited child; read at most one buffer per turn from a running one.
    let errorOutput = read(run.child.errors, toTheEnd: exit != nil)
    if !errorOutput.isEmpty { run.handler(.errors(errorOutput)) }
    let said = read(run.child.output, toTheEnd: exit != nil)
    if !said.isEmpty { run.handler(.output(said)) }
    if let exit {
      runs[number] = nil
      run.handler(.ended(exit))
    }
  }

  /// Reads the available bytes, if any. A stream at its end is removed from the epoll set.
  private mutating func read(_ descriptor: Int32, toTheEnd: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    repeat {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count > 0 {
        bytes.append(contentsOf: buffer.prefix(count))
      } else if count < 0, errno == EINTR {
        continue
      } else {
        // 0 is the end of a pipe, EIO that of a terminal. Both stay readable forever.
        if count == 0 || errno != EAGAIN { epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil) }
        break
      }
    } while toTheEnd && bytes.count < 65_536
    return bytes
  }

  private func enforceDeadlines() {
    let now = SuspendingClock.now
    for run in runs.values where run.wakeAt <= now {
      if let interrupt = run.interrupt {
        // notify-send prints the popup's number before it handles SIGINT, by which it closes the popup. A signal sent
        // in between would kill notify-send and leave the popup.
        if run.child.listens(for: SIGINT) || interrupt.limit <= now {
          end(run, with: SIGINT)
        } else {
          run.interrupt?.next = now.advanced(by: .milliseconds(10))
        }
      } else if run.killAt != nil {
        run.child.signal(SIGKILL)
        run.killAt = now.advanced(by: run.child.patience)
      } else {
        run.deadline = now.advanced(by: .seconds(86_400))
        run.handler(.deadline)
      }
    }
  }

  /// Returns the epoll timeout in milliseconds, rounded up; -1 for none.
  private func waitMilliseconds() -> Int32 {
    guard let wakeAt = runs.values.map(\.wakeAt).min() else { return -1 }
    let left = SuspendingClock.now.duration(to: wakeAt)
    return left <= .zero ? 0 : Int32(clamping: Int64((left / .milliseconds(1)).rounded(.up)))
  }

  private static func makeSet(watching mailbox: Int32) throws(SystemError) -> Int32 {
    let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard epoll >= 0 else { throw SystemError("epoll_create1", errno) }
    if watch(mailbox, mailboxMark, in: epoll) { return epoll }
    let failure = SystemError("epoll_ctl", errno)
    close(epoll)
    throw failure
  }

  private static func watch(
    _ descriptor: Int32, _ mark: UInt64, for events: EPOLL_EVENTS = EPOLLIN, in epoll: Int32
  ) -> Bool {
    var event = epoll_event(events: UInt32(events.rawValue), data: epoll_data_t(u64: mark))
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0
  }
}
