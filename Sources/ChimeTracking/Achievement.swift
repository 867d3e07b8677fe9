public import ChimeSchedule

/// The name of an achievement, unique in its pack: `first_sip`.
public struct AchievementID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public var description: String { rawValue }
  public static func < (left: AchievementID, right: AchievementID) -> Bool { left.rawValue < right.rawValue }
}

/// Something worth a word of praise, once.
public struct Achievement: Hashable, Sendable, Codable {
  public var id: AchievementID
  public var title: LocalizedText
  public var text: LocalizedText
  public var category: String?
  public var icon: String?
  /// XP that it is worth.
  public var experience: Int
  public var criterion: Criterion

  public init(
    id: AchievementID, title: LocalizedText, text: LocalizedText, category: String? = nil, icon: String? = nil,
    experience: Int = 0, criterion: Criterion
  ) {
    self.id = id
    self.title = title
    self.text = text
    self.category = category
    self.icon = icon
    self.experience = experience
    self.criterion = criterion
  }
}

/// What an achievement asks for.
public struct Criterion: Hashable, Sendable, Codable {
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// `target` entries in all.
    case entries
    /// `target` entries in one day.
    case entriesInDay
    /// One entry of at least `amount`.
    case amountInEntry
    /// A day of at least `target` percent of its goal.
    case shareOfGoal
    /// The goal met for the first time.
    case goalMet
    /// The goal met on `target` days.
    case daysMet
    /// A streak of `target`; of `days` (all, weekdays, weekends).
    case streak
    /// `target` entries before, at or after a time of day (`minute`), in which they are given.
    case entryBefore, entryAfter
    /// `target` items owned, of those whose `attribute` has `value` where these are given.
    case itemsOwned
    /// `target` entries for one item.
    case entriesForItem
    /// `target` distinct values of `attribute` among the items owned, or worn within `within` days.
    case distinctValues
    /// `target` distinct items within `within` days.
    case distinctItems
    /// The share of entries that would have to move for all items of `within` days to be worn alike is at most
    /// 100 - `target` percent, with `minimum` items at least.
    case evenRotation
    case firstItem, firstEntry
    /// `target` years after the first entry.
    case anniversary
    /// Level `target` reached.
    case level
    /// Every tracker of the pack that counts met on 7 days running, `target` times.
    case perfectWeek
    /// A measure crossed `amount`, from either side.
    case crossed
    /// A measure reached its goal's value.
    case goalValue
    /// `target` days since the tracker's first day.
    case daysSinceStart
    /// `target` entries on this day of the year (`month`, `day`).
    case entryOnDate
    /// `target` entries on one of `weekdays`; with `day` only when that is the day of the month (Friday the 13th).
    case entryOnWeekday
    /// An entry for an item on a day of the year on which it was acquired, a year after at least.
    case itemAnniversary
  }

  /// Which days a streak is of.
  public enum Days: String, Hashable, Sendable, Codable { case all, weekdays, weekends }

  public var kind: Kind
  /// The tracker it is about; nil: the pack's first, or all of them where the kind is about all.
  public var tracker: TrackerID?
  public var target: Int
  public var amount: Quantity?
  public var days: Days
  public var minute: Int?
  public var attribute: String?
  public var value: String?
  public var within: Int?
  public var minimum: Int?
  public var month: Int?
  public var day: Int?
  public var weekdays: WeekdaySet?

  public init(
    _ kind: Kind, tracker: TrackerID? = nil, target: Int = 1, amount: Quantity? = nil, days: Days = .all,
    minute: Int? = nil, attribute: String? = nil, value: String? = nil, within: Int? = nil, minimum: Int? = nil,
    month: Int? = nil, day: Int? = nil, weekdays: WeekdaySet? = nil
  ) {
    self.kind = kind
    self.tracker = tracker
    self.target = target
    self.amount = amount
    self.days = days
    self.minute = minute
    self.attribute = attribute
    self.value = value
    self.within = within
    self.minimum = minimum
    self.month = month
    self.day = day
    self.weekdays = weekdays
  }
}

/// How far an achievement has come. Kept; once unlocked it stays so, whatever becomes of its data.
public struct AchievementProgress: Hashable, Sendable, Codable {
  public var pack: PackID
  public var achievement: AchievementID
  /// From 0 to `Criterion.target`.
  public var reached: Int
  public var unlockedAt: Instant?
  /// Whether it was unlocked by what was there when its pack was installed, and so without a word.
  public var wasSilent: Bool

  public init(
    pack: PackID, achievement: AchievementID, reached: Int = 0, unlockedAt: Instant? = nil, wasSilent: Bool = false
  ) {
    self.pack = pack
    self.achievement = achievement
    self.reached = reached
    self.unlockedAt = unlockedAt
    self.wasSilent = wasSilent
  }
}
