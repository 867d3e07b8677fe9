package import ChimeCore
import ChimeSchedule
package import ChimeTracking
import FoundationEssentials

/// A PackDefinition is a pack without its id, as JSON in the `definition` column. As in `Definition`, default values are
/// omitted and fields that are added later are optional.
package struct PackDefinition: Codable, Hashable {
  var title: [String: String]
  var text: [String: String]
  var version: Int?
  var icon: String?
  var trackers: [TrackerForm]?
  var reminders: [ReminderForm]?
  var achievements: [AchievementForm]?
  var categories: [String: [String: String]]?
  var levels: LevelForm?
  var moods: [String: MoodForm]?
  var quotes: [QuoteForm]?
  var channels: [String]?
  var choices: [String: ChoiceForm]?
  var milestoneSteps: [String: [StepForm]]?

  struct TrackerForm: Codable, Hashable {
    var id: TrackerID
    var owner: UInt32?
    var pack: PackID?
    var createdAt: Instant?
    var definition: TrackerDefinition
  }

  struct ReminderForm: Codable, Hashable {
    var key: String
    var title: [String: String]
    var body: [String: String]?
    var when: String
    var whenWithoutPlace: String?
    var tracker: TrackerID
    var quietWhenDone: Bool?
    var pace: Bool?
    var followsEntries: Bool?
    var logs: Quantity?
    var isOptional: Bool?
  }

  struct AchievementForm: Codable, Hashable {
    var id: AchievementID
    var title: [String: String]
    var text: [String: String]
    var category: String?
    var icon: String?
    var experience: Int?
    var criterion: CriterionForm
  }

  struct CriterionForm: Codable, Hashable {
    var kind: Criterion.Kind
    var tracker: TrackerID?
    var target: Int?
    var amount: Quantity?
    var days: Criterion.Days?
    var minute: Int?
    var attribute: String?
    var value: String?
    var within: Int?
    var minimum: Int?
    var month: Int?
    var day: Int?
    var weekdays: UInt8?
  }

  struct LevelForm: Codable, Hashable {
    var base: Int
    var power: Double
  }

  struct MoodForm: Codable, Hashable {
    var title: [String: String]
    var message: [String: String]
    var next: [String: String]
  }

  struct QuoteForm: Codable, Hashable {
    var text: String
    var language: String
    var translation: [String: String]?
    var source: String
    var category: String
  }

  struct ChoiceForm: Codable, Hashable {
    var least: Quantity
    var most: Quantity
    var step: Quantity
    var presets: [Quantity]?
  }

  struct StepForm: Codable, Hashable {
    var unit: ChimeTracking.Unit
    var steps: [Quantity]
  }

  package init(of pack: Pack) {
    title = pack.title.texts
    text = pack.text.texts
    version = pack.version == 1 ? nil : pack.version
    icon = pack.icon
    trackers = pack.trackers.isEmpty ? nil : pack.trackers.map { TrackerForm(of: $0) }
    reminders = pack.reminders.isEmpty ? nil : pack.reminders.map { ReminderForm(of: $0) }
    achievements = pack.achievements.isEmpty ? nil : pack.achievements.map { AchievementForm(of: $0) }
    categories = pack.categories.isEmpty ? nil : pack.categories.mapValues(\.texts)
    levels = pack.levels.map { LevelForm(base: $0.base, power: $0.power) }
    let moods = pack.moods.map { mood, text in
      (mood.rawValue, MoodForm(title: text.title.texts, message: text.message.texts, next: text.next.texts))
    }
    self.moods = moods.isEmpty ? nil : Dictionary(uniqueKeysWithValues: moods)
    let quotes = pack.quotes.map { quote in
      QuoteForm(
        text: quote.text, language: quote.language, translation: quote.translation?.texts, source: quote.source,
        category: quote.category)
    }
    self.quotes = quotes.isEmpty ? nil : quotes
    channels = pack.channels.isEmpty ? nil : pack.channels
    let choices = pack.choices.map { tracker, choice in
      (tracker.rawValue, ChoiceForm(least: choice.least, most: choice.most, step: choice.step, presets: choice.presets))
    }
    self.choices = choices.isEmpty ? nil : Dictionary(uniqueKeysWithValues: choices)
    let steps = pack.milestoneSteps.map { tracker, steps in
      (tracker.rawValue, steps.map { StepForm(unit: $0.unit, steps: $0.steps) })
    }
    milestoneSteps = steps.isEmpty ? nil : Dictionary(uniqueKeysWithValues: steps)
  }

  func pack(id: PackID) throws -> Pack {
    var moods: [Mood: MoodText] = [:]
    // A mood of a later version is ignored.
    for (name, form) in self.moods ?? [:] {
      guard let mood = Mood(rawValue: name) else { continue }
      moods[mood] = MoodText(
        title: LocalizedText(form.title), message: LocalizedText(form.message), next: LocalizedText(form.next))
    }
    let choices = (self.choices ?? [:]).map { name, form in
      (
        TrackerID(rawValue: name),
        Pack.Choice(least: form.least, most: form.most, step: form.step, presets: form.presets)
      )
    }
    let steps = (milestoneSteps ?? [:]).map { name, forms in
      (TrackerID(rawValue: name), forms.map { Pack.StepChoice(unit: $0.unit, steps: $0.steps) })
    }
    return Pack(
      id: id, title: LocalizedText(title), text: LocalizedText(text), version: version ?? 1, icon: icon,
      trackers: try (trackers ?? []).map { try $0.tracker() }, reminders: (reminders ?? []).map { $0.reminder },
      achievements: (achievements ?? []).map { $0.achievement },
      categories: (categories ?? [:]).mapValues { LocalizedText($0) },
      levels: levels.map { LevelCurve(base: $0.base, power: $0.power) }, moods: moods,
      quotes: (quotes ?? []).map { form in
        Quote(
          text: form.text, language: form.language, translation: form.translation.map { LocalizedText($0) },
          source: form.source, category: form.category)
      }, channels: channels ?? [], choices: Dictionary(uniqueKeysWithValues: choices),
      milestoneSteps: Dictionary(uniqueKeysWithValues: steps))
  }

  /// Returns the FNV-1a hash (64 bits; Fowler, Noll, Vo), which practically never collides.
  package static func print(of text: String) -> Int64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return Int64(bitPattern: hash)
  }
}

