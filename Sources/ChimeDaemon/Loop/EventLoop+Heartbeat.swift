import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// The loop's state about the heartbeat.
struct HeartbeatState {
  var value = Heartbeat()
  /// Whether a probe of the store is in flight.
  var isProbing = false
  /// The heartbeat message in flight.
  var task: Task<Void, Never>?
  /// The generation of the configuration. Results of an earlier one are ignored.
  var generation = 0
}

// The daemon sends heartbeats to an external monitor for as long as it can fire. Without a configured address no timer is armed.
extension EventLoop {
  /// Starts, continues or stops heartbeats after a change of the configuration.
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
    // A probe that starts before sleep would be answered only after waking.
    guard !scheduler.isDrowsy else { return }
    guard !heartbeat.isProbing else {
      beat(Heartbeat.Signs(storeProblem: "the store does not answer", nextDue: scheduler.nextDue))
      return
    }
    heartbeat.isProbing = true
    Task {
      await withTaskExecutorPreference(executor) {
        // A successful write proves that the store takes changes. It also brings due times to the scheduler that it may
        // have missed.
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
    // Only one message is in flight at a time, even if it hangs.
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

  /// Changes the heartbeat's value, and logs its sentence if that changed.
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
