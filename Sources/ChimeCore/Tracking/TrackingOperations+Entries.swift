public import ChimeSchedule
public import ChimeTracking

extension TrackingOperations {
  /// Logs an entry.
  ///
  /// - Returns: an outcome whose `entry` has its id.
  public func log(
    _ draft: EntryDraft, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    let tracker = try tracker(draft.tracker)
    let entry = try entry(draft, of: tracker)
    if !draft.isForced { try checkIsLikely(entry, of: tracker) }
    var outcome = TrackingOutcome()
    outcome.change = try begin(.logged, tracker, tracker.subject(of: entry))
    let logged = try transaction.insert(entry)
    outcome.entry = logged
    try settle(try counting(tracker, [logged.day]), .entry(removed: nil, added: logged), &outcome, using: &generator)
    return outcome
  }

  /// Changes an entry; `change` may set all but its id, tracker and owner. The day follows from the time.
  public func edit(
    _ id: EntryID, using generator: inout some RandomNumberGenerator, _ change: (inout Entry) throws -> Void
  ) throws -> TrackingOutcome {
    try transaction.lockTrackers()
    guard let before = try transaction.entry(id, owner: owner) else { throw TrackingRefused.noEntry(id) }
    let tracker = try tracker(before.tracker)
    var wanted = before
    try change(&wanted)
    var after = before
    (after.at, after.quantity, after.fields) = (wanted.at, wanted.quantity, wanted.fields)
    (after.item, after.note, after.photo) = (wanted.item, wanted.note, wanted.photo)
    // An entry with an unchanged time keeps its day, even if the machine has changed zones since.
    if after.at != before.at { (after.day, after.minute) = tracker.day(at: after.at, in: zone) }
    try check(after, of: tracker)
    var outcome = TrackingOutcome()
    outcome.entry = after
    guard after != before else {
      outcome.tracker = tracker
      return outcome
    }
    outcome.change = try begin(.edited, tracker, tracker.subject(of: before))
    try transaction.update(after)
    try settle(try counting(tracker, [after.day]), .entry(removed: before, added: after), &outcome, using: &generator)
    return outcome
  }

  public func remove(
    _ id: EntryID, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    try transaction.lockTrackers()
    guard let entry = try transaction.entry(id, owner: owner) else { throw TrackingRefused.noEntry(id) }
    let tracker = try tracker(entry.tracker)
    var outcome = TrackingOutcome()
    outcome.change = try begin(.removed, tracker, tracker.subject(of: entry))
    try transaction.removeEntry(id, owner: owner)
    outcome.entry = entry
    outcome.removed = 1
    try settle(tracker, .entry(removed: entry, added: nil), &outcome, using: &generator)
    return outcome
  }

  /// Removes all entries of a tracker, or those of some days; does nothing if there are none.
  public func removeEntries(
    of id: TrackerID, in days: ClosedRange<CivilDate>? = nil, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    let tracker = try tracker(id)
    var outcome = TrackingOutcome()
    outcome.tracker = tracker
    let count = try transaction.entryCount(EntryFilter(owner: owner, tracker: id, days: days))
    guard count > 0 else { return outcome }
    outcome.change = try begin(.removedAll, tracker, String(count))
    let changed = Set(try transaction.entryDays(of: key(id), in: days))
    outcome.removed = try transaction.removeEntries(of: key(id), in: days)
    try settle(tracker, .days(changed), &outcome, using: &generator)
    return outcome
  }

  /// Returns the tracker adjusted to entries on these days: it starts no later than the first, and none of them is skipped.
  func counting(_ tracker: Tracker, _ days: Set<CivilDate>) throws -> Tracker {
    var counting = tracker
    if let first = days.min(), first < tracker.startedOn { counting.startedOn = first }
    counting.skips.removeAll { days.contains($0) }
    guard counting != tracker else { return tracker }
    counting.generation += 1
    try transaction.put(counting)
    return counting
  }

  /// Returns the draft as an entry.
  private func entry(_ draft: EntryDraft, of tracker: Tracker) throws -> Entry {
    let at = draft.at ?? now
    let (day, minute) = tracker.day(at: at, in: zone)
    let entry = Entry(
      id: EntryID(rawValue: 0), tracker: tracker.id, owner: owner, at: at, day: day, minute: minute,
      quantity: draft.quantity ?? (tracker.kind == .amount ? tracker.usual : nil), fields: draft.fields,
      item: draft.item, note: draft.note, photo: draft.photo)
    try check(entry, of: tracker)
    return entry
  }

  /// How far an entry may lie in the future, because clients have other clocks.
  static let tolerance = Milliseconds.minutes(1)

