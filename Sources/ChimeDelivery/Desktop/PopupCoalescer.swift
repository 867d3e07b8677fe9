import ChimeCore
import ChimeSchedule

/// Makes a few popups of the many messages that waited while nothing could be shown: a value that is told what happens
/// and says what to do.
///
/// A message that comes at its time passes at once. One that has waited is kept for a moment, so that what comes
/// together is seen together. Of those the critical ones and three others, the most urgent and then the latest, are shown
/// each for itself; the rest share one popup. Each message gets an outcome of its own.
struct PopupCoalescer: Sendable {
  struct Held: Sendable {
    let message: OutboundMessage
    let report: @Sendable (ChannelReport) -> Void
  }

  enum Order: Sendable {
    /// Show the first; what comes of it holds for the others, which are earlier rounds of the same occurrence.
    case show(Held, others: [Held])
    case summarise(PopupSummary, [Held])
    /// Call `momentIsOver` after `moment`.
    case wait
    case refuse(Held, String)
    case takeDown(PopupContent.Key)
    case tell(DesktopEvent)
  }

  /// How long messages that have waited are kept, to see which others come.
  static let moment = Milliseconds.milliseconds(300)
  /// How many are shown each for itself in one gathering, the critical ones not counted.
  static let singles = 3
  /// What comes within this time of the last moment belongs to the same gathering.
  static let coalescer = Milliseconds.minutes(1)
  /// A message that is older has waited, tried or not.
  static let fresh = Milliseconds.seconds(10)
  static let stopping = ShutdownOutcome.sentence

  private struct Episode {
    let number: UInt64
    var until: Instant
    var singles = 0
    /// Those in the summary.
    var members: [(occurrence: OccurrenceID, title: String)] = []
  }

  private var held: [Held] = []
  private var episode: Episode?
  private var lastNumber: UInt64 = 0
  /// Whether the last that was heard of the way is that it is shut.
  private var isShut = false
  /// When it was open again: what was owed then has waited, tried or not.
  private var openedAt: Instant?
  private var isClosed = false

  mutating func admit(_ arrival: Held, now: Instant) -> [Order] {
    guard !isClosed else { return [.refuse(arrival, Self.stopping)] }
    let delivery = arrival.message.delivery
    // One that was set before now; a clock that was set back makes nothing wait.
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
    episode.until = now + Self.coalescer
    defer { self.episode = episode }
    let critical = groups.filter { $0[0].urgency == .critical }
    let others = groups.filter { $0[0].urgency != .critical }
    var room = max(0, Self.singles - episode.singles)
    // A summary of one would be no smaller than the one.
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

  /// An attempt has ended.
  ///
  /// - Parameter summary: the number of the summary that was tried, with those that it was tried for.
  mutating func ended(
    _ next: ChannelReport.NextStep, summary: (UInt64, [Held])? = nil, now: Instant
  ) -> [Order] {
    switch next {
    case .settled:
      guard isShut else { return [] }
      return opened(now: now)
    case .blocked:
      isShut = true
      episode = nil
    case .retry, .retryAfter, .cancel, .disable, .giveUp:
      if let (number, members) = summary, episode?.number == number {
        episode?.members.removeAll { member in members.contains { $0.occurrence == member.occurrence } }
      }
    }
    return []
  }

  /// Popups can be shown again.
  mutating func opened(now: Instant) -> [Order] {
    isShut = false
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
      // A summary of nothing is in the way.
      if episode?.members.isEmpty == true { orders.append(.takeDown(.summary(number))) }
    }
    return orders
  }

  mutating func close() -> [Order] {
    isClosed = true
    defer { held = [] }
    return held.map { .refuse($0, Self.stopping) }
  }

  /// The gathering that goes on at `now`, or a new one. One that a clock set back would keep for years is over too.
  private mutating func current(now: Instant) -> Episode {
    if let episode, now < episode.until, episode.until - now <= Self.coalescer { return episode }
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
  /// As the `urgency` hint has it: 0 low, 1 normal, 2 critical.
  var rank: UInt8 {
    switch self {
    case .low: 0
    case .normal: 1
    case .critical: 2
    }
  }
}
