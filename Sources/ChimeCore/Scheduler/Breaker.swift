public import ChimeSchedule

/// A Breaker is the circuit breaker of a queue, as a value: after repeated failures the queue rests.
///
///     closed → (5 failures in a row) → resting for 30 s → one probe → closed, or resting for twice as long … 10 min
///
/// A resting queue tries nothing, so no delivery uses up an attempt. The numbers are those of Envoy's outlier
/// detection (`consecutive_5xx` 5, `base_ejection_time` 30 s), which also counts a failed connection as a failure and
/// a 4xx answer as none.
public struct Breaker: Hashable, Sendable {
  /// The number of failures in a row after which the queue rests.
  public static let threshold = 5
  /// The length of the first rest.
  public static let shortest = Milliseconds.seconds(30)
  /// The longest rest, not counting its spread.
  public static let longest = Milliseconds.minutes(10)

  private var failures = 0
  private var rest: Rest?

  private struct Rest: Hashable, Sendable {
    var until: Instant
    var length: Milliseconds
  }

  public init() {}

  /// Whether no failure has occurred since the last answer.
  public var isSound: Bool { failures == 0 && rest == nil }

  /// Returns when the rest ends; nil while the queue does not rest.
  public func restsUntil(at now: Instant) -> Instant? {
    guard let rest, now < rest.until else { return nil }
    return rest.until
  }

  /// Moves the end of the rest back by `step`: the rest keeps its remaining time, and a rest that was over stays over.
  public mutating func clockWentBack(by step: Milliseconds) {
    guard let rest else { return }
    self.rest?.until = rest.until - step
  }

  /// Ends the rest, if there is one: something has changed, and one attempt decides whether it goes on.
  public mutating func endRest(at now: Instant) {
    if restsUntil(at: now) != nil { rest?.until = now }
  }

  /// Returns whether the rest is over but no answer has come since, so that only one attempt at a time is made.
  public func probes(at now: Instant) -> Bool { rest != nil && restsUntil(at: now) == nil }

  /// Notes that the receiver answered.
  public mutating func answered() {
    failures = 0
    rest = nil
  }

  /// Notes that an attempt failed.
  ///
  /// - Parameters:
  ///   - asked: the pause that the receiver asked for; at most `longest` of it counts.
  ///   - spread: 0 … 1, the fraction of a tenth by which the rest grows, so that queues that failed together do not
  ///     return together.
  public mutating func failed(at now: Instant, asked: Milliseconds? = nil, spread: Double) {
    failures += 1
    // Attempts that were in flight when the rest began say nothing new.
    guard restsUntil(at: now) == nil else { return }
    guard rest != nil || failures >= Self.threshold else { return }
    let length = rest.map { min(.milliseconds($0.length.rawValue * 2), Self.longest) } ?? Self.shortest
    let wait = max(length, min(asked ?? .zero, Self.longest))
    let longer = Milliseconds(rawValue: Int64(Double(wait.rawValue) / 10 * min(max(spread, 0), 1)))
    rest = Rest(until: now + wait + longer, length: length)
  }
}

/// A RateWindow counts attempts, so that no more than `rate.count` begin in any `rate.span`.
struct RateWindow: Hashable, Sendable {
  /// The counts per millisecond, oldest first: never more entries than the span has milliseconds.
  private var begun: [Entry] = []
  private var total = 0

  private struct Entry: Hashable, Sendable {
    var at: Instant
    var count: Int
  }

  var isEmpty: Bool { begun.isEmpty }

  /// Returns how many attempts may begin now.
  mutating func capacity(_ rate: EndpointSettings.Rate, at now: Instant) -> Int {
    forget(rate, at: now)
    return max(0, rate.count - total)
  }

  /// Returns when the next attempt may begin; meaningful only while `capacity` is 0.
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
      // The clock was set back. All attempts count from now on, which can only delay, never exceed the rate.
      begun = [Entry(at: now, count: total)]
    }
    let gone = begun.prefix { $0.at + rate.span <= now }
    total -= gone.reduce(0) { $0 + $1.count }
    begun.removeFirst(gone.count)
  }
}
