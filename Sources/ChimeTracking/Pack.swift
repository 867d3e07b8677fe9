public import ChimeSchedule

/// A PackID is a pack's name: `hydration`. The same rules as for `TrackerID` apply.
public struct PackID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public var description: String { rawValue }
  public static func < (left: PackID, right: PackID) -> Bool { left.rawValue < right.rawValue }
}

/// A Pack bundles trackers, reminders, achievements and messages, as one file declares them. Stores and backups keep it
/// as JSON, so a property that is added later is optional.
public struct Pack: Hashable, Sendable, Codable {
  public var id: PackID
  public var title: LocalizedText
  public var text: LocalizedText
  public var version: Int
  public var icon: String?
  /// Trackers without an owner. One with `unbegun` as its start starts on the day of installation.
  public var trackers: [Tracker]
  public var reminders: [PackReminder]
  public var achievements: [Achievement]
  /// The titles of the categories of achievements and quotes, by name; a category without one shows its name.
  public var categories: [String: LocalizedText]
  public var levels: LevelCurve?
  public var moods: [Mood: MoodText]
  public var quotes: [Quote]
  /// The channels for its messages; empty for the configured channels.
  public var channels: [String]
  /// The ranges of the values to choose at installation (`goal`, `usual`), by tracker.
  public var choices: [TrackerID: Choice]
  /// The steps between milestones to choose at installation, by tracker, for each unit.
  public var milestoneSteps: [TrackerID: [StepChoice]]

  /// Sample data for a demonstration; nil once the pack is installed, because it is not needed then.
  public var samples: [PackSample]?

  /// The start of a tracker that starts when its pack is installed: 1970-01-01.
  public static let unbegun = CivilDate(dayNumber: 0) ?? .earliest

  /// A Choice is the range of a goal to choose at installation.
  public struct Choice: Hashable, Sendable, Codable {
    public var least: Quantity
    public var most: Quantity
    public var step: Quantity
    /// Common values, in order; nil for none.
    public var presets: [Quantity]?
    public init(least: Quantity, most: Quantity, step: Quantity, presets: [Quantity]? = nil) {
      self.least = least
      self.most = most
      self.step = step
      self.presets = presets
    }
  }

  /// A StepChoice offers milestone steps for a unit: every 2, 5 or 7 kg.
  public struct StepChoice: Hashable, Sendable, Codable {
    public var unit: Unit
    public var steps: [Quantity]
    public init(unit: Unit, steps: [Quantity]) {
      self.unit = unit
      self.steps = steps
    }
  }

  public init(
    id: PackID, title: LocalizedText, text: LocalizedText, version: Int = 1, icon: String? = nil,
    trackers: [Tracker] = [], reminders: [PackReminder] = [], achievements: [Achievement] = [],
    categories: [String: LocalizedText] = [:], levels: LevelCurve? = nil, moods: [Mood: MoodText] = [:],
    quotes: [Quote] = [], channels: [String] = [],
    choices: [TrackerID: Choice] = [:], milestoneSteps: [TrackerID: [StepChoice]] = [:]
  ) {
    self.id = id
    self.title = title
    self.text = text
    self.version = version
    self.icon = icon
    self.trackers = trackers
    self.reminders = reminders
    self.achievements = achievements
    self.categories = categories
    self.levels = levels
    self.moods = moods
    self.quotes = quotes
    self.channels = channels
    self.choices = choices
    self.milestoneSteps = milestoneSteps
  }
}

/// A PackReminder is a reminder as a pack declares it.
public struct PackReminder: Hashable, Sendable, Codable {
  /// Unique in the pack: `drink`.
  public var key: String
  public var title: LocalizedText
  public var body: LocalizedText?
  /// A schedule in the syntax of `chime add`.
  public var when: String
  /// The schedule to use if `when` is solar and no location is configured.
  public var whenWithoutPlace: String?
  public var tracker: TrackerID
  public var quietWhenDone: Bool
  public var pace: Bool
  /// Whether an entry moves the next time, as an answer does.
  public var followsEntries: Bool
  /// The amount that *Done* logs; nil for the tracker's usual amount.
  public var logs: Quantity?
  /// Whether it is created only on request.
  public var isOptional: Bool

  public init(
    key: String, title: LocalizedText, body: LocalizedText? = nil, when: String,
    whenWithoutPlace: String? = nil, tracker: TrackerID, quietWhenDone: Bool = true, pace: Bool = false,
    followsEntries: Bool = false, logs: Quantity? = nil,
    isOptional: Bool = false
  ) {
    self.key = key
    self.title = title
    self.body = body
    self.when = when
    self.whenWithoutPlace = whenWithoutPlace
    self.tracker = tracker
    self.quietWhenDone = quietWhenDone
    self.pace = pace
    self.followsEntries = followsEntries
    self.logs = logs
    self.isOptional = isOptional
  }
}

/// A LevelCurve says how much XP a level takes: level `n` starts at `base × (n − 1) ^ power`, rounded down; level 1 at 0.
public struct LevelCurve: Hashable, Sendable, Codable {
  public var base: Int
  public var power: Double
  public init(base: Int = 100, power: Double = 1.5) {
    self.base = base
    self.power = power
  }
}

/// A Mood rates a day for its message.
public enum Mood: String, Hashable, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
  /// No tracker counts today.
  case noHabits
  case notStarted
  /// Less than half of what counts today is done.
  case lightDay
  case productiveDay
  case perfectDay
}

/// A PackSample is an item of a pack's sample data, with the days on which it was used.
public struct PackSample: Hashable, Sendable, Codable {
  /// Derived from its title.
  public var id: String
  public var tracker: TrackerID
  public var title: String
  public var attributes: [String: String]
  /// The days of use, as numbers of days before today, each once.
  public var days: [Int]

  public init(id: String, tracker: TrackerID, title: String, attributes: [String: String] = [:], days: [Int] = []) {
    self.id = id
    self.tracker = tracker
    self.title = title
    self.attributes = attributes
    self.days = days
  }
}

public struct MoodText: Hashable, Sendable, Codable {
  public var title: LocalizedText
  public var message: LocalizedText
  /// What to do next.
  public var next: LocalizedText
  public init(title: LocalizedText, message: LocalizedText, next: LocalizedText) {
    self.title = title
    self.message = message
    self.next = next
  }
}

/// A Quote is a saying for a day.
public struct Quote: Hashable, Sendable, Codable {
  /// The original text, which may be written from right to left.
  public var text: String
  /// The language of the original as a BCP 47 tag.
  public var language: String
  public var translation: LocalizedText?
  public var source: String
  public var category: String
  public init(
    text: String, language: String, translation: LocalizedText? = nil, source: String, category: String
  ) {
    self.text = text
    self.language = language
    self.translation = translation
    self.source = source
    self.category = category
  }
}
