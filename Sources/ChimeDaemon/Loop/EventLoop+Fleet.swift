import ChimeCore
import ChimeSchedule
import Dispatch

/// The loop's state about other daemons on the same store.
struct FleetState {
  /// The shared store; nil if no other daemon can use it.
  var store: (any SharedStore)?
  /// The poll of other daemons' changes in flight.
  var task: Task<Void, Never>?
  /// Whether claims of former lease holders are to be released.
  var needsRelease = false
  /// Whether something may have changed since the poll in flight began.
  var needsLook = false
  /// Resumed at shutdown when nothing is in flight.
  var drained: CheckedContinuation<Void, Never>?

  /// The limit for waiting at shutdown; the service manager kills after 15 s (TimeoutStopSec=).
  static let drainLimit = Milliseconds.seconds(8)
}

// Several daemons on one store: leases of queues come and go, and other daemons write into queues of this one.
extension EventLoop {
  /// Subscribes to fleet events. Runs before the first read of the store.
  func joinFleet() async {
    guard let shared = store as? any SharedStore else { return }
    fleet.store = shared
    shared.listen { [weak self] event in
      guard let self else { return }
      self.executor.queue.async { self.assumeIsolated { $0.take(event) } }
    }
    if let members = try? await shared.members() { uptime = Uptime(startedAt: startedAt, among: members) }
  }

  private func take(_ event: FleetEvent) {
    switch event {
    case .leave(let queues):
      handOver { queues.contains($0) }
      leaveReplies { queues.contains($0) }
      considerReplies()
      tenants.sharedAt = 0
      considerShares()
    case .taken:
      fleet.needsRelease = true
      tenants.sharedAt = 0
      considerShares()
      considerReplies()
      lookAtOthers()
    case .look: lookAtOthers()
    case .endpointsChanged:
      reloadEndpoints()
      lookAtOthers()
    case .lapsed:
      tell(event)
      considerReplies()
    case .endedSessions, .sessionsStay: tell(event)
    }
  }

  /// Logs an event for the operators of the fleet.
  private func tell(_ event: FleetEvent) {
    switch event {
    case .lapsed(let span):
      log(
        .warning,
        "the database had not heard of this daemon for \(span.rawValue / 1_000) s: others may have taken over what it "
          + "had, and ended its sessions; it takes its share again", id: .lapsed)
    case .endedSessions(let count, let process, let name):
      log(
        .warning,
        "chimed on \(name) (process \(process)) has not been heard of within its lease: \(count) "
          + "\(count == 1 ? "session" : "sessions") of it ended, so that nothing it had claimed waits for it",
        id: .sessionsEnded)
    case .sessionsStay(let failure):
      log(
        .warning,
        "sessions of a daemon that has not been heard of cannot be ended: \(failure.sentence); let all daemons come as "
          + "the same user of the database", id: .sessionsEnded)
    default: break
    }
  }

  /// Releases the held claims of queues that another daemon takes over.
  private func handOver(_ isGoing: (DeliveryQueue) -> Bool) {
    outbox.seenFailing = outbox.seenFailing.filter { !isGoing($0.key) }
    let going = outbox.held.values.map(\.claim).filter { isGoing($0.queue) }
    guard !going.isEmpty else { return }
    for claim in going { giveBack(claim) }
    handle(.dropped(going))
    workOutbox()
  }

  /// Releases all held claims if the leases have lapsed. Other daemons may have taken over the queues of a process that
  /// was stopped for longer than its lease.
  func noticeLapse() {
    guard let shared = fleet.store, !outbox.held.isEmpty, !shared.holdsQueues else { return }
    handOver { _ in true }
  }

  // MARK: Shutdown

  /// Releases all leases. Other daemons take them over as soon as no delivery is in flight, so this waits for that.
  func leaveFleet() async {
    guard let shared = fleet.store else { return }
    shared.retire()
    leaveReplies { _ in true }
    handOver { _ in true }
    guard await (try? shared.members())?.contains(where: { $0.isLiving && !$0.isAsked }) ?? false else { return }
    timers?.fleet.arm(after: FleetState.drainLimit)
    await withCheckedContinuation { waiting in
      fleet.drained = waiting
      noticeDrained()
    }
    timers?.fleet.disarm()
  }

  /// Ends the wait at shutdown when nothing is in flight.
  func noticeDrained() {
    if outbox.isNothingUnderWay { endDraining() }
  }

  func endDraining() {
    fleet.drained?.resume()
    fleet.drained = nil
  }
}
