import ChimeCore
import ChimeSchedule
import Synchronization

/// A MatrixReading reads named people's answers in one room by long polls, one at a time, until it is closed.
///
/// Each poll waits until the loop has recorded all earlier answers. Answers therefore cannot pile up, and a daemon that
/// is killed resumes after the last recorded answer.
final class MatrixReading: Sendable {
  private let queue: DeliveryQueue
  private let number: UInt64
  private let client: MatrixClient
  private let hear: @Sendable (ReplyReader.Event) -> Void
  /// A mutex guards the state, because the loop closes and settles while the reading runs.
  private let state = Mutex(State())

  private struct State {
    var isClosed = false
    /// The reply that must be recorded before the next poll, and the task that waits for it.
    var pending: (id: String, waiter: CheckedContinuation<Void, Never>?)?
  }

  /// How long a room may be silent before its position is recorded anyway.
  private static let silence = Milliseconds.hours(1)
  /// Maximum pages of missed events, with `MatrixFilter.most` events each.
  private static let mostPages = 100

  init(
    _ queue: DeliveryQueue, number: UInt64, client: MatrixClient, hear: @escaping @Sendable (ReplyReader.Event) -> Void
  ) {
    (self.queue, self.number, self.client, self.hear) = (queue, number, client, hear)
  }

  func close() {
    client.engine.end(number)
    let waiter = state.withLock { state in
      state.isClosed = true
      defer { state.pending = nil }
      return state.pending?.waiter
    }
    waiter?.resume()
  }

