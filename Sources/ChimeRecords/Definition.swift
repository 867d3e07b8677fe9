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
  private var definitions = Cache<String, Definition>()
  private var schedules = Cache<String, Schedule>()
  /// Each group of outcomes reads its endpoints.
  private var settings = Cache<String, EndpointSettings>()
  private var trackers = Cache<String, Tracker>()
  /// Thousands of days share the same goal.
  private var goals = Cache<String, Goal>()
  /// A pack may take hundreds of kilobytes.
  private var packs = Cache<PackFingerprint, Pack>(limit: 32)
  private var packReminders = Cache<String, PackReminders>(limit: 32)
  private var texts = Cache<Definition, String>()

  /// The values that were read last. A full cache is emptied.
  private struct Cache<Key: Hashable, Value> {
    var limit = 512
    private(set) var known: [Key: Value] = [:]

    mutating func value(_ key: Key, _ read: () throws -> Value) rethrows -> Value {
      if let value = known[key] { return value }
      let value = try read()
      if known.count >= limit { known.removeAll(keepingCapacity: true) }
      known[key] = value
      return value
    }
  }

  package init() {
    // Equal definitions must have equal texts.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  package func text(_ value: some Encodable) throws -> String {
    String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Reminders that are added together mostly share their definition, and encoding it costs more than the rest of a row.
  package func text(_ definition: Definition) throws -> String {
    try texts.value(definition) { String(decoding: try encoder.encode(definition), as: UTF8.self) }
  }

  package func settings(_ text: String) throws -> EndpointSettings { try settings.value(text) { try read(text) } }
  package func definition(_ text: String) throws -> Definition { try definitions.value(text) { try read(text) } }
  package func schedule(_ text: String) throws -> Schedule {
    try schedules.value(text) { try Schedule(canonical: text) }
  }
  package func tracker(_ text: String) throws -> Tracker { try trackers.value(text) { try read(text) } }
  package func packReminders(_ text: String) throws -> PackReminders {
    try packReminders.value(text) { try read(text) }
  }

  package func knows(_ print: PackFingerprint) -> Bool { packs.known[print] != nil }
  /// Returns a pack. The text is decoded only if the pack is not cached.
  package func pack(_ print: PackFingerprint, _ text: String) throws -> Pack {
    try packs.value(print) { try read(text) }
  }

  private func read<Value: Decodable>(_ text: String) throws -> Value {
    try decoder.decode(Value.self, from: Data(text.utf8))
  }

  package func summary(_ text: String) throws -> TrackerSummary { try read(text) }

  // Failures to decode these values are not errors, because they are minor parts of their rows.

  package func goal(_ text: String) -> Goal? { try? goals.value(text) { try read(text) } }
  package func quantities(_ text: String) -> [String: Quantity] { (try? read(text)) ?? [:] }
  package func attributes(_ text: String) -> [String: String] { (try? read(text)) ?? [:] }
}
