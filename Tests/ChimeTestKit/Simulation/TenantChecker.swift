import ChimeCore
import ChimeSchedule
import ChimeTracking

/// A TenantChecker checks that what one owner does touches nothing of another, and that nobody's messages wait for
/// another's endpoint.
final class TenantChecker {
  private unowned let world: Simulation
  private var endpoints: [DeliveryQueue: Endpoint] = [:]
  private var summaries: [TrackerKey: TrackerSummary] = [:]
  /// Since when each queue's channel delivers at once, in milliseconds of CLOCK_MONOTONIC; absent where it always did.
  private var wellSince: [DeliveryQueue: Int64] = [:]

  /// How long a message may wait to leave for a channel that delivers, while nothing disturbs the daemon.
  static let promptness = Milliseconds.seconds(5)
  /// How long a channel has to deliver before its messages are expected to be on time.
  private static let settling = Milliseconds.minutes(30)

  init(_ world: Simulation) { self.world = world }

  private var checker: InvariantChecker { world.checker }

  /// Takes the store as it is, because a snapshot has taken its place.
  func goBack(_ contents: MemoryContents) { (endpoints, summaries) = (contents.endpoints, contents.tracking.summaries) }

  // MARK: After each transaction

  /// Checks a transaction before the checker records it.
  func check(_ changes: MemoryTransaction.Changes, _ work: Work) {
    let contents = checker.contents
    defer { goBack(contents) }
    func fail(_ what: String) { world.fail("\(work.kind) at \(work.now.text): \(what)") }
    for id in changes.deliveries {
      guard let delivery = contents.outbox[id]?.delivery, let occurrence = contents.occurrences[delivery.occurrence],
        delivery.queue.owner != occurrence.owner
      else { continue }
      fail("the message \(id) of \(occurrence.owner) goes to \(delivery.queue.channel) of \(delivery.queue.owner)")
    }
    switch work.kind {
    case .client, .apply, .ping:
      guard let owner = world.asking else { return }
      for other in owners(of: changes, contents) where other != owner {
        fail("\(owner) has changed something of \(other)")
      }
      for queue in Set(endpoints.keys).union(contents.endpoints.keys)
      where queue.owner != owner && endpoints[queue] != contents.endpoints[queue] {
        fail("\(owner) has changed the endpoint \(queue.channel) of \(queue.owner)")
      }
      for key in Set(summaries.keys).union(contents.tracking.summaries.keys)
      where key.owner != owner && key.owner < StagingOwners.first && summaries[key] != contents.tracking.summaries[key]
      {
        fail("\(owner) has changed what \(key.owner) has logged to \(key.id)")
      }
    case .answer:
      let owners = owners(of: changes, contents)
      if owners.count > 1 { fail("an answer has changed something of \(owners.sorted())") }
    case .outbox: checkNotices(changes, contents, fail)
    default: break
    }
  }

  /// Checks that each owner hears of their own endpoints that were disabled.
  private func checkNotices(
    _ changes: MemoryTransaction.Changes, _ contents: MemoryContents, _ fail: (String) -> Void
  ) {
    let disabled = contents.endpoints.values.filter { $0.disabled != nil && endpoints[$0.queue]?.disabled == nil }
    let notices = changes.reminders.compactMap { contents.reminders[$0] }
      .filter { checker.known[$0.id] == nil && checker.isNotice($0) }
    let (wanted, told) = (disabled.map(\.queue.owner).sorted(), notices.map(\.owner).sorted())
    if wanted != told { fail("endpoints of \(wanted) are disabled, and \(told) are told") }
  }

  private func owners(of changes: MemoryTransaction.Changes, _ contents: MemoryContents) -> Set<UInt32> {
    let reminders = changes.reminders.compactMap {
      contents.reminders[$0]?.owner ?? checker.known[$0]?.reminder.owner
    }
    let occurrences = changes.occurrences.compactMap { contents.occurrences[$0]?.owner }
    let deliveries = changes.deliveries.compactMap { contents.outbox[$0]?.delivery.queue.owner }
    return Set(reminders + occurrences + deliveries)
  }

  // MARK: Messages on time

  func channelChanges(_ queue: DeliveryQueue) { wellSince[queue] = world.mono }

  /// Checks, while nothing is in flight, that a message to a channel that delivers leaves soon, whatever becomes of the
  /// others.
  func checkPromptness(_ loop: SimulatedDaemon) {
    let contents = checker.contents
    guard !contents.pending.isEmpty, checker.isCalm(for: Self.promptness) else { return }
    for (queue, pending) in contents.pending {
      let policy = loop.core.scheduler.policies[queue]
      // Of more, some wait for the others.
      guard pending.count <= policy.concurrency, !policy.isClosed, !policy.isOrdered, policy.rate == nil, isWell(queue)
      else { continue }
      for one in pending where loop.underWay[one.id] == nil {
        guard let delivery = contents.outbox[one.id]?.delivery, delivery.ownTime + Self.promptness < world.wall else {
          continue
        }
        world.fail(
          "the message \(one.id) to \(queue.channel) of \(queue.owner) waits since \(delivery.ownTime.text), and nothing "
            + "is wrong there")
      }
    }
  }

  private func isWell(_ queue: DeliveryQueue) -> Bool {
    guard queue.channel == .desktop || world.isCommand(queue.channel) || checker.contents.endpoints[queue] != nil else {
      return false
    }
    if let behavior = world.behaviors[queue], behavior.kind != .well || behavior.takes > 1_000 { return false }
    func isLongAgo(_ time: Int64?) -> Bool { time.map { world.mono - $0 > Self.settling.rawValue } ?? true }
    return isLongAgo(wellSince[queue]) && isLongAgo(checker.troubled[queue])
  }
}
