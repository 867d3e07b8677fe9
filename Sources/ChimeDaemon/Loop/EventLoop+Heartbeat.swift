import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// What the loop knows of the heartbeat.
struct HeartbeatState {
  var value = Heartbeat()
  /// Whether the store is being asked.
  var isProbing = false
  /// The message that is under way.
  var task: Task<Void, Never>?
  /// Which configuration it is of: what comes of an earlier one's is passed over.
  var generation = 0
}

// Whoever watches from outside is told again and again that this daemon can fire, for as long as it can. Without an address
// nobody is woken for it.
extension EventLoop {
  /// Begins, goes on or ceases, as the configuration has it now.
  func renewHeartbeat(from former: Configuration.Heartbeat) {
    guard configuration.heartbeat != former else { return }
    heartbeat.value = Heartbeat()
    heartbeat.generation += 1
    staleSummary()
    guard configuration.heartbeat.isTold else {
      timers?.heartbeat.disarm()
      return
    }
    heartbeatIsDue()
  }

  func heartbeatIsDue() {
    guard configuration.heartbeat.isTold, !isStopping else { return }
    timers?.heartbeat.arm(after: configuration.heartbeat.every)
    // What is asked of a machine that falls asleep is answered when it wakes.
    guard !scheduler.isDrowsy else { return }
    guard !heartbeat.isProbing else {
      beat(Heartbeat.Signs(storeProblem: "the store does not answer", nextDue: scheduler.nextDue))
      return
    }
    heartbeat.isProbing = true
    Task {
      await withTaskExecutorPreference(executor) {
        // That it takes changes is proven by one; it also brings what is due to the scheduler, should that have missed it.
        await tryStore()
        heartbeat.isProbing = false
        guard !scheduler.isDrowsy else { return }
        beat(
          Heartbeat.Signs(
            storeProblem: trouble.problem, nextDue: scheduler.nextDue, isAwaited: scheduler.awaitsNextDue))
      }
    }
  }

  private func beat(_ signs: Heartbeat.Signs) {
    let settings = configuration.heartbeat
    guard settings.isTold, !isStopping else { return }
    let step = tellingChanges { $0.step(signs, at: SystemClock.now) }
    if step != .beat { meters.heartbeats[.held, default: 0] += 1 }
    var message = HeartbeatMessage(url: settings.url, method: settings.method, limit: settings.timeout)
    switch step {
    case .beat: break
    case .fail(let why) where !settings.failURL.isEmpty: (message.url, message.problem) = (settings.failURL, why)
    case .fail, .nothing: return
    }
    // One that hangs is no reason to begin another beside it.
    guard heartbeat.task == nil else { return }
    let (unsigned, secrets, handler, generation) = (message, secrets, requestExecutor, heartbeat.generation)
    let (webhook, commands) = (channels.webhook, commands)
    heartbeat.task = Task {
      await withTaskExecutorPreference(executor) {
        let outcome = await Task(executorPreference: handler) { () -> HeartbeatMessage.Outcome in
          if !settings.command.isEmpty { return await commands.beat(ChannelName(rawValue: settings.command)) }
          var message = unsigned
          if !settings.secretFile.isEmpty {
            switch secrets.named(settings.secretFile) {
            case .success(let found): message.secrets = found
            case .failure(let error): return .refused("it cannot be signed: \(error)")
            }
          }
          return await webhook.send(message)
        }.value
        heartbeat.task = nil
        if generation == heartbeat.generation { ended(step, outcome) }
      }
    }
  }

  private func ended(_ step: Heartbeat.Step, _ outcome: HeartbeatMessage.Outcome) {
    switch outcome {
    case .taken:
      if step == .beat { meters.heartbeats[.taken, default: 0] += 1 }
      tellingChanges { $0.taken(step, at: SystemClock.now) }
    case .refused(let why):
      if step == .beat { meters.heartbeats[.refused, default: 0] += 1 }
      tellingChanges { $0.refused(why) }
    case .cutShort: break
    }
  }

  /// Changes what is known, and tells the log what is to be said of it when that is another thing than before.
  @discardableResult
  private func tellingChanges<Value>(_ body: (inout Heartbeat) -> Value) -> Value {
    let before = heartbeat.value.sentence
    let value = body(&heartbeat.value)
    let after = heartbeat.value.sentence
    guard before != after else { return value }
    if let after { log(.warning, after) } else { log(.notice, "heartbeats are sent again") }
    staleSummary()
    return value
  }
}
