import ChimeCore
import ChimeSchedule

/// A request to show a popup, with its report handler.
struct PopupRequest: Sendable {
  let content: PopupContent
  let report: @Sendable (ChannelReport) -> Void
  let started = SuspendingClock.now

  init(_ content: PopupContent, _ report: @escaping @Sendable (ChannelReport) -> Void) {
    self.content = content
    self.report = report
  }

  /// Reports the end of the attempt that began with this value.
  func end(
    _ outcome: Attempt.Outcome, _ next: ChannelReport.NextStep, status: Int? = nil, error: String?, now: Instant
  ) {
    let took = Milliseconds(started.duration(to: .now))
    let attempt = Attempt(
      number: content.attempts + 1, startedAt: now - took, took: took, outcome: outcome, status: status, error: error)
    report(.ended(attempt, next: next))
  }
}

/// A PopupRegistry decides which popups of notify-send wait, replace others or end. It returns orders and has no side
/// effects.
struct PopupRegistry: Sendable {
  enum Order: Sendable {
    case start(Supervisor.RunID, PopupRequest, replacing: UInt32?, isPlain: Bool)
    case act(Supervisor.RunID, PopupRequest, Popup.Action)

    /// Whether the order is a report to the sender rather than a task of the supervisor.
    var isReport: Bool {
      switch self {
      case .act(_, _, .report), .act(_, _, .answer): true
      default: false
      }
    }
  }

  private struct Entry {
    var popup: Popup
    let showing: PopupRequest
  }

  /// Maximum popup numbers kept without a program, so that a later round can replace the popup.
  static let remembered = 256

  private var entries: [Supervisor.RunID: Entry] = [:]
  /// Requests that wait because the limit of popups is reached.
  private var queue: [PopupRequest] = []
  private var lastRun: Supervisor.RunID = 0
  /// Numbers of popups on screen without a program, oldest first.
  private var openPopups: [(key: PopupContent.Key, number: UInt32)] = []
  /// Whether notify-send turned out not to support buttons.
  private var isPlain = false
  private var isClosed = false

  /// Occurrences whose programs wait for an answer. Only those programs can close their popups.
  var unanswered: [OccurrenceID] {
    entries.values.filter(\.popup.isShowing).compactMap(\.showing.content.question?.occurrence.id)
  }

  mutating func admit(_ showing: PopupRequest, limit: Int) -> [Order] {
    guard !isClosed else {
      let action = Popup.Action.report(
        ShutdownOutcome.outcome, ShutdownOutcome.next, status: nil, error: ShutdownOutcome.sentence)
      return [.act(0, showing, action)]
    }
    queue.append(showing)
    return advance(limit: limit)
  }

  mutating func handle(_ event: Supervisor.Event, of run: Supervisor.RunID, limit: Int) -> [Order] {
    guard var entry = entries[run] else { return [] }
    let number = entry.popup.number
    let actions = entry.popup.handle(event)
    var orders = actions.map { Order.act(run, entry.showing, $0) }
    switch event {
    case .ended, .notStarted:
      entries[run] = nil
      // A popup without buttons ends its program as soon as it is shown.
      if entry.showing.content.question == nil, let number { stand(entry.showing, number) }
    default: entries[run] = entry
    }
    // A new server would assign the same numbers to other popups.
    if actions.contains(where: \.isBlocked) { openPopups.removeAll() }
    if actions.contains(.showPlain) {
      isPlain = true
      orders.append(begin(entry.showing))
    }
    return orders + advance(limit: limit)
  }

  mutating func withdraw(_ key: PopupContent.Key) -> [Order] {
    openPopups.removeAll { $0.key == key }
    let waiting = queue.filter { $0.content.key == key }
    queue.removeAll { $0.content.key == key }
    let closed = Popup.Action.report(.failed, .retry, status: nil, error: "closed before it was shown")
    return waiting.map { .act(0, $0, closed) } + change(runs(of: key)) { $0.withdraw() }
  }

  mutating func close() -> [Order] {
    isClosed = true
    let refused = queue
    queue.removeAll()
    let report = Popup.Action.report(
      ShutdownOutcome.outcome, ShutdownOutcome.next, status: nil, error: ShutdownOutcome.sentence)
    return refused.map { .act(0, $0, report) } + change(entries.keys.sorted()) { $0.release(ShutdownOutcome.sentence) }
  }

  /// Starts waiting requests. If the limit is reached, the oldest popups lose their programs.
  private mutating func advance(limit: Int) -> [Order] {
    var orders: [Order] = []
    while let showing = queue.first {
      let busy = entries.filter { $0.value.popup.state != .over }
      if busy.count >= max(1, limit) {
        guard let oldest = busy.filter({ $0.value.popup.isShowing }).keys.min() else { break }
        orders += letGo(oldest)
      }
      queue.removeFirst()
      orders.append(contentsOf: replaceAndBegin(showing))
    }
    return orders
  }

  private mutating func replaceAndBegin(_ showing: PopupRequest) -> [Order] {
    // The earlier program would also receive the button presses of the new popup.
    let orders = runs(of: showing.content.key).flatMap { letGo($0) }
    return orders + [begin(showing)]
  }

  private mutating func begin(_ showing: PopupRequest) -> Order {
    let key = showing.content.key
    let replacing = openPopups.last { $0.key == key }?.number
    openPopups.removeAll { $0.key == key }
    lastRun += 1
    let popup = Popup(isPlain: isPlain, snooze: DesktopConfiguration.snooze(of: showing.content.message))
    entries[lastRun] = Entry(popup: popup, showing: showing)
    return .start(lastRun, showing, replacing: replacing, isPlain: isPlain)
  }

  private mutating func letGo(_ run: Supervisor.RunID) -> [Order] {
    if let entry = entries[run], let number = entry.popup.number { stand(entry.showing, number) }
    return change([run]) { $0.release("replaced by a later popup") }
  }

  private mutating func stand(_ showing: PopupRequest, _ number: UInt32) {
    openPopups.append((showing.content.key, number))
    if openPopups.count > Self.remembered { openPopups.removeFirst() }
  }

  private func runs(of key: PopupContent.Key) -> [Supervisor.RunID] {
    entries.filter { $0.value.showing.content.key == key && $0.value.popup.state != .over }.keys.sorted()
  }

  private mutating func change(
    _ runs: [Supervisor.RunID], _ body: (inout Popup) -> [Popup.Action]
  ) -> [Order] {
    runs.flatMap { run -> [Order] in
      guard var entry = entries[run] else { return [] }
      let actions = body(&entry.popup)
      entries[run] = entry
      return actions.map { .act(run, entry.showing, $0) }
    }
  }
}
