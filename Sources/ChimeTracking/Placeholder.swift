/// What the texts of a pack's reminders may name of the tracker that they belong to, as `{{remaining}}`.
///
/// Each is filled in when the reminder fires, in the reminder's language and with the user's figures.
public enum TrackerPlaceholder: String, Hashable, Sendable, CaseIterable {
  /// The tracker's title.
  case tracker
  /// What the goal's period has so far, the goal, and what is left of it, each with its unit.
  case reached, goal, remaining
  /// The share of the goal, in percent, without the sign.
  case percent
  /// The current and the longest streak with what they count: `5 days`.
  case streak, longest
  /// The latest value of a measure, with its unit.
  case last
  /// The mood of the day.
  case moodTitle = "mood.title"
  case moodMessage = "mood.message"
  case moodNext = "mood.next"
  /// The quote of the day, translated where it has a translation, and where it is from.
  case quote
  case quoteOriginal = "quote.original"
  case quoteSource = "quote.source"
  /// The achievement that is nearest to being unlocked.
  case nextAchievement
  case level
}
