import ChimeControl
import ChimeSchedule
import ChimeWords
import Varlink

/// The line of `chime watch` to the daemon: one connection on which events come, and one on which it asks, a question at a
/// time. Nothing here waits.
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
  /// Whether the screen has room to draw the times of the day ahead.
  var wantsDayAhead = false

  /// Between two readings of everything, however much happens.
  private static let rest = Duration.seconds(1)
  /// What has no event of its own is seen so often.
  private static let usual = Duration.seconds(300)
  /// A daemon that takes longer is said to be silent.
  private static let patience = Duration.seconds(3)
  /// More is not read than a screen can show.
  private static let most = 200
  /// The same of the day ahead, on whose lines many times share a place.
  static let mostAhead = 1_000

  /// Something to ask: how, and what becomes of the answer.
  private struct Question {
    var begin: (Daemon) throws -> Void
    /// Takes the reply if it is there; says whether it was.
    var take: (inout WatchModel) throws -> Bool
  }

  init(_ context: Context) throws {
    clock = context.clock()
    watching = try context.connect()
    asking = try context.connect()
    events = try watching.follow(DaemonInterface.Monitor())
  }

  /// Readable when something may have come.
  var descriptors: [Int32] { [watching.descriptor, asked == nil ? nil : asking.descriptor].compactMap { $0 } }

  /// When something is to be done although nothing has come.
  var deadline: ContinuousClock.Instant {
    if asked != nil { return max(.now, askedAt) + Self.patience }
    return refreshedAt + (refreshWanted ? Self.rest : Self.usual)
  }

  /// Everything is read again.
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

  /// An answer goes before whatever else is to be asked, and what it changes is read at once.
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

  // MARK: Listening

  /// Takes what has come and asks what there is to ask.
  ///
  /// - Returns: whether anything is another than before.
  /// - Throws: `Failure`, when the daemon is gone.
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
    // What should have fired has not been heard of.
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
    // A daemon that is gone is met where its reply is looked for.
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
        model.take(owed: reply.deliveries, state: state)
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
