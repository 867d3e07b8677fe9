public import ChimeSchedule

/// Lets a queue rest whose other side is not there: a circuit breaker, as a value.
///
///     closed → (5 failures in a row) → resting for 30 s → one probe → closed, or resting for twice as long … 10 min
///
/// While a queue rests nothing of it is tried, so nothing uses up an attempt. The numbers of failures and seconds are
/// those of Envoy's outlier detection (`consecutive_5xx` 5, `base_ejection_time` 30 s), which likewise takes a failed
/// connection for a failure and an answer in the 400s for none.
public struct Breaker: Hashable, Sendable {
  /// Failures in a row after which the queue rests.
  public static let threshold = 5
  /// The first rest.
  public static let shortest = Milliseconds.seconds(30)
  /// The longest rest, its spread and what the other side asked for aside.
  public static let longest = Milliseconds.minutes(10)

  private var failures = 0
  private var rest: Rest?

  private struct Rest: Hashable, Sendable {
    var until: Instant
    var length: Milliseconds
  }

  public init() {}

  /// Whether there has been no failure since the other side last answered.
  public var isSound: Bool { failures == 0 && rest == nil }

  /// When the rest ends; nil while the queue does not rest.
  public func restsUntil(at now: Instant) -> Instant? {
    guard let rest, now < rest.until else { return nil }
    return rest.until
  }

  /// The clock was set back by `step`: a rest goes on for as long as it had left, and one that was over does not come back.
  public mutating func clockWentBack(by step: Milliseconds) {
    guard let rest else { return }
    self.rest?.until = rest.until - step
  }

  /// Whether the rest is over, but nothing has been heard since: one attempt at a time.
  public func probes(at now: Instant) -> Bool { rest != nil && restsUntil(at: now) == nil }

  /// The other side answered.
  public mutating func answered() {
    failures = 0
    rest = nil
  }

  /// An attempt failed.
  ///
  /// - Parameters:
  ///   - asked: for how long the other side asked to be left alone; at most `longest` of it counts.
  ///   - spread: 0 … 1: how much of a tenth the rest is longer, so that queues that failed together do not come back
  ///     together.
  public mutating func failed(at now: Instant, asked: Milliseconds? = nil, spread: Double) {
    failures += 1
    // What was under way as the rest began says nothing new.
    guard restsUntil(at: now) == nil else { return }
    guard rest != nil || failures >= Self.threshold else { return }
    let length = rest.map { min(.milliseconds($0.length.rawValue * 2), Self.longest) } ?? Self.shortest
    let wait = max(length, min(asked ?? .zero, Self.longest))
    let longer = Milliseconds(rawValue: Int64(Double(wait.rawValue) / 10 * min(max(spread, 0), 1)))
    rest = Rest(until: now + wait + longer, length: length)
  }
}

/// Counts what was begun, so that no more than `rate.count` begin in any `rate.span`.
struct RateWindow: Hashable, Sendable {
  /// Oldest first, those of one millisecond together: never more than there are milliseconds in the span.
  private var begun: [Entry] = []
  private var total = 0

  private struct Entry: Hashable, Sendable {
    var at: Instant
    var count: Int
  }

  var isEmpty: Bool { begun.isEmpty }

  /// How many may begin now.
  mutating func capacity(_ rate: EndpointSettings.Rate, at now: Instant) -> Int {
    forget(rate, at: now)
    return max(0, rate.count - total)
  }

  /// When the next may begin, when none may now.
  func next(_ rate: EndpointSettings.Rate) -> Instant? { begun.first.map { $0.at + rate.span } }

  mutating func begin(at now: Instant) {
    total += 1
    if let last = begun.last, last.at == now {
      begun[begun.count - 1].count += 1
    } else {
      begun.append(Entry(at: now, count: 1))
    }
  }

  mutating func forget(_ rate: EndpointSettings.Rate, at now: Instant) {
    if let last = begun.last, last.at > now {
      // The clock was set back: what was begun counts from now on, which is never too little.
      begun = [Entry(at: now, count: total)]
    }
    let gone = begun.prefix { $0.at + rate.span <= now }
    total -= gone.reduce(0) { $0 + $1.count }
    begun.removeFirst(gone.count)
  }
}
