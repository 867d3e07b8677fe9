public import ChimeSchedule

/// When what schedules are read against became what: the machine's zone, the database of zones, the place, the calendars.
///
/// Past times are computed with the zone that was the machine's then. Of the others only the present contents are known.
public struct ScheduleContextLog: Hashable, Sendable {
  /// A thing that schedules depend on, by the first word of its line in a fingerprint.
  public enum Thing: String, Sendable { case local, database, place, calendars }

  /// In the order in which they were written, which is not always that of the clock.
  private var entries: [Entry] = []

  private struct Entry: Hashable, Sendable {
    var at: Instant
    /// When what it changed to was first seen, by the time of that moment: until `at`, some due times were not computed with it.
    var since: Instant
    /// The latest moment of which the store knew by then, when the clock had been set back.
    var seen: Instant
    var values: [Thing: Substring]

    var localZone: String? { values[.local]?.split(separator: " ").first.map(String.init) }
  }

  /// The prefix of the notes that it is kept in. The rest of a name is a number that grows; the value has a line `at`, in
  /// milliseconds, a line `since` where it took some time to compute due times anew, a line `seen` where the clock had been set
  /// back, and those of the fingerprint.
  public static let notePrefix = "surroundings@"

  public init() {}

  /// - Parameter notes: what the store has under `notePrefix`.
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

  /// Forgets what was so before `end` alone.
  public static func forget(before end: Instant, in transaction: any StoreTransaction) throws {
    let notes = try transaction.notes(named: notePrefix).sorted { number($0.name) < number($1.name) }
    var (past, seen): ([String], Instant) = ([], .earliest)
    for note in notes {
      guard let entry = ScheduleContextLog([note]).entries.last else { continue }
      seen = max(seen, entry.seen)
      // Something of what came before may have been in force until a minute later.
      guard seen + Uptime.tolerance <= end else { break }
      past.append(note.name)
    }
    // What was in force at that time stays.
    for name in past.dropLast() { try transaction.setNote(name, nil) }
  }

  /// Keeps a fingerprint, unless it is the last one that was kept and the clock has not been set back since.
  ///
  /// - Parameters:
  ///   - since: when what it says was first seen.
  ///   - again: whether it is kept also where it is the last one that was kept: something else was in force in between.
  public static func keep(
    _ fingerprint: String, since: Instant, again: Bool = false, in transaction: any StoreTransaction, now: Instant
  ) throws {
    let latest = try transaction.notes(named: notePrefix).max { number($0.name) < number($1.name) }
    let former = ScheduleContextLog(latest.map { [$0] } ?? []).entries.last
    // The clock was set back before this was seen, and may be ahead again.
    let at = former.map { $0.at <= now && since < $0.at } == true ? since : now
    if !again, let latest, let former, former.at <= at, latest.value.hasSuffix("\n" + fingerprint) { return }
    let seen = max(try Recompute.latestSeen(in: transaction) ?? now, former?.at ?? now)
    var lines = ["at \(at.milliseconds)"]
    if since + .seconds(1) < at { lines.append("since \(since.milliseconds)") }
    if seen > at + .seconds(1) { lines.append("seen \(seen.milliseconds)") }
    try transaction.setNote(
      "\(notePrefix)\((latest.map { number($0.name) } ?? 0) + 1)", (lines + [fingerprint]).joined(separator: "\n"))
  }

  /// The machine's zone, by name, with the times from which on all due times were computed in it.
  public var localZones: [(from: Instant, name: String)] {
    var result: [(from: Instant, name: String)] = []
    for entry in entries {
      guard let name = entry.localZone else { continue }
      // The clock was set back: what was to be in force later is not.
      result.removeAll { $0.from >= entry.at }
      if result.last?.name != name { result.append((entry.at, name)) }
    }
    return result
  }

  /// When the machine's zone was not settled: it became another, or another one for a while.
  public var zoneChanges: [ClosedRange<Instant>] {
    zip(entries, entries.dropFirst()).filter { before, after in
      before.localZone != after.localZone || before.values == after.values
    }.map { min($1.since, $1.at)...$1.at }
  }

  /// When one of these things last became another; nil: it has not.
  public func lastChange(of things: Set<Thing>) -> Instant? {
    zip(entries, entries.dropFirst()).filter { before, after in
      things.contains { before.values[$0] != after.values[$0] }
    }.map(\.1.seen).max()
  }

  /// Up to when the clock had gone when it was set back, where the machine has been in more than one zone: which one it was
  /// in at times that came twice is not known. Nil: nothing of the kind.
  public var lastSetBack: Instant? {
    Set(entries.compactMap(\.localZone)).count > 1 ? entries.filter { $0.seen > $0.at }.map(\.seen).max() : nil
  }
}
