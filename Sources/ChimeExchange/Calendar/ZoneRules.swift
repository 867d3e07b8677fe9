import ChimeSchedule

/// ZoneRules are the offsets of a VTIMEZONE in the years around a time, for comparison with a zone.
///
/// Source: RFC 5545 section 3.6.5.
struct ZoneRules {
  /// Times before and after each change, and one a month, with the offset in seconds by these rules.
  private var samples: [(at: Instant, offset: Int)] = []
  /// Each change, with the offset from then on; never empty.
  private var onsets: [(at: Instant, offset: Int)] = []
  /// The range in which every change is known.
  let years: ClosedRange<Instant>

  /// How far the range extends in both directions.
  private static let reach = Milliseconds.days(800)
  private static let maximumObservances = 32
  private static let parts = ["FREQ=YEARLY", "BYMONTH=", "BYDAY=", "BYMONTHDAY=", "UNTIL=", "INTERVAL=1"]

  /// Returns `nil` if the component has no observance, or one that cannot be parsed.
  init?(_ component: CalendarComponent, around now: Instant) {
    let observances = component.components("STANDARD") + component.components("DAYLIGHT")
    guard !observances.isEmpty, observances.count <= Self.maximumObservances else { return nil }
    years = max(now - Self.reach, .earliest)...now + Self.reach
    for observance in observances {
      guard let start = observance["DTSTART"].flatMap(CalendarTime.init),
        let before = observance["TZOFFSETFROM"].flatMap({ Self.seconds($0.value) }),
        let after = observance["TZOFFSETTO"].flatMap({ Self.seconds($0.value) })
      else { return nil }
      guard let walls = Self.walls(observance, start, in: years) else { return nil }
      onsets += walls.map { ($0 - .seconds(Int64(before)), after) }
    }
    onsets.sort { $0.at < $1.at }
    guard let first = onsets.first else { return nil }
    // A file need not contain the rules before its first change.
    let known = max(years.lowerBound, first.at)...max(years.upperBound, first.at)
    var times = stride(from: known.lowerBound.seconds, to: known.upperBound.seconds, by: 30 * 86_400).map {
      Instant(seconds: $0)
    }
    for onset in onsets where years.contains(onset.at) { times += [onset.at - .minutes(1), onset.at + .minutes(1)] }
    samples = times.filter(known.contains).map { ($0, offset(at: $0)) }
  }

  /// Returns the offset in seconds. Before the first change it is that after it.
  func offset(at instant: Instant) -> Int { onsets.last { $0.at <= instant }?.offset ?? onsets[0].offset }

  /// Returns the instant of a wall-clock time: the first pass of a fold; inside a gap, with the offset before it.
  func instant(of civil: CivilDateTime) -> Instant {
    let wall = Zone.utc.instant(of: civil)
    let before = offset(at: wall - .days(1))
    let instant = wall - .seconds(Int64(before))
    let offset = offset(at: instant)
    let other = wall - .seconds(Int64(offset))
    return offset == before || self.offset(at: other) != offset ? instant : other
  }

  func areThose(of zone: Zone) -> Bool { samples.allSatisfy { zone.offset(at: $0.at) == $0.offset } }

  /// Returns the onsets of an observance, as if its clock were UTC: the last one before the range, and those within it.
  private static func walls(
    _ observance: CalendarComponent, _ start: CalendarTime, in years: ClosedRange<Instant>
  ) -> [Instant]? {
    // Outlook begins in 1601, before any schedule. Its rules are yearly and endless.
    let civil = start.civil ?? CivilDateTime(date: .earliest, time: start.time)
    var walls = [Zone.utc.instant(of: civil)]
    for property in observance.all("RDATE") {
      for value in property.value.split(separator: ",").prefix(1_000) {
        if let wall = CalendarTime(trimmed(value))?.civil { walls.append(Zone.utc.instant(of: wall)) }
      }
    }
    for property in observance.all("RRULE") {
      let parts = CalendarFile.capitals(property.value).split(separator: ";")
      // Zones change yearly. Any other rule could take long to expand.
      guard parts.contains("FREQ=YEARLY"), parts.allSatisfy({ part in Self.parts.contains { part.hasPrefix($0) } })
      else { return nil }
      // The start counts as UTC, so the end must too.
      let rule = parts.map { $0.hasPrefix("UNTIL=") && !$0.hasSuffix("Z") ? $0 + "Z" : String($0) }
      let isEndless = !parts.contains { $0.hasPrefix("UNTIL=") }
      let text = "DTSTART:\(civil.basic)Z RRULE:\(rule.joined(separator: ";"))"
      guard let schedule = try? Schedule.parse(text, now: years.lowerBound, zone: .utc) else { return nil }
      let timetable = schedule.timetable(in: .utc)
      var last = max(years.lowerBound - .days(400), .earliest)
      // An observance has one onset a year; a rule with more is not that of a zone.
      for _ in 0..<16 {
        guard let next = timetable.next(after: last) else {
          if isEndless { return nil }
          break
        }
        guard next <= years.upperBound else { break }
        walls.append(next)
        last = next
      }
    }
    return walls.filter { $0 <= years.upperBound }
  }

  /// Parses `-0500` or `+023000` as seconds.
  private static func seconds(_ text: String) -> Int? {
    let bytes = Array(trimmed(text).utf8)
    guard bytes.count == 5 || bytes.count == 7, bytes[0] == UInt8(ascii: "+") || bytes[0] == UInt8(ascii: "-"),
      bytes.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    let digits = bytes.dropFirst().map { Int($0 - 0x30) }
    let pairs = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 10 + digits[$0 + 1] }
    let seconds = zip(pairs, [3_600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }
    return bytes[0] == UInt8(ascii: "-") ? -seconds : seconds
  }
}
