/// RollingRuns keeps the runs of days for a promise like "twice in any seven days", updated with each repetition.
///
/// The rule is that of Loop Habit Tracker (https://github.com/iSoron/uhabits, `EntryList`), in our own words. Days are
/// counted by position, so that days that do not count are left out.
///
/// - Wherever `times` repetitions lie within `days` days, the promise is kept for the `days` days that begin with the
///   first of them: a *span*. Its days are covered, done or not.
/// - Where two spans overlap, the earlier one moves back until it ends just before the later one begins, but never so
///   far that it would lose its own repetitions. This goes from the newest span to the oldest. So it does no harm to be
///   early: overlapping days are not lost, they fill gaps.
/// - A repetition in no span covers its own day.
/// - A run is a range of covered days without a gap. It counts up to today; Loop also counts days to come.
///
/// A new span moves earlier ones, which may move those before them, so that separate runs can merge. It is not
/// necessary to read all of them again. The begin of a run depends only on where the next span begins, and always as
/// "that minus a number, within two bounds"; two such dependences in a row give a third one. So a run is five numbers,
/// however long it is. A run is final when the one after it cannot move back far enough to touch it. Each gap uses up
/// at least one day of moving, so there are never more than `days` runs that are not final.
struct RollingRuns: Hashable, Sendable, Codable {
  /// A Run is a sequence of spans without a gap.
  struct Run: Hashable, Sendable, Codable {
    /// If the next span begins at `x`, this run begins at `x - shift`, within `least...most`; at `most` if there is none.
    var shift: Int
    var least: Int
    var most: Int
    /// The last day, unless the next span moves it.
    var end: Int

    func begin(next: Int) -> Int { min(max(next - shift, least), most) }
  }

  /// A Stretch is a range of covered days, by position.
  struct Stretch: Hashable, Sendable, Codable {
    var first: Int
    var last: Int
    var length: Int { last - first + 1 }

    /// Returns whether it is longer than another, or equally long and earlier.
    func beats(_ other: Stretch?) -> Bool {
      guard let other else { return true }
      return length > other.length || length == other.length && first < other.first
    }
  }

  /// The runs that are not final, oldest first; the last is that of the newest span.
  private(set) var runs: [Run] = []
  /// The newest repetitions on consecutive days that belong to no span.
  private(set) var alone: Stretch?
  /// Whether the newest repetition is in a span.
  private(set) var isKept = false
  /// The longest final run.
  private(set) var record: Stretch?

  /// Adds a repetition at a position after all others.
  ///
  /// - Parameter first: the position of the repetition `times` back, counting this one; nil if there are fewer, or if
  ///   it lies more than `days` back.
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

  /// Drops the runs that nothing can move any more.
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

  /// Returns the run of the newest repetition, up to a position.
  func current(upTo position: Int) -> Stretch? {
    guard isKept, let run = runs.last else { return alone }
    let whole = stretch(run)
    return Stretch(first: whole.first, last: max(whole.first, min(whole.last, position)))
  }

  /// Returns the longest run up to a position; of equal ones the earliest.
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
