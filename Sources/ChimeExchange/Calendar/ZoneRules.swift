import ChimeSchedule

/// The offsets of a VTIMEZONE over the years around a time, to be compared with those of a zone.
///
/// Source: RFC 5545 section 3.6.5.
struct ZoneRules {
  /// Times before and after each change, and one in each month, with the offset in seconds that the rules have then.
  private var samples: [(at: Instant, offset: Int)] = []
  /// Each change, with the offset that the rules have from then on; never empty.
  private var onsets: [(at: Instant, offset: Int)] = []
  /// Within them every change is known.
  let years: ClosedRange<Instant>

  /// How far the years go on either side.
  private static let reach = Milliseconds.days(800)
  private static let maximumObservances = 32
  private static let parts = ["FREQ=YEARLY", "BYMONTH=", "BYDAY=", "BYMONTHDAY=", "UNTIL=", "INTERVAL=1"]

  /// Nil: it has no observance, or one that cannot be read.
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
    // Of what was before its first change a file need not say anything.
    let known = max(years.lowerBound, first.at)...max(years.upperBound, first.at)
    var times = stride(from: known.lowerBound.seconds, to: known.upperBound.seconds, by: 30 * 86_400).map {
      Instant(seconds: $0)
    }
    for onset in onsets where years.contains(onset.at) { times += [onset.at - .minutes(1), onset.at + .minutes(1)] }
    samples = times.filter(known.contains).map { ($0, offset(at: $0)) }
  }

  /// In seconds. Before the first change it is the same as after it.
  func offset(at instant: Instant) -> Int { onsets.last { $0.at <= instant }?.offset ?? onsets[0].offset }

  /// The moment of a reading of the clock; the first of two, and one that a change removes as before it.
  func instant(of civil: CivilDateTime) -> Instant {
    let wall = Zone.utc.instant(of: civil)
    let before = offset(at: wall - .days(1))
    let instant = wall - .seconds(Int64(before))
    let offset = offset(at: instant)
    let other = wall - .seconds(Int64(offset))
    return offset == before || self.offset(at: other) != offset ? instant : other
  }

  func areThose(of zone: Zone) -> Bool { samples.allSatisfy { zone.offset(at: $0.at) == $0.offset } }

  /// When an observance begins, as if its clock were UTC: the last time before these years, and those within.
  private static func walls(
    _ observance: CalendarComponent, _ start: CalendarTime, in years: ClosedRange<Instant>
  ) -> [Instant]? {
    // Outlook begins in 1601, of which no schedule knows; its rules are yearly and without end.
    let civil = start.civil ?? CivilDateTime(date: .earliest, time: start.time)
    var walls = [Zone.utc.instant(of: civil)]
    for property in observance.all("RDATE") {
      for value in property.value.split(separator: ",").prefix(1_000) {
        if let wall = CalendarTime(trimmed(value))?.civil { walls.append(Zone.utc.instant(of: wall)) }
      }
    }
    for property in observance.all("RRULE") {
      let parts = CalendarFile.capitals(property.value).split(separator: ";")
      // Zones change yearly. Anything else could take long to follow.
      guard parts.contains("FREQ=YEARLY"), parts.allSatisfy({ part in Self.parts.contains { part.hasPrefix($0) } })
      else { return nil }
      // The start is read as UTC, so the end is to be as well.
      let rule = parts.map { $0.hasPrefix("UNTIL=") && !$0.hasSuffix("Z") ? $0 + "Z" : String($0) }
      let isEndless = !parts.contains { $0.hasPrefix("UNTIL=") }
      let text = "DTSTART:\(civil.basic)Z RRULE:\(rule.joined(separator: ";"))"
      guard let schedule = try? Schedule.parse(text, now: years.lowerBound, zone: .utc) else { return nil }
      let timetable = schedule.timetable(in: .utc)
      var last = max(years.lowerBound - .days(400), .earliest)
      // Each year has one of an observance; what has more is no zone's.
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

  /// `-0500`, `+023000`.
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
