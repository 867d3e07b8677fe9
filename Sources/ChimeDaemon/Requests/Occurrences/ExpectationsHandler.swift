import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

/// An ExpectationsHandler answers the methods about expectations: jobs that ping when they have run.
struct ExpectationsHandler: ExpectationsInterface.Handler, RequestPart {
  let requestContext: RequestContext

  /// The number of recent runs.
  private static let recentRuns = 30
  /// The exit statuses of programs.
  static let exitStatuses = 0...255
  static let longestRun = Milliseconds.days(3_660)

  func handle(_ request: ExpectationsInterface.Ping) async throws -> ExpectationsInterface.Ping.Reply {
    let ping = try ping(request)
    return try await commit { [self] transaction in
      try transaction.lockTrackers()
      let record = try expectation(request.id, in: transaction)
      // Occurrences of degraded mode must be recorded first, in their order.
      guard !unrecorded.contains(where: { $0.reminder == record.reminder.id }) else {
        throw ControlFailure.storeUnavailable(
          "the result of \"\(record.reminder.title)\" from the time when the store rejected changes is not recorded "
            + "yet; ping again in a moment")
      }
      let (work, effects) = try Pinging.give(ping, to: record, in: transaction, context, uptime)
      let reminder = record.reminder
      return (
        ExpectationsInterface.Ping.Reply(
          id: reminder.id.rawValue, title: reminder.title, wasDownMs: work.wasDown.map { Int($0.rawValue) }), effects
      )
    }
  }

  func handle(_ request: ExpectationsInterface.Tokens) async throws -> ExpectationsInterface.Tokens.Reply {
    let (reminder, endpoint) = try await store.read { [self] transaction in
      let reminder = try expectation(request.id, in: transaction).reminder
      return (reminder, try answering(request.endpoint, for: reminder.owner, in: transaction))
    }
    let access = secrets.read(endpoint.queue).access(endpoint)
    func token(_ kind: Ping.Kind) throws -> String {
      guard let token = access.actionToken(.ping(kind, reminder.id), at: now) else {
        throw ControlFailure.conflict(
          "the secret of \(endpoint.queue.channel) cannot be read, so nothing can be signed")
      }
      return token
    }
    return ExpectationsInterface.Tokens.Reply(
      id: reminder.id.rawValue, title: reminder.title, endpoint: endpoint.queue.channel.rawValue,
      address: endpoint.settings.replies ?? "", succeeded: try token(.succeeded), started: try token(.started),
      failed: try token(.failed))
  }

  /// Returns the endpoint that reads answers: the named one, or the only one.
  private func answering(
    _ name: String?, for owner: UInt32, in transaction: any StoreTransaction
  ) throws -> Endpoint {
    if let name {
      let endpoint = try EndpointLookup.endpoint(EndpointLookup.queue(name, of: owner), in: transaction)
      try need(
        endpoint.settings.hasTopic,
        conflict: "\(name) reads no topic: chime endpoint edit \(name) --replies https://ntfy.sh/my-replies")
      return endpoint
    }
    let answering = try transaction.endpoints(owner: owner).filter(\.settings.hasTopic)
    switch answering.count {
    case 1: return answering[0]
    case 0:
      throw ControlFailure.conflict(
        "no endpoint reads a topic: chime endpoint add phone https://ntfy.sh/my-topic --template ntfy --replies "
          + "https://ntfy.sh/my-replies")
    default:
      let names = answering.map(\.queue.channel.rawValue).joined(separator: ", ")
      throw ControlFailure.invalidValue(field: "endpoint", "several endpoints read topics: choose one of \(names)")
    }
  }

  private func ping(_ request: ExpectationsInterface.Ping) throws -> Ping {
    if let status = request.status, !Self.exitStatuses.contains(status) {
      throw ControlFailure.invalidValue(field: "status", "an exit status must be from 0 to 255, not \(status)")
    }
    if let took = request.durationMs, !(0...Int(Self.longestRun.rawValue)).contains(took) {
      throw ControlFailure.invalidValue(
        field: "durationMs", "give a number of milliseconds, at most \(Self.longestRun.rawValue)")
    }
    return Ping(
      at: now, kind: request.kind.flatMap { .init(rawValue: $0.rawValue) } ?? .succeeded, uid: caller.uid,
      via: caller.tenant?.name, took: request.durationMs.map { Milliseconds(rawValue: Int64($0)) },
      status: request.status,
      output: request.output.flatMap { OutputEnd.printable($0, bytes: Product.pingOutputLimit) })
  }

