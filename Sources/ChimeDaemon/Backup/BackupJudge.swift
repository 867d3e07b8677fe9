import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// A BackupJudge validates the content of a backup before it is used.
///
/// Everything occurs once, refers to existing things, and is within the bounds for clients, packs and imports. Texts
/// contain no control characters, as none of these ways allows them. Their maximum length is the largest of any way.
struct BackupJudge {
  struct Refused: Error {
    let message: String
    init(_ message: String) { self.message = message }
  }

  private static let maxTrackers = 5_000
  private static let mostMissed = 1_000_000_000
  private static let maxTextBytes = 16_384

  let judgeReminder: (Reminder) throws -> Reminder
  private var seen: Set<String> = []
  private var trackers: [TrackerID: Tracker] = [:]
  /// The trackers whose judged days have begun; all their entries have come.
  private var judgedTrackers: Set<TrackerID> = []
  private var packs = 0
  private var endpoints = 0
  private var occurrences = 0
  private var pings = 0
  private var configurations = 0

  init(judgeReminder: @escaping (Reminder) throws -> Reminder) { self.judgeReminder = judgeReminder }

  mutating func once(_ name: String) throws {
    guard seen.insert(name).inserted else { throw Refused("\(name) occurs twice") }
  }

  private func need(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    guard condition else { throw Refused(message()) }
  }

  mutating func tracker(_ tracker: Tracker) throws -> Tracker {
    try need(TrackerID(checking: tracker.id.rawValue) != nil, "the id of a tracker is invalid")
    try once("tracker \(tracker.id)")
    try need(trackers.count < Self.maxTrackers, "there are more than \(Self.maxTrackers) trackers")
    try definition(tracker)
    trackers[tracker.id] = tracker
    return tracker
  }

  private func definition(_ tracker: Tracker) throws {
    let id = tracker.id
    // Validate the settings as if a client sent them.
    let draft = WireMapper.draft(of: tracker)
    var judged = tracker
    for setting in TrackerSetting.all { try setting.take(draft, &judged) }
    try need((0...1_439).contains(tracker.dayStartsAt), "dayStartsAt of \(id) must be a minute of the day")
    if let goal = tracker.goal { try self.goal(goal, of: tracker) }
    if let stock = tracker.stock {
      // The stock may exceed a single count, because refills were added to it.
      try need(
        stock.quantity >= .zero && Stock.warnDays.contains(stock.warnDays) && stock.since != nil,
        "the stock of \(id) is invalid")
    }
    try need(tracker.formerWeekdays.count <= Tracker.maxFormerWeekdays, "\(id) had too many weekdays")
    try need(
      tracker.formerWeekdays.allSatisfy { !$0.weekdays.isEmpty }
        && Self.isAscending(tracker.formerWeekdays.map(\.until)), "the former weekdays of \(id) are invalid")
    try need(tracker.pauses.count <= 10_000, "\(id) has too many pauses")
    try need(tracker.skips.count <= 100_000, "\(id) has too many skips")
    // The lists must be sorted, because lookups by day rely on their order.
    try need(
      Self.isAscending(tracker.pauses.map(\.lowerBound), orEqual: true) && Self.isAscending(tracker.skips)
        && Self.isAscending(tracker.presets), "pauses, skips and presets of \(id) must be sorted")
    try need(tracker.fieldBounds?.count ?? 0 <= TrackerFields.maxFields, "\(id) has too many bounds")
    for bounds in (tracker.fieldBounds ?? [:]).values + [tracker.bounds].compactMap({ $0 }) {
      try need(bounds.least <= bounds.most, "the bounds of \(id) are invalid")
    }
    try need((0...1_000_000).contains(tracker.experience), "the XP of \(id) must be from 0 to 1000000")
    if let pack = tracker.pack { try need(TrackerID(checking: pack.rawValue) != nil, "the id of a pack is invalid") }
    try text(tracker.set, "set")
    try time(tracker.createdAt)
  }

  private static func isAscending<Value: Comparable>(_ values: [Value], orEqual: Bool = false) -> Bool {
    zip(values, values.dropFirst()).allSatisfy { orEqual ? $0 <= $1 : $0 < $1 }
  }

