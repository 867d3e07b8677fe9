public import ChimeSchedule

extension Quote {
  /// Returns the quote of a day, the same all day and for everyone.
  ///
  /// Each quote comes once before any repeats, and neighbors in the list do not follow each other. Days are numbered
  /// across years, because restarting each January would soon repeat quotes of December.
  ///
  /// - Parameter category: the category to choose from; nil for all.
  /// - Returns: nil if there are no quotes.
  public static func ofTheDay(_ day: CivilDate, among quotes: [Quote], category: String? = nil) -> Quote? {
    let those = category.map { name in quotes.filter { $0.category == name } } ?? quotes
    guard !those.isEmpty else { return nil }
    let count = those.count
    // About the golden section of the list, so that consecutive quotes are far apart (Knuth, TAOCP 3, 6.4).
    var step = max(count * 618 / 1_000, 1)
    while gcd(step, count) != 1 { step += 1 }
    return those[Int(day.dayNumber) % count * (step % count) % count]
  }

  private static func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }
}

/// A MoodShare is one tracker's contribution to the mood of a day.
public struct MoodShare: Hashable, Sendable {
  /// Whether the day counts for the tracker.
  public var counts: Bool
  public var isMet: Bool
  /// The percentage of the goal of the day or its period; nil if there is none.
  public var percent: Int?
  /// Whether the day has an entry.
  public var hasEntry: Bool

  public init(counts: Bool, isMet: Bool, percent: Int? = nil, hasEntry: Bool) {
    self.counts = counts
    self.isMet = isMet
    self.percent = percent
    self.hasEntry = hasEntry
  }

  public init(_ progress: GoalProgress) {
    self.init(
      counts: progress.counts && !progress.isOpenLimit, isMet: progress.isMet,
      // The share of a limit is no progress.
      percent: progress.wanted?.period == .day && progress.limit == nil ? progress.percent : nil,
      hasEntry: progress.total != nil)
  }
}

/// A DayCount sums up a day over all trackers for the texts of moods: *1 of 3*, and the current streak.
public struct DayCount: Hashable, Sendable {
  public var done: Int
  public var due: Int
  public var streak: Int

  /// - Parameter streak: the number of consecutive days with something done.
  public init(_ progress: some Sequence<GoalProgress>, streak: Int) {
    let due = progress.filter { $0.counts && !$0.isOpenLimit }
    self.due = due.count
    done = due.count { $0.isMet }
    self.streak = streak
  }

  /// Returns values by the names of `TextValues.Name`; a streak of 0 is left out.
  public func values(number: (Int) -> String) -> [String: String] {
    var values = [TextValues.Name.done.rawValue: number(done), TextValues.Name.due.rawValue: number(due)]
    if streak > 0 { values[TextValues.Name.streak.rawValue] = number(streak) }
    return values
  }

  /// The names that a mood's texts can use.
  public static let names: [TextValues.Name] = [.streak, .done, .due]
}

extension Mood {
  /// Returns the mood of a day from the trackers that count:
  ///
  /// - `noHabits`: none counts;
  /// - `perfectDay`: all are met;
  /// - `notStarted`: none has an entry, nor is met;
  /// - `lightDay`: less than half is done, where a met tracker counts in full, another by its share of the day's goal;
  /// - `productiveDay`: at least half is done.
  ///
  ///     // Water at 60 percent, nothing else to do
  ///     Mood.of([MoodShare(counts: true, isMet: false, percent: 60, hasEntry: true)])    // productiveDay
  public static func of(_ shares: some Sequence<MoodShare>) -> Mood {
    let due = shares.filter(\.counts)
    if due.isEmpty { return .noHabits }
    if due.allSatisfy(\.isMet) { return .perfectDay }
    if due.allSatisfy({ !$0.hasEntry && !$0.isMet }) { return .notStarted }
    let sum = due.reduce(0) { $0 + ($1.isMet ? 100 : min(max($1.percent ?? 0, 0), 99)) }
    return sum < 50 * due.count ? .lightDay : .productiveDay
  }
}
