import ChimeCore
import ChimeSchedule

/// The loop's state about sleep of the machine.
struct SleepState {
  /// The connection to logind; nil without a system bus.
  var watch: SleepWatch?
  var token: Poller.Token?
  /// The number of reconnects since the bus was lost.
  var tries = 0
  var cycle = SleepCycle()
  var isWakeProblemTold = false
}

// Sleep and waking of the machine, and a stop of the daemon itself.
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
      // The clock tells how long the machine slept.
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

  /// Reconnects to the lost bus, with growing intervals.
  func busIsDue() {
    watchSleep()
    sleep.tries += 1
    if sleep.watch == nil { arm(busAfter: Self.busWait(after: sleep.tries)) }
  }

  private static func busWait(after tries: Int) -> Milliseconds { .seconds(min(1 << min(tries, 9), 300)) }

  /// Performs the orders of the sleep cycle. `message` is the event text for waking.
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

  /// Releases the inhibitor as soon as nothing is in flight.
  func settleIfIdle() {
    guard sleep.cycle.phase == .settling, outboxTask == nil, outbox.work.isEmpty, scheduler.isQuiescent else { return }
    carryOut(sleep.cycle.handle(.settled))
  }

  /// Re-evaluates everything once after a time in which no firing was possible.
  ///
  /// - Parameter message: the event text; nil if the gap was too short to publish.
  func resumed(_ message: String?) {
    clockEvents += 1
    if let message { publish([DaemonEvent(kind: .resumed, message: message)]) }
    outbox.seenFailing = [:]
    handle(.woke)
    reopenReplies()
    // The watches report changes during the gap; this covers changes that a watch has missed.
    recomputeDueTimes(refreshZones().union(refreshCalendars()))
    lookAround()
  }

  /// Detects a stop of the daemon by a late timer. The monotonic clock stands still during sleep, so the cause is
  /// SIGSTOP, a debugger or the cgroup freezer.
  func noticeStop(_ late: Milliseconds?) {
    guard let late, late >= Self.stopTolerance, !stops.isRecent(.signal) else { return }
    stops.note(.timer)
    resumed(Self.stopped(for: late))
  }

  /// Handles SIGCONT. A service manager also sends it with each SIGTERM, so the daemon may not have been stopped. The
  /// lateness of the armed timers tells for how long; if none is late, nothing came late.
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

  /// The recent signs of a stop. A timer and SIGCONT may both show it; only one of them is reported.
  struct Stops {
    enum Sign { case timer, signal }

    private var seen: [Sign: UInt64] = [:]

    mutating func note(_ sign: Sign) { seen[sign] = SystemClock.monotonicMicroseconds }

    func isRecent(_ sign: Sign) -> Bool {
      seen[sign].map { SystemClock.monotonicMicroseconds - $0 < 5_000_000 } ?? false
    }
  }

  /// The lateness from which a stop is assumed; a loaded machine stays below it.
  private static let stopTolerance = Milliseconds.seconds(10)

  // MARK: Waking the machine

  func arm(wakeAt time: Instant?) {
    wakeAlarm.arm(at: time.map { SystemClock.machineTime(of: $0) })
    guard time != nil, let problem = wakeAlarm.problem, !sleep.isWakeProblemTold else { return }
    sleep.isWakeProblemTold = true
    log(.warning, "the machine cannot be woken for reminders that ask for it: \(problem)")
  }
}
