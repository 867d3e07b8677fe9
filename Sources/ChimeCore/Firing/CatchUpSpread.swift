public import ChimeSchedule

/// A CatchUpSpread delays first attempts of late deliveries, so that receivers and commands get no storm after a downtime.
///
/// The first messages of each queue leave at once. The rest leave within a span that grows with their number, each at
/// a moment derived from a hash of its occurrence and queue. Never delayed: deliveries on time, critical ones, the
/// desktop (which merges popups itself), and ordered queues, whose head would hold up messages on time behind it.
///
///     var catchUpSpread = CatchUpSpread()
///     catchUpSpread.spread(&firings, policies, now: now)   // 50 webhooks of one endpoint: 10 at once, 40 over 5 s
public struct CatchUpSpread: Hashable, Sendable {
  /// The longest delay; zero turns spreading off.
  public var span: Milliseconds
  /// When the first late message of the current catch-up fired.
  private var begun: Instant?
  /// The number of late messages per queue that have fired since.
  private var counts: [DeliveryQueue: Int] = [:]

  /// The number of messages per queue that leave at once.
  public static let atOnce = 10
  /// The length that each late message adds to the span.
  public static let share = Milliseconds.milliseconds(100)
  public static let usualSpan = Milliseconds.minutes(1)

  public init(span: Milliseconds = usualSpan) { self.span = span }

  /// Delays deliveries by setting their state to `waiting`, with no attempt made.
  ///
  /// - Parameter firings: those of one transaction. The counts carry over to the next, because one downtime may take several.
  public mutating func spread(_ firings: inout [FiringResult], _ policies: DeliveryQueuePolicies, now: Instant) {
    guard span > .zero else { return }
    if let begun, now < begun || now - begun > span { (self.begun, counts) = (nil, [:]) }
    let late = firings.indices.flatMap { firing in
      let wait = Self.mayWait(firings[firing])
      return firings[firing].deliveries.indices.filter { index in
        let delivery = firings[firing].deliveries[index]
        return wait.contains(delivery.occurrence) && delivery.queue.channel != .desktop
          && !policies[delivery.queue].isOrdered
      }.map { (firing: firing, delivery: $0) }
    }
    guard !late.isEmpty else { return }
    begun = begun ?? now
    let before = counts
    for place in late { counts[firings[place.firing].deliveries[place.delivery].queue, default: 0] += 1 }
    var position = before
    for place in late {
      let delivery = firings[place.firing].deliveries[place.delivery]
      position[delivery.queue, default: 0] += 1
      guard position[delivery.queue, default: 0] > Self.atOnce else { continue }
      let width = min(span.rawValue, Int64(counts[delivery.queue] ?? 0) * Self.share.rawValue)
      let wait = Milliseconds.milliseconds(Int64(Self.hash(delivery) % UInt64(width + 1)))
      if wait > .zero { firings[place.firing].deliveries[place.delivery].state = .waiting(until: now + wait) }
    }
  }

  /// Returns the occurrences whose deliveries may be delayed.
  private static func mayWait(_ firing: FiringResult) -> Set<OccurrenceID> {
    guard firing.due.reminder.urgency != .critical else { return [] }
    // A repeat is on time, however late its occurrence was.
    return Set(
      firing.occurrences.filter { $0.late != nil && $0.late != .quiet && $0.repeats == 0 }.map(\.id))
  }

  private static func hash(_ delivery: Delivery) -> UInt64 {
    SplitMix64.hash(
      "\(delivery.occurrence) \(delivery.queue.owner) \(delivery.queue.channel.rawValue)".utf8)
  }
}
