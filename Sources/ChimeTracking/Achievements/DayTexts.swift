public import ChimeSchedule

extension Quote {
  /// The quote of a day: the same all day and for everyone, each of them once before any comes again, and neighbours in the
  /// list not on neighbouring days. Days are counted through, not from each January on, as a new year would else repeat
  /// what was there a few days ago.
  ///
  /// - Parameter category: only those of it; nil: all.
  /// - Returns: nil when there is none.
  public static func ofTheDay(_ day: CivilDate, among quotes: [Quote], category: String? = nil) -> Quote? {
    let those = category.map { name in quotes.filter { $0.category == name } } ?? quotes
    guard !those.isEmpty else { return nil }
    let count = those.count
    // About the golden section of the list, with which the days' quotes lie far from each other (Knuth, TAOCP 3, 6.4).
    var step = max(count * 618 / 1_000, 1)
    while gcd(step, count) != 1 { step += 1 }
    return those[Int(day.dayNumber) % count * (step % count) % count]
  }

  private static func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }
}

/// What a tracker brings to the mood of a day.
public struct MoodShare: Hashable, Sendable {
  /// Whether the day counts for it.
  public var counts: Bool
  public var isMet: Bool
  /// Of the day's goal, or its period's, in percent; nil where there is none.
  public var percent: Int?
  /// Whether there is an entry of the day.
  public var hasEntry: Bool

  public init(counts: Bool, isMet: Bool, percent: Int? = nil, hasEntry: Bool) {
    self.counts = counts
    self.isMet = isMet
    self.percent = percent
    self.hasEntry = hasEntry
  }

  public init(_ standing: GoalProgress) {
    self.init(
      counts: standing.counts && !standing.isOpenLimit, isMet: standing.isMet,
      // The share of a limit is no progress.
      percent: standing.wanted?.period == .day && standing.limit == nil ? standing.percent : nil,
      hasEntry: standing.total != nil)
  }
}

/// How far a day has come over all trackers, for the texts of moods: *1 of 3*, and the streak that stands.
public struct DayCount: Hashable, Sendable {
  public var done: Int
  public var due: Int
  public var streak: Int

  /// - Parameter streak: of days with something done.
  public init(_ standings: some Sequence<GoalProgress>, streak: Int) {
    let due = standings.filter { $0.counts && !$0.isOpenLimit }
    self.due = due.count
    done = due.count { $0.isMet }
    self.streak = streak
  }

  /// By the names of `TextValues.Name`; a streak of none is not spoken of.
  public func values(number: (Int) -> String) -> [String: String] {
    var values = [TextValues.Name.done.rawValue: number(done), TextValues.Name.due.rawValue: number(due)]
    if streak > 0 { values[TextValues.Name.streak.rawValue] = number(streak) }
    return values
  }

  /// What the texts of a mood may name.
  public static let names: [TextValues.Name] = [.streak, .done, .due]
}

extension Mood {
  /// The mood of a day, of what counts on it:
  ///
  /// - `noHabits`: nothing does;
  /// - `perfectDay`: all of it is met;
  /// - `notStarted`: none of it has an entry, nor is met;
  /// - `lightDay`: less than half of it is done, where what is met counts whole, and what is not counts by its share of the
  ///   day's goal;
  /// - `productiveDay`: at least half.
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
