import ChimeCore
import ChimeSchedule
import Dispatch

/// What the loop knows of the other daemons that have its store.
struct FleetState {
  /// Nil: nobody shares it.
  var store: (any SharedStore)?
  /// The look at the store that is under way.
  var task: Task<Void, Never>?
  /// Whether claims of former owners are to be released.
  var owesRelease = false
  /// Whether something may have changed since the last look.
  var owesLook = false
  /// Who waits until nothing is under way, at the end.
  var drained: CheckedContinuation<Void, Never>?

  /// After a look that failed.
  static let retry = Milliseconds.seconds(1)
  /// How long the end waits for what is under way: the service manager waits for 15 s (TimeoutStopSec=).
  static let drainLimit = Milliseconds.seconds(8)
}

// Several daemons on one store: lanes come and go, and others put something into ours.
extension EventLoop {
  /// Before the store is read for the first time.
  func joinFleet() async {
    guard let shared = store as? any SharedStore else { return }
    fleet.store = shared
    shared.listen { [weak self] event in
      guard let self else { return }
      self.executor.queue.async { self.assumeIsolated { $0.take(event) } }
    }
    if let members = try? await shared.members() { absence = Absence(startedAt: startedAt, among: members) }
  }

  private func take(_ event: FleetEvent) {
    switch event {
    case .leave(let lanes): handOver { lanes.contains($0) }
    case .taken:
      fleet.owesRelease = true
      lookAtStore()
    case .look: lookAtStore()
    case .endpointsChanged:
      reloadEndpoints()
      lookAtStore()
    case .lapsed, .endedSessions, .sessionsStay: tell(event)
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

  /// Reads what others may have changed: what is owed, and whether what is held is still to be sent.
  func lookAtStore() {
    // A start reads all of it, and looks again when it has.
    guard isReady, !isStopping, fleet.task == nil else {
      fleet.owesLook = true
      return
    }
    let (store, horizons, releases, held) = (store, horizons, fleet.owesRelease, Array(outbox.held.keys))
    (fleet.owesRelease, fleet.owesLook) = (false, false)
    fleet.task = Task {
      await withTaskExecutorPreference(executor) {
        do {
          let (horizon, settled) = try await store.write { transaction in
            if releases { try transaction.releaseFormerClaims() }
            return (try horizons.read(transaction), try transaction.settled(among: held))
          }
          fleet.task = nil
          if !settled.isEmpty { drop { settled.contains($0.delivery.id) } }
          handle(.horizon(horizon))
          if fleet.owesLook { lookAtStore() }
        } catch {
          fleet.task = nil
          fleet.owesRelease = fleet.owesRelease || releases
          // What is wrong with the store is told by those who have something to change.
          timers?.fleet.arm(after: FleetState.retry)
        }
      }
    }
  }

  /// Gives back what is held of lanes that are not ours any more.
  private func handOver(_ isGoing: (Lane) -> Bool) {
    outbox.seenFailing = outbox.seenFailing.filter { !isGoing($0.key) }
    let going = outbox.held.values.map(\.claim).filter { isGoing($0.lane) }
    guard !going.isEmpty else { return }
    for claim in going { giveBack(claim) }
    handle(.dropped(going))
    workOutbox()
  }

  /// After a time in which nobody has heard of this daemon, such as that of a process that was stopped, others may have
  /// taken over what it holds: it begins nothing of that.
  func noticeLapse() {
    guard let shared = fleet.store, !outbox.held.isEmpty, !shared.holdsLanes else { return }
    handOver { _ in true }
  }

  // MARK: The end

  /// Lets go of what this daemon has: others take it as soon as nothing of it is under way, for which they wait here.
  func leaveFleet() async {
    guard let shared = fleet.store else { return }
    shared.retire()
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

  /// It is time to look again, or to wait no longer.
  func fleetIsDue() {
    if isStopping { endDraining() } else { lookAtStore() }
  }
}
