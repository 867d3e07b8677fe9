import ChimeCore
import ChimeSchedule

/// A HistoryChecker checks that old history is removed in time, and nothing else.
final class HistoryChecker {
  private unowned let world: Simulation
  /// The limits of which the present pruning may know.
  private var limits: [HistoryLimits]
  private var isAsked = false
  /// Before the first time nothing may be removed unasked; from the second on, the next occasion has to be used. Nil
  /// where it is not known.
  private var notBefore: Instant?
  private var dueFrom: Instant?
  /// Since when the daemon knows the present clock, and when the present pruning wrote first, in milliseconds of
  /// CLOCK_MONOTONIC.
  private var knownSince: Int64 = 0
  private var begunAt: Int64?
  /// When the clock was last set, in milliseconds of CLOCK_MONOTONIC.
  private var setAt = -Milliseconds.hours(1).rawValue
  /// How far the clock was set back since the last pruning.
  private var setBack = Milliseconds.zero
  /// Since when a pruning has to begin, because of something that happened, in milliseconds of CLOCK_MONOTONIC.
  private var isDueSince: Int64?
  /// What the last pruning should have removed.
  private var left: Set<OccurrenceID> = []

  init(_ world: Simulation) {
    self.world = world
    limits = [world.historyLimits]
  }

  func daemonStarts() {
    (limits, isAsked, isDueSince, begunAt) = ([world.historyLimits], false, nil, nil)
    trustsClock(from: world.wall + HistoryUpkeep.settling)
  }

  private func trustsClock(from time: Instant) {
    (notBefore, dueFrom, knownSince) = (time, time + .minutes(1), world.mono)
  }

  func clockWasSet(by step: Milliseconds) {
    (notBefore, dueFrom, isDueSince, setAt) = (nil, nil, nil, world.mono)
    setBack = max(setBack, .zero - step)
  }

  /// Notes that the daemon knows that the clock was set.
  func clockIsKnown() {
    trustsClock(from: world.wall + HistoryUpkeep.settling)
    // Something may have happened since the step.
    isDueSince = nil
    if isAsked { notBefore = nil }
  }

  func limitsChange() {
    limits.append(world.historyLimits)
    (isAsked, notBefore) = (true, nil)
  }

  /// Notes a firing or a commit, after which old history is removed if it is time.
  func somethingHappens(_ loop: SimulatedDaemon) {
    guard let dueFrom, !loop.isStopping, loop.core.trouble.problem == nil else { return }
    if world.wall > dueFrom { isDueSince = isDueSince ?? world.mono }
  }

  func writes() { begunAt = begunAt ?? world.mono }

  func failed() { ends(notBefore: nil, dueFrom: world.wall + HistoryLimits.interval) }

  /// Checks a pruning that has ended.
  func ended(_ loop: SimulatedDaemon, begunAt: Instant) {
    // A pruning that began just before the clock was set does not know.
    if let notBefore, begunAt < notBefore, let first = self.begunAt,
      first - knownSince > 100 || setBack == .zero && begunAt >= notBefore - HistoryUpkeep.settling
    {
      world.checker.fail("the history is shortened at \(begunAt.text), and not to be before \(notBefore.text)")
    }
    let old = limits.count == 1 && !loop.isStopping ? Set(surplus(begunAt)) : []
    for id in old.intersection(left) {
      world.checker.fail("\(id) is older than what is kept, and stays in the history")
    }
    left = old
    let next = begunAt + HistoryLimits.interval
    ends(notBefore: isAsked ? nil : next, dueFrom: next + .minutes(1))
  }

  private func ends(notBefore: Instant?, dueFrom: Instant) {
    (limits, isAsked, isDueSince, setBack, begunAt) = ([world.historyLimits], false, nil, .zero, nil)
    // The clock may have been set after the pruning began.
    let isSound = world.mono - setAt > Milliseconds.minutes(10).rawValue
    (self.notBefore, self.dueFrom) = isSound ? (notBefore, dueFrom) : (nil, nil)
  }

  /// Returns the occurrences that a pruning has to remove.
  private func surplus(_ now: Instant) -> [OccurrenceID] {
    let contents = world.store.contents
    guard let age = world.historyLimits.age else { return [] }
    return contents.occurrences.values.filter { occurrence in
      let isPending = contents.deliveriesOf[occurrence.id]?.contains { contents.outbox[$0]?.delivery.isPending == true }
      return mayGo(occurrence, HistoryLimits(age: age), now, nil) && isPending != true
        && contents.again[occurrence.id] == nil
    }.map(\.id)
  }

  /// Checks while nothing is in flight that no pruning is missing.
  func check(_ loop: SimulatedDaemon) {
    forgetIfStoreFailed(loop)
    guard let since = isDueSince else { return }
    if world.mono - since > 6_000 { world.checker.fail("the history was to be shortened, and nothing began") }
  }

  /// Nothing is removed while the store is in trouble, and afterwards only at the next occasion.
  private func forgetIfStoreFailed(_ loop: SimulatedDaemon) {
    if let since = isDueSince, let failed = loop.storeFailedAt, failed >= since { isDueSince = nil }
  }

  func daemonWasStopped() {
    if let loop = world.loop { forgetIfStoreFailed(loop) }
    isDueSince = isDueSince.map { _ in world.mono }
  }

  /// Checks one transaction.
  ///
  /// - Parameters:
  ///   - known: the occurrences before it.
  ///   - pending: those that were owed a delivery.
  /// - Returns: the removed ones.
  func removed(
    _ changes: MemoryTransaction.Changes, _ known: [OccurrenceID: Occurrence], pending: Set<OccurrenceID>, _ work: Work
  ) -> Set<OccurrenceID> {
    let contents = world.store.contents
    let gone = changes.occurrences.filter { contents.occurrences[$0] == nil }
    guard !gone.isEmpty else { return [] }
    let times = known.keys.map(\.scheduledAt).sorted(by: >)
    for id in gone {
      guard let occurrence = known[id] else { continue }
      let isRight = limits.contains { limits in
        let first = limits.count.flatMap { $0 > 0 && times.count >= $0 ? times[$0 - 1] : nil }
        return mayGo(occurrence, limits, work.now + setBack, first)
      }
      if !isRight || pending.contains(id) {
        world.checker.fail("\(id) is \(occurrence.state), and is removed from the history at \(work.now.text)")
      }
    }
    return gone
  }

  /// Returns whether the limits let an occurrence go.
  ///
  /// - Parameter first: the time of the last occurrence that is kept for their number.
  private func mayGo(_ occurrence: Occurrence, _ limits: HistoryLimits, _ now: Instant, _ first: Instant?) -> Bool {
    let last = max(occurrence.id.scheduledAt, occurrence.missedRun?.through ?? .earliest)
    let isOld = limits.age.map { max(last, occurrence.endedAt ?? .earliest) < now - $0 } ?? false
    let isSurplus = first.map { last < $0 } ?? false
    return switch occurrence.state {
    case .snoozed, .awaited: false
    case .fired, .delivered: isOld
    case .done, .dismissed, .missed: isOld || isSurplus
    }
  }
}
