public import ChimeSchedule

/// A ScheduleContextLog records how the context of schedules changed: local zone, zone database, location, calendars.
///
/// Past times are recomputed in the local zone of their moment. For the others only the current contents are known.
public struct ScheduleContextLog: Hashable, Sendable {
  /// A Thing is a part of the context, named by the first word of its line in a fingerprint.
  public enum Thing: String, Sendable { case local, database, place, calendars }

  /// The entries in the order of writing, which may differ from that of the clock.
  private var entries: [Entry] = []

  private struct Entry: Hashable, Sendable {
    var at: Instant
    /// When the change was first seen; between then and `at`, some due times were not yet computed with it.
    var since: Instant
    /// The latest moment that the store knew at that time, if the clock had been set back.
    var seen: Instant
    var values: [Thing: Substring]

    var localZone: String? { values[.local]?.split(separator: " ").first.map(String.init) }
  }

  /// The prefix of its notes, followed by a growing number.
  ///
  /// The value has the lines of the fingerprint after a line `at` (in milliseconds), a line `since` if the
  /// recomputation took some time, and a line `seen` if the clock had been set back.
  public static let notePrefix = "context@"

  public init() {}

  /// - Parameter notes: the store's notes under `notePrefix`.
  public init(_ notes: [(name: String, value: String)]) {
    for (_, value) in notes.sorted(by: { Self.number($0.name) < Self.number($1.name) }) {
      var (at, since, seen): (Instant?, Instant?, Instant?)
      var values: [Thing: Substring] = [:]
      for line in value.split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { continue }
        switch words[0] {
        case "at": at = Int64(words[1]).map(Instant.init(milliseconds:))
        case "since": since = Int64(words[1]).map(Instant.init(milliseconds:))
        case "seen": seen = Int64(words[1]).map(Instant.init(milliseconds:))
        default: if let thing = Thing(rawValue: String(words[0])) { values[thing] = words[1] }
        }
      }
      if let at { entries.append(Entry(at: at, since: since ?? at, seen: seen ?? at, values: values)) }
    }
  }

  private static func number(_ name: String) -> Int { Int(name.dropFirst(notePrefix.count)) ?? 0 }

  /// Deletes entries that were in force only before `end`.
  public static func forget(before end: Instant, in transaction: any StoreTransaction) throws {
    let notes = try transaction.notes(named: notePrefix).sorted { number($0.name) < number($1.name) }
    var (past, seen): ([String], Instant) = ([], .earliest)
    for note in notes {
      guard let entry = ScheduleContextLog([note]).entries.last else { continue }
      seen = max(seen, entry.seen)
      // Parts of the entry before may have been in force up to a minute later.
      guard seen + Uptime.tolerance <= end else { break }
      past.append(note.name)
    }
    // The last of them was in force at `end` and stays.
    for name in past.dropLast() { try transaction.setNote(name, nil) }
  }

  /// Records a fingerprint, unless it equals the last one and the clock has not been set back since.
  ///
  /// - Parameters:
  ///   - since: when this state was first seen.
  ///   - again: whether to record it even if it equals the last one, because something else was in force in between.
  public static func keep(
    _ fingerprint: String, since: Instant, again: Bool = false, in transaction: any StoreTransaction, now: Instant
  ) throws {
    let latest = try transaction.notes(named: notePrefix).max { number($0.name) < number($1.name) }
    let former = ScheduleContextLog(latest.map { [$0] } ?? []).entries.last
    // The clock was set back before the change was seen, and may be ahead again.
    let at = former.map { $0.at <= now && since < $0.at } == true ? since : now
    if !again, let latest, let former, former.at <= at, latest.value.hasSuffix("\n" + fingerprint) { return }
    let seen = max(try Recompute.latestSeen(in: transaction) ?? now, former?.at ?? now)
    var lines = ["at \(at.milliseconds)"]
    if since + .seconds(1) < at { lines.append("since \(since.milliseconds)") }
    if seen > at + .seconds(1) { lines.append("seen \(seen.milliseconds)") }
    try transaction.setNote(
      "\(notePrefix)\((latest.map { number($0.name) } ?? 0) + 1)", (lines + [fingerprint]).joined(separator: "\n"))
  }

  /// The names of the machine's zones, each with the time from which on all due times were computed in it.
  public var localZones: [(from: Instant, name: String)] {
    var result: [(from: Instant, name: String)] = []
    for entry in entries {
      guard let name = entry.localZone else { continue }
      // The clock was set back: later entries are no longer in force.
      result.removeAll { $0.from >= entry.at }
      if result.last?.name != name { result.append((entry.at, name)) }
    }
    return result
  }

  /// The spans in which the machine's zone changed, for good or for a while.
  public var zoneChanges: [ClosedRange<Instant>] {
    zip(entries, entries.dropFirst()).filter { before, after in
      before.localZone != after.localZone || before.values == after.values
    }.map { min($1.since, $1.at)...$1.at }
  }

  /// Returns when one of these parts last changed; nil if none did.
  public func lastChange(of things: Set<Thing>) -> Instant? {
    zip(entries, entries.dropFirst()).filter { before, after in
      things.contains { before.values[$0] != after.values[$0] }
    }.map(\.1.seen).max()
  }

  /// The time that the clock had reached before it was set back, if the machine has been in more than one zone. It is
  /// unknown in which zone the repeated times were.
  public var lastSetBack: Instant? {
    Set(entries.compactMap(\.localZone)).count > 1 ? entries.filter { $0.seen > $0.at }.map(\.seen).max() : nil
  }
}
