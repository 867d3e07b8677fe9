/// The hours of a week in which nothing is to be heard, as a wall clock shows them.
///
/// An instant is quiet when the clock on the wall reads a time within one of the spans. So clocks that are set back read
/// quiet times twice, and a span that they skip is as much shorter.
///
///     let hours = try QuietHours(["22:00-07:00", "sat,sun 07:00-09:00"])
///     hours.end(ofQuietAt: now, in: zone)   // nil: it is loud
public struct QuietHours: Hashable, Sendable, Codable {
  /// As they were given, in their order.
  public let spans: [QuietSpan]
  /// What they come to: minutes of the week from Monday 00:00, in order, apart from each other.
  private let quiet: [Range<Int64>]

  private static let minutesOfWeek: Int64 = 7 * 1_440
  private static let secondsOfWeek = minutesOfWeek * 60

  /// The most spans that are taken.
  public static let maxSpans = 32

  /// It is never quiet.
  public static let never = QuietHours(joined: [], quiet: [])

  /// - Throws: ``QuietHoursError`` when there are more than `maxSpans`, or no minute of the week is left between them.
  public init(_ spans: [QuietSpan]) throws(QuietHoursError) {
    guard spans.count <= Self.maxSpans else { throw .tooMany }
    let quiet = Self.joined(spans)
    guard quiet.reduce(0, { $0 + $1.upperBound - $1.lowerBound }) < Self.minutesOfWeek else { throw .neverLoud }
    self.init(joined: spans, quiet: quiet)
  }

  /// Reads each span from its text.
  ///
  /// - Throws: ``QuietHoursError``
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
    var ranges: [Range<Int64>] = []
    for span in spans {
      for day in Weekday.allCases where span.days.contains(day) {
        let start = Int64((day.rawValue - 1) * QuietSpan.minutesOfDay + span.start)
        let end = start + Int64(span.length)
        ranges.append(start..<min(end, minutesOfWeek))
        // Sunday night goes on in the morning of Monday.
        if end > minutesOfWeek { ranges.append(0..<end - minutesOfWeek) }
      }
    }
    ranges.sort { $0.lowerBound < $1.lowerBound }
    var joined: [Range<Int64>] = []
    for range in ranges {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }

  /// When the quiet that holds at `instant` ends: the first loud instant after it, in whole seconds. Nil when it is loud.
  public func end(ofQuietAt instant: Instant, in zone: Zone) -> Instant? {
    var second = instant.seconds
    guard var wait = secondsOfQuiet(at: second, zone) else { return nil }
    while second <= Instant.latest.seconds {
      // Between two changes of the clock its face runs evenly.
      guard let change = zone.nextTransition(after: Instant(seconds: second)), change.instant.seconds <= second + wait
      else { return Instant(seconds: second + wait) }
      second = change.instant.seconds
      guard let left = secondsOfQuiet(at: second, zone) else { return Instant(seconds: second) }
      wait = left
    }
    return .latest
  }

  /// How long the clock's face has to run on from its reading at `second` until it reads a loud time.
  private func secondsOfQuiet(at second: Int64, _ zone: Zone) -> Int64? {
    guard !quiet.isEmpty else { return nil }
    // 1970-01-01 was a Thursday.
    let wall = second + Int64(zone.offset(at: Instant(seconds: second))) + 3 * 86_400
    let ofWeek = (wall % Self.secondsOfWeek + Self.secondsOfWeek) % Self.secondsOfWeek
    guard let range = quiet.first(where: { $0.contains(ofWeek / 60) }) else { return nil }
    var end = range.upperBound
    // What reaches the end of the week may go on at its beginning.
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

/// Why quiet hours were refused.
public enum QuietHoursError: Error, Hashable, Sendable, CustomStringConvertible {
  case span(FormatError)
  case tooMany
  /// The spans cover the whole week.
  case neverLoud

  /// A sentence that says what to write instead.
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
