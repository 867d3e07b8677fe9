import ChimeCore
import ChimeSchedule
import Dispatch

/// What the loop knows of the other daemons that have its store.
struct FleetState {
  /// Nil: nobody shares it.
  var store: (any SharedStore)?
  /// The look at what others have done that is under way.
  var task: Task<Void, Never>?
  /// Whether claims of former owners are to be released.
  var owesRelease = false
  /// Whether something may have changed since the look that is under way began.
  var owesLook = false
  /// Who waits until nothing is under way, at the end.
  var drained: CheckedContinuation<Void, Never>?

  /// How long the end waits for what is under way: the service manager waits for 15 s (TimeoutStopSec=).
  static let drainLimit = Milliseconds.seconds(8)
}

// Several daemons on one store: queues come and go, and others put something into ours.
extension EventLoop {
  /// Before the store is read for the first time.
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
      fleet.owesRelease = true
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

  /// What somebody who looks after the fleet is to know.
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

  /// Gives back what is held of queues that are not ours any more.
  private func handOver(_ isGoing: (DeliveryQueue) -> Bool) {
    outbox.seenFailing = outbox.seenFailing.filter { !isGoing($0.key) }
    let going = outbox.held.values.map(\.claim).filter { isGoing($0.queue) }
    guard !going.isEmpty else { return }
    for claim in going { giveBack(claim) }
    handle(.dropped(going))
    workOutbox()
  }

  /// After a time in which nobody has heard of this daemon, such as that of a process that was stopped, others may have
  /// taken over what it holds: it begins nothing of that.
  func noticeLapse() {
    guard let shared = fleet.store, !outbox.held.isEmpty, !shared.holdsQueues else { return }
    handOver { _ in true }
  }

  // MARK: The end

  /// Lets go of what this daemon has: others take it as soon as nothing of it is under way, for which they wait here.
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

  /// Whoever waits for the end of what is under way is told when it has come.
  func noticeDrained() {
    if outbox.isNothingUnderWay { endDraining() }
  }

  func endDraining() {
    fleet.drained?.resume()
    fleet.drained = nil
  }
}