  /// Finds an expectation by its id, a prefix of it, or its title.
  private func expectation(_ id: String, in transaction: any StoreTransaction) throws -> ReminderRecord {
    let record = try reminders(in: transaction).reminder(id)
    try need(
      record.reminder.isExpectation,
      conflict:
        "\"\(record.reminder.title)\" is a reminder and does not expect a ping; chime edit \(record.reminder.id) "
        + "--within 2h makes it an expectation")
    return record
  }

  func handle(_ request: ExpectationsInterface.List) async throws -> ExpectationsInterface.List.Reply {
    let page = try page(limit: request.limit)
    return try await store.read { [self] transaction in
      var filter = ReminderFilter(owner: caller.sees, expectationsOnly: true)
      var listed: [ExpectationsInterface.Expectation] = []
      let cursor = try inParts(page, after: place(request.cursor)) { part, place in
        filter.after = place
        let records = try transaction.reminders(filter, page: part)
        var bytes = 0
        for record in records {
          let pings = try transaction.pings(
            of: record.reminder.id, among: .all, withOutput: false, limit: Self.recentRuns)
          let found = try described(record, pings, in: transaction)
          guard request.state.map({ $0 == found.state }) ?? true else { continue }
          bytes += 2_000 + found.title.utf8.count + found.when.utf8.count
          listed.append(found)
        }
        return (records.count + transaction.unreadable.count, bytes, transaction.listedThrough)
      }
      return ExpectationsInterface.List.Reply(expectations: listed, cursor: cursor)
    }
  }

  func handle(_ request: ExpectationsInterface.Get) async throws -> ExpectationsInterface.Get.Reply {
    try await store.read { [self] transaction in
      let record = try expectation(request.id, in: transaction)
      let pings = try transaction.pings(of: record.reminder.id, among: .all, withOutput: true, limit: Ping.maxStored)
      let zone = wire.zone(of: record.reminder)
      return ExpectationsInterface.Get.Reply(
        expectation: try described(record, pings, in: transaction),
        pings: pings.map { wire.ping($0, zone: zone) })
    }
  }

  /// - Parameter pings: newest first.
  private func described(
    _ record: ReminderRecord, _ pings: [Ping], in transaction: any StoreTransaction
  ) throws -> ExpectationsInterface.Expectation {
    let reminder = record.reminder
    let zone = wire.zone(of: reminder)
    let isRunning = pings.first?.kind == .started && record.pingDeadline != nil
    let state: ExpectationsInterface.Expectation.State =
      if reminder.pause.holds(at: now) {
        .paused
      } else if isRunning {
        .running
      } else if record.downSince != nil {
        .down
      } else if record.pingDeadline != nil {
        .awaited
      } else {
        pings.isEmpty ? .new : .up
      }
    let recent = try transaction.occurrences(
      OccurrenceFilter(reminder: reminder.id), page: Page(limit: Self.recentRuns))
    return ExpectationsInterface.Expectation(
      id: reminder.id.rawValue, title: reminder.title, when: reminder.schedule.canonical,
      within: DurationText.formatISO8601(reminder.within ?? .zero), state: state,
      downSince: record.downSince.map { wire.time($0, in: zone) },
      pingDeadline: record.pingDeadline.map { wire.time($0, in: zone) },
      next: wire.nextNotification(record).map { wire.time($0.at, in: zone) },
      lastSuccess: try
        (pings.first { $0.kind == .succeeded } ?? transaction.lastPing(of: reminder.id, among: [.succeeded]))
        .map { wire.time($0.at, in: zone) },
      last: pings.first.map { ping in
        var ping = ping
        // Only `pings` of `Get` has the output.
        ping.output = nil
        return wire.ping(ping, zone: zone)
      },
      recentRuns: Self.recentRuns(pings, recent).map { .init(at: wire.time($0.at, in: zone), result: $0.result) })
  }

  private typealias RunResult = (at: Instant, result: ExpectationsInterface.RunResult.Result)

  /// Returns the runs that were pinged or missed, oldest first.
  private static func recentRuns(_ pings: [Ping], _ recent: [Occurrence]) -> [RunResult] {
    let runs = pings.compactMap { ping -> RunResult? in
      switch ping.kind {
      case .started: nil
      case .succeeded: (ping.at, .succeeded)
      case .failed: (ping.at, .failed)
      }
    }
    let failures = Set(pings.filter { $0.kind == .failed }.map(\.at))
    let missed = recent.compactMap(\.firedAt).filter { !failures.contains($0) }.map { RunResult($0, .missed) }
    return (runs + missed).sorted { $0.at < $1.at }.suffix(recentRuns)
  }
}
