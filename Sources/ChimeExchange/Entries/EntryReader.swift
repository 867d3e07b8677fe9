import ChimeSchedule
import ChimeTracking

/// An EntryReader makes entries from rows of any file format.
public struct EntryReader {
  private let settings: EntryImportSettings
  private var trackers: [TrackerID: Tracker] = [:]
  private var items: [TrackerID: [String: ItemID]] = [:]
  public private(set) var plan = EntryPlan()

  public init(_ settings: EntryImportSettings) {
    self.settings = settings
    for tracker in settings.trackers { trackers[tracker.id] = tracker }
    for (tracker, known) in settings.items {
      for item in known {
        items[tracker, default: [:]][item.title.lowercased()] = item.id
        items[tracker]?[item.id.rawValue] = item.id
      }
    }
  }

  /// Reads one row: adds an entry to the plan, or a fault.
  public mutating func take(_ row: EntryRow) {
    do throws(ExchangeError) {
      let entry = try entry(row)
      try need(
        plan.entries.count < EntryPlan.mostEntries, line: row.line,
        "the file has more than \(EntryPlan.mostEntries) entries")
      plan.entries.append(entry)
    } catch {
      plan.fault(error.line, error.message)
    }
  }

  private mutating func entry(_ row: EntryRow) throws(ExchangeError) -> Entry {
    let tracker = try tracker(row)
    let (at, day, minute) = try time(row, tracker)
    let value = try value(row, tracker)
    var fields: [String: Quantity] = [:]
    for (name, text) in row.fields.sorted(by: { $0.key < $1.key }) where !text.isEmpty {
      guard let unit = tracker.fields[name] else {
        throw ExchangeError(
          line: row.line,
          "\(tracker.id) has no field \(quoted(name)); it has \(list(tracker.fields.keys.sorted()))")
      }
      fields[name] = try quantity(text, unit, name, row.line)
    }
    let note = try note(row)
    let item = try item(row, tracker)
    return Entry(
      id: EntryID(rawValue: 0), tracker: tracker.id, owner: settings.owner, at: at, day: day, minute: minute,
      quantity: value, fields: fields, item: item, note: note)
  }

  private func tracker(_ row: EntryRow) throws(ExchangeError) -> Tracker {
    if let into = settings.into {
      guard let tracker = trackers[into] else { throw ExchangeError(line: row.line, "there is no tracker \(into)") }
      return tracker
    }
    guard let name = row.tracker, !name.isEmpty else {
      throw ExchangeError(line: row.line, "expected the name of a tracker in the column tracker")
    }
    if let tracker = trackers[TrackerID(rawValue: name)] { return tracker }
    throw ExchangeError(
      line: row.line,
      "there is no tracker \(quoted(name)), only \(list(trackers.keys.map(\.rawValue).sorted())); create it first")
  }

  private func time(
    _ row: EntryRow, _ tracker: Tracker
  ) throws(ExchangeError) -> (at: Instant, day: CivilDate, minute: Int) {
    var named: CivilDate?
    if let text = row.day, !text.isEmpty {
      guard let day = CivilDate(text) else {
        throw ExchangeError(line: row.line, "expected a day such as 2026-03-01, not \(quoted(text))")
      }
      named = day
    }
    guard let text = row.at, !text.isEmpty else {
      guard let named else {
        throw ExchangeError(line: row.line, "expected a time in the column at, or a day in the column day")
      }
      return try noon(of: named, tracker, row.line)
    }
    let at: Instant
    do {
      at = try RFC3339.parse(text)
    } catch {
      throw ExchangeError(line: row.line, "expected a time such as 2026-03-01T07:10:00+01:00, not \(quoted(text))")
    }
    try need(at <= settings.now, line: row.line, "\(quoted(text)) is in the future")
    // Use the wall clock as written, whatever its offset. A time in UTC, as programs write it, says nothing of the wall
    // clock, so the import's zone applies.
    let local = text.last == "Z" || text.last == "z" ? settings.zone.civil(at: at) : nil
    guard let date = local?.date ?? CivilDate(String(text.prefix(10))),
      let time = local?.time ?? CivilTime(String(text.dropFirst(11).prefix(5)))
    else {
      throw ExchangeError(line: row.line, "\(quoted(text)) lies outside the years 1970–9999")
    }
    let minute = Int(time.secondOfDay) / 60
    let day = minute < tracker.dayStartsAt ? date.adding(days: -1) ?? date : date
    guard let named else { return (at, day, minute) }
    // The day may have begun at another hour at that time.
    let isWritten = local != nil && text.hasPrefix(named.description)
    try need(
      named == date || named == date.adding(days: -1) || isWritten, line: row.line,
      "\(quoted(text)) is not on \(named), nor in the night after it")
    return (at, named, minute)
  }

