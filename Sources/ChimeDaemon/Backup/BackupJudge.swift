import ChimeCore
import ChimeSchedule
import ChimeTracking

/// Whether what a backup says can be: each thing once, each belonging to what is there, each value within the bounds that
/// the daemon computes with. Texts are held to a length alone: what packs and imports have brought is to come back as it was,
/// and whoever shows a text makes it harmless.
struct BackupJudge {
  struct Refused: Error {
    let message: String
    init(_ message: String) { self.message = message }
  }

  private static let maxTrackers = 5_000
  private static let maxTextBytes = 16_384

  let judgeReminder: (Reminder) throws -> Void
  private var seen: Set<String> = []
  private var trackers: [TrackerID: Tracker] = [:]
  private var packs = 0

  init(judgeReminder: @escaping (Reminder) throws -> Void) { self.judgeReminder = judgeReminder }

  mutating func once(_ name: String) throws {
    guard seen.insert(name).inserted else { throw Refused("\(name) is there twice") }
  }

  private func need(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    guard condition else { throw Refused(message()) }
  }

  mutating func tracker(_ tracker: Tracker) throws -> Tracker {
    try need(TrackerID(checking: tracker.id.rawValue) != nil, "that is no tracker's id")
    try once("tracker \(tracker.id)")
    try need(trackers.count < Self.maxTrackers, "there are more than \(Self.maxTrackers) trackers")
    try definition(tracker)
    trackers[tracker.id] = tracker
    return tracker
  }

  private func definition(_ tracker: Tracker) throws {
    let id = tracker.id
    try texts(tracker.title, "title")
    if let verb = tracker.verb { try texts(verb, "verb") }
    try need((0...3).contains(tracker.decimals), "decimals of \(id) are 0 to 3")
    try need((0...1_439).contains(tracker.dayStartsAt), "dayStartsAt of \(id) is a minute of the day")
    try need((tracker.kind == .check) == (tracker.unit == nil), "\(id) is in a unit if and only if it is no check")
    try need(tracker.presets.count <= 100, "\(id) has too many presets")
    let limit = Quantity.limit(of: tracker.unit?.dimension ?? .count)
    for quantity in tracker.presets + [tracker.usual, tracker.milestoneStep].compactMap({ $0 }) {
      try need((1...limit).contains(quantity.grains), "an amount of \(id) is none that there can be")
    }
    if let goal = tracker.goal { try self.goal(goal, of: tracker) }
    switch tracker.counting {
    case .weekdays(let set): try need(!set.isEmpty, "no day counts for \(id)")
    case .timesAWeek(let times): try need((1...7).contains(times), "a week has 1 to 7 days")
    case .timesAMonth(let times): try need((1...31).contains(times), "a month has 1 to 31 days")
    case .rolling(let times, let days):
      try need((1...366).contains(days) && (1...days).contains(times), "\(times) in \(days) days cannot be")
    }
    try need(tracker.pauses.count <= 10_000, "\(id) has too many pauses")
    try need(tracker.skips.count <= 100_000, "\(id) has too many skips")
    try need((0...31).contains(tracker.skipsEachMonth ?? 0), "skipsEachMonth of \(id) is 0 to 31")
    try need(tracker.fields.count <= 100, "\(id) has too many fields")
    try need((0...1_000_000).contains(tracker.experience), "the XP of \(id) are 0 to 1000000")
    try text(tracker.icon, "icon")
    try time(tracker.createdAt)
  }

  private func goal(_ goal: Goal, of tracker: Tracker) throws {
    let limit = Quantity.limit(of: tracker.unit?.dimension ?? .count)
    let isSound =
      switch (tracker.kind, goal.target) {
      case (.check, .count(let count)): (1...10_000).contains(count)
      case (.amount, .total(let total)): (1...limit).contains(total.grains)
      case (.measure, .value(let value)): value.grains.magnitude <= limit.magnitude && goal.period == .day
      default: false
      }
    try need(isSound, "the goal of \(tracker.id) is none that it can have")
  }

  private func known(_ id: TrackerID) throws -> Tracker {
    guard let tracker = trackers[id] else { throw Refused("there is no tracker \(TrackerFields.shown(id.rawValue))") }
    return tracker
  }

  mutating func item(_ item: Item) throws -> Item {
    let tracker = try known(item.tracker)
    try need(tracker.hasItems, "\(tracker.id) has no items")
    try need(Desk.isItemID(item.id.rawValue), "that is no item's id")
    try once("item \(item.id) of \(tracker.id)")
    try text(item.title, "title")
    try need(item.attributes.count <= 200, "the item has too many attributes")
    for (name, value) in item.attributes {
      try text(name, "attributes")
      try text(value, "attributes")
    }
    if let since = item.since, let until = item.until { try need(since <= until, "it was gone before it came") }
    try noteAndPhoto(item.note, item.photo)
    try time(item.createdAt)
    return item
  }

  func milestone(_ milestone: Milestone) throws -> Milestone {
    _ = try known(milestone.tracker)
    try text(milestone.title, "title")
    try noteAndPhoto(milestone.note, milestone.photo)
    try time(milestone.createdAt)
    return milestone
  }

