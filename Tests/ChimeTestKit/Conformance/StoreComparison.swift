public import ChimeCore
import ChimeSchedule

/// Applies one random sequence of operations to two stores and compares all results.
///
///     try await StoreComparison(seed: 7, steps: 2_000).run(sqlite, MemoryStore())
///
/// The seed determines everything, so each difference is reproducible.
public struct StoreComparison: Sendable {
  private let seed: UInt64
  private let steps: Int

  public init(seed: UInt64, steps: Int) {
    self.seed = seed
    self.steps = steps
  }

  /// - Throws: `ConformanceFailure` with the seed and the step of the first difference.
  public func run(_ one: any Store, _ other: any Store) async throws {
    for step in 0..<steps {
      let (first, second) = (await play(step, on: one), await play(step, on: other))
      try expect(second, is: first, "seed \(seed), step \(step)")
      guard step % 100 == 99 || step == steps - 1 else { continue }
      let (all, others) = (try await one.read(Self.everything), try await other.read(Self.everything))
      for (line, counterpart) in zip(all, others) {
        try expect(counterpart, is: line, "seed \(seed), the contents after step \(step)")
      }
    }
  }

  /// Compares the contents of two stores.
  ///
  /// - Throws: `ConformanceFailure` with the first difference.
  public static func compare(_ one: any Store, _ other: any Store) async throws {
    let (all, others) = (try await one.read(everything), try await other.read(everything))
    try expect(others.count, is: all.count, "the contents")
    for (line, counterpart) in zip(all, others) { try expect(counterpart, is: line, "the contents") }
  }

  /// Runs a step and returns its result or error as text.
  private func play(_ step: Int, on store: any Store) async -> String {
    do { return try await move(step, on: store) } catch { return "\(error)" }
  }

  /// Runs one step on a store.
  ///
  /// - Returns: the result as text.
  /// - Throws: the store's error; a deliberate rollback throws nothing.
  public func move(_ step: Int, on store: any Store) async throws -> String {
    let seed = seed &* 1_000_003 &+ UInt64(step)
    do {
      return try await store.write { transaction in
        var random = SeededGenerator(seed: seed)
        // Several operations per transaction, and sometimes a rollback after all of them.
        let said = try (0..<Int.random(in: 1...3, using: &random)).map { part in
          try Self.operation(step * 4 + part, transaction, &random)
        }
        if Int.random(in: 0..<10, using: &random) == 0 { throw Aborted(said: "\(said)") }
        return "\(said)"
      }
    } catch let undone as Aborted { return "undone: \(undone.said)" }
  }

  private struct Aborted: Error { let said: String }

