// Written by Packaging/mirror-interface; change the interface file and run it again.

/// Trackers: what was done, and what has come of it.
///
/// Amounts and values are numbers in the tracker's own unit unless another is named. Days are those of the tracker,
/// YYYY-MM-DD: a day may begin at another hour than midnight. Texts that come from packs are maps from a language tag to
/// the text in that language.
public enum TrackersInterface {
  public static let name = "io.chime.Trackers"

  /// The interface file, as introspection returns it.
  public static var description: String { EmbeddedFiles.trackers }

  /// From one day to another, both included. A null end is open.
  public struct Range: Codable, Equatable, Sendable {
    public var from: String?
    public var to: String?

    public init(from: String? = nil, to: String? = nil) {
      self.from = from
      self.to = to
    }
  }

  /// What is to be reached: `count` entries of a check, a `total` of an amount, the `value` of a measure.
  public struct Goal: Codable, Equatable, Sendable {
    public enum Period: String, Codable, Sendable, CaseIterable {
      case day, week, month
    }

    public var count: Int?
    public var total: Double?
    public var value: Double?
    public var period: Goal.Period?

    public init(count: Int? = nil, total: Double? = nil, value: Double? = nil, period: Goal.Period? = nil) {
      self.count = count
      self.total = total
      self.value = value
      self.period = period
    }
  }

  /// Which days count: these weekdays (mon, tue …), or so many days a week or a month, or in any `days` that follow each other.
  public struct Counting: Codable, Equatable, Sendable {
    public enum Per: String, Codable, Sendable, CaseIterable {
      case week, month, days
    }

    public var weekdays: [String]?
    public var times: Int?
    public var per: Counting.Per?
    public var days: Int?

    public init(weekdays: [String]? = nil, times: Int? = nil, per: Counting.Per? = nil, days: Int? = nil) {
      self.weekdays = weekdays
      self.times = times
      self.per = per
      self.days = days
    }
  }

