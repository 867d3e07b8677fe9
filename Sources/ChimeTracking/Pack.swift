public import ChimeSchedule

/// A pack's name: `hydration`. As a tracker's.
public struct PackID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public var description: String { rawValue }
  public static func < (left: PackID, right: PackID) -> Bool { left.rawValue < right.rawValue }
}

/// Trackers, reminders, achievements and messages that belong together, as one file declares them.
public struct Pack: Hashable, Sendable, Codable {
  public var id: PackID
  public var title: LocalizedText
  public var text: LocalizedText
  public var version: Int
  public var icon: String?
  /// Of no owner yet, and beginning on the day of installation unless they begin on another day than `unbegun`.
  public var trackers: [Tracker]
  public var reminders: [PackReminder]
  public var achievements: [Achievement]
  /// What the categories of achievements and quotes are called, by their names there; one without has its name for a title.
  public var categories: [String: LocalizedText]
  public var levels: LevelCurve?
  public var moods: [Mood: MoodText]
  public var quotes: [Quote]
  /// What its events are told through; empty: the configuration's channels.
  public var channels: [String]
  /// How the choices of installation (`goal`, `usual`) are bounded, by tracker.
  public var choices: [TrackerID: Choice]
  /// The steps between a measure's milestones that are offered at installation, by tracker: for each unit its own.
  public var milestoneSteps: [TrackerID: [StepChoice]]

  /// What shows how it looks when it is in use; nil once it is installed, as nothing asks for it then.
  public var samples: [PackSample]?

  /// The first day of a tracker that begins when its pack is installed: 1970-01-01.
  public static let unbegun = CivilDate(dayNumber: 0) ?? .earliest

  /// The range of a goal that is offered at installation.
  public struct Choice: Hashable, Sendable, Codable {
    public var least: Quantity
    public var most: Quantity
    public var step: Quantity
    /// Goals that are usual, in order; nil: none is.
    public var presets: [Quantity]?
    public init(least: Quantity, most: Quantity, step: Quantity, presets: [Quantity]? = nil) {
      self.least = least
      self.most = most
      self.step = step
      self.presets = presets
    }
  }

  /// The steps that are offered to whoever measures in a unit: every 2, 5 or 7 kg.
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

/// A reminder as a pack declares it.
public struct PackReminder: Hashable, Sendable, Codable {
  /// Unique in the pack: `drink`.
  public var key: String
  public var title: LocalizedText
  public var body: LocalizedText?
  /// A schedule in the words of `chime add`.
  public var when: String
  /// The schedule instead of `when` where no place is known, if that follows the sun; nil otherwise.
  public var whenWithoutPlace: String?
  public var tracker: TrackerID
  public var quietWhenDone: Bool
  public var pace: Bool
  /// Whether an entry moves its next time, as an answer does.
  public var followsEntries: Bool
  /// What *Done* logs; nil: the tracker's usual amount.
  public var logs: Quantity?
  /// Whether installation leaves it out unless it is asked for.
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

/// How much XP each level takes: level `n` is reached at `base × (n − 1) ^ power`, rounded down; level 1 at 0.
public struct LevelCurve: Hashable, Sendable, Codable {
  public var base: Int
  public var power: Double
  public init(base: Int = 100, power: Double = 1.5) {
    self.base = base
    self.power = power
  }
}

/// What a day is like, for whoever reads the day's message.
public enum Mood: String, Hashable, Sendable, Codable, CaseIterable, CodingKeyRepresentable {
  /// There is nothing to be done, as no tracker counts today.
  case noHabits
  case notStarted
  /// Less than half of the day's trackers are met.
  case lightDay
  case productiveDay
  case perfectDay
}

/// An item of a pack's sample data, with the days on which it was used.
public struct PackSample: Hashable, Sendable, Codable {
  /// Made of its title.
  public var id: String
  public var tracker: TrackerID
  public var title: String
  public var attributes: [String: String]
  /// How many days before today, each once.
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

/// A saying for a day.
public struct Quote: Hashable, Sendable, Codable {
  /// As it is in its own language, which may be written from right to left.
  public var text: String
  /// BCP 47.
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