  private func noon(of day: CivilDate, _ tracker: Tracker, _ line: Int) throws(ExchangeError) -> (
    Instant, CivilDate, Int
  ) {
    // If a day begins in the afternoon, its noon is on the next date.
    let isNext = tracker.dayStartsAt > 720
    let date = isNext ? day.adding(days: 1) ?? day : day
    let at: Instant
    switch settings.zone.resolve(CivilDateTime(date: date, time: .noon)) {
    case .unique(let instant): at = instant
    case .gap(_, _, let transition): at = transition
    case .fold(let first, _): at = first
    }
    // Today's noon may be in the future.
    let begun = min(at, settings.now)
    try need(tracker.day(at: begun, in: settings.zone).day >= day || begun == at, line: line, "\(day) is in the future")
    return (begun, day, tracker.day(at: begun, in: settings.zone).minute)
  }

  private func value(_ row: EntryRow, _ tracker: Tracker) throws(ExchangeError) -> Quantity? {
    let text = row.value ?? ""
    guard tracker.kind != .check, let own = tracker.unit else {
      try need(
        text.isEmpty, line: row.line, "\(tracker.id) is a check, which has no value, but the file has \(quoted(text))")
      return nil
    }
    try need(!text.isEmpty, line: row.line, "expected a number in the column value")
    var unit = own
    if let symbol = row.unit, !symbol.isEmpty {
      guard let named = Unit(symbol), named.converts(to: own) else {
        throw ExchangeError(line: row.line, "expected a unit that converts to \(own), not \(quoted(symbol))")
      }
      unit = named
    }
    let quantity = try quantity(text, unit, "value", row.line)
    try need(
      tracker.kind == .measure || quantity > .zero, line: row.line,
      "expected an amount greater than 0, not \(quoted(text))")
    return quantity
  }

  private func quantity(_ text: String, _ unit: Unit, _ column: String, _ line: Int) throws(ExchangeError) -> Quantity {
    guard let number = NumberText.number(text) else {
      throw ExchangeError(
        line: line, "expected a number such as 82.4 in the column \(column), not \(quoted(text))")
    }
    guard let quantity = Quantity(number, unit) else {
      throw ExchangeError(line: line, "\(quoted(text)) \(unit) is larger than Chime can record")
    }
    return quantity
  }

  private func note(_ row: EntryRow) throws(ExchangeError) -> String? {
    guard let text = row.note, !text.isEmpty else { return nil }
    try need(!text.utf8.contains(0), line: row.line, "the note has a NUL")
    // Accept what logging accepts: several lines, and no other control characters.
    let note = DraftText.lines(text)
    guard !note.isEmpty else { return nil }
    try need(
      note.count <= Entry.longestNote && note.utf8.count <= Entry.longestNote * 16, line: row.line,
      "a note has at most \(Entry.longestNote) characters; this one has \(note.count)")
    return note
  }

  private mutating func item(_ row: EntryRow, _ tracker: Tracker) throws(ExchangeError) -> ItemID? {
    guard let name = row.item, !name.isEmpty else { return nil }
    try need(tracker.hasItems, line: row.line, "\(tracker.id) has no items, but the file has \(quoted(name))")
    if let known = items[tracker.id]?[name] ?? items[tracker.id]?[name.lowercased()] { return known }
    try need(
      name.count <= 200 && !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }),
      line: row.line, "expected the name of an item, not \(quoted(name))")
    var taken = Set(items[tracker.id]?.values.map(\.self) ?? [])
    let made = slug(of: name, atMost: 40)
    let stem = made.isEmpty ? "item" : made
    var (id, number) = (ItemID(rawValue: stem), 1)
    while taken.contains(id) {
      number += 1
      id = ItemID(rawValue: "\(stem)-\(number)")
    }
    taken.insert(id)
    items[tracker.id, default: [:]][name.lowercased()] = id
    items[tracker.id]?[id.rawValue] = id
    plan.items.append(
      Item(id: id, tracker: tracker.id, owner: settings.owner, title: name, createdAt: settings.now))
    return id
  }

  private func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.prefix(8).joined(separator: ", ") + (names.count > 8 ? " …" : "")
  }
}

/// Returns a foreign text as errors quote it: on one line and shortened.
func quoted(_ text: String) -> String { "“\(DraftText.line(text, maximum: 60) ?? "")”" }
