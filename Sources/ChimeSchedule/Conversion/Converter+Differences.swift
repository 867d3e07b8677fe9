extension Converter {
  /// How far ahead the two schedules are compared.
  private static let searchLimit = Milliseconds.days(800)
  /// The most times compared in one go. A schedule with more times in the period is compared again around each change
  /// of offset.
  private static let mostSteps = 2_000
  /// The search budget for each of the two schedules.
  private static let mostWork = 400_000
  /// The distance, in seconds, within which a difference may come from a change of offset. The longest gap is a day.
  private static let neighbourhood: Int64 = 26 * 3_600

  /// Returns remarks about days on which clocks change. Throws if the schedules differ on any other day.
  func differences(_ target: Schedule) throws(Inexpressible) -> [String] {
    let before = source.timetable(in: scheduleContext)
    let after = timetable(target, nil, nil)
    guard let (instant, mine) = try firstDifference(before, after) else { return [] }
    let date = zone.civil(at: instant).date
    var remark =
      "the two differ at the clock change of \(date): \(words(mine, before, date)) as \(source.dialect.name), "
      + "\(words(!mine, after, date)) as \(target.dialect.name)"
    for gap in [nil, GapRule.skip, .shift] {
      for fold in [nil, FoldRule.first, .both, .last] where gap != nil || fold != nil {
        guard try firstDifference(before, timetable(target, gap, fold)) == nil else { continue }
        let rules = [gap.map { "gap = \($0.rawValue)" }, fold.map { "fold = \($0.rawValue)" }].compactMap { $0 }
        remark += "; with \(rules.joined(separator: " and ")) they agree"
        return [remark]
      }
    }
    return [remark]
  }

  private func timetable(_ target: Schedule, _ gap: GapRule?, _ fold: FoldRule?) -> Timetable {
    var scheduleContext = scheduleContext
    scheduleContext.zone = zone
    return target.timetable(in: scheduleContext, gap: gap, fold: fold)
  }

  /// Returns the first instant that only one of the two has, and whether `left` is the one.
  private func firstDifference(
    _ left: Timetable, _ right: Timetable
  ) throws(Inexpressible) -> (instant: Instant, isLeft: Bool)? {
    let end = now + Self.searchLimit
    var at = now
    var (left, right) = (left.walk(steps: Self.mostWork), right.walk(steps: Self.mostWork))
    if let found = try firstDifference(&left, &right, from: &at, to: end) { return found }
    while let change = zone.nextTransition(after: at), change.instant < end {
      // All times that the change removes or repeats lie this close to it.
      let reach = Int64(change.offsetAfter - change.offsetBefore).magnitude + 60
      at = Instant(seconds: max(at.seconds, change.instant.seconds - Int64(reach)))
      let last = Instant(seconds: change.instant.seconds + Int64(reach))
      if let found = try firstDifference(&left, &right, from: &at, to: last) { return found }
      at = max(last, at)
    }
    return nil
  }

  /// Returns the first difference in a period; `at` moves to where the comparison ended.
  private func firstDifference(
    _ left: inout TimetableWalk, _ right: inout TimetableWalk, from at: inout Instant, to end: Instant
  ) throws(Inexpressible) -> (instant: Instant, isLeft: Bool)? {
    var found: (Instant, Bool)?
    for _ in 0..<Self.mostSteps {
      let (mine, other) = (left.next(after: at), right.next(after: at))
      if left.isGivenUp || right.isGivenUp { throw Inexpressible("comparing the two takes too long") }
      let earlier = min(mine ?? .latest, other ?? .latest)
      guard earlier < end else {
        at = end
        break
      }
      if mine != other {
        guard changes(near: earlier) else { throw Inexpressible("the closest expression means other times") }
        if found == nil { found = (earlier, earlier == mine) }
      }
      at = earlier
    }
    return found
  }

  private func changes(near instant: Instant) -> Bool {
    let from = Instant(seconds: instant.seconds - Self.neighbourhood)
    guard let change = zone.nextTransition(after: from) else { return false }
    return change.instant.seconds <= instant.seconds + Self.neighbourhood
  }

  /// Returns the times of a day in words, or "not at all".
  private func words(_ has: Bool, _ timetable: Timetable, _ date: CivilDate) -> String {
    let midnight = zone.table.instant(Int64(date.dayNumber) * 86_400, gap: .shift, fold: .first)
    let times = timetable.occurrences(after: Instant(seconds: max(0, midnight - 1)))
      .prefix { zone.civil(at: $0).date == date }
    let all = Array(times.prefix(4))
    guard !all.isEmpty else { return "not at all" }
    guard all.count < 4 else { return "other times" }
    return all.map { zone.civil(at: $0).time.description }.joined(separator: " and ")
  }
}
