/// Runs of days of a promise like "twice in any seven days", kept up with each new repetition.
///
/// The rule is Loop Habit Tracker's (https://github.com/iSoron/uhabits, `EntryList`), told in our words. Days are counted
/// by position, so that days that do not count are left out.
///
/// - Wherever `times` repetitions lie within `days` days, the promise is kept for the `days` days that begin with the first
///   of them: a *span*. Its days are covered, done or not.
/// - Where two spans overlap, the earlier one is moved back until it ends just before the later one begins, though never
///   so far that it would not hold its own repetitions any more. This is done from the newest span to the oldest. So it
///   does no harm to be early: the days that overlap are not lost, they fill gaps.
/// - A repetition that is in no span covers its own day.
/// - A run is covered days without a gap. We count it up to today, Loop into the days to come.
///
/// A new span moves earlier ones, which may move those before them, and runs that were apart can come together. Reading all
/// of them again is not needed. Where a run begins depends on nothing but where the next span begins, and always as
/// "that, less a number, but within two bounds"; putting two such dependences one after the other gives a third. So a run is
/// five numbers, however long it is. A run is done with when the one after it cannot be moved far enough back to
/// touch it; as each gap uses up at least one day of moving, there are never more than `days` others.
struct RollingRuns: Hashable, Sendable, Codable {
  /// Spans that follow each other without a gap.
  struct Run: Hashable, Sendable, Codable {
    /// When the next span begins at `x`, this run begins at `x - shift`, but within `least...most`; `most` when there is
    /// no next span.
    var shift: Int
    var least: Int
    var most: Int
    /// The last day, as long as no next span moves it.
    var end: Int

    func begin(next: Int) -> Int { min(max(next - shift, least), most) }
  }

  /// Covered days, by position.
  struct Stretch: Hashable, Sendable, Codable {
    var first: Int
    var last: Int
    var length: Int { last - first + 1 }

    /// Whether it is longer than another, or as long and earlier.
    func beats(_ other: Stretch?) -> Bool {
      guard let other else { return true }
      return length > other.length || length == other.length && first < other.first
    }
  }

  /// Oldest first; the last is that of the newest span.
  private(set) var runs: [Run] = []
  /// The newest repetitions that follow each other day by day in no span.
  private(set) var alone: Stretch?
  /// Whether the newest repetition is in a span.
  private(set) var isKept = false
  /// The longest of what cannot change any more.
  private(set) var record: Stretch?

  /// Takes a repetition at a position after all others.
  ///
  /// - Parameter first: the position of the repetition that is `times` repetitions back, this one included; nil when there
  ///   are not so many, or when it lies further back than `days`.
  mutating func add(_ position: Int, first: Int?, days: Int) {
    guard let first, position - first < days else {
      isKept = false
      if let before = alone, before.last == position - 1 {
        alone = Stretch(first: before.first, last: position)
      } else {
        alone = Stretch(first: position, last: position)
      }
      record(alone)
      return
    }
    isKept = true
    alone = nil
    runs.append(Run(shift: days, least: position - days + 1, most: first, end: first + days - 1))
    while runs.count > 1, runs[runs.count - 2].end >= runs[runs.count - 1].most - 1 {
      let later = runs.removeLast()
      let earlier = runs.removeLast()
      runs.append(
        Run(
          shift: earlier.shift + later.shift, least: earlier.begin(next: later.least),
          most: earlier.begin(next: later.most), end: later.end))
    }
    settle()
  }

  /// Lets go the runs that nothing can move any more.
  private mutating func settle() {
    guard var least = runs.last?.least else { return }
    var kept = runs.count - 1
    while kept > 0, runs[kept - 1].end >= least - 1 {
      kept -= 1
      least = runs[kept].begin(next: least)
    }
    for run in runs[..<kept] { record(stretch(run)) }
    runs.removeFirst(kept)
  }

  // Days before the start do not count, so no run begins before position 1.
  private func stretch(_ run: Run) -> Stretch { Stretch(first: max(run.most, 1), last: run.end) }

  private mutating func record(_ stretch: Stretch?) {
    if let stretch, stretch.beats(record) { record = stretch }
  }

  /// The run of the newest repetition, up to a position.
  func current(upTo position: Int) -> Stretch? {
    guard isKept, let run = runs.last else { return alone }
    let whole = stretch(run)
    return Stretch(first: whole.first, last: max(whole.first, min(whole.last, position)))
  }

  /// The longest up to a position; of several the earliest.
  func longest(upTo position: Int) -> Stretch? {
    var longest = record
    for run in runs.dropLast().map(stretch) where run.beats(longest) { longest = run }
    if let run = runs.last.map(stretch) {
      let last = Stretch(first: run.first, last: max(run.first, min(run.last, position)))
      if last.beats(longest) { longest = last }
    }
    return longest
  }
}
