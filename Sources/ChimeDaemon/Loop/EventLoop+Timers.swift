import ChimeCore
import ChimeSchedule

/// The timers of the event loop.
struct LoopTimers {
  let due: LoopTimer
  let outbox: LoopTimer
  let clients: LoopTimer
  let summary: LoopTimer
  let settle: LoopTimer
  let sleep: LoopTimer
  let bus: LoopTimer
  let secrets: LoopTimer
  let arrears: LoopTimer
  let watchdog: LoopTimer
  let metrics: LoopTimer
  let heartbeat: LoopTimer
  let replies: LoopTimer
  let others: LoopTimer
  let fleet: LoopTimer
  let waits: LoopTimer
  /// The monotonic deadlines of the two wall-clock timers; their lateness reveals a stop of the daemon.
  var dueAt: MonotonicDeadline?
  var outboxAt: MonotonicDeadline?
}

extension EventLoop {
  func dueHasCome() {
    noticeStop(timers?.dueAt?.lateness)
    timers?.dueAt = nil
    handle(.awake)
  }

  func outboxHasCome() {
    noticeStop(timers?.outboxAt?.lateness)
    timers?.outboxAt = nil
    handle(.awake)
  }

  func arm(arrearsAfter wait: Milliseconds) { timers?.arrears.arm(after: wait) }

  func arm(sleepAfter wait: Milliseconds?) {
    if let wait { timers?.sleep.arm(after: wait) } else { timers?.sleep.disarm() }
  }

  func arm(busAfter wait: Milliseconds) { timers?.bus.arm(after: wait) }

  func arm(clientsAfter wait: Milliseconds?) {
    if let wait { timers?.clients.arm(after: wait) } else { timers?.clients.disarm() }
  }

  func arm(summaryAfter wait: Milliseconds) { timers?.summary.arm(after: wait) }

  func arm(secretsAt time: Instant) { timers?.secrets.arm(at: time) }

  func arm(settleAfter wait: Milliseconds) { timers?.settle.arm(after: wait) }
}