  private func goal(_ goal: Goal, of tracker: Tracker) throws {
    let limit = Quantity.limit(of: tracker.unit?.dimension ?? .count)
    let least = goal.isAtMost ? 0 : 1
    let isSound =
      switch (tracker.kind, goal.target) {
      case (.check, .count(let count)): (least...10_000).contains(count)
      case (.amount, .total(let total)): (Int64(least)...limit).contains(total.grains)
      case (.measure, .value(let value)):
        value.grains.magnitude <= limit.magnitude && goal.period == .day && !goal.isAtMost
      default: false
      }
    try need(isSound && (goal.period == .day || !goal.isAtMost), "the goal of \(tracker.id) is invalid")
  }

  private func known(_ id: TrackerID) throws -> Tracker {
    guard let tracker = trackers[id] else { throw Refused("there is no tracker \(TrackerFields.shown(id.rawValue))") }
    return tracker
  }

  mutating func item(_ item: Item) throws -> Item {
    let tracker = try known(item.tracker)
    try need(tracker.hasItems, "\(tracker.id) has no items")
    try need(TrackerFields.isItemID(item.id.rawValue), "the id of an item is invalid")
    try once("item \(item.id) of \(tracker.id)")
    try title(item.title)
    try need(item.attributes.count <= 200, "the item has too many attributes")
    for (name, value) in item.attributes {
      try text(name, "attributes")
      try text(value, "attributes")
    }
    if let since = item.since, let until = item.until { try need(since <= until, "the item's end is before its start") }
    try noteAndPhoto(item.note, item.photo)
    try time(item.createdAt)
    return item
  }

  func milestone(_ milestone: Milestone) throws -> Milestone {
    let tracker = try known(milestone.tracker)
    try title(milestone.title)
    if let value = milestone.value {
      let limit = Quantity.limit(of: tracker.unit?.dimension ?? .count)
      try need(value.grains.magnitude <= limit.magnitude, "the value of a milestone is too large to record")
    }
    try noteAndPhoto(milestone.note, milestone.photo)
    try time(milestone.createdAt)
    return milestone
  }

  func entry(_ entry: BackupFormat.EntryLine) throws -> Entry {
    let tracker = try known(entry.tracker)
    guard let at = try? RFC3339.parse(entry.at) else { throw Refused("at is not a time") }
    try time(at)
    try need((0...1_439).contains(entry.minute), "minute must be a minute of the day")
    let apart = at.seconds / 86_400 - Int64(entry.day.dayNumber)
    try need((-2...2).contains(apart), "the day of the entry does not match its time")
    try need(
      (tracker.kind == .check) == (entry.quantity == nil),
      "an entry of \(tracker.id) must have an amount, unless it is a check, which must have none")
    if let quantity = entry.quantity {
      let limit = Quantity.limit(of: tracker.unit?.dimension ?? .count)
      try need(quantity.grains.magnitude <= limit.magnitude, "the amount is too large to record")
    }
    try need((entry.fields?.count ?? 0) <= 100, "an entry has too many fields")
    for (name, value) in entry.fields ?? [:] {
      try text(name, "fields")
      let limit = tracker.fields[name].map { Quantity.limit(of: $0.dimension) } ?? Quantity.limit(of: .count)
      try need((1...64).contains(name.utf8.count) && value.grains.magnitude <= limit.magnitude, "a field is invalid")
    }
    if let item = entry.item { try need(TrackerFields.isItemID(item.rawValue), "the id of an item is invalid") }
    try noteAndPhoto(entry.note, entry.photo)
    try need(!judgedTrackers.contains(tracker.id), "entries of \(tracker.id) are earlier than its judged days")
    return Entry(
      id: EntryID(rawValue: 0), tracker: tracker.id, owner: 0, at: at, day: entry.day, minute: entry.minute,
      quantity: entry.quantity, fields: entry.fields ?? [:], item: entry.item, note: entry.note, photo: entry.photo)
  }

  mutating func judged(_ judged: BackupFormat.Judged) throws {
    let tracker = try known(judged.tracker)
    if let goal = judged.goal { try self.goal(goal, of: tracker) }
    try once("the judged day \(judged.day) of \(judged.tracker)")
    judgedTrackers.insert(tracker.id)
  }