  func entry(_ entry: BackupFormat.EntryLine) throws -> BackupFormat.EntryLine {
    let tracker = try known(entry.tracker)
    guard let at = try? RFC3339.parse(entry.at) else { throw Refused("at is no time") }
    try time(at)
    try need((0...1_439).contains(entry.minute), "minute is one of the day")
    let apart = at.seconds / 86_400 - Int64(entry.day.dayNumber)
    try need((-2...2).contains(apart), "the entry is of another day than its time")
    try need(
      (tracker.kind == .check) == (entry.quantity == nil),
      "an entry of \(tracker.id) has an amount if and only if it is no check")
    if let quantity = entry.quantity {
      let limit = Quantity.limit(of: tracker.unit?.dimension ?? .count)
      try need(quantity.grains.magnitude <= limit.magnitude, "the amount is more than can be recorded")
    }
    for (name, value) in entry.fields ?? [:] {
      let limit = tracker.fields[name].map { Quantity.limit(of: $0.dimension) } ?? Quantity.limit(of: .count)
      try need((1...64).contains(name.utf8.count) && value.grains.magnitude <= limit.magnitude, "a field cannot be")
    }
    if let item = entry.item { try need(Desk.isItemID(item.rawValue), "that is no item's id") }
    try noteAndPhoto(entry.note, entry.photo)
    return entry
  }

  mutating func judged(_ judged: BackupFormat.Judged) throws -> BackupFormat.Judged {
    let tracker = try known(judged.tracker)
    if let goal = judged.goal { try self.goal(goal, of: tracker) }
    try once("the judged day \(judged.day) of \(judged.tracker)")
    return judged
  }

  mutating func pack(_ installed: InstalledPack) throws -> InstalledPack {
    let pack = installed.pack
    try need(TrackerID(checking: pack.id.rawValue) != nil, "that is no pack's id")
    try once("pack \(pack.id)")
    try need(packs < Desk.maxPacks, "there are more than \(Desk.maxPacks) packs")
    try texts(pack.title, "title")
    try texts(pack.text, "text")
    for tracker in pack.trackers {
      try need(TrackerID(checking: tracker.id.rawValue) != nil, "that is no tracker's id")
      try definition(tracker)
    }
    var names: Set<AchievementID> = []
    for achievement in pack.achievements {
      try need(names.insert(achievement.id).inserted, "the achievement \(achievement.id) is there twice")
      let faults = achievement.criterion.faults(among: pack.trackers, hasLevels: pack.levels != nil)
      try need(faults.isEmpty, "the achievement \(achievement.id): \(faults.first?.description ?? "")")
      try need((0...1_000_000).contains(achievement.experience), "the XP of \(achievement.id) are 0 to 1000000")
    }
    for channel in pack.channels { try self.channel(ChannelName(rawValue: channel)) }
    try time(installed.installedAt)
    packs += 1
    return installed
  }

  mutating func progress(_ progress: AchievementProgress) throws -> AchievementProgress {
    try need(TrackerID(checking: progress.pack.rawValue) != nil, "that is no pack's id")
    try once("the progress of \(progress.achievement) of \(progress.pack)")
    try need((0...1_000_000_000).contains(progress.reached), "that is no progress")
    if let at = progress.unlockedAt { try time(at) }
    return progress
  }

  mutating func experience(_ experience: BackupFormat.Experience) throws -> BackupFormat.Experience {
    try need(TrackerID(checking: experience.pack.rawValue) != nil, "that is no pack's id")
    try once("the XP of \(experience.pack)")
    try need((0...1_000_000_000_000).contains(experience.points), "that is no number of XP")
    return experience
  }

  mutating func reminder(_ reminder: Reminder) throws -> Reminder {
    let id = reminder.id.rawValue
    try need(
      (1...64).contains(id.utf8.count)
        && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") },
      "that is no reminder's id")
    try once("reminder \(id)")
    try judgeReminder(reminder)
    try time(reminder.createdAt)
    if let at = reminder.lastDone { try time(at) }
    return reminder
  }

  private func channel(_ channel: ChannelName) throws {
    try need(channel == .desktop || channel.isValidForEndpoint, "that is no channel")
  }

  private func noteAndPhoto(_ note: String?, _ photo: String?) throws {
    try text(note, "note")
    try need((note?.count ?? 0) <= Entry.longestNote, "a note has at most \(Entry.longestNote) characters")
    if let photo { try need(Photos.isName(photo), "that is no photo's name") }
  }

  private func texts(_ texts: LocalizedText, _ field: String) throws {
    try need(texts.texts.count <= 200, "\(field) is in too many languages")
    for (language, text) in texts.texts {
      try self.text(language, field)
      try self.text(text, field)
    }
  }

  private func text(_ text: String?, _ field: String) throws {
    try need((text?.utf8.count ?? 0) <= Self.maxTextBytes, "\(field) has more than \(Self.maxTextBytes) bytes")
  }

  /// Between 1970 and the year 10000.
  private func time(_ instant: Instant) throws {
    try need((0..<253_402_300_800).contains(instant.seconds), "a time is none that there can be")
  }
}
