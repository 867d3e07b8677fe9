import ChimeCore
import ChimeSchedule

/// A PopupCoalescer turns many messages that waited into a few popups. It is a state machine that returns orders.
///
/// A message on time passes at once. A delayed message is held for a moment, so that messages arriving together are
/// shown together. Critical messages and three others, by urgency and then the latest first, get a popup each. The rest
/// share one summary popup. Each message gets its own outcome.
struct PopupCoalescer: Sendable {
  struct Held: Sendable {
    let message: OutboundMessage
    let report: @Sendable (ChannelReport) -> Void
  }

  enum Order: Sendable {
    /// Show the first. Its outcome also applies to the others, which are earlier rounds of the same occurrence.
    case show(Held, others: [Held])
    case summarise(PopupSummary, [Held])
    /// Call `momentIsOver` after `moment`.
    case wait
    case refuse(Held, String)
    case takeDown(PopupContent.Key)
    case tell(DesktopEvent)
  }

  /// How long delayed messages are held for others to arrive.
  static let moment = Milliseconds.milliseconds(300)
  /// Maximum individual popups per episode, not counting critical ones.
  static let singles = 3
  /// An episode continues for messages that arrive within this time after its last moment.
  static let window = Milliseconds.minutes(1)
  /// A message older than this counts as delayed, even without an attempt.
  static let fresh = Milliseconds.seconds(10)
  static let stopping = ShutdownOutcome.sentence

  private struct Episode {
    let number: UInt64
    var until: Instant
    var singles = 0
    /// Messages in the summary.
    var members: [(occurrence: OccurrenceID, title: String)] = []
  }

  private var held: [Held] = []
  private var episode: Episode?
  private var lastNumber: UInt64 = 0
  /// Whether the desktop was last reported unavailable.
  private var isUnavailable = false
  /// When the desktop became available again. Messages created earlier count as delayed.
  private var openedAt: Instant?
  private var isClosed = false

  mutating func admit(_ arrival: Held, now: Instant) -> [Order] {
    guard !isClosed else { return [.refuse(arrival, Self.stopping)] }
    let delivery = arrival.message.delivery
    // Ignore a time in the future. The clock was set back, and messages must not wait for it.
    let opened = openedAt.flatMap { $0 <= now ? $0 : nil }
    guard
      delivery.attempts > 0 || now - delivery.createdAt >= Self.fresh || opened.map({ delivery.createdAt < $0 }) == true
    else { return [.show(arrival, others: [])] }
    held.append(arrival)
    return held.count == 1 ? [.wait] : []
  }

  mutating func momentIsOver(now: Instant) -> [Order] {
    guard !held.isEmpty else { return [] }
    var groups: [[Held]] = []
    for one in held.sorted(by: { $0.message.delivery.round > $1.message.delivery.round }) {
      if let index = groups.firstIndex(where: { $0[0].occurrence == one.occurrence }) {
        groups[index].append(one)
      } else {
        groups.append([one])
      }
    }
    held = []
    groups.sort { Self.comesFirst($0[0], $1[0]) }

    var episode = current(now: now)
    episode.until = now + Self.window
    defer { self.episode = episode }
    let critical = groups.filter { $0[0].urgency == .critical }
    let others = groups.filter { $0[0].urgency != .critical }
    var room = max(0, Self.singles - episode.singles)
    // One message more is shown on its own, because a summary of one saves nothing.
    if episode.members.isEmpty, others.count == room + 1 { room += 1 }
    let rest = others.dropFirst(room)
    episode.singles += others.count - rest.count
    var orders = (critical + others.prefix(room)).map { Order.show($0[0], others: Array($0.dropFirst())) }
    if !rest.isEmpty {
      episode.members += rest.map { ($0[0].occurrence, $0[0].message.title) }
      let summary = PopupSummary(number: episode.number, titles: episode.members.map(\.title))
      orders.append(.summarise(summary, rest.flatMap { $0 }))
    }
    return orders
  }

  /// Records the end of an attempt.
  ///
  /// - Parameter summary: The number of the summary that was tried, and its messages.
  mutating func ended(
    _ next: ChannelReport.NextStep, summary: (UInt64, [Held])? = nil, now: Instant
  ) -> [Order] {
    switch next {
    case .settled:
      guard isUnavailable else { return [] }
      return opened(now: now)
    case .blocked:
      isUnavailable = true
      episode = nil
    case .retry, .retryAfter, .cancel, .disable, .giveUp:
      if let (number, members) = summary, episode?.number == number {
        episode?.members.removeAll { member in members.contains { $0.occurrence == member.occurrence } }
      }
    }
    return []
  }

  /// Records that popups can be shown again.
  mutating func opened(now: Instant) -> [Order] {
    isUnavailable = false
    openedAt = now
    return [.tell(.opened)]
  }

  mutating func withdraw(_ occurrence: OccurrenceID) -> [Order] {
    let refused = held.filter { $0.occurrence == occurrence }
    held.removeAll { $0.occurrence == occurrence }
    var orders = refused.map { Order.refuse($0, "closed before it was shown") }
    orders.append(.takeDown(.occurrence(occurrence)))
    if let number = episode?.number, episode?.members.contains(where: { $0.occurrence == occurrence }) == true {
      episode?.members.removeAll { $0.occurrence == occurrence }
      // An empty summary is of no use.
      if episode?.members.isEmpty == true { orders.append(.takeDown(.summary(number))) }
    }
    return orders
  }

  mutating func close() -> [Order] {
    isClosed = true
    defer { held = [] }
    return held.map { .refuse($0, Self.stopping) }
  }

  /// Returns the current episode or a new one. An episode far in the future, left by a clock set back, is over too.
  private mutating func current(now: Instant) -> Episode {
    if let episode, now < episode.until, episode.until - now <= Self.window { return episode }
    lastNumber += 1
    return Episode(number: lastNumber, until: now)
  }

  private static func comesFirst(_ left: Held, _ right: Held) -> Bool {
    let (first, second) = (left.urgency.rank, right.urgency.rank)
    if first != second { return first > second }
    let (leftTime, rightTime) = (left.occurrence.scheduledAt, right.occurrence.scheduledAt)
    return leftTime != rightTime ? leftTime > rightTime : left.occurrence.description < right.occurrence.description
  }
}

extension PopupCoalescer.Held {
  var occurrence: OccurrenceID { message.occurrence.id }
  var urgency: Urgency { message.reminder?.urgency ?? .normal }
}

extension Urgency {
  /// The value of the `urgency` hint: 0 low, 1 normal, 2 critical.
  var rank: UInt8 {
    switch self {
    case .low: 0
    case .normal: 1
    case .critical: 2
    }
  }
}
