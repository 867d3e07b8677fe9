/// TextValues are the values that a reminder's text can use: `{{remaining}}`, `{{streak}}`, `{{quote}}` and others.
///
///     let values = TextValues(tracker, progress, languages: ["cs", "en"])
///     values.pairs(quantity: { LocalizedFormat.quantity($0, in: $1) }, number: { LocalizedFormat.number($0) })
///     // [("title", "Voda"), ("reached", "1 750 ml"), ("remaining", "750 ml"), ("percent", "70"), …]
///
/// The caller formats numbers. Multilingual texts are in the first of `languages` that they have. Every name is
/// present, with an empty value if there is none, so that texts stay readable.
public struct TextValues: Sendable {
  /// The names, in the order of `pairs`.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    /// The tracker's title.
    case tracker
    /// The current total of the goal's period, what is left, and the goal: with units; entries and days as plain numbers.
    case reached, remaining, goal
    /// The percentage, without the sign.
    case percent
    /// The lengths of the current and the longest streak, in days, weeks or months.
    case streak
    case longestStreak = "streak.longest"
    case moodTitle = "mood.title"
    case moodMessage = "mood.message"
    case moodNext = "mood.next"
    /// The quote in its own language, its translation (empty if it has none), and its source.
    case quote
    case quoteTranslation = "quote.translation"
    case quoteSource = "quote.source"
    /// The title, text and progress (`5/7`) of the next achievement.
    case nextAchievement
    case nextAchievementText = "nextAchievement.text"
    case nextAchievementProgress = "nextAchievement.progress"
    case level, experience
    /// How many of the trackers that count today are met, and how many count.
    case done, due
  }

  public var tracker: Tracker
  public var progress: GoalProgress
  public var mood: MoodText?
  public var quote: Quote?
  public var next: (achievement: Achievement, reached: Int)?
  /// The progress of the next achievement for display; nil for that by its target.
  public var nextShown: (reached: Int, target: Int)?
  public var level: Int?
  public var experience: Int?
  public var day: DayCount?
  public var languages: [String]

  public init(
    _ tracker: Tracker, _ progress: GoalProgress, mood: MoodText? = nil, quote: Quote? = nil,
    next: (achievement: Achievement, reached: Int)? = nil, level: Int? = nil, experience: Int? = nil,
    day: DayCount? = nil, languages: [String]
  ) {
    self.tracker = tracker
    self.progress = progress
    self.mood = mood
    self.quote = quote
    self.next = next
    self.level = level
    self.experience = experience
    self.day = day
    self.languages = languages
  }

  /// Returns all names with their values.
  ///
  /// - Parameters:
  ///   - quantity: formats a quantity with its unit and this number of decimals.
  ///   - number: formats a whole number.
  public func pairs(
    quantity: (_ quantity: Quantity, _ unit: Unit, _ decimals: Int) -> String, number: (Int) -> String
  ) -> [(name: Name, value: String)] {
    func amount(_ value: Quantity?) -> String {
      guard let value else { return "" }
      switch progress.wanted?.kind {
      case .entries, .days: return number(Int(value.grains / Quantity.one.grains))
      case .total, .value, nil: return tracker.unit.map { quantity(value, $0, tracker.decimals) } ?? ""
      }
    }
    func text(_ text: LocalizedText?) -> String { text?.text(in: languages) ?? "" }
    func count(_ value: Int?) -> String { value.map(number) ?? "" }
    return Name.allCases.map { name in
      let value =
        switch name {
        case .tracker: text(tracker.title)
        case .reached: amount(progress.reached)
        case .remaining: amount(progress.remaining)
        case .goal: amount(progress.wanted?.quantity)
        case .percent: count(progress.percent)
        case .streak: number(progress.form.streak.length)
        case .longestStreak: number(progress.form.longest.length)
        case .moodTitle: text(mood?.title)
        case .moodMessage: text(mood?.message)
        case .moodNext: text(mood?.next)
        case .quote: quote?.text ?? ""
        case .quoteTranslation: text(quote?.translation)
        case .quoteSource: quote?.source ?? ""
        case .nextAchievement: text(next?.achievement.title)
        case .nextAchievementText: text(next?.achievement.text)
        case .nextAchievementProgress:
          next.map { next in
            let shown = nextShown ?? (next.reached, max(next.achievement.criterion.target, 1))
            return "\(number(shown.reached))/\(number(shown.target))"
          } ?? ""
        case .level: count(level)
        case .experience: count(experience)
        case .done: count(day?.done)
        case .due: count(day?.due)
        }
      return (name, value)
    }
  }
}