  public struct Tracker: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
      case check, amount, measure
    }

    public enum Slot: String, Codable, Sendable, CaseIterable {
      case morning, anytime, evening
    }

    public var id: String
    public var title: [String: String]
    /// What an entry is called, in front of its amount: Drank. Null: done.
    public var verb: [String: String]?
    public var kind: Tracker.Kind
    public var unit: String?
    public var decimals: Int
    public var goal: Goal?
    public var presets: [Double]
    public var usual: Double?
    public var counting: Counting
    /// HH:MM.
    public var dayStartsAt: String
    public var slot: Tracker.Slot
    /// Vacations.
    public var pauses: [Range]
    public var skips: [String]
    public var skipsEachMonth: Int?
    public var hasItems: Bool
    /// Further measures that an entry may have, each with its unit.
    public var fields: [String: String]
    public var milestoneStep: Double?
    public var icon: String?
    public var pack: String?
    public var experience: Int
    public var startedOn: String
    public var createdAt: Wire.Time

    public init(
      id: String, title: [String: String], verb: [String: String]? = nil, kind: Tracker.Kind, unit: String? = nil,
      decimals: Int, goal: Goal? = nil, presets: [Double], usual: Double? = nil, counting: Counting,
      dayStartsAt: String, slot: Tracker.Slot, pauses: [Range], skips: [String], skipsEachMonth: Int? = nil,
      hasItems: Bool, fields: [String: String], milestoneStep: Double? = nil, icon: String? = nil, pack: String? = nil,
      experience: Int, startedOn: String, createdAt: Wire.Time
    ) {
      self.id = id
      self.title = title
      self.verb = verb
      self.kind = kind
      self.unit = unit
      self.decimals = decimals
      self.goal = goal
      self.presets = presets
      self.usual = usual
      self.counting = counting
      self.dayStartsAt = dayStartsAt
      self.slot = slot
      self.pauses = pauses
      self.skips = skips
      self.skipsEachMonth = skipsEachMonth
      self.hasItems = hasItems
      self.fields = fields
      self.milestoneStep = milestoneStep
      self.icon = icon
      self.pack = pack
      self.experience = experience
      self.startedOn = startedOn
      self.createdAt = createdAt
    }
  }

  /// A tracker as it is wanted. What is null stays as it is, or has its default in a new one.
  public struct TrackerDraft: Codable, Equatable, Sendable {
    public var id: String
    public var title: [String: String]?
    public var verb: [String: String]?
    public var kind: Tracker.Kind?
    public var unit: String?
    public var decimals: Int?
    public var goal: Goal?
    public var presets: [Double]?
    public var usual: Double?
    public var counting: Counting?
    public var dayStartsAt: String?
    public var slot: Tracker.Slot?
    public var pauses: [Range]?
    public var skips: [String]?
    public var skipsEachMonth: Int?
    public var hasItems: Bool?
    public var fields: [String: String]?
    public var milestoneStep: Double?
    public var icon: String?
    public var startedOn: String?
    /// Set back to nothing: verb, goal, unit, skipsEachMonth, milestoneStep, icon, usual.
    public var reset: [String]?

    public init(
      id: String, title: [String: String]? = nil, verb: [String: String]? = nil, kind: Tracker.Kind? = nil,
      unit: String? = nil, decimals: Int? = nil, goal: Goal? = nil, presets: [Double]? = nil, usual: Double? = nil,
      counting: Counting? = nil, dayStartsAt: String? = nil, slot: Tracker.Slot? = nil, pauses: [Range]? = nil,
      skips: [String]? = nil, skipsEachMonth: Int? = nil, hasItems: Bool? = nil, fields: [String: String]? = nil,
      milestoneStep: Double? = nil, icon: String? = nil, startedOn: String? = nil, reset: [String]? = nil
    ) {
      self.id = id
      self.title = title
      self.verb = verb
      self.kind = kind
      self.unit = unit
      self.decimals = decimals
      self.goal = goal
      self.presets = presets
      self.usual = usual
      self.counting = counting
      self.dayStartsAt = dayStartsAt
      self.slot = slot
      self.pauses = pauses
      self.skips = skips
      self.skipsEachMonth = skipsEachMonth
      self.hasItems = hasItems
      self.fields = fields
      self.milestoneStep = milestoneStep
      self.icon = icon
      self.startedOn = startedOn
      self.reset = reset
    }
  }

  public struct Streak: Codable, Equatable, Sendable {
    public enum Unit: String, Codable, Sendable, CaseIterable {
      case days, weeks, months
    }

    public var length: Int
    public var unit: Streak.Unit
    public var first: String?
    public var last: String?

    public init(length: Int, unit: Streak.Unit, first: String? = nil, last: String? = nil) {
      self.length = length
      self.unit = unit
      self.first = first
      self.last = last
    }
  }

  /// How a tracker stands on a day.
  public struct Standing: Codable, Equatable, Sendable {
    public var tracker: Tracker
    public var day: String
    /// Entries of the day, what they add up to, and a measure's last value up to that day.
    public var entries: Int
    public var total: Double?
    public var value: Double?
    /// The goal's period: what it has so far, what is left, and the share in percent (more than 100 is possible).
    public var reached: Double?
    public var remaining: Double?
    public var percent: Int?
    public var met: Bool
    /// Whether the day counts, and if not why: weekday, paused, skipped, notStarted, enough (the week or month has enough).
    public var counts: Bool
    public var why: String?
    public var streak: Streak
    public var longest: Streak
    /// Habit strength, 0 to 1.
    public var strength: Double
    /// The day's number among those that were met: "day 5 of 12 this month".
    public var number: Int
    public var numberThisMonth: Int
    public var countedThisMonth: Int
    public var lastAt: Wire.Time?

    public init(
      tracker: Tracker, day: String, entries: Int, total: Double? = nil, value: Double? = nil, reached: Double? = nil,
      remaining: Double? = nil, percent: Int? = nil, met: Bool, counts: Bool, why: String? = nil, streak: Streak,
      longest: Streak, strength: Double, number: Int, numberThisMonth: Int, countedThisMonth: Int,
      lastAt: Wire.Time? = nil
    ) {
      self.tracker = tracker
      self.day = day
      self.entries = entries
      self.total = total
      self.value = value
      self.reached = reached
      self.remaining = remaining
      self.percent = percent
      self.met = met
      self.counts = counts
      self.why = why
      self.streak = streak
      self.longest = longest
      self.strength = strength
      self.number = number
      self.numberThisMonth = numberThisMonth
      self.countedThisMonth = countedThisMonth
      self.lastAt = lastAt
    }
  }

  public struct Entry: Codable, Equatable, Sendable {
    public var id: Int
    public var tracker: String
    public var at: Wire.Time
    public var day: String
    /// Null for a check.
    public var value: Double?
    public var unit: String?
    public var fields: [String: Double]
    public var item: String?
    public var note: String?
    public var photo: String?
    /// Of a measure: the moving average there, and the change a week with it.
    public var average: Double?
    public var rate: Double?

    public init(
      id: Int, tracker: String, at: Wire.Time, day: String, value: Double? = nil, unit: String? = nil,
      fields: [String: Double], item: String? = nil, note: String? = nil, photo: String? = nil, average: Double? = nil,
      rate: Double? = nil
    ) {
      self.id = id
      self.tracker = tracker
      self.at = at
      self.day = day
      self.value = value
      self.unit = unit
      self.fields = fields
      self.item = item
      self.note = note
      self.photo = photo
      self.average = average
      self.rate = rate
    }
  }

  public struct Item: Codable, Equatable, Sendable {
    public var id: String
    public var tracker: String
    public var title: String
    public var attributes: [String: String]
    public var since: String?
    public var until: String?
    public var note: String?
    public var photo: String?
    public var entries: Int
    public var lastDay: String?

    public init(
      id: String, tracker: String, title: String, attributes: [String: String], since: String? = nil,
      until: String? = nil, note: String? = nil, photo: String? = nil, entries: Int, lastDay: String? = nil
    ) {
      self.id = id
      self.tracker = tracker
      self.title = title
      self.attributes = attributes
      self.since = since
      self.until = until
      self.note = note
      self.photo = photo
      self.entries = entries
      self.lastDay = lastDay
    }
  }

  public struct Milestone: Codable, Equatable, Sendable {
    public var id: Int
    public var tracker: String
    public var day: String
    public var title: String
    public var note: String?
    public var photo: String?
    /// The value that was crossed; null for one that a person set.
    public var value: Double?

    public init(
      id: Int, tracker: String, day: String, title: String, note: String? = nil, photo: String? = nil,
      value: Double? = nil
    ) {
      self.id = id
      self.tracker = tracker
      self.day = day
      self.title = title
      self.note = note
      self.photo = photo
      self.value = value
    }
  }

  public struct Achievement: Codable, Equatable, Sendable {
    public var pack: String
    public var id: String
    public var title: [String: String]
    public var text: [String: String]
    public var category: String?
    /// What the pack calls the category; null where it says nothing.
    public var categoryTitle: [String: String]?
    public var icon: String?
    public var experience: Int
    /// How far it has come.
    public var reached: Int
    public var target: Int
    /// Null while it is locked.
    public var unlockedAt: Wire.Time?

    public init(
      pack: String, id: String, title: [String: String], text: [String: String], category: String? = nil,
      categoryTitle: [String: String]? = nil, icon: String? = nil, experience: Int, reached: Int, target: Int,
      unlockedAt: Wire.Time? = nil
    ) {
      self.pack = pack
      self.id = id
      self.title = title
      self.text = text
      self.category = category
      self.categoryTitle = categoryTitle
      self.icon = icon
      self.experience = experience
      self.reached = reached
      self.target = target
      self.unlockedAt = unlockedAt
    }
  }

  public struct Level: Codable, Equatable, Sendable {
    public var pack: String
    public var level: Int
    public var experience: Int
    /// Where this level and the next begin.
    public var from: Int
    public var next: Int

    public init(pack: String, level: Int, experience: Int, from: Int, next: Int) {
      self.pack = pack
      self.level = level
      self.experience = experience
      self.from = from
      self.next = next
    }
  }

  public struct Quote: Codable, Equatable, Sendable {
    public var text: String
    public var language: String
    public var translation: [String: String]?
    public var source: String
    public var category: String

    public init(text: String, language: String, translation: [String: String]? = nil, source: String, category: String)
    {
      self.text = text
      self.language = language
      self.translation = translation
      self.source = source
      self.category = category
    }
  }

  /// Texts are empty where no pack has one for the mood.
  public struct Mood: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
      case noHabits, notStarted, lightDay, productiveDay, perfectDay
    }

    public var kind: Mood.Kind
    public var title: [String: String]
    public var message: [String: String]
    public var next: [String: String]

    public init(kind: Mood.Kind, title: [String: String], message: [String: String], next: [String: String]) {
      self.kind = kind
      self.title = title
      self.message = message
      self.next = next
    }
  }

  /// A day as a person looks at it.
  public struct DayView: Codable, Equatable, Sendable {
    public var day: String
    public var standings: [Standing]
    public var mood: Mood
    public var quote: Quote?
    public var nextAchievement: Achievement?
    public var levels: [Level]
    /// The seven days up to this one, oldest first.
    public var week: [DayMark]

    public init(
      day: String, standings: [Standing], mood: Mood, quote: Quote? = nil, nextAchievement: Achievement? = nil,
      levels: [Level], week: [DayMark]
    ) {
      self.day = day
      self.standings = standings
      self.mood = mood
      self.quote = quote
      self.nextAchievement = nextAchievement
      self.levels = levels
      self.week = week
    }
  }

  /// How a day was, over all trackers that counted: of `due` so many were `met`.
  public struct DayMark: Codable, Equatable, Sendable {
    public var day: String
    public var met: Int
    public var due: Int

    public init(day: String, met: Int, due: Int) {
      self.day = day
      self.met = met
      self.due = due
    }
  }

  /// A day of one tracker.
  public struct DayTotal: Codable, Equatable, Sendable {
    public var day: String
    public var entries: Int
    public var total: Double?
    public var value: Double?
    public var met: Bool
    public var counts: Bool
    public var percent: Int?
    /// Its number among the days that were met, from the start.
    public var number: Int?
    public var why: String?

    public init(
      day: String, entries: Int, total: Double? = nil, value: Double? = nil, met: Bool, counts: Bool,
      percent: Int? = nil, number: Int? = nil, why: String? = nil
    ) {
      self.day = day
      self.entries = entries
      self.total = total
      self.value = value
      self.met = met
      self.counts = counts
      self.percent = percent
      self.number = number
      self.why = why
    }
  }

  public struct Point: Codable, Equatable, Sendable {
    public var day: String
    public var value: Double

    public init(day: String, value: Double) {
      self.day = day
      self.value = value
    }
  }

  public struct Prediction: Codable, Equatable, Sendable {
    public var day: String
    public var value: Double
    public var low: Double
    public var high: Double

    public init(day: String, value: Double, low: Double, high: Double) {
      self.day = day
      self.value = value
      self.low = low
      self.high = high
    }
  }

  public struct Period: Codable, Equatable, Sendable {
    public var from: String
    public var to: String
    public var entries: Int
    public var total: Double?
    public var average: Double?
    public var met: Int
    public var due: Int

    public init(
      from: String, to: String, entries: Int, total: Double? = nil, average: Double? = nil, met: Int, due: Int
    ) {
      self.from = from
      self.to = to
      self.entries = entries
      self.total = total
      self.average = average
      self.met = met
      self.due = due
    }
  }

  public struct Statistics: Codable, Equatable, Sendable {
    public enum Direction: String, Codable, Sendable, CaseIterable {
      case up, down, steady
    }

    public var tracker: Tracker
    public var range: Range
    public var entries: Int
    public var total: Double?
    /// Of the days with an entry.
    public var dailyAverage: Double?
    public var first: Point?
    public var last: Point?
    public var least: Point?
    public var most: Point?
    /// Day by day: of an amount the total, of a measure the value; and the moving average over `averageDays`.
    public var points: [Point]
    public var averages: [Point]
    public var averageDays: Int
    /// Change of the average a week, and where it goes: up, down, steady.
    public var weeklyRate: Double?
    public var direction: Statistics.Direction?
    /// The line through the points, a week; and what it says of the next 14 days, with a band of 95 percent.
    public var trend: Double?
    public var prediction: [Prediction]
    /// When the goal's value is reached at that rate.
    public var goalOn: String?
    public var weeks: [Period]
    public var months: [Period]
    public var metDays: Int
    public var dueDays: Int
    public var streak: Streak
    public var longest: Streak
    public var strength: Double
    /// Of a collection: how evenly its items are used, 0 to 100.
    public var evenness: Int?
    public var items: [Item]
    /// What there is too little of to say more: noEntries, oneDay, twoDays, underAWeek, noGoal; more may come.
    public var lacking: [String]

    public init(
      tracker: Tracker, range: Range, entries: Int, total: Double? = nil, dailyAverage: Double? = nil,
      first: Point? = nil, last: Point? = nil, least: Point? = nil, most: Point? = nil, points: [Point],
      averages: [Point], averageDays: Int, weeklyRate: Double? = nil, direction: Statistics.Direction? = nil,
      trend: Double? = nil, prediction: [Prediction], goalOn: String? = nil, weeks: [Period], months: [Period],
      metDays: Int, dueDays: Int, streak: Streak, longest: Streak, strength: Double, evenness: Int? = nil,
      items: [Item], lacking: [String]
    ) {
      self.tracker = tracker
      self.range = range
      self.entries = entries
      self.total = total
      self.dailyAverage = dailyAverage
      self.first = first
      self.last = last
      self.least = least
      self.most = most
      self.points = points
      self.averages = averages
      self.averageDays = averageDays
      self.weeklyRate = weeklyRate
      self.direction = direction
      self.trend = trend
      self.prediction = prediction
      self.goalOn = goalOn
      self.weeks = weeks
      self.months = months
      self.metDays = metDays
      self.dueDays = dueDays
      self.streak = streak
      self.longest = longest
      self.strength = strength
      self.evenness = evenness
      self.items = items
      self.lacking = lacking
    }
  }

  /// What an entry brought about.
  public struct Change: Codable, Equatable, Sendable {
    public var entry: Entry?
    public var standing: Standing?
    /// Whether the goal has been met by it.
    public var goalMet: Bool
    public var unlocked: [Achievement]
    public var milestones: [Milestone]
    public var levelUp: Level?

    public init(
      entry: Entry? = nil, standing: Standing? = nil, goalMet: Bool, unlocked: [Achievement], milestones: [Milestone],
      levelUp: Level? = nil
    ) {
      self.entry = entry
      self.standing = standing
      self.goalMet = goalMet
      self.unlocked = unlocked
      self.milestones = milestones
      self.levelUp = levelUp
    }
  }

  public struct Pack: Codable, Equatable, Sendable {
    public var id: String
    public var title: [String: String]
    public var text: [String: String]
    public var version: Int
    public var icon: String?
    /// Null while it is not installed.
    public var installedAt: Wire.Time?
    /// Whether it comes with Chime.
    public var shipped: Bool
    public var trackers: [Tracker]
    public var reminders: [PackReminder]
    public var achievements: Int
    /// The range of a goal that is offered, by tracker.
    public var choices: [String: Choice]
    /// The steps between milestones that are offered: for each tracker and unit its own.
    public var milestoneSteps: [StepChoice]?

    public init(
      id: String, title: [String: String], text: [String: String], version: Int, icon: String? = nil,
      installedAt: Wire.Time? = nil, shipped: Bool, trackers: [Tracker], reminders: [PackReminder], achievements: Int,
      choices: [String: Choice], milestoneSteps: [StepChoice]? = nil
    ) {
      self.id = id
      self.title = title
      self.text = text
      self.version = version
      self.icon = icon
      self.installedAt = installedAt
      self.shipped = shipped
      self.trackers = trackers
      self.reminders = reminders
      self.achievements = achievements
      self.choices = choices
      self.milestoneSteps = milestoneSteps
    }
  }

  public struct Choice: Codable, Equatable, Sendable {
    public var least: Double
    public var most: Double
    public var step: Double

    public init(least: Double, most: Double, step: Double) {
      self.least = least
      self.most = most
      self.step = step
    }
  }

  public struct StepChoice: Codable, Equatable, Sendable {
    public var tracker: String
    public var unit: String
    public var steps: [Double]

    public init(tracker: String, unit: String, steps: [Double]) {
      self.tracker = tracker
      self.unit = unit
      self.steps = steps
    }
  }

  public struct PackReminder: Codable, Equatable, Sendable {
    public var key: String
    public var title: [String: String]
    public var when: String
    public var tracker: String
    public var optional: Bool
    /// The reminder that it made; null while it is not installed.
    public var id: String?

    public init(key: String, title: [String: String], when: String, tracker: String, optional: Bool, id: String? = nil)
    {
      self.key = key
      self.title = title
      self.when = when
      self.tracker = tracker
      self.optional = optional
      self.id = id
    }
  }

  /// What is chosen at installation. What is null is as the pack has it.
  public struct PackChoices: Codable, Equatable, Sendable {
    /// By tracker.
    public var goals: [String: Double]?
    public var usual: [String: Double]?
    public var units: [String: String]?
    /// In the unit that is chosen.
    public var milestoneSteps: [String: Double]?
    public var titles: [String: String]?
    /// The weekdays that count, with commas between them: mon,wed,fri.
    public var weekdays: [String: String]?
    /// By key: whether it is wanted, and a schedule of one's own.
    public var reminders: [String: Bool]?
    public var when: [String: String]?
    /// The language of the reminders' texts.
    public var language: String?

    public init(
      goals: [String: Double]? = nil, usual: [String: Double]? = nil, units: [String: String]? = nil,
      milestoneSteps: [String: Double]? = nil, titles: [String: String]? = nil, weekdays: [String: String]? = nil,
      reminders: [String: Bool]? = nil, when: [String: String]? = nil, language: String? = nil
    ) {
      self.goals = goals
      self.usual = usual
      self.units = units
      self.milestoneSteps = milestoneSteps
      self.titles = titles
      self.weekdays = weekdays
      self.reminders = reminders
      self.when = when
      self.language = language
    }
  }

  /// Where a pack is wrong.
  public struct Fault: Codable, Equatable, Sendable {
    public var file: String
    public var line: Int
    public var column: Int
    public var key: String
    public var message: String

    public init(file: String, line: Int, column: Int, key: String, message: String) {
      self.file = file
      self.line = line
      self.column = column
      self.key = key
      self.message = message
    }
  }

  /// What can be taken back, or was.
  public struct Undoable: Codable, Equatable, Sendable {
    public var id: Int
    public var at: Wire.Time
    /// logged, edited, removed, removedAll, tracker, item, milestone, pack, imported, restored; more may come.
    public var kind: String
    public var tracker: String?
    public var subject: String

    public init(id: Int, at: Wire.Time, kind: String, tracker: String? = nil, subject: String) {
      self.id = id
      self.at = at
      self.kind = kind
      self.tracker = tracker
      self.subject = subject
    }
  }

  /// What a backup has, or what was read from one.
  public struct Contents: Codable, Equatable, Sendable {
    public var trackers: Int
    public var entries: Int
    public var items: Int
    public var milestones: Int
    public var packs: Int
    public var unlocks: Int
    public var photos: Int
    public var reminders: Int
    public var madeAt: Wire.Time?

    public init(
      trackers: Int, entries: Int, items: Int, milestones: Int, packs: Int, unlocks: Int, photos: Int, reminders: Int,
      madeAt: Wire.Time? = nil
    ) {
      self.trackers = trackers
      self.entries = entries
      self.items = items
      self.milestones = milestones
      self.packs = packs
      self.unlocks = unlocks
      self.photos = photos
      self.reminders = reminders
      self.madeAt = madeAt
    }
  }

  /// Adds a tracker, or changes the one of that id.
  public enum Put {
    public static let method = "io.chime.Trackers.Put"

    public struct Parameters: Codable, Equatable, Sendable {
      public var tracker: TrackerDraft
      public var dryRun: Bool?
      public var token: String?

      public init(tracker: TrackerDraft, dryRun: Bool? = nil, token: String? = nil) {
        self.tracker = tracker
        self.dryRun = dryRun
        self.token = token
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var tracker: Tracker
      public var created: Bool

      public init(tracker: Tracker, created: Bool) {
        self.tracker = tracker
        self.created = created
      }
    }

  }

  /// With its entries.
  public enum Remove {
    public static let method = "io.chime.Trackers.Remove"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String

      public init(id: String) {
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var tracker: Tracker

      public init(tracker: Tracker) {
        self.tracker = tracker
      }
    }

  }

  public enum List {
    public static let method = "io.chime.Trackers.List"

    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var trackers: [Tracker]

      public init(trackers: [Tracker]) {
        self.trackers = trackers
      }
    }

  }

  /// Records that it was done. `tracker` is an id or a title, as far as it is unique; `amount` is in `unit`, or in the
  /// tracker's; `at` is RFC 3339, not in the future; now when null. A measure's value that lies far from the last one is
  /// refused as `Unlikely`; with `force` it is taken.
  public enum Log {
    public static let method = "io.chime.Trackers.Log"

    public struct Parameters: Codable, Equatable, Sendable {
      public var tracker: String
      public var amount: Double?
      public var unit: String?
      public var item: String?
      public var note: String?
      public var photo: String?
      public var fields: [String: Double]?
      public var at: String?
      public var token: String?
      public var force: Bool?

      public init(
        tracker: String, amount: Double? = nil, unit: String? = nil, item: String? = nil, note: String? = nil,
        photo: String? = nil, fields: [String: Double]? = nil, at: String? = nil, token: String? = nil,
        force: Bool? = nil
      ) {
        self.tracker = tracker
        self.amount = amount
        self.unit = unit
        self.item = item
        self.note = note
        self.photo = photo
        self.fields = fields
        self.at = at
        self.token = token
        self.force = force
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var change: Change

      public init(change: Change) {
        self.change = change
      }
    }

  }

  /// Changes what is not null. An empty note, photo or item takes it away.
  public enum EditEntry {
    public static let method = "io.chime.Trackers.EditEntry"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: Int
      public var amount: Double?
      public var unit: String?
      public var item: String?
      public var note: String?
      public var photo: String?
      public var fields: [String: Double]?
      public var at: String?

      public init(
        id: Int, amount: Double? = nil, unit: String? = nil, item: String? = nil, note: String? = nil,
        photo: String? = nil, fields: [String: Double]? = nil, at: String? = nil
      ) {
        self.id = id
        self.amount = amount
        self.unit = unit
        self.item = item
        self.note = note
        self.photo = photo
        self.fields = fields
        self.at = at
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var change: Change

      public init(change: Change) {
        self.change = change
      }
    }

  }

  /// One entry; or all of a tracker's, or those of a range, when `id` is null.
  public enum RemoveEntry {
    public static let method = "io.chime.Trackers.RemoveEntry"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: Int?
      public var tracker: String?
      public var range: Range?

      public init(id: Int? = nil, tracker: String? = nil, range: Range? = nil) {
        self.id = id
        self.tracker = tracker
        self.range = range
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var removed: Int

      public init(removed: Int) {
        self.removed = removed
      }
    }

  }

  /// Newest first, at most 5000, 100 when `limit` is null, and as many as one message takes. `total` is how many there are
  /// without `limit` and `offset`: whoever wants them all asks again with `offset` until they have them.
  public enum Entries {
    public static let method = "io.chime.Trackers.Entries"

    public struct Parameters: Codable, Equatable, Sendable {
      public var tracker: String?
      public var range: Range?
      public var item: String?
      public var weekdays: [String]?
      public var withNotes: Bool?
      public var withMilestones: Bool?
      public var text: String?
      public var limit: Int?
      public var offset: Int?

      public init(
        tracker: String? = nil, range: Range? = nil, item: String? = nil, weekdays: [String]? = nil,
        withNotes: Bool? = nil, withMilestones: Bool? = nil, text: String? = nil, limit: Int? = nil, offset: Int? = nil
      ) {
        self.tracker = tracker
        self.range = range
        self.item = item
        self.weekdays = weekdays
        self.withNotes = withNotes
        self.withMilestones = withMilestones
        self.text = text
        self.limit = limit
        self.offset = offset
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var entries: [Entry]
      public var total: Int

      public init(entries: [Entry], total: Int) {
        self.entries = entries
        self.total = total
      }
    }

  }

  /// Today when `day` is null.
  public enum Day {
    public static let method = "io.chime.Trackers.Day"

    public struct Parameters: Codable, Equatable, Sendable {
      public var day: String?

      public init(day: String? = nil) {
        self.day = day
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var view: DayView

      public init(view: DayView) {
        self.view = view
      }
    }

  }

  /// The week of that day, from Monday on: for each tracker its seven days.
  public enum Week {
    public static let method = "io.chime.Trackers.Week"

    public struct Parameters: Codable, Equatable, Sendable {
      public var day: String?

      public init(day: String? = nil) {
        self.day = day
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var from: String
      public var standings: [Standing]
      public var days: [WeekRow]
      public var marks: [DayMark]

      public init(from: String, standings: [Standing], days: [WeekRow], marks: [DayMark]) {
        self.from = from
        self.standings = standings
        self.days = days
        self.marks = marks
      }
    }

  }

  public struct WeekRow: Codable, Equatable, Sendable {
    public var tracker: String
    public var days: [DayTotal]

    public init(tracker: String, days: [DayTotal]) {
      self.tracker = tracker
      self.days = days
    }
  }

  /// Every day of a range, also those without an entry; at most 3700.
  public enum Days {
    public static let method = "io.chime.Trackers.Days"

    public struct Parameters: Codable, Equatable, Sendable {
      public var tracker: String
      public var range: Range

      public init(tracker: String, range: Range) {
        self.tracker = tracker
        self.range = range
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var tracker: Tracker
      public var days: [DayTotal]

      public init(tracker: Tracker, days: [DayTotal]) {
        self.tracker = tracker
        self.days = days
      }
    }

  }

  public enum Stats {
    public static let method = "io.chime.Trackers.Stats"

    public struct Parameters: Codable, Equatable, Sendable {
      public var tracker: String
      public var range: Range?
      public var averageDays: Int?

      public init(tracker: String, range: Range? = nil, averageDays: Int? = nil) {
        self.tracker = tracker
        self.range = range
        self.averageDays = averageDays
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var statistics: Statistics

      public init(statistics: Statistics) {
        self.statistics = statistics
      }
    }

  }

  public enum Achievements {
    public static let method = "io.chime.Trackers.Achievements"

    public struct Parameters: Codable, Equatable, Sendable {
      public var pack: String?

      public init(pack: String? = nil) {
        self.pack = pack
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var achievements: [Achievement]
      public var levels: [Level]

      public init(achievements: [Achievement], levels: [Level]) {
        self.achievements = achievements
        self.levels = levels
      }
    }

  }

  /// In the order of their titles, as many as one message takes; `total` is how many there are.
  public enum Items {
    public static let method = "io.chime.Trackers.Items"

    public struct Parameters: Codable, Equatable, Sendable {
      public var tracker: String?
      public var limit: Int?
      public var offset: Int?

      public init(tracker: String? = nil, limit: Int? = nil, offset: Int? = nil) {
        self.tracker = tracker
        self.limit = limit
        self.offset = offset
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var items: [Item]
      public var total: Int?

      public init(items: [Item], total: Int? = nil) {
        self.items = items
        self.total = total
      }
    }

  }

  /// Adds an item, or changes the one of that id.
  public enum PutItem {
    public static let method = "io.chime.Trackers.PutItem"

    public struct Parameters: Codable, Equatable, Sendable {
      public var tracker: String
      public var id: String?
      public var title: String?
      public var attributes: [String: String]?
      public var since: String?
      public var until: String?
      public var note: String?
      public var photo: String?

      public init(
        tracker: String, id: String? = nil, title: String? = nil, attributes: [String: String]? = nil,
        since: String? = nil, until: String? = nil, note: String? = nil, photo: String? = nil
      ) {
        self.tracker = tracker
        self.id = id
        self.title = title
        self.attributes = attributes
        self.since = since
        self.until = until
        self.note = note
        self.photo = photo
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var item: Item
      public var unlocked: [Achievement]

      public init(item: Item, unlocked: [Achievement]) {
        self.item = item
        self.unlocked = unlocked
      }
    }

  }

  public enum RemoveItem {
    public static let method = "io.chime.Trackers.RemoveItem"

    public struct Parameters: Codable, Equatable, Sendable {
      public var tracker: String
      public var id: String

      public init(tracker: String, id: String) {
        self.tracker = tracker
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var item: Item

      public init(item: Item) {
        self.item = item
      }
    }

  }

  /// Newest first, as many as one message takes; `total` is how many there are.
  public enum Milestones {
    public static let method = "io.chime.Trackers.Milestones"

    public struct Parameters: Codable, Equatable, Sendable {
      public var tracker: String?
      public var limit: Int?
      public var offset: Int?

      public init(tracker: String? = nil, limit: Int? = nil, offset: Int? = nil) {
        self.tracker = tracker
        self.limit = limit
        self.offset = offset
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var milestones: [Milestone]
      public var total: Int?

      public init(milestones: [Milestone], total: Int? = nil) {
        self.milestones = milestones
        self.total = total
      }
    }

  }

  /// Adds a milestone, or changes the one of that id.
  public enum PutMilestone {
    public static let method = "io.chime.Trackers.PutMilestone"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: Int?
      public var tracker: String
      public var day: String?
      public var title: String?
      public var note: String?
      public var photo: String?

      public init(
        id: Int? = nil, tracker: String, day: String? = nil, title: String? = nil, note: String? = nil,
        photo: String? = nil
      ) {
        self.id = id
        self.tracker = tracker
        self.day = day
        self.title = title
        self.note = note
        self.photo = photo
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var milestone: Milestone

      public init(milestone: Milestone) {
        self.milestone = milestone
      }
    }

  }

  public enum RemoveMilestone {
    public static let method = "io.chime.Trackers.RemoveMilestone"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: Int

      public init(id: Int) {
        self.id = id
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var milestone: Milestone

      public init(milestone: Milestone) {
        self.milestone = milestone
      }
    }

  }

  /// Those that are installed, and those that come with Chime.
  public enum Packs {
    public static let method = "io.chime.Trackers.Packs"

    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var packs: [Pack]

      public init(packs: [Pack]) {
        self.packs = packs
      }
    }

  }

  /// A pack that comes with Chime by its `name`, or one by its `text` (TOML; `file` is what its errors call it). With `dryRun`
  /// it is only judged. One that is installed is brought up to date; its trackers keep their entries.
  public enum InstallPack {
    public static let method = "io.chime.Trackers.InstallPack"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String?
      public var text: String?
      public var file: String?
      public var choices: PackChoices?
      public var dryRun: Bool?

      public init(
        name: String? = nil, text: String? = nil, file: String? = nil, choices: PackChoices? = nil, dryRun: Bool? = nil
      ) {
        self.name = name
        self.text = text
        self.file = file
        self.choices = choices
        self.dryRun = dryRun
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var pack: Pack
      public var created: Bool
      public var unlocked: [Achievement]

      public init(pack: Pack, created: Bool, unlocked: [Achievement]) {
        self.pack = pack
        self.created = created
        self.unlocked = unlocked
      }
    }

  }

  /// Its reminders go with it; its trackers and their entries only with `entries`.
  public enum RemovePack {
    public static let method = "io.chime.Trackers.RemovePack"

    public struct Parameters: Codable, Equatable, Sendable {
      public var id: String
      public var entries: Bool?

      public init(id: String, entries: Bool? = nil) {
        self.id = id
        self.entries = entries
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var pack: Pack

      public init(pack: Pack) {
        self.pack = pack
      }
    }

  }

  /// Takes back the latest change, of the last 30 days.
  public enum Undo {
    public static let method = "io.chime.Trackers.Undo"

    public struct Parameters: Codable, Equatable, Sendable {
      public var dryRun: Bool?

      public init(dryRun: Bool? = nil) {
        self.dryRun = dryRun
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var undone: Undoable

      public init(undone: Undoable) {
        self.undone = undone
      }
    }

  }

  public enum Changes {
    public static let method = "io.chime.Trackers.Changes"

    public struct Parameters: Codable, Equatable, Sendable {
      public var limit: Int?

      public init(limit: Int? = nil) {
        self.limit = limit
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var changes: [Undoable]

      public init(changes: [Undoable]) {
        self.changes = changes
      }
    }

  }

  /// A part of a file that is being sent: `offset` is how many bytes were sent before. `upload` names it in the calls that
  /// follow, for ten minutes. `data` is base64 of at most 512 KiB.
  public enum Upload {
    public static let method = "io.chime.Trackers.Upload"

    public struct Parameters: Codable, Equatable, Sendable {
      public var upload: String
      public var offset: Int
      public var data: String

      public init(upload: String, offset: Int, data: String) {
        self.upload = upload
        self.offset = offset
        self.data = data
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var received: Int

      public init(received: Int) {
        self.received = received
      }
    }

  }

  /// A photo's bytes from `offset` on, at most 512 KiB in base64; `total` is its length.
  public enum Photo {
    public static let method = "io.chime.Trackers.Photo"

    public struct Parameters: Codable, Equatable, Sendable {
      public var name: String
      public var offset: Int?

      public init(name: String, offset: Int? = nil) {
        self.name = name
        self.offset = offset
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var data: String
      public var total: Int

      public init(data: String, total: Int) {
        self.data = data
        self.total = total
      }
    }

  }

  /// Call with `more`: parts of the file, in order, as base64; the last reply is without `continues`.
  public enum Backup {
    public static let method = "io.chime.Trackers.Backup"

    public typealias Parameters = Wire.Empty

    public struct Reply: Codable, Equatable, Sendable {
      public var data: String

      public init(data: String) {
        self.data = data
      }
    }

  }

  /// Replaces everything by what an uploaded backup has, after it has been judged whole. With `dryRun` it is only judged. A
  /// call with `more` is told of its progress: so many bytes of `size` are `read`. The last reply alone has `contents`.
  public enum Restore {
    public static let method = "io.chime.Trackers.Restore"

    public struct Parameters: Codable, Equatable, Sendable {
      public var upload: String
      public var dryRun: Bool?

      public init(upload: String, dryRun: Bool? = nil) {
        self.upload = upload
        self.dryRun = dryRun
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var contents: Contents?
      public var read: Int?
      public var size: Int?

      public init(contents: Contents? = nil, read: Int? = nil, size: Int? = nil) {
        self.contents = contents
        self.read = read
        self.size = size
      }
    }

  }

  /// Call with `more`: the text in parts. Of one tracker or of all.
  public enum Export {
    public static let method = "io.chime.Trackers.Export"

    public struct Parameters: Codable, Equatable, Sendable {
      public enum Format: String, Codable, Sendable, CaseIterable {
        case csv, json
      }

      public var format: Export.Parameters.Format
      public var tracker: String?
      public var range: Range?

      public init(format: Export.Parameters.Format, tracker: String? = nil, range: Range? = nil) {
        self.format = format
        self.tracker = tracker
        self.range = range
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var text: String

      public init(text: String) {
        self.text = text
      }
    }

  }

  /// Reads entries from an uploaded file: ours, or Loop Habit Tracker's Checkmarks.csv or exported archive's files. What is
  /// there already is left as it is.
  public enum Import {
    public static let method = "io.chime.Trackers.Import"

    public struct Parameters: Codable, Equatable, Sendable {
      public enum Format: String, Codable, Sendable, CaseIterable {
        case csv, json, loop
      }

      public var upload: String
      public var format: Import.Parameters.Format
      public var tracker: String?
      public var dryRun: Bool?

      public init(upload: String, format: Import.Parameters.Format, tracker: String? = nil, dryRun: Bool? = nil) {
        self.upload = upload
        self.format = format
        self.tracker = tracker
        self.dryRun = dryRun
      }
    }

    public struct Reply: Codable, Equatable, Sendable {
      public var trackers: [String]
      public var added: Int
      public var present: Int
      public var remarks: [String]

      public init(trackers: [String], added: Int, present: Int, remarks: [String]) {
        self.trackers = trackers
        self.added = added
        self.present = present
        self.remarks = remarks
      }
    }

  }

  public struct Conflict: Codable, Equatable, Sendable {
    public var message: String

    public init(message: String) {
      self.message = message
    }
  }

  public struct InvalidPack: Codable, Equatable, Sendable {
    public var faults: [Fault]

    public init(faults: [Fault]) {
      self.faults = faults
    }
  }

  /// A backup or a file of entries that cannot be taken, and where it is wrong.
  public struct InvalidFile: Codable, Equatable, Sendable {
    public var line: Int
    public var message: String

    public init(line: Int, message: String) {
      self.line = line
      self.message = message
    }
  }

  public struct NothingToUndo: Codable, Equatable, Sendable {
    public var message: String

    public init(message: String) {
      self.message = message
    }
  }

  /// A value that may well be a slip: call again with `force` when it is none.
  public struct Unlikely: Codable, Equatable, Sendable {
    public var field: String
    public var message: String

    public init(field: String, message: String) {
      self.field = field
      self.message = message
    }
  }

  public struct ReadOnly: Codable, Equatable, Sendable {
    public var reason: String

    public init(reason: String) {
      self.reason = reason
    }
  }

}
