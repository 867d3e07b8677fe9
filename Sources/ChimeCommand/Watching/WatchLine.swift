import ChimeControl
import ChimeSchedule
import ChimeWords
import Varlink

/// The connections of `chime watch` to the daemon: one that streams events, and one for requests, one at a time.
/// Nothing here blocks.
final class WatchLine {
  private let events: Daemon.Pending<DaemonInterface.Monitor.Reply>
  private let watching: Daemon
  private let asking: Daemon
  private let clock: WallClock
  private var questions: [Question] = []
  private var asked: Question?
  private var askedAt = ContinuousClock.now
  private var refreshedAt = ContinuousClock.now - .seconds(60)
  private var refreshWanted = true
  private var isFirst = true
  /// Whether the screen has room for the timeline of the next day.
  var wantsDayAhead = false

  /// The minimum interval between two full refreshes.
  private static let rest = Duration.seconds(1)
  /// The refresh interval for data without events.
  private static let usual = Duration.seconds(300)
  /// The response time after which the daemon counts as silent.
  private static let patience = Duration.seconds(3)
  /// The most items of each list, more than a screen shows.
  private static let most = 200
  /// The most upcoming times for the timeline, where many share a cell.
  static let mostAhead = 1_000

  /// A request, and the handler of its reply.
  private struct Question {
    var begin: (Daemon) throws -> Void
    /// Handles the reply if it has arrived; returns whether it had.
    var take: (inout WatchModel) throws -> Bool
  }

  init(_ context: Context) throws {
    clock = context.clock()
    watching = try context.connect()
    asking = try context.connect()
    events = try watching.follow(DaemonInterface.Monitor())
  }

  /// The descriptors that become readable when data may have arrived.
  var descriptors: [Int32] { [watching.descriptor, asked == nil ? nil : asking.descriptor].compactMap { $0 } }

  /// The time of the next action without incoming data.
  var deadline: ContinuousClock.Instant {
    if asked != nil { return max(.now, askedAt) + Self.patience }
    return refreshedAt + (refreshWanted ? Self.rest : Self.usual)
  }

  /// Requests a full refresh.
  func refresh() {
    refreshWanted = true
    refreshedAt = .now - Self.rest
  }

  // MARK: Answers

  func done(_ id: String) {
    answer(OccurrencesInterface.Done(id: id)) { reply in
      (localized("\"%1\" is done", reply.occurrence.title), .good)
    }
  }

  func dismiss(_ id: String) {
    answer(OccurrencesInterface.Dismiss(id: id)) { reply in
      (localized("\"%1\" is dismissed", reply.occurrence.title), .plain)
    }
  }

  func snooze(_ id: String, _ length: String?) {
    answer(OccurrencesInterface.Snooze(id: id, length: length)) {
      [clock] reply in
      let until = reply.occurrence.snoozedUntil.flatMap { WallClock.instant($0) }.map { clock.time($0) }
      return (localized("\"%1\" is snoozed until %2", reply.occurrence.title, until ?? "-"), .plain)
    }
  }

  /// Queues an answer before all other requests, and a refresh after it.
  private func answer<Method: VarlinkMethod>(
    _ request: Method, _ tell: @escaping (Method.Reply) -> (String, Style.Tone)
  ) {
    let question = question(request) { [weak self] model, reply in
      switch reply {
      case .success(let reply):
        let (text, tone) = tell(reply)
        model.answered(text, tone)
      case .failure(let failure): model.answered(failure.message, .bad)
      }
      self?.refresh()
    }
    questions.insert(question, at: 0)
    next()
  }

  // MARK: Receiving

  /// Handles incoming data and sends the next request.
  ///
  /// - Returns: whether anything changed.
  /// - Throws: `Failure`, if the connection is lost.
  func listen(_ model: inout WatchModel, now: Instant) throws -> Bool {
    var isChanged = false
    while let reply = try events.arrived() {
      guard !reply.events.isEmpty else { continue }
      model.take(events: reply.events)
      refreshWanted = true
      isChanged = true
    }
    guard events.isOpen else {
      throw Failure(status: .unavailable, message: localized("the daemon has ended the stream"))
    }
    while let question = asked, try question.take(&model) {
      asked = nil
      isChanged = true
      if case .silent = model.link { model.link = .connected }
      next()
    }
    if asked != nil, .now - askedAt >= Self.patience, model.link == .connected {
      model.link = .silent(since: now - .seconds(3))
      isChanged = true
    }
    // An occurrence should have fired, but no event has arrived.
    if asked == nil, .now - refreshedAt > .seconds(10),
      let first = model.upcoming.first.flatMap({ WallClock.instant($0.at) }),
      first + .seconds(2) < now, !model.upcoming[0].paused
    {
      refreshWanted = true
    }
    let pause = refreshWanted ? Self.rest : Self.usual
    if asked == nil, questions.isEmpty, .now - refreshedAt >= pause { readEverything(now) }
    return isChanged
  }

  private func next() {
    guard asked == nil, !questions.isEmpty else { return }
    let question = questions.removeFirst()
    askedAt = .now
    asked = question
    // Reading the reply will report a lost connection.
    try? question.begin(asking)
  }

  private func readEverything(_ now: Instant) {
    refreshWanted = false
    refreshedAt = .now
    let isFirst = isFirst
    self.isFirst = false
    ask(DaemonInterface.Status()) { model, reply in
      model.health = reply.status
    }
    ask(OccurrencesInterface.Upcoming(limit: Self.most)) {
      model, reply in
      model.upcoming = reply.upcoming
      model.awaiting = reply.awaiting ?? []
    }
    if wantsDayAhead {
      let end = RFC3339.format(now + .hours(24), in: clock.zone)
      ask(OccurrencesInterface.Upcoming(limit: Self.mostAhead, before: end)) { model, reply in
        model.ahead = reply.upcoming
      }
    }
    ask(OccurrencesInterface.List(filter: .init(open: true), limit: Self.most)) { model, reply in
      model.take(open: reply.occurrences)
    }
    if isFirst {
      ask(OccurrencesInterface.List(limit: 50)) {
        model, reply in model.take(history: reply.occurrences)
      }
    }
    for state in [DeliveriesInterface.Delivery.State.pending, .waiting] {
      ask(DeliveriesInterface.List(filter: .init(state: state), limit: Self.most)) { model, reply in
        model.take(pending: reply.deliveries, state: state)
      }
    }
    next()
  }

  private func ask<Method: VarlinkMethod>(
    _ request: Method, _ take: @escaping (inout WatchModel, Method.Reply) -> Void
  ) {
    questions.append(
      question(request) { model, reply in
        switch reply {
        case .success(let reply): take(&model, reply)
        case .failure(let failure): model.say(failure.message, .bad)
        }
      })
  }

  private func question<Method: VarlinkMethod>(
    _ request: Method, _ take: @escaping (inout WatchModel, Result<Method.Reply, Failure>) -> Void
  ) -> Question {
    var pending: Daemon.Pending<Method.Reply>?
    return Question(
      begin: { pending = try $0.begin(request) },
      take: { model in
        do {
          guard let pending else {
            throw Failure(status: .unavailable, message: localized("the daemon has ended the stream"))
          }
          guard let reply = try pending.arrived() else { return false }
          take(&model, .success(reply))
        } catch let failure as Failure where failure.status != .unavailable {
          take(&model, .failure(failure))
        }
        return true
      })
  }
}
