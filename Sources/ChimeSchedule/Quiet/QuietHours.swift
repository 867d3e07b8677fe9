/// QuietHours are the hours of a week in which nothing is delivered, by the wall clock.
///
/// An instant is quiet if the wall clock then shows a time within one of the spans. If clocks are set back, a quiet
/// time occurs twice; a span that clocks skip is shorter by as much.
///
///     let hours = try QuietHours(["22:00-07:00", "sat,sun 07:00-09:00"])
///     hours.end(ofQuietAt: now, in: zone)   // nil: not quiet
public struct QuietHours: Hashable, Sendable, Codable {
  /// The spans as given, in their order.
  public let spans: [QuietSpan]
  /// The union of the spans: minutes of the week from Monday 00:00, sorted and disjoint.
  private let quiet: [Range<Int64>]

  private static let minutesOfWeek: Int64 = 7 * 1_440
  private static let secondsOfWeek = minutesOfWeek * 60

  /// The most spans that are accepted.
  public static let maxSpans = 32

  /// Empty quiet hours.
  public static let never = QuietHours(joined: [], quiet: [])

  /// - Throws: ``QuietHoursError`` for more than `maxSpans` spans, or if they cover the whole week.
  public init(_ spans: [QuietSpan]) throws(QuietHoursError) {
    guard spans.count <= Self.maxSpans else { throw .tooMany }
    let quiet = Self.joined(spans)
    guard quiet.reduce(0, { $0 + $1.upperBound - $1.lowerBound }) < Self.minutesOfWeek else { throw .neverLoud }
    self.init(joined: spans, quiet: quiet)
  }

  /// Parses each span.
  public init(_ texts: [String]) throws(QuietHoursError) {
    var spans: [QuietSpan] = []
    for text in texts {
      do {
        spans.append(try QuietSpan(text))
      } catch {
        throw .span(error)
      }
    }
    try self.init(spans)
  }

  private init(joined spans: [QuietSpan], quiet: [Range<Int64>]) {
    self.spans = spans
    self.quiet = quiet
  }

  /// The canonical texts of the spans.
  public var texts: [String] { spans.map(\.description) }

  public var isEmpty: Bool { spans.isEmpty }

  private static func joined(_ spans: [QuietSpan]) -> [Range<Int64>] {
    var joined = RangeSet<Int64>()
    for span in spans {
      for day in Weekday.allCases where span.days.contains(day) {
        let start = Int64((day.rawValue - 1) * QuietSpan.minutesOfDay + span.start)
        let end = start + Int64(span.length)
        joined.insert(contentsOf: start..<min(end, minutesOfWeek))
        // Sunday night continues on Monday morning.
        if end > minutesOfWeek { joined.insert(contentsOf: 0..<end - minutesOfWeek) }
      }
    }
    return Array(joined.ranges)
  }

  /// Returns the first instant after `instant` that is not quiet, in whole seconds; `nil` if `instant` is not quiet.
  public func end(ofQuietAt instant: Instant, in zone: Zone) -> Instant? {
    var second = instant.seconds
    guard var wait = secondsOfQuiet(at: second, zone) else { return nil }
    while second <= Instant.latest.seconds {
      // Between two changes of offset the wall clock runs evenly.
      guard let change = zone.nextTransition(after: Instant(seconds: second)), change.instant.seconds <= second + wait
      else { return Instant(seconds: second + wait) }
      second = change.instant.seconds
      guard let left = secondsOfQuiet(at: second, zone) else { return Instant(seconds: second) }
      wait = left
    }
    return .latest
  }

  /// Returns how many seconds the wall clock must advance from `second` until it shows a time that is not quiet.
  private func secondsOfQuiet(at second: Int64, _ zone: Zone) -> Int64? {
    guard !quiet.isEmpty else { return nil }
    // 1970-01-01 was a Thursday.
    let wall = second + Int64(zone.offset(at: Instant(seconds: second))) + 3 * 86_400
    let ofWeek = (wall % Self.secondsOfWeek + Self.secondsOfWeek) % Self.secondsOfWeek
    guard let range = quiet.first(where: { $0.contains(ofWeek / 60) }) else { return nil }
    var end = range.upperBound
    // A range up to the end of the week may continue at its beginning.
    if end == Self.minutesOfWeek, let first = quiet.first, first.lowerBound == 0 { end += first.upperBound }
    return end * 60 - ofWeek
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    do {
      try self.init(container.decode([QuietSpan].self))
    } catch let error as QuietHoursError {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(spans)
  }
}

/// A QuietHoursError says why quiet hours were refused.
public enum QuietHoursError: Error, Hashable, Sendable, CustomStringConvertible {
  case span(FormatError)
  case tooMany
  /// The spans cover the whole week.
  case neverLoud

  /// The error as a sentence that says what to write instead.
  public var message: String {
    switch self {
    case .span(let error): error.message
    case .tooMany: "at most \(QuietHours.maxSpans) spans are allowed"
    case .neverLoud:
      "these quiet hours leave no free minute in the week, so nothing would ever ring; pause a reminder instead"
    }
  }

  public var description: String { message }
}
