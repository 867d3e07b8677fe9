package import ChimeCore
package import ChimeSchedule
package import ChimeTracking
import FoundationEssentials

/// A Definition holds the fields of a reminder that no query needs on their own, as JSON in the `definition` column.
///
/// A field with its default value is omitted. These defaults are part of the schema and never change, even if the
/// defaults of new reminders do. A field that is added later is optional, so that older rows stay readable.
///
///     {"channels":["desktop"],"tags":["health"],"urgency":"low"}
package struct Definition: Codable, Hashable {
  var channels: [ChannelName]
  var tags: [String]?
  var gap: GapRule?
  var fold: FoldRule?
  var place: Place?
  var urgency: Urgency?
  /// The texts of `Reminder.texts` by name.
  var texts: [String: String]?
  var catchUp: CatchUp?
  var grace: Milliseconds?
  var jitter: Milliseconds?
  var nag: Nag?
  var quiet: QuietRule?
  package var wake: Bool?
  var stay: Bool?
  var within: Milliseconds?
  var snoozeLengths: [Milliseconds]?
  package var pause: Pause?
  var lastDone: Instant?
  var chainedTimes: [Instant]?
  var tracker: TrackerLink?
  var onlyIfDone: ReminderID?
  var set: String?
  /// Whether the schedule counts from the reminder's creation. The flag keeps the definitions of similar reminders equal.
  var countsFromCreation: Bool?
  /// The start of the schedule's count if it is not the creation.
  var countsFrom: Instant?

  private static let usualCatchUp = CatchUp(suspend: .latest, downtime: .latest)
  private static let usualGrace = Milliseconds.hours(12)
  private static let usualSnoozeLengths = [Milliseconds.minutes(10), .hours(1)]

  package init(of reminder: Reminder) {
    channels = reminder.channels
    tags = reminder.tags.isEmpty ? nil : reminder.tags
    gap = reminder.gap
    fold = reminder.fold
    place = reminder.place
    urgency = reminder.urgency == .normal ? nil : reminder.urgency
    for text in Reminder.texts {
      if let value = reminder[keyPath: text.path] { texts = (texts ?? [:]).merging([text.name: value]) { $1 } }
    }
    catchUp = reminder.catchUp == Self.usualCatchUp ? nil : reminder.catchUp
    grace = reminder.grace == Self.usualGrace ? nil : reminder.grace
    jitter = reminder.jitter == .zero ? nil : reminder.jitter
    nag = reminder.nag
    quiet = reminder.quiet
    wake = reminder.wake ? true : nil
    stay = reminder.stay ? true : nil
    within = reminder.within
    snoozeLengths = reminder.snoozeLengths == Self.usualSnoozeLengths ? nil : reminder.snoozeLengths
    pause = reminder.pause == .none ? nil : reminder.pause
    lastDone = reminder.lastDone
    chainedTimes = reminder.chainedTimes
    tracker = reminder.tracker
    onlyIfDone = reminder.onlyIfDone
    set = reminder.set
    countsFromCreation = reminder.schedule.countsFrom == reminder.createdAt ? true : nil
    countsFrom = countsFromCreation == true ? nil : reminder.schedule.countsFrom
  }

  /// Returns the reminder, with the values of the other columns.
  package func reminder(
    id: ReminderID, owner: UInt32, title: String, body: String?, schedule: Schedule, timezone: ZoneChoice,
    skipNext: Int, createdAt: Instant, generation: Int64
  ) -> Reminder {
    var schedule = schedule
    schedule.countsFrom = countsFromCreation == true ? createdAt : countsFrom
    var reminder = Reminder(
      id: id, owner: owner, title: title, body: body, schedule: schedule, timezone: timezone, gap: gap, fold: fold,
      place: place, channels: channels, tags: tags ?? [], urgency: urgency ?? .normal,
      catchUp: catchUp ?? Self.usualCatchUp, grace: grace ?? Self.usualGrace, jitter: jitter ?? .zero, nag: nag,
      quiet: quiet, wake: wake ?? false, stay: stay ?? false, within: within,
      snoozeLengths: snoozeLengths ?? Self.usualSnoozeLengths, pause: pause ?? .none, skipNext: skipNext,
      tracker: tracker, onlyIfDone: onlyIfDone, lastDone: lastDone, chainedTimes: chainedTimes, set: set,
      createdAt: createdAt, generation: generation)
    if let texts { for text in Reminder.texts { reminder[keyPath: text.path] = texts[text.name] } }
    return reminder
  }
}

