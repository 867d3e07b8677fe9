public import ChimeSchedule

/// Spreads the first attempts at what fires late, so that the end of an absence is no storm for receivers and commands.
///
/// The first few messages of each queue leave at once; the rest within a span that grows with their number, each at a moment
/// of it that follows from its occurrence and its queue alone. What fires on time is never held up, nor is what is
/// critical, nor the desktop, which gathers popups by itself, nor a queue that keeps its order, whose head would hold up
/// what is on time behind it.
///
///     var catchUpSpread = CatchUpSpread()
///     catchUpSpread.spread(&firings, policies, now: now)   // 50 webhooks of one endpoint: 10 at once, 40 over 5 s
public struct CatchUpSpread: Hashable, Sendable {
  /// The longest that a message waits; zero: none does.
  public var span: Milliseconds
  /// When the first late message of the present absence fired.
  private var begun: Instant?
  /// How many late messages of each queue have fired since.
  private var counts: [DeliveryQueue: Int] = [:]

  /// How many of a queue leave at once.
  public static let atOnce = 10
  /// By how much each late message makes the span longer.
  public static let share = Milliseconds.milliseconds(100)
  public static let usualSpan = Milliseconds.minutes(1)

  public init(span: Milliseconds = usualSpan) { self.span = span }

  /// Puts off the deliveries that have to wait: they are `waiting`, with no attempt made.
  ///
  /// - Parameter firings: those of one transaction. What one absence has left may take several; the count goes on.
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

  /// The occurrences whose deliveries may wait.
  private static func mayWait(_ firing: FiringResult) -> Set<OccurrenceID> {
    guard firing.due.reminder.urgency != .critical else { return [] }
    // A repeat comes on time, however late its occurrence was.
    return Set(
      firing.occurrences.filter { $0.late != nil && $0.late != .quiet && $0.repeats == 0 }.map(\.id))
  }

  private static func hash(_ delivery: Delivery) -> UInt64 {
    SplitMix64.hash(
      "\(delivery.occurrence) \(delivery.queue.owner) \(delivery.queue.channel.rawValue)".utf8)
  }
}