  private static func operation(
    _ number: Int, _ store: any StoreTransaction, _ random: inout SeededGenerator
  ) throws -> String {
    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    let now = at(Int64(number))
    let id = ReminderID(rawValue: "r\(pick(0...30))")
    let queue = [desktop, team, DeliveryQueue(owner: 2, channel: .desktop)][pick(0...2)]
    switch pick(0...31) {
    case 0...2:
      var reminder = try sample(id.rawValue, owner: UInt32(pick(1...3)), generation: Int64(pick(0...2)))
      reminder.tags = ["t\(pick(0...3))"]
      reminder.skipNext = pick(0...2)
      reminder.jitter = .seconds(Int64(pick(0...1) * pick(0...30)))
      reminder.nag = pick(0...1) == 0 ? nil : Nag(every: .seconds(10))
      reminder.wake = pick(0...1) == 0
      reminder.pause = [.none, .none, .until(at(Int64(number + 20))), .indefinitely][pick(0...3)]
      let next = at(Int64(number + pick(-20...40)))
      try store.upsert(
        reminder, next: pick(0...4) == 0 ? nil : next, nextDueAt: pick(0...3) == 0 ? next + .seconds(20) : nil)
      return "put"
    case 3: return "removed \(try store.remove(id, now: now))"
    case 4...7:
      let due = try store.claimDue(now: now, limit: pick(0...6))
      let queues = Array([desktop, team, DeliveryQueue(owner: 2, channel: .desktop)].prefix(pick(0...3)))
      try store.record(
        due.map { due in
          var firing = fire(
            due, next: pick(0...3) == 0 ? nil : now + .seconds(Int64(pick(1...60))), queues: queues, now: now,
            repeatAt: pick(0...1) == 0 ? nil : now + .seconds(Int64(pick(1...20))), tag: "-\(number)")
          switch pick(0...7) {
          case 0, 1:
            firing.occurrences[0].state = .missed(MissReason.allCases[pick(0...MissReason.allCases.count - 1)])
            // An occurrence that has fired can be missed when its snooze ends in quiet hours.
            if pick(0...3) > 0 { firing.occurrences[0].firedAt = nil }
            firing.deliveries = []
          // Held back, or answered in the meantime.
          case 2:
            (firing.occurrences, firing.deliveries) = ([], [])
            if due.isRegular { (firing.next, firing.nextDueAt) = (due.scheduledAt, now + .seconds(30)) }
          default: break
          }
          return firing
        })
      return "fired \(due)"
    case 8...10:
      let passed = try store.occurrences(OccurrenceFilter(), page: Page(limit: pick(0...20))).last?.id
      let listed = try store.occurrences(OccurrenceFilter(after: passed), page: Page(limit: 1))
      guard var occurrence = listed.first else { return "nothing to update" }
      let states: [Occurrence.State] = [
        .delivered, .snoozed(until: now + .seconds(Int64(pick(-5...30)))), .done, .dismissed, .fired,
        .awaited(until: now + .seconds(Int64(pick(-5...30)))),
      ]
      occurrence.state = states[pick(0...5)]
      occurrence.repeats = pick(0...3)
      occurrence.repeatAt = pick(0...1) == 0 ? nil : now + .seconds(Int64(pick(-5...20)))
      try store.update(occurrence, now: now)
      return "updated \(occurrence)"
    case 11, 12:
      let claims = try store.claimDeliveries(
        queue: queue, now: now, visibleAgain: now + .seconds(Int64(pick(1...30))), limit: pick(0...4))
      for claim in claims where pick(0...2) > 0 {
        let states: [Delivery.State] = [
          .delivered(at: now), .dead(at: now), .waiting(until: now + .seconds(Int64(pick(0...50)))), .pending,
        ]
        let attempt = Attempt(number: claim.delivery.attempts + 1, startedAt: now, took: .zero, outcome: .failed)
        try store.acknowledge(claim.delivery.id, attempt: pick(0...3) == 0 ? nil : attempt, state: states[pick(0...3)])
      }
      return "claimed \(claims)"
    case 13:
      if pick(0...1) == 0 { try store.releaseClaims() } else { try store.wake(queue: queue, now: now) }
      return "woken"
    case 14:
      if pick(0...1) == 0 {
        let settings = EndpointSettings(inOrder: pick(0...1) == 0 ? true : nil)
        try store.put(Endpoint(queue: queue, url: "http://\(number)/", settings: settings, createdAt: now))
        return "endpoint put"
      }
      return "endpoint removed \(try store.removeEndpoint(queue, now: now))"
    case 15, 16:
      let passed = try store.deliveries(DeliveryFilter(), page: Page(limit: pick(0...20))).last?.id
      let listed = try store.deliveries(DeliveryFilter(after: passed), page: Page(limit: 2))
      if pick(0...1) == 0 {
        try store.release(listed.map(\.id), now: now)
        return "released"
      }
      return "sent again \(try listed.map { try store.replay($0.id, now: now) })"
    case 17:
      let count = pick(0...60)
      let last = try store.timeOfOccurrence(after: count)
      let limits = HistoryLimits(age: pick(0...2) == 0 ? nil : .seconds(Int64(pick(1...400))), count: count)
      guard let edge = limits.edge(at: now, last: last) else { return "nothing to prune" }
      let first = try store.prune(edge, past: nil, limit: pick(1...20))
      return "pruned \(first) \(try store.prune(edge, past: first.past, limit: 20))"
    case 18:
      try store.reevaluateHeld(now: now)
      return "looked at again"
    case 20...31: return try trackingOperation(number, store, &random)
    default:
      try store.keepAnswer([UInt8(pick(0...255))], owner: 1, token: "t\(pick(0...9))", now: at(Int64(number) * 1_000))
      try store.setNote("n\(pick(0...5))", pick(0...2) == 0 ? nil : "\(number)")
      return "kept"
    }
  }

  /// Returns all visible contents of a store, piece by piece.
  private static let everything: @Sendable (any StoreTransaction) throws -> [String] = { store in
    let page = Page(limit: 10_000)
    var lines: [String] = []
    for filter in [
      ReminderFilter(), ReminderFilter(owner: 1), ReminderFilter(tag: "t1"), ReminderFilter(text: "R1"),
      ReminderFilter(includesFinished: false), ReminderFilter(dueFrom: at(100), dueBefore: at(2_000)),
    ] { lines.append("\(try store.reminders(filter, page: page))") }
    for filter in [OccurrenceFilter(), OccurrenceFilter(owner: 2, openOnly: true)] {
      lines += try store.occurrences(filter, page: page).map { "\($0)" }
    }
    for filter in [DeliveryFilter(), DeliveryFilter(owner: 1_000, state: .dead), DeliveryFilter(channel: .desktop)] {
      for delivery in try store.deliveries(filter, page: page) {
        lines.append("\(delivery) \(try store.attempts(of: delivery.id))")
      }
    }
    lines += try (0...30).map { "\(String(describing: try store.reminder(ReminderID(rawValue: "r\($0)"))))" }
    lines += try (0...9).map { "\(String(describing: try store.answer(owner: 1, token: "t\($0)")))" }
    lines += try (0...5).map { "\(String(describing: try store.note("n\($0)")))" }
    lines.append("\(try store.endpoints(owner: nil))")
    lines += try ([nil, 1, 2, 1_000] as [UInt32?]).map { "\(try store.counts(owner: $0))" }
    let wakeups = try store.wakeups()
    lines.append("\(String(describing: wakeups.nextDue)), \(String(describing: wakeups.nextWake))")
    lines += wakeups.outbox.sorted { $0.key < $1.key }.map { "\($0)" }
    return lines + (try tracking(store))
  }
}
