import ChimeControl
import ChimeCore
import ChimeDelivery
import ChimeSchedule

// Jobs that say of themselves that they are done.
extension RequestHandler {
  private typealias Wired = ExpectationsInterface

  /// How many runs a row of green and red shows.
  static let beats = 30
  /// What the exit status of a program may be.
  static let exitStatuses = 0...255
  static let longestRun = Milliseconds.days(3_660)

  func handle(_ request: ExpectationsInterface.Ping) async throws -> ExpectationsInterface.Ping.Reply {
    let ping = try ping(request)
    return try await commit { [self] transaction in
      try transaction.lockTrackers()
      let record = try expectation(request.id, in: transaction)
      // What came from memory is to be recorded in the order in which it came.
      guard !heard.contains(where: { $0.reminder == record.reminder.id }) else {
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

  /// The endpoint that reads answers: the one of that name, or the only one.
  private func answering(
    _ name: String?, for owner: UInt32, in transaction: any StoreTransaction
  ) throws -> Endpoint {
    if let name {
      let endpoint = try known(DeliveryQueue(owner: owner, channel: queue(name).channel), transaction)
      guard endpoint.settings.hasTopic else {
        throw ControlFailure.conflict(
          "\(name) reads no topic: chime endpoint edit \(name) --replies https://ntfy.sh/my-replies")
      }
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
    if let took = request.tookMs, !(0...Int(Self.longestRun.rawValue)).contains(took) {
      throw ControlFailure.invalidValue(
        field: "tookMs", "give a number of milliseconds, at most \(Self.longestRun.rawValue)")
    }
    return Ping(
      at: now, kind: request.kind.flatMap { .init(rawValue: $0.rawValue) } ?? .succeeded, uid: caller.uid,
      via: caller.tenant?.name, took: request.tookMs.map { Milliseconds(rawValue: Int64($0)) }, status: request.status,
      output: request.output.flatMap { OutputEnd.printable($0, bytes: Product.pingOutputLimit) })
  }

  /// An expectation by its id, a prefix of it, or its title.
  private func expectation(_ id: String, in transaction: any StoreTransaction) throws -> ReminderRecord {
    let record = try reminders(in: transaction).reminder(id)
    guard record.reminder.isExpectation else {
      throw ControlFailure.conflict(
        "\"\(record.reminder.title)\" is a reminder and does not expect a ping; chime edit \(record.reminder.id) "
          + "--within 2h makes it an expectation")
    }
    return record
  }

  func handle(_ request: ExpectationsInterface.List) async throws -> ExpectationsInterface.List.Reply {
    let page = try page(limit: request.limit, cursor: request.cursor)
    return try await store.read { [self] transaction in
      let filter = ReminderFilter(owner: caller.sees, expectationsOnly: true)
      var listed: [ExpectationsInterface.Expectation] = []
      let cursor = try inParts(page) { part in
        let records = try transaction.reminders(filter, page: part)
        var bytes = 0
        for record in records {
          let pings = try transaction.pings(of: record.reminder.id, among: .all, withOutput: false, limit: Self.beats)
          let found = try described(record, pings, in: transaction)
          guard request.state.map({ $0 == found.state }) ?? true else { continue }
          bytes += 2_000 + found.title.utf8.count + found.when.utf8.count
          listed.append(found)
        }
        return (records.count + transaction.unreadable.count, bytes)
      }
      return ExpectationsInterface.List.Reply(expectations: listed, cursor: cursor)
    }
  }

  func handle(_ request: ExpectationsInterface.Get) async throws -> ExpectationsInterface.Get.Reply {
    try await store.read { [self] transaction in
      let record = try expectation(request.id, in: transaction)
      let pings = try transaction.pings(of: record.reminder.id, among: .all, withOutput: true, limit: Ping.kept)
      let zone = wire.zone(of: record.reminder)
      return ExpectationsInterface.Get.Reply(
        expectation: try described(record, pings, in: transaction),
        pings: pings.map { wire.ping($0, zone: zone) })
    }
  }

  /// - Parameter pings: the newest first.
  private func described(
    _ record: ReminderRecord, _ pings: [Ping], in transaction: any StoreTransaction
  ) throws -> ExpectationsInterface.Expectation {
    let reminder = record.reminder
    let zone = wire.zone(of: reminder)
    let isRunning = pings.first?.kind == .started && record.awaitedUntil != nil
    let state: ExpectationsInterface.Expectation.State =
      if reminder.pause.holds(at: now) {
        .paused
      } else if isRunning {
        .running
      } else if record.downSince != nil {
        .down
      } else if record.awaitedUntil != nil {
        .awaited
      } else {
        pings.isEmpty ? .new : .up
      }
    let recent = try transaction.occurrences(OccurrenceFilter(reminder: reminder.id), page: Page(limit: Self.beats))
    return ExpectationsInterface.Expectation(
      id: reminder.id.rawValue, title: reminder.title, when: reminder.schedule.canonical,
      within: DurationText.formatISO8601(reminder.within ?? .zero), state: state,
      downSince: record.downSince.map { wire.time($0, in: zone) },
      awaitedUntil: record.awaitedUntil.map { wire.time($0, in: zone) },
      next: wire.nextHeard(record).map { wire.time($0.at, in: zone) },
      lastGood: try
        (pings.first { $0.kind == .succeeded } ?? transaction.lastPing(of: reminder.id, among: [.succeeded]))
        .map { wire.time($0.at, in: zone) },
      last: pings.first.map { ping in
        var ping = ping
        // Whoever asks for one expectation has it in `pings`.
        ping.output = nil
        return wire.ping(ping, zone: zone)
      },
      beats: Self.beats(pings, recent).map { .init(at: wire.time($0.at, in: zone), result: $0.result) })
  }

  private typealias Beat = (at: Instant, result: ExpectationsInterface.Beat.Result)

  /// The runs that pings tell of, and the times of which none does, in the order in which it was known.
  private static func beats(_ pings: [Ping], _ recent: [Occurrence]) -> [Beat] {
    let runs = pings.compactMap { ping -> Beat? in
      switch ping.kind {
      case .started: nil
      case .succeeded: (ping.at, .good)
      case .failed: (ping.at, .failed)
      }
    }
    let failures = Set(pings.filter { $0.kind == .failed }.map(\.at))
    let missed = recent.compactMap(\.firedAt).filter { !failures.contains($0) }.map { Beat($0, .missed) }
    return (runs + missed).sorted { $0.at < $1.at }.suffix(beats)
  }
}

/// Takes what a job says of itself, from wherever it came: the socket, or an endpoint's topic.
enum Pinging {
  /// - Parameters:
  ///   - record: an expectation, as it stands in `transaction`.
  ///   - absence: when nobody could fire.
  static func give(
    _ ping: Ping, to record: ReminderRecord, in transaction: any StoreTransaction, _ context: ReminderContext,
    _ uptime: Uptime
  ) throws -> (work: PingTransaction, effects: [PostCommitEffect]) {
    var generator = PooledRandom()
    let work = try PingTransaction.run(ping, of: record, in: transaction, context, uptime: uptime, using: &generator)
    let reminder = record.reminder
    var pinged = DaemonEvent(
      kind: .pinged, owner: reminder.owner, reminder: reminder.id, title: reminder.title,
      message: "\"\(reminder.title)\" \(ping.kind.rawValue)")
    pinged.ping = ping.kind
    pinged.occurrence = work.closed.last?.occurrence.id
    var effects: [PostCommitEffect] = [.event(pinged)]
    for closed in work.closed where closed.occurrence.firedAt != nil {
      effects += Answering.effects(of: closed.occurrence, now: ping.at)
    }
    effects += Answering.effects(of: work.chained)
    for shown in [work.told, work.notice].compactMap({ $0 }) {
      effects.append(.occurrence(.fired, shown, "\"\(shown.title)\" fired"))
    }
    return (work, effects)
  }
}

extension WireMapper {
  func ping(_ ping: Ping, zone: Zone) -> ExpectationsInterface.PingRecord {
    ExpectationsInterface.PingRecord(
      at: time(ping.at, in: zone), kind: .init(rawValue: ping.kind.rawValue) ?? .succeeded, uid: Int(ping.uid),
      tenant: ping.endpoint == nil ? ping.via : nil, endpoint: ping.endpoint,
      tookMs: ping.took.map { Int($0.rawValue) }, status: ping.status, output: ping.output)
  }
}