/// A DefinitionReader converts definitions and schedules to and from text, and caches decoded ones.
///
/// Reminders that fire together mostly share both, and decoding JSON costs more than the rest of a row. The reader is
/// used on one queue, like its connection.
package final class DefinitionReader {
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()
  private var definitions: [String: Definition] = [:]
  private var schedules: [String: Schedule] = [:]
  /// Each group of outcomes reads its endpoints.
  private var settings: [String: EndpointSettings] = [:]
  private var trackers: [String: TrackerDefinition] = [:]
  private var packs: [PackFingerprint: Pack] = [:]
  private var goals: [String: Goal] = [:]
  private var packReminders: [String: PackReminders] = [:]

  /// The maximum number of cached values of each kind. A full cache is emptied.
  private static let limit = 512

  package init() {
    // Equal definitions must have equal texts.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  package func text(_ value: some Encodable) throws -> String {
    String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  package func settings(_ text: String) throws -> EndpointSettings {
    if let known = settings[text] { return known }
    let read = try decoder.decode(EndpointSettings.self, from: Data(text.utf8))
    if settings.count >= Self.limit { settings.removeAll(keepingCapacity: true) }
    settings[text] = read
    return read
  }

  package func definition(_ text: String) throws -> Definition {
    if let known = definitions[text] { return known }
    let definition = try decoder.decode(Definition.self, from: Data(text.utf8))
    if definitions.count >= Self.limit { definitions.removeAll(keepingCapacity: true) }
    definitions[text] = definition
    return definition
  }

  package func schedule(_ canonical: String) throws -> Schedule {
    if let known = schedules[canonical] { return known }
    let schedule = try Schedule(canonical: canonical)
    if schedules.count >= Self.limit { schedules.removeAll(keepingCapacity: true) }
    schedules[canonical] = schedule
    return schedule
  }

  package func tracker(_ text: String) throws -> TrackerDefinition {
    if let known = trackers[text] { return known }
    let definition = try decoder.decode(TrackerDefinition.self, from: Data(text.utf8))
    if trackers.count >= Self.limit { trackers.removeAll(keepingCapacity: true) }
    trackers[text] = definition
    return definition
  }

  package func knows(_ print: PackFingerprint) -> Bool { packs[print] != nil }

  /// Returns a pack. The text is decoded only if the pack is not cached.
  package func pack(_ id: PackID, _ print: PackFingerprint, _ text: String) throws -> Pack {
    if let known = packs[print] { return known }
    let pack = try decoder.decode(PackDefinition.self, from: Data(text.utf8)).pack(id: id)
    // A pack may take hundreds of kilobytes.
    if packs.count >= 32 { packs.removeAll(keepingCapacity: true) }
    packs[print] = pack
    return pack
  }

  package func packReminders(_ text: String) throws -> PackReminders {
    if let known = packReminders[text] { return known }
    let read = try decoder.decode(PackReminders.self, from: Data(text.utf8))
    if packReminders.count >= 32 { packReminders.removeAll(keepingCapacity: true) }
    packReminders[text] = read
    return read
  }

  package func summary(_ text: String) throws -> TrackerSummary {
    try decoder.decode(TrackerSummary.self, from: Data(text.utf8))
  }

  // Failures to decode these values are not errors, because they are minor parts of their rows.

  /// Returns a cached goal, because thousands of days share the same one.
  package func goal(_ text: String) -> Goal? {
    if let known = goals[text] { return known }
    guard let goal = try? decoder.decode(GoalForm.self, from: Data(text.utf8)).goal() else { return nil }
    if goals.count >= Self.limit { goals.removeAll(keepingCapacity: true) }
    goals[text] = goal
    return goal
  }

  package func quantities(_ text: String) -> [String: Quantity] {
    (try? decoder.decode([String: Quantity].self, from: Data(text.utf8))) ?? [:]
  }

  package func attributes(_ text: String) -> [String: String] {
    (try? decoder.decode([String: String].self, from: Data(text.utf8))) ?? [:]
  }
}

/// Identifies one definition of one pack.
package struct PackFingerprint: Hashable {
  var key: Int64
  var print: Int64

  package init(key: Int64, print: Int64) {
    self.key = key
    self.print = print
  }
}
