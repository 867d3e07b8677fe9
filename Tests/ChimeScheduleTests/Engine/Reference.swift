import ChimeSchedule

/// A slow reference implementation of schedules, which checks every minute of some days in the zone. It shares only
/// `Zone.offset(at:)` and civil dates with the library.
struct Reference {
  /// Local time in seconds since 1970-01-01 00:00.
  typealias Wall = Int64

  struct Model {
    enum Pattern {
      case times([Int64])
      case window(step: Int64, from: Int64, to: Int64)
      case elapsed(step: Int64)
      case daysAfterDone(Int64, [Int64])
      case elapsedAfterDone(step: Int64)
    }
    enum Bound {
      case date(Int64)
      case civil(Wall)
      case instant(Int64)
    }

    var pattern: Pattern
    var days: DayReference
    /// The time of the last *done*.
    var done: Int64?
    var starting: Bound?
    var until: Bound?
    var count: Int?
    var except: [ClosedRange<Int64>] = []
    var gap: GapRule
    var fold: FoldRule
  }

  let first: Int64
  let last: Int64
  /// Every whole minute with its local time.
  private var minutes: [(instant: Int64, wall: Wall)] = []
  private var instants: [Wall: [Int64]] = [:]

  /// Walks the minutes of `days` days before and after an instant.
  init(_ zone: Zone, around center: Int64, days: Int64) {
    first = (center - days * 86_400) / 60 * 60
    last = first + 2 * days * 86_400
    for instant in stride(from: first, through: last, by: 60) {
      let wall = instant + Int64(zone.offset(at: Instant(seconds: instant)))
      minutes.append((instant, wall))
      instants[wall, default: []].append(instant)
    }
  }

  /// Returns the instants with a local time; under `shift`, the substitute for a missing one.
  private func passes(_ wall: Wall, _ gap: GapRule) -> [Int64] {
    let minute = wall - (wall % 60 + 60) % 60
    if let found = instants[minute] { return found.map { $0 + wall - minute } }
    guard gap == .shift else { return [] }
    for (before, after) in zip(minutes, minutes.dropFirst()) where before.wall < minute && after.wall > minute {
      return [before.instant + wall - before.wall]
    }
    return []
  }

  /// Returns the end of the gap that contains a local time.
  private func endOfGap(_ wall: Wall) -> Int64? {
    for (before, after) in zip(minutes, minutes.dropFirst()) where before.wall < wall && after.wall > wall {
      return after.instant
    }
    return nil
  }

  private func edge(_ wall: Wall, _ model: Model, isEnd: Bool) -> Int64? {
    let found = passes(wall, model.gap)
    if found.isEmpty { return endOfGap(wall) }
    switch model.fold {
    case .first: return found.first
    case .last: return found.last
    case .both: return isEnd ? found.last : found.first
    }
  }

  private func bound(_ wall: Wall, _ fold: FoldRule, isEnd: Bool) -> Int64 {
    let found = passes(wall, .shift)
    let takesLast = fold == .last || isEnd && fold == .both
    return (takesLast ? found.last : found.first) ?? .max
  }

  private func reading(_ instant: Int64) -> Wall { minutes[Int((instant - first) / 60)].wall + instant % 60 }

  private func day(_ wall: Wall) -> Int64 { (wall - (wall % 86_400 + 86_400) % 86_400) / 86_400 }

  /// Returns the first day of rotas.
  private func startDay(_ model: Model) -> Int64 {
    switch model.starting {
    case .date(let date): date
    case .civil(let wall): day(wall)
    case .instant(let instant): day(reading(instant))
    case nil: 0
    }
  }

  /// Returns all occurrences in the walked days that depend on no day outside.
  func occurrences(_ model: Model) -> [Int64] {
    var result: Set<Int64> = []
    var runs = model.days
    runs.start = startDay(model)
    var isElapsed = false
    var steps: Int64?
    switch model.pattern {
    case .elapsed: isElapsed = true
    case .elapsedAfterDone(let step):
      isElapsed = true
      steps = step
    case .daysAfterDone(let days, _):
      runs = DayReference(kind: .days(Int(days)), start: runs.start)
      if let done = model.done { runs.start = day(reading(done)) + days }
    case .times, .window: break
    }
    let walked = (first / 86_400 + 2)...(last / 86_400 - 2)
    func isOn(_ day: Int64, excepting: Bool) -> Bool {
      guard runs.contains(day), !excepting || !model.except.contains(where: { $0.contains(day) })
      else { return false }
      if isElapsed {
        if case .date(let end) = model.until, day > end { return false }
        return true
      }
      if case .date(let start) = model.starting, day < start { return false }
      if case .date(let end) = model.until, day > end { return false }
      return true
    }
    var start: Int64 = 0
    if case .civil(let wall) = model.starting { start = bound(wall, model.fold, isEnd: false) }
    if case .instant(let instant) = model.starting { start = instant }

    func all(excepting: Bool) -> Set<Int64> {
      var found: Set<Int64> = []
      switch model.pattern {
      case .times(let times), .daysAfterDone(_, let times):
        for day in walked where isOn(day, excepting: excepting) {
          for time in times {
            let passes = passes(day * 86_400 + time, model.gap)
            switch model.fold {
            case .first: found.formUnion(passes.prefix(1))
            case .last: found.formUnion(passes.suffix(1))
            case .both: found.formUnion(passes)
            }
          }
        }
      case .window(let step, let from, let to):
        for day in walked where isOn(day, excepting: excepting) {
          guard let opens = edge(day * 86_400 + from, model, isEnd: false),
            let closes = edge(day * 86_400 + to + (to <= from ? 86_400 : 0), model, isEnd: true), opens <= closes
          else { continue }
          found.formUnion(stride(from: opens, through: closes, by: Int64.Stride(step)))
        }
      case .elapsed(let step), .elapsedAfterDone(let step):
        if case .date(let date) = model.starting { start = bound(date * 86_400, .first, isEnd: false) }
        var context = start
        if let steps, let done = model.done {
          context = done + steps
          start = max(start, context)
        }
        for instant in stride(from: context, through: last - 86_400, by: Int64.Stride(step)) where instant >= first {
          let wall = reading(instant)
          if isOn((wall - (wall % 86_400 + 86_400) % 86_400) / 86_400, excepting: excepting) { found.insert(instant) }
        }
      }
      return found.filter { $0 >= start }
    }

    result = all(excepting: true)
    if let count = model.count {
      let counted = Set(all(excepting: false).sorted().prefix(count))
      result.formIntersection(counted)
    }
    if case .civil(let wall) = model.until {
      let end = bound(wall, model.fold, isEnd: true)
      result = result.filter { $0 <= end }
    }
    if case .instant(let end) = model.until { result = result.filter { $0 <= end } }
    return result.sorted()
  }
}
