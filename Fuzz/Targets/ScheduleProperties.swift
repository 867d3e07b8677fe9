import ChimeSchedule

/// How many occurrences of an understood schedule are walked.
private let walked = 24

/// A text in a dialect, whose prefix is put before it unless it begins with one of these.
func checkSchedule(_ text: String, prefix: String, unless shapes: [String]) throws(BrokenProperty) {
  let start = text.prefix(12).lowercased()
  try checkSchedule(shapes.contains { start.hasPrefix($0) } ? text : prefix + text)
}

/// What holds for every text: it is understood, and then has one canonical form and occurrences in order; or it is
/// refused in a sentence fit for a terminal, with a suggestion that works.
func checkSchedule(_ text: String) throws(BrokenProperty) {
  let scheduleContext = Ground.scheduleContext
  let schedule: Schedule
  do {
    schedule = try Schedule.parse(text, now: Ground.now, in: scheduleContext)
  } catch {
    try checkRefusal(error, of: text)
    return try checkStandingAlone(text)
  }
  try checkCanonical(schedule)
  do {
    let again = try Schedule.parse(schedule.canonical, now: Ground.now, in: scheduleContext)
    try same(again, schedule)
  } catch let error as BrokenProperty {
    throw error
  } catch {
    throw BrokenProperty("the canonical form \(schedule.canonical) is refused: \(error)")
  }
  let timetable = schedule.timetable(in: scheduleContext)
  try require(timetable.next(after: Ground.now) != nil, "nothing lies ahead of \(schedule.canonical)")
  try checkOrder(timetable, governing(schedule, scheduleContext), schedule.canonical)
  // Other zones, with the rules that people can give.
  let choice = Int(text.utf8.reduce(0) { $0 &* 31 &+ UInt32($1) } % 12)
  let gap = [nil, GapRule.shift, .skip][choice % 3]
  let fold = [nil, FoldRule.first, .last, .both][choice / 3]
  for zone in [Ground.newYork, Ground.lordHowe, Ground.apia] {
    let elsewhere = Ground.scheduleContext(zone)
    try checkOrder(
      schedule.timetable(in: elsewhere, gap: gap, fold: fold), governing(schedule, elsewhere),
      "\(schedule.canonical) in \(zone.identifier), gap \(gap?.rawValue ?? "-"), fold \(fold?.rawValue ?? "-")")
  }
  try checkConversions(schedule)
}

private func governing(_ schedule: Schedule, _ scheduleContext: ScheduleContext) -> Zone {
  guard let name = schedule.zoneIdentifier else { return scheduleContext.zone }
  return name == "UTC" ? .utc : scheduleContext.zones(name) ?? scheduleContext.zone
}

private func same(_ left: Schedule, _ right: Schedule) throws(BrokenProperty) {
  try require(
    left == right && left.canonical == right.canonical && left.dialect == right.dialect
      && left.zoneIdentifier == right.zoneIdentifier && left.isOneOff == right.isOneOff,
    "\(left.canonical) is not the same as \(right.canonical)")
}

private func checkCanonical(_ schedule: Schedule) throws(BrokenProperty) {
  try require(!schedule.canonical.isEmpty, "an empty canonical form")
  do {
    try same(Schedule(canonical: schedule.canonical), schedule)
  } catch let error as BrokenProperty {
    throw error
  } catch {
    throw BrokenProperty("the canonical form \(schedule.canonical) does not stand alone: \(error)")
  }
}

/// The same text without a moment to count from: what has passed is understood there.
private func checkStandingAlone(_ text: String) throws(BrokenProperty) {
  guard let schedule = try? Schedule(canonical: text) else { return }
  try checkCanonical(schedule)
  let scheduleContext = Ground.scheduleContext
  try checkOrder(schedule.timetable(in: scheduleContext), governing(schedule, scheduleContext), schedule.canonical)
}

private func checkRefusal(_ error: ScheduleError, of text: String) throws(BrokenProperty) {
  try require(!error.message.isEmpty, "a refusal without a sentence")
  for part in [error.message, error.text, error.expected] {
    try require(part.unicodeScalars.count < 2_000, "a refusal as long as \(part.unicodeScalars.count)")
    try require(
      !part.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F || (0x202A...0x202E).contains($0.value) },
      "a refusal not fit for a terminal: \(part.debugDescription)")
  }
  if let column = error.column {
    try require(column >= 1 && column <= text.utf8.count + 1, "column \(column) of \(text.count)")
  }
  guard let suggestion = error.suggestion else { return }
  do {
    _ = try Schedule.parse(suggestion, now: Ground.now, in: Ground.scheduleContext)
  } catch {
    throw BrokenProperty("the suggestion \(suggestion.debugDescription) is refused: \(error)")
  }
}

/// Occurrences strictly ascend, an earlier start finds the same ones, and remarks tell what the zone tells.
func checkOrder(_ timetable: Timetable, _ zone: Zone, _ name: String) throws(BrokenProperty) {
  for start in [Ground.now, Instant(seconds: 253_370_000_000), .earliest] {
    var last = start
    for step in 0..<walked {
      guard let next = timetable.next(after: last) else { break }
      try require(next > last, "\(name): \(next.seconds) follows \(last.seconds)")
      try require(next <= .latest, "\(name): \(next.seconds) is after the year 9999")
      if step % 4 == 1 {
        let between = Instant(seconds: last.seconds + (next.seconds - last.seconds) / 3 * 2)
        let found = timetable.next(after: between)
        try require(
          found == next,
          "\(name): \(found?.seconds ?? -1) instead of \(next.seconds) from \(between.seconds), after \(last.seconds)")
      }
      try checkRemark(timetable.remark(for: next), next, zone, name)
      last = next
    }
  }
}

private func checkRemark(_ remark: Remark?, _ instant: Instant, _ zone: Zone, _ name: String) throws(BrokenProperty) {
  let civil = zone.civil(at: instant)
  let resolution = zone.resolve(civil)
  switch remark {
  case nil:
    if case .fold = resolution { throw BrokenProperty("\(name): no word of the fold at \(instant.seconds)") }
  case .firstPass(let read):
    guard case .fold(instant, _) = resolution, read == civil else {
      throw BrokenProperty("\(name): \(instant.seconds) is no first pass of \(read)")
    }
  case .lastPass(let read):
    guard case .fold(_, instant) = resolution, read == civil else {
      throw BrokenProperty("\(name): \(instant.seconds) is no last pass of \(read)")
    }
  case .moved(let lost, let to):
    guard case .gap = zone.resolve(lost), to == civil else {
      throw BrokenProperty("\(name): \(instant.seconds) was not moved from \(lost) to \(to)")
    }
  }
}

/// A schedule written in another dialect means the same where clocks keep their offset.
private func checkConversions(_ schedule: Schedule) throws(BrokenProperty) {
  var scheduleContext = Ground.scheduleContext
  scheduleContext.zone = .utc
  guard schedule.zoneIdentifier == nil else { return }
  for dialect in Dialect.allCases where dialect != schedule.dialect {
    guard let other = try? schedule.converted(to: dialect, now: Ground.now, in: scheduleContext).schedule else {
      continue
    }
    try checkCanonical(other)
    try require(other.dialect == dialect, "\(schedule.canonical) became \(other.canonical)")
    let (ours, theirs) = (schedule.timetable(in: scheduleContext), other.timetable(in: scheduleContext))
    try require(
      ours.occurrences(after: Ground.now).prefix(walked).elementsEqual(
        theirs.occurrences(after: Ground.now).prefix(walked)),
      "\(schedule.canonical) and \(other.canonical) have different occurrences")
  }
}
