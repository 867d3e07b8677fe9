/// How many steps a search for an occurrence may still take.
///
/// A step is what a look at one month costs, about ten nanoseconds; what costs more counts as several. Steps and not time
/// are counted, so that a schedule is refused on every machine or on none. What is found at once takes none.
struct SearchBudget {
  private(set) var left: Int

  init(_ steps: Int) { left = steps }

  /// Takes steps away. False when there were not so many: the search is given up, and what it has not found is unknown.
  @inline(__always)
  mutating func spend(_ steps: Int = 1) -> Bool {
    left &-= steps
    return left >= 0
  }

  @inline(__always) var isSpent: Bool { left < 0 }
}

extension Timetable {
  /// The steps that one search may take, for all rules of a schedule together: 0.2 ms.
  ///
  /// Of all that the tests have a schedule with occurrences takes 869 at most (`SearchBudgetTests`), and what never comes is
  /// known after one cycle of the calendar, which is 9,700.
  public static let searchSteps = 20_000

  /// The steps that counting off `COUNT` occurrences may take, for all rules of a schedule together.
  static let countingSteps = 30_000

  /// The steps within which a time that is an occurrence is seen to be one: the periods about it are put together.
  static let glanceSteps = 200
}
