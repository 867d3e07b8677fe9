import ChimeSchedule

/// The schedules that are tried in zones nobody has seen before.
private let tried: [Schedule] = [
  "daily at 02:30", "every 90m from 22:00 to 04:00", "every 36h starting 2026-01-01", "mon,sun at 00:00,23:59:59",
].map { text in
  do {
    return try Schedule(canonical: text)
  } catch {
    fatalError("\(text): \(error)")
  }
}

/// A zone file is refused, or makes a zone whose changes ascend, whose readings resolve, and in which schedules run.
func checkZone(_ bytes: [UInt8]) throws(BrokenProperty) {
  guard let zone = try? Zone(identifier: "Fuzz/Zone", tzif: bytes) else { return }
  var at = Instant.earliest
  for _ in 0..<64 {
    guard let change = zone.nextTransition(after: at) else { break }
    try require(change.instant > at, "change \(change.instant.seconds) follows \(at.seconds)")
    try require(change.offsetBefore != change.offsetAfter, "a change without one at \(change.instant.seconds)")
    try require(zone.offset(at: change.instant) == change.offsetAfter, "not the offset of \(change)")
    for second in [change.instant.seconds - 1, change.instant.seconds] where second >= 0 {
      try checkReading(Instant(seconds: second), zone)
    }
    at = change.instant
  }
  for second: Int64 in [0, 951_827_696, 1_795_213_333, 4_102_444_800, 253_402_300_799] {
    try checkReading(Instant(seconds: second), zone)
    _ = zone.abbreviation(at: Instant(seconds: second))
  }
  for (index, schedule) in tried.enumerated() {
    let gap = [nil, GapRule.skip][(bytes.count + index) % 2]
    let fold = [nil, FoldRule.last, .both][(bytes.count / 2 + index) % 3]
    let timetable = schedule.timetable(in: zone, gap: gap, fold: fold)
    for start in [Ground.now.seconds, at.seconds - 86_400, 253_402_000_000] {
      var last = Instant(seconds: start)
      for step in 0..<8 {
        guard let next = timetable.next(after: last) else { break }
        try require(next > last, "\(schedule): \(next.seconds) follows \(last.seconds)")
        if step % 4 == 1, next.seconds - last.seconds < week, isCalm(zone, last, next) {
          let between = Instant(seconds: (last.seconds + next.seconds) / 2)
          try require(timetable.next(after: between) == next, "\(schedule): not from \(between.seconds)")
        }
        _ = timetable.remark(for: next)?.description
        last = next
      }
    }
  }
}

private let week: Int64 = 7 * 86_400

/// Whether changes of offset about two moments are a week apart, as those of all true zones are. Where they
/// crowd, a slot may be left out or given twice.
private func isCalm(_ zone: Zone, _ first: Instant, _ last: Instant) -> Bool {
  var at = Instant(seconds: first.seconds - week)
  while let change = zone.nextTransition(after: at)?.instant, change.seconds < last.seconds + week {
    if change.seconds - at.seconds < week, at.seconds != first.seconds - week { return false }
    at = change
  }
  return true
}

/// A moment's reading of the clock names that moment again, among others.
private func checkReading(_ instant: Instant, _ zone: Zone) throws(BrokenProperty) {
  let civil = zone.civil(at: instant)
  let resolution = zone.resolve(civil)
  // Within some days of the ends of the range readings saturate.
  guard instant.seconds > week, instant.seconds < Instant.latest.seconds - week else { return }
  switch resolution {
  case .unique(let found): try require(found == instant, "\(civil) is \(found.seconds), not \(instant.seconds)")
  case .fold(let first, let last):
    try require(first < last && first <= instant && instant <= last, "\(civil): \(first) \(last) \(instant)")
  case .gap(let before, let after, let transition):
    throw BrokenProperty("\(civil) of \(instant.seconds) is in a gap \(before) \(after) \(transition.seconds)")
  }
}

/// What is understood as a moment, a duration, a date, a time or a span of quiet hours is written so that it is understood as the same.
func checkMoments(_ text: String) throws(BrokenProperty) {
  do {
    let instant = try RFC3339.parse(text)
    try require(instant >= .earliest && instant <= .latest, "\(instant) is out of range")
    for zone in [Zone.utc, Ground.newYork, Ground.lordHowe] {
      let written = RFC3339.format(instant, in: zone)
      try require((try? RFC3339.parse(written)) == instant, "\(text) became \(written)")
    }
  } catch let error as FormatError {
    try require(!error.message.isEmpty, "a refusal without a sentence")
  } catch {
    throw BrokenProperty("\(error)")
  }
  if let duration = try? DurationText.parse(text) {
    let written = DurationText.format(duration)
    try require((try? DurationText.parse(written)) == duration, "\(text) became \(written)")
    let iso = DurationText.formatISO8601(duration)
    try require((try? DurationText.parseISO8601(iso)) == duration, "\(text) became \(iso)")
  }
  if let duration = try? DurationText.parseISO8601(text) {
    let written = DurationText.formatISO8601(duration)
    try require((try? DurationText.parseISO8601(written)) == duration, "\(text) became \(written)")
  }
  if let date = CivilDate(text) { try require(CivilDate(date.description) == date, "\(text) became \(date)") }
  if let time = CivilTime(text) { try require(CivilTime(time.description) == time, "\(text) became \(time)") }
  if let both = CivilDateTime(text) { try require(CivilDateTime(both.description) == both, "\(text) became \(both)") }
  try checkQuietSpan(text)
  _ = Zone.isValidIdentifier(text)
}

/// A span has one form, and what it makes quiet ends, unless it makes all of the week so.
private func checkQuietSpan(_ text: String) throws(BrokenProperty) {
  guard let span = try? QuietSpan(text) else { return }
  try require((try? QuietSpan(span.description)) == span, "\(text) became \(span)")
  guard let hours = try? QuietHours([span]) else { return }
  for zone in [Zone.utc, Ground.newYork, Ground.lordHowe] {
    for hour in 0..<200 as Range<Int64> {
      let now = Instant(seconds: 1_793_433_600 + hour * 3_600)
      guard let end = hours.end(ofQuietAt: now, in: zone) else { continue }
      try require(end > now && hours.end(ofQuietAt: end, in: zone) == nil, "\(span) does not end at \(end)")
    }
  }
}