  private func check(_ entry: Entry, of tracker: Tracker) throws {
    guard entry.at <= now + Self.tolerance else {
      throw TrackingRefused.invalid(field: "at", "it is in the future: give the present or a past time")
    }
    switch (tracker.kind, entry.quantity) {
    case (.check, .some):
      throw TrackingRefused.invalid(field: "amount", "\(tracker.id) is a check: leave the amount out")
    case (.amount, nil):
      throw TrackingRefused.invalid(field: "amount", "give an amount: \(tracker.id) has no usual amount")
    case (.measure, nil):
      throw TrackingRefused.invalid(
        field: "amount",
        "give the measured value, in \(tracker.unit?.symbol ?? "its unit")")
    case (.amount, .some(let quantity)) where quantity <= .zero:
      throw TrackingRefused.invalid(field: "amount", "an amount must be more than zero")
    case (_, .some(let quantity)) where tracker.bounds?.contains(quantity) == false:
      throw Self.outOfBounds(tracker.bounds, tracker.unit, tracker.decimals, field: "amount")
    case (_, .some(let quantity)):
      let limit = Quantity.limit(of: tracker.unit?.dimension ?? .count)
      guard quantity.grains.magnitude <= limit.magnitude else {
        throw TrackingRefused.invalid(field: "amount", "it is larger than Chime can record")
      }
    case (.check, nil): break
    }
    for (name, value) in entry.fields {
      guard let unit = tracker.fields[name] else {
        let known = tracker.fields.keys.sorted().joined(separator: ", ")
        throw TrackingRefused.invalid(
          field: name, known.isEmpty ? "\(tracker.id) has no further measures" : "\(tracker.id) has: \(known)")
      }
      guard value.grains.magnitude <= Quantity.limit(of: unit.dimension).magnitude else {
        throw TrackingRefused.invalid(field: name, "it is larger than Chime can record")
      }
      if let bounds = tracker.fieldBounds?[name], !bounds.contains(value) {
        throw Self.outOfBounds(bounds, unit, 0, field: name)
      }
    }
    if let note = entry.note, note.count > Entry.longestNote {
      throw TrackingRefused.invalid(
        field: "note", "a note has at most \(Entry.longestNote) characters; this one has \(note.count)")
    }
    guard let item = entry.item else { return }
    guard tracker.hasItems else {
      throw TrackingRefused.invalid(field: "item", "\(tracker.id) has no items")
    }
    guard try transaction.item(item, of: tracker.key) != nil else { throw TrackingRefused.noItem(item, tracker.id) }
  }

  private static func outOfBounds(_ bounds: Bounds?, _ unit: Unit?, _ decimals: Int, field: String) -> TrackingRefused {
    guard let bounds, let unit else { return .invalid(field: field, "it is larger than Chime can record") }
    let (least, most) = (
      bounds.least.plain(in: unit, decimals: decimals), bounds.most.plain(in: unit, decimals: decimals)
    )
    return .invalid(field: field, "give a value from \(least) to \(most) \(unit)")
  }

  /// Throws for a value far from the nearest one in time, which may be a typing error (8.24 for 82.4).
  private func checkIsLikely(_ entry: Entry, of tracker: Tracker) throws {
    guard tracker.kind == .measure, let bounds = tracker.bounds, let value = entry.quantity, let unit = tracker.unit,
      let near = try nearestValue(to: entry.day, of: tracker),
      bounds.isFar(value, from: near.value, days: Int(entry.day.dayNumber) - Int(near.day.dayNumber))
    else { return }
    let (was, now) = (
      near.value.plain(in: unit, decimals: tracker.decimals), value.plain(in: unit, decimals: tracker.decimals)
    )
    throw TrackingRefused.unlikely(
      field: "amount", "\(now) \(unit) is far from the \(was) \(unit) of \(near.day)")
  }

  private func nearestValue(to day: CivilDate, of tracker: Tracker) throws -> (day: CivilDate, value: Quantity)? {
    guard let summary = try transaction.summary(of: tracker.key), let last = summary.lastDay else { return nil }
    if last <= day { return summary.lastValue.map { (last, $0) } }
    // Far enough for the changes of a season.
    let first = day.adding(days: -90) ?? .earliest
    let totals = try transaction.dayTotals(of: tracker.key, in: first...(day.adding(days: 90) ?? .latest))
    func distance(_ total: DayTotal) -> Int { abs(Int(total.day.dayNumber) - Int(day.dayNumber)) }
    return totals.min { distance($0) < distance($1) }.flatMap { total in total.last.map { (total.day, $0) } }
  }
}
