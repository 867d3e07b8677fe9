extension Converter {
  /// How far the two are held against each other.
  private static let wakeups = Milliseconds.days(800)
  /// The most times that are compared in one go. What occurs so often that this does not reach what wakes next is compared
  /// again around each change of offset.
  private static let mostSteps = 2_000
  /// The steps that searching for the times of each of the two may take.
  private static let mostWork = 400_000
  /// How near to a change of offset a difference has to be to come from it. The longest gap is a day.
  private static let neighbourhood: Int64 = 26 * 3_600

  /// Remarks about the days on which clocks change; throws when the two differ on any other.
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

  /// The first instant that only one of the two has, and whether it is the first one.
  private func firstDifference(
    _ left: Timetable, _ right: Timetable
  ) throws(Inexpressible) -> (instant: Instant, isLeft: Bool)? {
    let end = now + Self.wakeups
    var at = now
    var (left, right) = (left.walk(steps: Self.mostWork), right.walk(steps: Self.mostWork))
    if let found = try firstDifference(&left, &right, from: &at, to: end) { return found }
    while let change = zone.nextTransition(after: at), change.instant < end {
      // What the change removes or repeats lies this near to it.
      let reach = Int64(change.offsetAfter - change.offsetBefore).magnitude + 60
      at = Instant(seconds: max(at.seconds, change.instant.seconds - Int64(reach)))
      let last = Instant(seconds: change.instant.seconds + Int64(reach))
      if let found = try firstDifference(&left, &right, from: &at, to: last) { return found }
      at = max(last, at)
    }
    return nil
  }

  /// The first difference of a stretch of time; `at` moves to where the comparing ended.
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

  /// The times of a day, or that there are none.
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