  mutating func pack(_ installed: InstalledPack) throws -> InstalledPack {
    let pack = installed.pack
    try need(TrackerID(checking: pack.id.rawValue) != nil, "the id of a pack is invalid")
    try once("pack \(pack.id)")
    try need(packs < TrackerFields.maxPacks, "there are more than \(TrackerFields.maxPacks) packs")
    try texts(pack.title, "title")
    try texts(pack.text, "text", lines: true)
    try need((1...1_000_000).contains(pack.version), "the version of \(pack.id) must be from 1 to 1000000")
    try text(pack.icon, "icon")
    try text(installed.set, "set")
    try need(installed.languages.count <= 200, "\(pack.id) has too many languages")
    for language in installed.languages { try text(language, "languages") }
    try need(
      pack.trackers.count <= PackFile.mostTrackers && pack.reminders.count <= PackFile.mostReminders
        && pack.achievements.count <= PackFile.mostAchievements && pack.quotes.count <= PackFile.mostQuotes
        && pack.categories.count <= PackFile.mostAchievements && pack.channels.count <= 100
        && installed.reminders.count <= PackFile.mostReminders, "\(pack.id) has more parts than a pack may have")
    for tracker in pack.trackers {
      try need(TrackerID(checking: tracker.id.rawValue) != nil, "the id of a tracker is invalid")
      try definition(tracker)
    }
    var names: Set<AchievementID> = []
    for achievement in pack.achievements {
      try need(names.insert(achievement.id).inserted, "the achievement \(achievement.id) occurs twice")
      let faults = achievement.criterion.faults(among: pack.trackers, hasLevels: pack.levels != nil)
      try need(faults.isEmpty, "the achievement \(achievement.id): \(faults.first?.description ?? "")")
      try need(
        (0...1_000_000).contains(achievement.experience), "the XP of \(achievement.id) must be from 0 to 1000000")
      try text(achievement.id.rawValue, "id")
      try texts(achievement.title, "title")
      try texts(achievement.text, "text")
      for word in [
        achievement.category, achievement.icon, achievement.criterion.attribute, achievement.criterion.value,
      ] {
        try text(word, "achievements")
      }
      if let amount = achievement.criterion.amount {
        try need(amount.grains.magnitude <= Self.mostGrains, "an amount of \(achievement.id) is invalid")
      }
    }
    for channel in pack.channels { try self.channel(ChannelName(rawValue: channel)) }
    for reminder in pack.reminders { try self.reminder(reminder, of: pack) }
    for (key, id) in installed.reminders {
      try text(key, "reminders")
      try need(Self.isReminderID(id.rawValue), "the id of a reminder is invalid")
    }
    try words(of: pack)
    try amounts(of: pack)
    try time(installed.installedAt)
    packs += 1
    return installed
  }

  private func reminder(_ reminder: PackReminder, of pack: Pack) throws {
    try text(reminder.key, "id")
    try texts(reminder.title, "title")
    if let body = reminder.body { try texts(body, "body", lines: true) }
    for when in [reminder.when, reminder.whenWithoutPlace] {
      try need((when?.utf8.count ?? 0) <= ReminderFields.maxWhenBytes, "when is longer than a schedule may be")
      try text(when, "when", lines: true)
    }
    try need(pack.trackers.contains { $0.id == reminder.tracker }, "\(pack.id) has no such tracker")
    if let logs = reminder.logs {
      try need((1...Self.mostGrains).contains(UInt64(clamping: logs.grains)), "the amount that it logs is invalid")
    }
  }

  private func words(of pack: Pack) throws {
    for (name, title) in pack.categories {
      try text(name, "category")
      try texts(title, "category")
    }
    for mood in pack.moods.values {
      for texts in [mood.title, mood.message, mood.next] { try self.texts(texts, "mood") }
    }
    for quote in pack.quotes {
      try text(quote.text, "quote", lines: true)
      if let translation = quote.translation { try texts(translation, "quote", lines: true) }
      for word in [quote.language, quote.source, quote.category] { try text(word, "quote") }
    }
  }