extension PackDefinition.TrackerForm {
  init(of tracker: Tracker) {
    id = tracker.id
    // A tracker in a pack has no owner yet.
    owner = tracker.owner == 0 ? nil : tracker.owner
    pack = tracker.pack
    createdAt = tracker.createdAt == Instant(milliseconds: 0) ? nil : tracker.createdAt
    definition = TrackerDefinition(of: tracker)
  }

  func tracker() throws -> Tracker {
    try definition.tracker(id: id, owner: owner ?? 0, pack: pack, createdAt: createdAt ?? Instant(milliseconds: 0))
  }
}

extension PackDefinition.ReminderForm {
  init(of reminder: PackReminder) {
    key = reminder.key
    title = reminder.title.texts
    body = reminder.body?.texts
    when = reminder.when
    whenWithoutPlace = reminder.whenWithoutPlace
    tracker = reminder.tracker
    quietWhenDone = reminder.quietWhenDone ? nil : false
    pace = reminder.pace ? true : nil
    followsEntries = reminder.followsEntries ? true : nil
    logs = reminder.logs
    isOptional = reminder.isOptional ? true : nil
  }

  var reminder: PackReminder {
    PackReminder(
      key: key, title: LocalizedText(title), body: body.map { LocalizedText($0) }, when: when,
      whenWithoutPlace: whenWithoutPlace, tracker: tracker,
      quietWhenDone: quietWhenDone ?? true, pace: pace ?? false, followsEntries: followsEntries ?? false, logs: logs,
      isOptional: isOptional ?? false)
  }
}

extension PackDefinition.AchievementForm {
  init(of achievement: Achievement) {
    id = achievement.id
    title = achievement.title.texts
    text = achievement.text.texts
    category = achievement.category
    icon = achievement.icon
    experience = achievement.experience == 0 ? nil : achievement.experience
    criterion = PackDefinition.CriterionForm(of: achievement.criterion)
  }

  var achievement: Achievement {
    Achievement(
      id: id, title: LocalizedText(title), text: LocalizedText(text), category: category, icon: icon,
      experience: experience ?? 0, criterion: criterion.criterion)
  }
}

extension PackDefinition.CriterionForm {
  init(of criterion: Criterion) {
    kind = criterion.kind
    tracker = criterion.tracker
    target = criterion.target == 1 ? nil : criterion.target
    amount = criterion.amount
    days = criterion.days == .all ? nil : criterion.days
    minute = criterion.minute
    attribute = criterion.attribute
    value = criterion.value
    within = criterion.within
    minimum = criterion.minimum
    month = criterion.month
    day = criterion.day
    weekdays = criterion.weekdays?.rawValue
  }

  var criterion: Criterion {
    Criterion(
      kind, tracker: tracker, target: target ?? 1, amount: amount, days: days ?? .all, minute: minute,
      attribute: attribute, value: value, within: within, minimum: minimum, month: month, day: day,
      weekdays: weekdays.map { WeekdaySet(rawValue: $0) })
  }
}

/// The JSON of the `reminders` column: a pack's reminders by key, and how they were created.
///
///     {"languages":["cs"],"made":{"drink":"r7k2"}}
package struct PackReminders: Codable, Hashable {
  package var made: [String: ReminderID]?
  package var languages: [String]?
  package var removed: [Removed]?
  package var set: String?

  /// A reminder as it was when its pack was removed.
  package struct Removed: Codable, Hashable {
    var id: ReminderID
    var owner: UInt32
    var title: String
    var body: String?
    var schedule: String
    var zone: String
    var skipNext: Int?
    var createdAt: Instant
    var generation: Int64
    var definition: Definition
  }

  package init(of pack: InstalledPack) {
    made = pack.reminders.isEmpty ? nil : pack.reminders
    languages = pack.languages.isEmpty ? nil : pack.languages
    removed = pack.removed.isEmpty ? nil : pack.removed.map { Removed(of: $0) }
    set = pack.set
  }
}

extension PackReminders.Removed {
  init(of reminder: Reminder) {
    id = reminder.id
    owner = reminder.owner
    title = reminder.title
    body = reminder.body
    schedule = reminder.schedule.canonical
    zone = reminder.timezone.text
    skipNext = reminder.skipNext == 0 ? nil : reminder.skipNext
    createdAt = reminder.createdAt
    generation = reminder.generation
    definition = Definition(of: reminder)
  }

  package func reminder() throws -> Reminder {
    definition.reminder(
      id: id, owner: owner, title: title, body: body, schedule: try Schedule(canonical: schedule),
      timezone: ZoneChoice(zone), skipNext: skipNext ?? 0, createdAt: createdAt, generation: generation)
  }
}
