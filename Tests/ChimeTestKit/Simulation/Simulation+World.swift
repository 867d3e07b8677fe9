import ChimeCore
import ChimeSchedule

/// The behavior of a channel.
struct ChannelBehavior {
  enum Kind: String, CaseIterable {
    /// Delivers.
    case well
    /// Does not answer within the time limit.
    case hang
    /// HTTP 500.
    case fail
    /// Delivers half of the messages.
    case flaky
    /// HTTP 404.
    case decline
    /// HTTP 503 with Retry-After.
    case busy
    /// HTTP 410.
    case gone
    /// No session bus.
    case unavailable
    /// The channel's own rule skips the message.
    case omit
  }

  var kind = Kind.well
  /// The duration of an attempt, or the requested delay.
  var takes: Int64 = 20
  /// The user's answer, and its delay.
  var answer: Occurrence.Answer?
  var answersAfter: Int64 = 0
}

// Events of the machine, and channels.
extension Simulation {
  var holidays: [String: [ClosedRange<CivilDate>]] {
    // Each release of the calendar has other days.
    let year = wallYear
    func day(_ month: Int, _ day: Int) -> CivilDate { CivilDate(year: year, month: month, day: day) ?? .earliest }
    let days = (0..<8).map { day(1 + ($0 * 3 + calendarRelease) % 12, 1 + ($0 * 11 + calendarRelease * 7) % 28) }
    return ["holidays": days.map { $0...$0 }]
  }

  private var wallYear: Int { zones.local.civil(at: plan.start).date.year }
  var calendarRelease: Int { zoneRelease / 2 }

  var storeFault: SimulatedStore.Fault.Kind? {
    if let fault = store.fault, mono >= fault.until { store.fault = nil }
    return store.fault?.kind
  }

  func boot() {
    guard loop == nil else { return }
    let daemon = SimulatedDaemon(self)
    loop = daemon
    figures.starts += 1
    checker.daemonStarts()
    note { "chimed starts" }
    daemon.drive { $0.start() }
  }

  /// Notifies the daemon of an event after a random delay.
  private func tell(within milliseconds: Int64, _ body: @escaping (SimulatedDaemon) -> Void) {
    untold += 1
    later(chance(0...milliseconds)) { [self] in
      untold -= 1
      // A daemon that starts later reads the state itself.
      if let loop, loop.isReady { body(loop) } else if let loop { tellWhenReady(loop, body) }
    }
  }

  private func tellWhenReady(_ daemon: SimulatedDaemon, _ body: @escaping (SimulatedDaemon) -> Void) {
    // The descriptors are watched from the start on, and read once the loop runs.
    daemon.later(1) { [self] daemon in if daemon.isReady { body(daemon) } else { tellWhenReady(daemon, body) } }
  }

  func perform(_ action: PlannedAction) {
    let length = Milliseconds(rawValue: action.amount)
    switch action.verb {
    case .step:
      figures.clockSteps += 1
      checker.clockWasSet(by: length)
      setClock(length)
      tell(within: 20) { [self] in
        checker.history.clockIsKnown()
        $0.drive { $0.clockHasStepped(by: length, slept: .zero) }
      }
    case .suspend:
      figures.suspends += 1
      if let end = action.words["instead"] { return staysAwake(for: length, end) }
      // Half of the time logind announces the sleep, with a moment for pending work.
      if bits() % 2 == 0, let loop, loop.isReady {
        loop.drive { $0.sleep(.sleeps) }
        untold += 1
        return later(chance(0...100)) { [self] in
          untold -= 1
          fallAsleep(length)
        }
      }
      fallAsleep(length)
    case .stop: stall(length)
    case .zone:
      zones.move(to: action.subject)
      tell(within: 20) { $0.contextChanged() }
    case .tzdata:
      zones.replace(action.subject, rule: action.words["rule"] ?? "UTC0")
      zoneRelease += 1
      tell(within: 2_000) { $0.contextChanged() }
    case .quiet:
      let hours = (action.words["hours"] ?? "").split(separator: ";").map { String($0) }
      quiet = QuietDefaults(
        hours: (try? QuietHours(hours)) ?? .never,
        handling: QuietRule.Handling(rawValue: action.words["handling"] ?? "") ?? .hold)
      tell(within: 20) { $0.contextChanged() }
    case .history:
      let age = action.words["age"].flatMap { Int64($0) }
      historyLimits = HistoryLimits(age: age.map { .hours($0) }, count: action.words["count"].flatMap { Int($0) })
      tell(within: 20) { $0.limitHistory() }
    case .channel:
      var mood = ChannelBehavior(
        kind: ChannelBehavior.Kind(rawValue: action.words["mood"] ?? "") ?? .well, takes: action.amount)
      mood.answersAfter = Int64(action.words["after"] ?? "") ?? 0
      switch action.words["answer"] {
      case "done": mood.answer = .done
      case "dismiss": mood.answer = .dismiss
      case "snooze": mood.answer = .snooze(for: .minutes(50))
      default: break
      }
      let queue = Self.queue(action.subject, action.words)
      let wasShut = behaviors[queue]?.kind == .unavailable
      behaviors[queue] = mood
      checker.tenants.channelChanges(queue)
      if wasShut, queue.channel == .desktop {
        tell(within: 20) { $0.drive { $0.wakeQueues { $0.channel == .desktop } } }
      }
    case .store:
      guard let kind = SimulatedStore.Fault.Kind(rawValue: action.subject) else { return }
      store.fault = SimulatedStore.Fault(kind: kind, until: mono + action.amount)
      checker.permitDelays(for: action.amount)
    case .backup: takeBackup(action)
    case .restore: restoreBackup(action)
    case .snapshot: takeSnapshot()
    case .damage: damageStore(Int(action.amount))
    case .crash:
      figures.crashes += 1
      loop?.die()
      loop = nil
      later(max(1, action.amount)) { [self] in boot() }
    case .restart:
      guard let loop, loop.isReady else { return }
      loop.stop { [self] in
        if self.loop === loop { self.loop = nil }
        later(max(1, action.amount)) { [self] in boot() }
      }
    default: ask(action)
    }
  }

