import ChimeCore
import ChimeSchedule

/// What the loop knows of the machine's sleep.
struct SleepState {
  /// Nil while there is no system bus.
  var watch: SleepWatch?
  var token: Poller.Token?
  /// How often the bus has been tried since it was lost.
  var tries = 0
  var cycle = SleepCycle()
  var isWakeProblemTold = false
}

// The machine falls asleep, and wakes; and the daemon itself is stopped, and goes on.
extension EventLoop {
  func watchSleep() {
    guard let poller, sleep.watch == nil else { return }
    do {
      let watch = try SleepWatch()
      let token = try poller.add(watch.descriptor, watch.interest)
      watched[token] = .bus
      sleep.watch = watch
      sleep.token = token
      watch.inhibit()
      poller.change(token, watch.interest)
    } catch {
      guard sleep.tries == 0 else { return }
      log(.info, "no logind to hear from (\(error.reason)); waking is noticed by the clock alone")
    }
  }

  func busIsReady(_ token: Poller.Token) {
    guard let watch = sleep.watch else { return }
    do {
      for event in try watch.process() { hear(event) }
      poller?.change(token, watch.interest)
    } catch {
      log(.warning, "the system bus is gone (\(error.reason)); waking is noticed by the clock alone until it is back")
      poller?.remove(token)
      watched[token] = nil
      sleep.watch = nil
      sleep.token = nil
      carryOut(sleep.cycle.handle(.lost))
      arm(busAfter: Self.busWait(after: sleep.tries))
    }
  }

  private func hear(_ event: SleepWatch.Event) {
    switch event {
    case .sleeps: carryOut(sleep.cycle.handle(.sleeps))
    case .wakes:
      // How long it slept is for the clock to say.
      clockIsReady()
      carryOut(sleep.cycle.handle(.wakes))
    case .logindGone: carryOut(sleep.cycle.handle(.lost))
    case .holds:
      busIsBack()
      log(.debug, "logind waits for us before the machine sleeps")
    case .refused(let reason):
      busIsBack()
      log(.info, "logind does not wait for us before the machine sleeps: \(reason)")
    }
  }

  private func busIsBack() {
    if sleep.tries > 0 { log(.info, "the system bus is back") }
    sleep.tries = 0
  }

  /// The bus that was lost is tried again, more and more rarely.
  func busIsDue() {
    watchSleep()
    sleep.tries += 1
    if sleep.watch == nil { arm(busAfter: Self.busWait(after: sleep.tries)) }
  }

  private static func busWait(after tries: Int) -> Milliseconds { .seconds(min(1 << min(tries, 9), 300)) }

  /// - Parameter message: what is said of a waking.
  func carryOut(_ orders: [SleepCycle.Order], saying message: String = "the machine is awake again") {
    for order in orders {
      switch order {
      case .settle:
        log(.info, "the machine is about to sleep")
        handle(.sleeping)
      case .release: sleep.watch?.release()
      case .inhibit:
        sleep.watch?.inhibit()
        if let token = sleep.token, let watch = sleep.watch { poller?.change(token, watch.interest) }
      case .wait(let time): arm(sleepAfter: time)
      case .goOn: handle(.woke)
      case .resume: resumed(message)
      }
    }
  }

  func sleepIsDue() { carryOut(sleep.cycle.handle(.timeUp)) }

  /// Lets the machine sleep as soon as nothing is under way.
  func settleIfIdle() {
    guard sleep.cycle.phase == .settling, outboxTask == nil, outbox.work.isEmpty, scheduler.isQuiescent else { return }
    carryOut(sleep.cycle.handle(.settled))
  }

  /// Nobody could fire for a while: everything is looked at again, once.
  ///
  /// - Parameter message: what is said of it; nil: it was too short to be told of.
  func resumed(_ message: String?) {
    clockEvents += 1
    if let message { publish([DaemonEvent(kind: .resumed, message: message)]) }
    outbox.seenFailing = [:]
    handle(.woke)
    reopenReplies()
    // What changed meanwhile is seen by its watch; this is for what a watch may have missed.
    recomputeDueTimes(refreshZones().union(refreshCalendars()))
    lookAround()
  }

  /// A timer that ran out much later than it was armed for, by a clock that stands still while the machine sleeps, tells
  /// that the daemon itself was stopped: by SIGSTOP, a debugger, the freezer of its control group.
  func noticeStop(_ late: Milliseconds?) {
    guard let late, late >= Self.stopTolerance, !stops.isRecent(.signal) else { return }
    stops.note(.timer)
    resumed(Self.stopped(for: late))
  }

  /// SIGCONT: it was stopped, or nobody stopped it: a service manager sends one with each SIGTERM. For how long, a timer
  /// tells that ran out meanwhile; where none did, nothing came late.
  func goesOn() {
    guard !stops.isRecent(.timer) else { return }
    stops.note(.signal)
    clockIsReady()
    let late = [timers?.dueAt?.lateness, timers?.outboxAt?.lateness].compactMap { $0 }.max() ?? .zero
    resumed(late >= Self.stopTolerance ? Self.stopped(for: late) : nil)
  }

  private static func stopped(for late: Milliseconds) -> String {
    "the daemon was stopped for \(DurationText.format(.seconds(late.rawValue / 1_000)))"
  }

  /// A stop may show itself in two ways, and is told of once.
  struct Stops {
    enum Sign { case timer, signal }

    private var seen: [Sign: UInt64] = [:]

    mutating func note(_ sign: Sign) { seen[sign] = SystemClock.monotonicMicroseconds }

    func isRecent(_ sign: Sign) -> Bool {
      seen[sign].map { SystemClock.monotonicMicroseconds - $0 < 5_000_000 } ?? false
    }
  }

  /// A machine under load is not taken for a daemon that was stopped.
  private static let stopTolerance = Milliseconds.seconds(10)

  // MARK: Waking the machine

  func arm(wakeAt time: Instant?) {
    wakeAlarm.arm(at: time.map { SystemClock.machineTime(of: $0) })
    guard time != nil, let problem = wakeAlarm.problem, !sleep.isWakeProblemTold else { return }
    sleep.isWakeProblemTold = true
    log(.warning, "the machine cannot be woken for reminders that ask for it: \(problem)")
  }
}
