import ChimeCore
import ChimeSchedule

// A store that was restored from a snapshot: the checker goes back with it, and judges as before.
extension InvariantChecker {
  /// What the checker knows of the store.
  struct Model {
    var known: [ReminderID: Known]
    var occurrences: [OccurrenceID: Occurrence]
    var deliveries: [DeliveryID: Delivery]
    var fired: [ReminderID: Set<Instant>]
    var rounds: Set<Round>
    var hidden: [DeliveryID: Hidden]
    var runs: [ReminderID: [Instant: Instant]]
    var done: [ReminderID: [Instant]]
    var pinging: Pinging
    var trackers: TrackerChecker.Model
  }

  var model: Model {
    Model(
      known: known, occurrences: occurrences, deliveries: deliveries, fired: fired, rounds: rounds, hidden: hidden,
      runs: runs, done: chains.done, pinging: pinging, trackers: trackers.model)
  }

  /// Forgets what has happened since the snapshot. What has arrived may arrive again, and what was lost has no row in
  /// which an outcome could be recorded.
  func goBack(to model: Model) {
    lost.formUnion(Set(deliveries.keys).subtracting(model.deliveries.keys))
    abandoned.formUnion(lost)
    (known, occurrences, deliveries) = (model.known, model.occurrences, model.deliveries)
    (fired, rounds, hidden, runs) = (model.fired, model.rounds, model.hidden, model.runs)
    chains.done = model.done
    pinging.last = model.pinging.last
    pinging.lastSuccess = model.pinging.lastSuccess
    (pinging.down, pinging.from, pinging.begun) = (model.pinging.down, model.pinging.from, model.pinging.begun)
    trackers.goBack(to: model.trackers)
    tenants.goBack(contents)
    (shownAs, settled, reportedRounds, calledOff) = ([:], [], [], [])
    (wakeSeen.commits, waitsSeen.commits) = (-1, -1)
    forgetTimetables()
    daemonWasStopped()
  }
}
