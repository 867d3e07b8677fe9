import ChimeSchedule

/// Compares our times with systemd's, except where systemd's search is known to fail. Each exception is a line under
/// "Where systemd differs" in `docs/schedules.md`, and is recognized by its cause.
struct CalendarComparison {
  let zone: Zone
  let base: Int64
  let pass: Pass
  /// The steps of open-ended repetitions, by field; 0 without one.
  private let monthStep, dayStep, hourStep, minuteStep, secondStep: Int

  enum Verdict {
    case same
    case explained
    case different(String)
  }

  /// The pass of a fold that counts.
  enum Pass {
    case first, any
  }

  init(schedule: Schedule, zone: Zone, base: Int64, pass: Pass = .first) {
    self.pass = pass
    self.zone = zone
    self.base = base
    // `calendar: [Mon] Y-M-D h:m:s [zone]`
    let words = schedule.canonical.split(separator: " ").dropFirst()
    let date = words.first { $0.contains("-") && ($0.first == "*" || $0.first?.isNumber == true) } ?? ""
    let time = words.first { $0.contains(":") } ?? ""
    let dates = date.split { $0 == "-" || $0 == "~" }
    let times = time.split(separator: ":")
    func step(_ field: Substring) -> Int {
      field.split(separator: ",").filter { $0.contains("/") && !$0.contains("..") }
        .compactMap { Double($0.split(separator: "/")[1]) }.map { Int($0.rounded(.up)) }.max() ?? 0
    }
    monthStep = step(dates[1])
    dayStep = step(dates[2])
    hourStep = step(times[0])
    minuteStep = step(times[1])
    secondStep = step(times[2])
  }

  func verdict(_ ours: [Int64], _ answer: CalendarOracle.Answer) -> Verdict {
    // systemd's years end.
    let ours = ours.filter { zone.civil(at: Instant(seconds: $0)).date.year < 2_200 }
    var theirs: [Int64] = []
    var isExplained = answer.isAbandoned
    for time in answer.elapses {
      // A second pass of a fold stands for the first, which may come before the start.
      let first = firstPass(time)
      if first != time { isExplained = true }
      if first > theirs.last ?? base { theirs.append(first) }
    }
    let end = answer.ends ? Int64.max : min(ours.last ?? .max, answer.elapses.max() ?? .max)
    let missing = ours.filter { $0 <= end && !theirs.contains($0) }
    let surplus = theirs.filter { ($0 <= ours.last ?? .max || ours.count < 8) && !ours.contains($0) }
    let isLost =
      answer.isAbandoned
      ? canTurnInCircles(until: ours.last ?? .max)
      : missing.allSatisfy { isLostBySearch($0, hasEnded: answer.ends && $0 > theirs.last ?? base) }
    guard surplus.isEmpty, isLost else {
      func shown(_ times: [Int64]) -> String {
        times.map { RFC3339.format(Instant(seconds: $0), in: zone) }.joined(separator: " ")
      }
      let ending = answer.isAbandoned ? "abandoned" : answer.ends ? "never" : ""
      return .different("\n ours   \(shown(ours))\n theirs \(shown(answer.elapses)) \(ending)")
    }
    return isExplained || !missing.isEmpty ? .explained : .same
  }

  private func firstPass(_ time: Int64) -> Int64 {
    if pass == .first, case .fold(let first, _) = zone.resolve(zone.civil(at: Instant(seconds: time))) {
      return first.seconds
    }
    return time
  }

  /// Returns whether systemd's search misses this time.
  private func isLostBySearch(_ time: Int64, hasEnded: Bool) -> Bool {
    let civil = zone.civil(at: Instant(seconds: time))
    let (_, month, day) = civil.date.fields
    let clock = civil.time
    // A repetition that overflows its field carries the excess over.
    if secondStep > 0, clock.second == 0 || clock.minute == 0 && clock.second < secondStep { return true }
    if minuteStep > 1, clock.hour == 0, clock.minute < minuteStep { return true }
    if hourStep > 1, clock.hour < hourStep, day == 1 || changesOffset(from: time - 86_400, to: time + 86_400) {
      return true
    }
    if dayStep > 1, day < dayStep, month == 1 || changesOffset(from: time - 32 * 86_400, to: time + 32 * 86_400) {
      return true
    }
    // systemd reads a candidate in a gap with the offset before it, and continues from there.
    if let change = zone.nextTransition(after: Instant(seconds: time - 86_400)),
      time >= change.instant.seconds,
      time < change.instant.seconds + Int64(change.offsetAfter - change.offsetBefore)
    {
      return true
    }
    // In zones whose winter time is legally the exception, systemd reads a candidate in a gap backward, and skips its day.
    if ["Europe/Dublin", "Africa/Casablanca"].contains(zone.identifier),
      hasGap(from: time - Int64(clock.secondOfDay) - 7_200, to: time, where: { _, _ in true })
    {
      return true
    }
    guard hasEnded else { return false }
    // A missing midnight ends the search.
    return hasGap(from: base - 86_400, to: time + 86_400, where: hidesMidnight)
  }

  /// Returns whether the search can loop: an overflow beyond a change of offset is moved back before it, and a missing
  /// midnight or a partly missing hour is searched again and again.
  private func canTurnInCircles(until last: Int64) -> Bool {
    let end = min(last, Instant.latest.seconds - 400 * 86_400)
    let hasStep = [monthStep, dayStep, hourStep, minuteStep].contains { $0 > 1 }
    return hasStep && changesOffset(from: base - 32 * 86_400, to: end + 366 * 86_400)
      || hasGap(from: base - 86_400, to: end + 86_400) { from, to in
        hidesMidnight(from, to) || from % 3_600 != 0 || to % 3_600 != 0
      }
  }

  private func changesOffset(from start: Int64, to end: Int64) -> Bool {
    guard let change = zone.nextTransition(after: Instant(seconds: start)) else { return false }
    return change.instant.seconds <= end
  }

  /// Returns whether there is a gap for which `holds` is true of its two edges in local time.
  private func hasGap(from start: Int64, to end: Int64, where holds: (_ from: Int64, _ to: Int64) -> Bool) -> Bool {
    var at = Instant(seconds: start)
    while let change = zone.nextTransition(after: at), change.instant.seconds <= end {
      at = change.instant
      let from = at.seconds + Int64(change.offsetBefore)
      let to = at.seconds + Int64(change.offsetAfter)
      if to > from, holds(from, to) { return true }
    }
    return false
  }

  private func hidesMidnight(_ from: Int64, _ to: Int64) -> Bool { (to - 1) / 86_400 > (from - 1) / 86_400 }
}
