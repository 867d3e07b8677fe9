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