  /// Announces a sleep that does not come: logind says so, or is lost, or says nothing.
  private func staysAwake(for length: Milliseconds, _ end: String) {
    guard let loop, loop.isReady else { return }
    loop.drive { $0.sleep(.sleeps) }
    untold += 1
    // A daemon that hears nothing waits until nobody sleeps any more.
    let patience = SleepCycle.patience + SleepCycle.failsafe + .seconds(1)
    let length = end == "nothing" ? patience : length
    checker.permitDelays(for: length.rawValue)
    later(length.rawValue, unlessStopped: end == "nothing") { [self] in
      untold -= 1
      checker.daemonWasStopped()
      if end != "nothing" { loop.drive { $0.sleep(end == "lost" ? .lost : .wakes) } }
    }
  }

  /// Waits for what the daemon counts; if it is stopped meanwhile, from when it goes on.
  private func later(_ milliseconds: Int64, unlessStopped: Bool, _ body: @escaping () -> Void) {
    let before = stalled
    later(milliseconds) { [self] in
      guard unlessStopped, stalled > before else { return body() }
      checker.permitDelays(for: milliseconds)
      later(milliseconds, unlessStopped: true, body)
    }
  }

  private func fallAsleep(_ length: Milliseconds) {
    var length = length
    // The alarm of a running daemon wakes the machine.
    if let wake = loop?.wakeAt, wake > wall, wake - wall < length {
      length = wake - wall
      figures.wakings += 1
      note { "the alarm wakes the machine after \(length.rawValue / 1_000) s" }
    }
    sleep(length)
    tell(within: 50) { [length] in $0.drive { $0.clockHasStepped(by: .zero, slept: length) } }
    tell(within: 50) { $0.drive { $0.sleep(.wakes) } }
  }

  // MARK: Channels

  func send(_ message: OutboundMessage, from daemon: SimulatedDaemon) {
    checker.sends(message, daemon)
    figures.attempts += 1
    let queue = message.delivery.queue
    var mood = behaviors[queue] ?? ChannelBehavior()
    // An unknown address is unreachable.
    if queue.channel != .desktop, !isCommand(queue.channel), store.contents.endpoints[queue] == nil {
      mood = ChannelBehavior(kind: .unavailable)
    }
    let started = wall
    var takes = max(1, mood.takes / 2 + chance(0...max(1, mood.takes)))
    var (outcome, next, status) = (Attempt.Outcome.failed, ChannelReport.NextStep.retry, Int?.none)
    switch mood.kind {
    case .well: (outcome, next) = (.delivered, .settled)
    case .hang: takes = 15_000
    case .fail: status = 500
    case .flaky: if bits() % 2 == 0 { (outcome, next) = (.delivered, .settled) }
    case .decline: status = 404
    case .busy: (takes, next, status) = (50, .retryAfter(.milliseconds(mood.takes)), 503)
    case .gone: (takes, next, status) = (50, .disable("it is gone"), 410)
    case .unavailable: (takes, outcome, next) = (1, .refused, .blocked(.seconds(queue.channel == .desktop ? 30 : 300)))
    case .omit: (outcome, next) = (.refused, .cancel)
    }
    if isCommand(queue.channel) {
      (outcome, next, status) = Self.result(of: mood.kind, bits: bits())
    }
    takes = min(takes, 15_000)
    // A message may be delivered although its response is lost.
    later(takes) { [self] in
      if outcome == .delivered || (mood.kind == .hang && bits() % 4 == 0) { checker.takes(message) }
      let attempt = Attempt(
        number: 0, startedAt: started, took: .milliseconds(takes), outcome: outcome, status: status)
      daemon.hear(.ended(attempt, next: next), on: message)
    }
    if let answer = mood.answer, outcome == .delivered {
      later(takes + mood.answersAfter) { daemon.hear(.answered(answer), on: message) }
    }
  }
}