  private func amounts(of pack: Pack) throws {
    if let levels = pack.levels {
      try need(
        LevelCurve.bases.contains(levels.base) && LevelCurve.powers.contains(levels.power),
        "the levels of \(pack.id) are invalid")
    }
    for choice in pack.choices.values {
      let ends = [choice.least, choice.most, choice.step]
      try need(
        ends.allSatisfy { $0.grains.magnitude <= Self.mostGrains } && choice.least <= choice.most
          && choice.step > .zero,
        "a choice of \(pack.id) is invalid")
    }
    for choices in pack.milestoneSteps.values {
      try need(choices.count <= 100, "\(pack.id) has too many steps")
      for step in choices.flatMap(\.steps) {
        try need((1...Self.mostGrains).contains(UInt64(clamping: step.grains)), "a step is invalid")
      }
    }
  }

  /// The maximum amount of any dimension, in fixed-point units.
  private static let mostGrains = Quantity.limit(of: .count).magnitude

  mutating func progress(_ progress: AchievementProgress) throws -> AchievementProgress {
    try need(TrackerID(checking: progress.pack.rawValue) != nil, "the id of a pack is invalid")
    try text(progress.achievement.rawValue, "achievement")
    try once("the progress of \(progress.achievement) of \(progress.pack)")
    try need((0...1_000_000_000).contains(progress.reached), "the progress is invalid")
    if let at = progress.unlockedAt { try time(at) }
    return progress
  }

  mutating func experience(_ experience: BackupFormat.Experience) throws {
    try need(TrackerID(checking: experience.pack.rawValue) != nil, "the id of a pack is invalid")
    try once("the XP of \(experience.pack)")
    try need((0...1_000_000_000_000).contains(experience.points), "the number of XP is invalid")
  }

  mutating func reminder(_ reminder: Reminder) throws -> Reminder {
    let id = reminder.id.rawValue
    try need(Self.isReminderID(id), "the id of a reminder is invalid")
    try once("reminder \(id)")
    try time(reminder.createdAt)
    if let at = reminder.lastDone { try time(at) }
    if let other = reminder.onlyIfDone {
      try need(Self.isReminderID(other.rawValue), "the id of a reminder is invalid")
    }
    if let times = reminder.chainedTimes {
      try need(
        reminder.schedule.chain != nil && times.count <= 2 * Chains.mostWaiting && Self.isAscending(times),
        "the times for which it waits are invalid")
      for at in times { try time(at) }
    }
    return try judgeReminder(reminder)
  }

  mutating func endpoint(_ endpoint: Endpoint) throws -> Endpoint {
    let channel = endpoint.queue.channel
    try need(channel.isValidForEndpoint, "the name of an endpoint is invalid")
    try once("endpoint \(channel)")
    endpoints += 1
    try need(endpoints <= EndpointFields.maxEndpoints, "there are more than \(EndpointFields.maxEndpoints) endpoints")
    try EndpointFields.check(url: endpoint.url)
    // Validate the settings as if a client sent them.
    var (endpoint, settings) = (endpoint, EndpointSettings(set: endpoint.settings.set))
    try EndpointFields.apply(WireMapper.settings(endpoint.settings) ?? EndpointsInterface.Settings(), to: &settings)
    endpoint.settings = settings
    try EndpointFields.check(url: endpoint.url, settings)
    try need(settings.set.map(Manifest.isName) ?? true, "the name of a set is invalid")
    try time(endpoint.createdAt)
    if let disabled = endpoint.disabled {
      try time(disabled.at)
      try text(disabled.reason, "reason")
    }
    return endpoint
  }