  func settle(_ id: String) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.pending?.id == id else { return nil }
      defer { state.pending = nil }
      return state.pending?.waiter
    }
    waiter?.resume()
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  /// - Parameter last: Id of the last recorded reply; nil for none.
  func run(after last: String?) async {
    do throws(MatrixClient.Fault) {
      try await read(from: MatrixPlace(last))
    } catch {
      guard !isClosed else { return }
      hear(.ended(.init(reason: error.reason, retryAfter: error.retryAfter)))
    }
  }

  private func read(from begin: MatrixPlace) async throws(MatrixClient.Fault) {
    guard let endpoint = client.access()?.endpoint, let senders = endpoint.settings.senders else {
      throw .init(reason: "the endpoint names nobody who may answer")
    }
    let room: String
    do throws(DeliveryError) { room = try MatrixAddress(endpoint.url).room } catch {
      throw .init(reason: error.description)
    }
    let account = try await client.enter(room, number: number)
    let token = client.access()?.token
    let source = MatrixSource(
      room: room, account: account, senders: Set(senders), since: endpoint.createdAt,
      filter: MatrixFilter.text(room: room, senders: senders), pageFilter: MatrixFilter.text(senders: senders))
    var (place, patience, pace) = (begin, MatrixPatience(), MatrixPace())
    var noted = SuspendingClock.now
    var isFirst = true
    while !isClosed {
      let wait = isFirst ? .zero : patience.wait
      let asked = SuspendingClock.now
      let sync: MatrixReply.Sync
      do throws(MatrixClient.Fault) {
        sync = try await self.sync(source, place, wait)
      } catch {
        let took = Milliseconds(asked.duration(to: .now))
        guard error.isOnTheWay, !isClosed, patience.wasCut(after: took) else { throw error }
        continue
      }
      guard !isClosed else { return }
      // Another token may belong to another account, whose messages are different.
      guard client.access()?.token == token else { throw .init(reason: "it has a new token now") }
      patience.answered(after: Milliseconds(asked.duration(to: .now)))
      guard pace.allows(at: .now) else { throw .init(reason: "it answers too often, without anything new") }
      let events = try await self.events(sync, source, place)
      if isFirst {
        hear(.opened)
        isFirst = false
      }
      let replies = try await self.replies(events, source, place)
      guard !isClosed else { return }
      let isOld = Milliseconds(noted.duration(to: .now)) >= Self.silence
      var pending = replies
      if sync.next_batch != place.since, place.since == nil || !events.isEmpty || isOld {
        pending.append(.init(id: MatrixPlace(since: sync.next_batch).text, .nothing))
        noted = .now
      }
      if let last = pending.last {
        state.withLock { $0.pending = $0.isClosed ? nil : (last.id, nil) }
        hear(.came(pending, nonsense: 0))
        await settled()
      }
      place = MatrixPlace(since: sync.next_batch)
    }
  }

  private func settled() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isDone = state.withLock { state in
        guard state.pending != nil else { return true }
        state.pending?.waiter = continuation
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  private func sync(
    _ source: MatrixSource, _ place: MatrixPlace, _ wait: Milliseconds
  ) async throws(MatrixClient.Fault) -> MatrixReply.Sync {
    var query = [("filter", source.filter), ("set_presence", "offline"), ("timeout", "\(wait.rawValue)")]
    if let since = place.since { query.append(("since", since)) }
    let sync = try await client.ask(
      for: MatrixReply.Sync.self, Matrix.path("sync"), query: query, number: number,
      limit: wait + client.configuration.totalTimeout)
    guard MatrixReply.isPlace(sync.next_batch) else { throw .init(reason: "its next_batch is invalid") }
    if sync.rooms?.leave?[source.room] != nil {
      throw .init(
        reason: "\(source.account) is no longer in the room: invite it there, and Chime accepts the invitation")
    }
    return sync
  }

  /// Returns the events after a position, oldest first.
  private func events(
    _ sync: MatrixReply.Sync, _ source: MatrixSource, _ place: MatrixPlace
  ) async throws(MatrixClient.Fault) -> [MatrixEvent] {
    let timeline = sync.rooms?.join?[source.room]?.timeline
    var events = timeline?.events ?? []
    if timeline?.limited == true, let since = place.since, let before = timeline?.prev_batch {
      events = try await gap(source, from: before, to: since) + events
    }
    if let after = place.after, let known = events.lastIndex(where: { $0.id == after }) {
      events.removeFirst(known + 1)
    }
    // On the first read of a room, events before the creation of the endpoint are irrelevant.
    if place.since == nil { events.removeAll { ($0.at ?? .earliest) < source.since } }
    return events
  }

  /// Fetches events that the server left out of a limited timeline.
  private func gap(
    _ source: MatrixSource, from: String, to since: String
  ) async throws(MatrixClient.Fault) -> [MatrixEvent] {
    var (found, from): ([MatrixEvent], String?) = ([], from)
    for _ in 0..<Self.mostPages {
      guard let place = from, MatrixReply.isPlace(place), !isClosed else { break }
      let page = try await client.ask(
        for: MatrixReply.Messages.self, Matrix.path("rooms", source.room, "messages"),
        query: [
          ("dir", "b"), ("from", place), ("to", since), ("limit", "\(MatrixFilter.most)"),
          ("filter", source.pageFilter),
        ], number: number)
      found += page.chunk ?? []
      from = page.end == place ? nil : page.end
    }
    return found.reversed()
  }

  /// Returns the replies to process, in order.
  private func replies(
    _ events: [MatrixEvent], _ source: MatrixSource, _ place: MatrixPlace
  ) async throws(MatrixClient.Fault) -> [ReplyReader.Reply] {
    var replies: [ReplyReader.Reply] = []
    // Each answered event is looked up once.
    var known: [String: DeliveryID?] = [:]
    for event in events {
      guard let id = event.id, let sender = event.sender, source.senders.contains(sender) else { continue }
      if event.isEncrypted { throw MatrixClient.isEncrypted }
      guard let (target, what) = event.answer else { continue }
      let delivery: DeliveryID?
      if let found = known[target] {
        delivery = found
      } else {
        delivery = try await self.delivery(target, source)
        known[target] = .some(delivery)
      }
      guard let delivery, !isClosed else { continue }
      let answer = ChatAnswer(what: what, delivery: delivery, id: id, at: event.at ?? .latest)
      replies.append(.init(id: MatrixPlace(since: place.since, after: id).text, .answer(answer)))
    }
    return replies
  }

  /// Returns the id of Chime's message in an event; nil if it is none. Only the server can confirm its sender.
  private func delivery(_ id: String, _ source: MatrixSource) async throws(MatrixClient.Fault) -> DeliveryID? {
    let event: MatrixEvent
    do throws(MatrixClient.Fault) {
      event = try await client.ask(
        for: MatrixEvent.self, Matrix.path("rooms", source.room, "event", id), number: number)
    } catch {
      guard error.status == 404 || error.status == 403 else { throw error }
      return nil
    }
    guard event.sender == source.account, let text = event.delivery, (1...64).contains(text.utf8.count) else {
      return nil
    }
    return DeliveryID(rawValue: text)
  }
}

/// The parameters of a reading.
private struct MatrixSource {
  var room: String
  /// Chime's own account.
  var account: String
  var senders: Set<String>
  /// Creation time of the endpoint.
  var since: Instant
  var filter: String
  var pageFilter: String
}

/// A position in a room: the `since` token, and the last event after it that was processed.
struct MatrixPlace: Hashable {
  var since: String?
  var after: String?

  init(since: String?, after: String? = nil) { (self.since, self.after) = (since, after) }

  /// Parses a reply's id. Event ids never contain a bar.
  init(_ text: String?) {
    guard let text else {
      (since, after) = (nil, nil)
      return
    }
    let bar = text.lastIndex(of: "|") ?? text.endIndex
    since = bar == text.startIndex ? nil : String(text[..<bar])
    after = text[bar...].count > 1 ? String(text[bar...].dropFirst()) : nil
  }

  var text: String { "\(since ?? "")|\(after ?? "")" }
}

/// Limits a server's responses: a burst of 60, and one per second on average.
struct MatrixPace {
  private static let burst = 60
  private var answers = 0
  private let begun = SuspendingClock.now

  init() {}

  mutating func allows(at now: SuspendingClock.Instant) -> Bool {
    answers += 1
    return answers <= Self.burst + Int(begun.duration(to: now).components.seconds)
  }
}
