/// A SearchBudget limits the steps of a search for an occurrence.
///
/// One step is the cost of examining one month, about ten nanoseconds; costlier work counts as several. The budget
/// counts steps instead of time, so that all machines refuse the same schedules. An immediate result costs nothing.
struct SearchBudget {
  private(set) var left: Int

  init(_ steps: Int) { left = steps }

  /// Takes steps away. Returns false if too few are left: the search stops, and its result is unknown.
  @inline(__always)
  mutating func spend(_ steps: Int = 1) -> Bool {
    left &-= steps
    return left >= 0
  }

  @inline(__always) var isSpent: Bool { left < 0 }
}

extension Timetable {
  /// The steps of one search, over all rules of a schedule: 0.2 ms.
  ///
  /// The costliest schedule in the tests that has an occurrence takes 869 (`SearchBudgetTests`). To prove that nothing
  /// ever occurs takes one cycle of the calendar, 9,700 steps.
  public static let searchSteps = 20_000

  /// The steps for counting off `COUNT` occurrences, over all rules of a schedule.
  static let countingSteps = 30_000

  /// The steps for testing whether one given time is an occurrence: enough to expand the periods around it.
  static let glanceSteps = 200
}