  /// Validates an occurrence. Its reminder may be missing, unless the occurrence is open.
  mutating func occurrence(_ occurrence: Occurrence) throws -> Occurrence {
    let id = occurrence.id.reminder.rawValue
    try need(Self.isReminderID(id), "the id of a reminder is invalid")
    occurrences += 1
    try need(
      occurrences <= BackupFormat.maxEntries, "the history has more than \(BackupFormat.maxEntries) times")
    try need(
      !occurrence.isOpen || seen.contains("reminder \(id)"), "it waits for an answer, but its reminder is missing")
    try text(occurrence.title, "title")
    try need(
      (0...1_000_000).contains(occurrence.rounds) && (0...1_000_000).contains(occurrence.repeats),
      "the number of times that it fired is invalid")
    try need(occurrence.answeredBy.map(Self.isWay) ?? true, "the source of an answer is invalid")
    try need(
      occurrence.repeatAt == nil || [.fired, .delivered].contains(occurrence.state),
      "its state allows no repeat")
    if let run = occurrence.missedRun {
      try need((1...Self.mostMissed).contains(run.count), "the number of times that it was missed is invalid")
    }
    let times: [Instant?] = [
      occurrence.id.scheduledAt, occurrence.firedAt, occurrence.deliveredAt, occurrence.endedAt, occurrence.recursAt,
      occurrence.missedRun?.through,
    ]
    for at in times.compactMap({ $0 }) { try time(at) }
    return occurrence
  }

  mutating func ping(_ line: BackupFormat.PingLine) throws {
    try need(seen.contains("reminder \(line.reminder.rawValue)"), "its reminder is missing")
    pings += 1
    try need(pings <= BackupFormat.maxEntries, "there are more than \(BackupFormat.maxEntries) pings")
    let ping = line.ping
    try time(ping.at)
    try need(
      ping.status.map(ExpectationsHandler.exitStatuses.contains) ?? true, "an exit status must be from 0 to 255")
    try need(
      ping.took.map((Milliseconds.zero...ExpectationsHandler.longestRun).contains) ?? true,
      "the duration is invalid")
    try need((ping.output?.utf8.count ?? 0) <= Product.pingOutputLimit, "its output is too long")
    try text(ping.output, "output", lines: true)
    try text(ping.via, "via")
  }

  mutating func configuration(_ file: BackupFormat.ConfigurationText) throws -> BackupFormat.ConfigurationText {
    try need(ConfigurationFiles.isBackupName(file.name), "the name of a configuration file is invalid")
    try need(file.text.utf8.count <= ConfigurationFiles.maxBytes, "\(file.name) is longer than a configuration may be")
    try once(file.name)
    configurations += 1
    try need(configurations <= ConfigurationFiles.mostInBackup, "there are too many configuration files")
    return file
  }

  /// Returns whether the text is a valid `Occurrence.answeredBy`.
  private static func isWay(_ text: String) -> Bool {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return text == ChannelName.desktop.rawValue }
    return ["endpoint", "command"].contains(parts[0]) && ChannelName(rawValue: parts[1]).isValidForEndpoint
  }

  private static func isReminderID(_ id: String) -> Bool {
    (1...64).contains(id.utf8.count)
      && id.utf8.allSatisfy {
        (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95
      }
  }

  private func channel(_ channel: ChannelName) throws {
    try need(channel == .desktop || channel.isValidForEndpoint, "the name of a channel is invalid")
  }

  private func noteAndPhoto(_ note: String?, _ photo: String?) throws {
    try text(note, "note", lines: true)
    try need((note?.count ?? 0) <= Entry.longestNote, "a note has at most \(Entry.longestNote) characters")
    if let photo { try need(Photos.isName(photo), "the name of a photo is invalid") }
  }

  private func texts(_ texts: LocalizedText, _ field: String, lines: Bool = false) throws {
    try need(texts.texts.count <= 200, "\(field) is in too many languages")
    for (language, text) in texts.texts {
      try self.text(language, field)
      try self.text(text, field, lines: lines)
    }
  }

  private func title(_ title: String) throws {
    try need(!title.trimmed.isEmpty, "the title is empty")
    try text(title, "title")
  }

  private func text(_ text: String?, _ field: String, lines: Bool = false) throws {
    guard let text else { return }
    try need(text.utf8.count <= Self.maxTextBytes, "\(field) has more than \(Self.maxTextBytes) bytes")
    if let control = ReminderFields.control(in: text, lines: lines) {
      throw Refused("\(field) has a control character (\(control))")
    }
  }

  /// Requires a time from 1970 to the year 9999.
  private func time(_ instant: Instant) throws {
    try need((0..<253_402_300_800).contains(instant.seconds), "a time is invalid")
  }
}
