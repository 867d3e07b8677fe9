import ChimeControl
import ChimeCore
import ChimeExchange
import ChimeSchedule
import ChimeTracking
import FoundationEssentials
import Varlink

/// Logs, changes, removes and lists entries.
extension TrackersHandler {
  /// The most entries in one answer.
  private static let maxEntries = 5_000

  func handle(_ request: Tracking.Log) async throws -> Tracking.Log.Reply {
    let at = try TrackerFields.time(request.at)
    let note = try request.note.flatMap(TrackerFields.note)
    let photo = try photo(request.photo)
    return try await changeTracking(token: request.token) { [self] work, generator in
      let lookup = lookup(work.transaction)
      let tracker = try lookup.tracker(request.tracker)
      var draft = EntryDraft(tracker: tracker.id, at: at, note: note, photo: photo ?? nil)
      if let amount = request.amount {
        draft.quantity = try TrackerFields.quantity(amount, in: request.unit, of: tracker)
      } else if request.unit != nil {
        throw ControlFailure.invalidValue(field: "unit", "a unit needs an amount: give that too")
      }
      draft.isForced = request.force ?? false
      draft.fields = try TrackerFields.fields(request.fields ?? [:], of: tracker)
      draft.item = try request.item.map { try lookup.item($0, of: tracker).id }
      let outcome = try work.log(draft, using: &generator)
      return (Tracking.Log.Reply(change: try change(outcome, work.transaction)), outcome, nil)
    }
  }

  func handle(_ request: Tracking.EditEntry) async throws -> Tracking.EditEntry.Reply {
    let at = try TrackerFields.time(request.at)
    let note = try request.note.map(TrackerFields.note)
    let photo = try photo(request.photo)
    return try await changeTracking { [self] work, generator in
      let id = EntryID(rawValue: Int64(request.id))
      guard let known = try work.transaction.entry(id, owner: caller.owner),
        let tracker = try work.transaction.tracker(known.key)
      else { throw TrackingRefused.noEntry(id) }
      var wanted = known
      if let at { wanted.at = at }
      if let amount = request.amount {
        wanted.quantity = try TrackerFields.quantity(amount, in: request.unit, of: tracker)
      } else if request.unit != nil {
        throw ControlFailure.invalidValue(field: "unit", "a unit needs an amount: give that too")
      }
      if let fields = request.fields {
        wanted.fields.merge(try TrackerFields.fields(fields, of: tracker)) { _, new in new }
      }
      if let item = request.item {
        wanted.item = item.isEmpty ? nil : try lookup(work.transaction).item(item, of: tracker).id
      }
      if let note { wanted.note = note }
      if let photo { wanted.photo = photo }
      let outcome = try work.edit(id, using: &generator) { [wanted] in $0 = wanted }
      let reply = Tracking.EditEntry.Reply(change: try change(outcome, work.transaction))
      return (reply, outcome, "\(tracker.id): an entry of \(known.day) changed")
    }
  }

  func handle(_ request: Tracking.RemoveEntry) async throws -> Tracking.RemoveEntry.Reply {
    let range = try TrackerFields.range(request.range)
    return try await changeTracking { [self] work, generator in
      if let id = request.id {
        try need(
          request.tracker == nil && range == nil, "id", "give either an entry's id, or a tracker with an optional range"
        )
        let outcome = try work.remove(EntryID(rawValue: Int64(id)), using: &generator)
        return (Tracking.RemoveEntry.Reply(removed: outcome.removed), outcome, nil)
      }
      guard let name = request.tracker else {
        throw ControlFailure.invalidValue(field: "id", "give an entry's id, or the tracker whose entries to remove")
      }
      let tracker = try lookup(work.transaction).tracker(name)
      let outcome = try work.removeEntries(of: tracker.id, in: range, using: &generator)
      let reply = Tracking.RemoveEntry.Reply(removed: outcome.removed)
      return (reply, outcome, "\(tracker.id): \(outcome.removed) entries removed")
    }
  }

  func handle(_ request: Tracking.Entries) async throws -> Tracking.Entries.Reply {
    let range = try TrackerFields.range(request.range)
    let weekdays = try request.weekdays.map { try TrackerFields.weekdays($0, "weekdays") }
    let limit = request.limit ?? 100
    let offset = request.offset ?? 0
    try need((0...Self.maxEntries).contains(limit), "limit", "give a number from 0 to \(Self.maxEntries)")
    try need((0...1_000_000_000).contains(offset), "offset", "give the number of entries to skip")
    let text = try request.text.map { try ReminderFields.text($0, "text", maximum: 1_000) }
    return try await store.read { [self] transaction in
      let lookup = lookup(transaction)
      let tracker = try lookup.tracker(request.tracker)
      if request.item != nil, tracker == nil {
        throw ControlFailure.invalidValue(field: "item", "an item needs a tracker: give that too")
      }
      let filter = EntryFilter(
        owner: caller.owner, tracker: tracker?.id, days: range, weekdays: weekdays,
        item: try tracker.flatMap { tracker in try request.item.map { try lookup.item($0, of: tracker).id } },
        hasNote: request.withNotes ?? false, hasMilestone: request.withMilestones ?? false, text: text)
      let found = limit == 0 ? [] : try transaction.entries(filter, page: Page(limit: limit), offset: offset)
      let total = try transaction.entryCount(filter)
      return Tracking.Entries.Reply(entries: fitting(try wired(found, transaction)), total: total)
    }
  }

  /// Returns entries as they are sent. Those of measures have the average and the rate of their day.
  private func wired(_ entries: [Entry], _ transaction: any StoreTransaction) throws -> [Tracking.Entry] {
    var trackers: [TrackerID: Tracker] = [:]
    var spans: [TrackerID: ClosedRange<CivilDate>] = [:]
    for entry in entries {
      if trackers[entry.tracker] == nil { trackers[entry.tracker] = try transaction.tracker(entry.key) }
      let span = spans[entry.tracker] ?? entry.day...entry.day
      spans[entry.tracker] = min(span.lowerBound, entry.day)...max(span.upperBound, entry.day)
    }
    var averages: [TrackerID: [String: Double]] = [:]
    var rates: [TrackerID: [String: Double]] = [:]
    for (id, span) in spans {
      guard let tracker = trackers[id], tracker.kind == .measure else { continue }
      let totals = try transaction.dayTotals(of: tracker.key, in: Statistics.reads(span))
      let statistics = Statistics(tracker, in: span, today: today(of: tracker), totals: totals)
      averages[id] = Self.byDay(statistics.averages)
      rates[id] = Self.byDay(statistics.rates)
    }
    let wire = self.wire
    return entries.compactMap { entry in
      guard let tracker = trackers[entry.tracker] else { return nil }
      var wired = wire.entry(entry, of: tracker)
      wired.average = averages[entry.tracker]?[wired.day]
      wired.rate = rates[entry.tracker]?[wired.day]
      return wired
    }
  }

  private static func byDay(_ points: [Statistics.Point]) -> [String: Double] {
    Dictionary(points.map { ($0.day.description, $0.value) }) { _, last in last }
  }

  /// Returns the effects of a change.
  private func change(_ outcome: TrackingOutcome, _ transaction: any StoreTransaction) throws -> Tracking.Change {
    let wire = self.wire
    var change = Tracking.Change(
      goalMet: outcome.goalMet, limit: outcome.limit.map(wire.limit),
      stock: outcome.stock.map { wire.stock($0.state) }, unlocked: [], milestones: [])
    if let tracker = outcome.tracker {
      change.entry = outcome.entry.map { wire.entry($0, of: tracker) }
      let summary = try transaction.summary(of: tracker.key)
      // An edit that changes nothing has no progress.
      let progress =
        try outcome.progress
        ?? tracking(transaction).progress(
          of: tracker, on: outcome.entry?.day ?? today(of: tracker), summary ?? TrackerSummary())
      change.progress = wire.progress(progress, of: tracker, lastAt: summary?.lastAt)
      change.progress?.stock = try tracking(transaction).stockLevel(of: tracker).map { wire.stock($0, of: tracker) }
      change.milestones = outcome.milestones.map { wire.milestone($0, unit: tracker.unit) }
    }
    change.unlocked = try unlocked(outcome, transaction)
    if let level = outcome.levels.last, let pack = try transaction.pack(level.pack, owner: caller.owner)?.pack {
      change.levelUp = wire.level(of: pack, experience: level.experience)
    }
    return change
  }
}

/// Imports and exports entries.
extension TrackersHandler {
  /// The longest file to import, in bytes.
  private static let maxImportBytes = 32 << 20

  /// The entries of one transaction, which then takes some ten milliseconds.
  private static let entriesOfPart = 1_000

  func export(_ request: Tracking.Export) async throws -> any ReplyParts {
    let range = try TrackerFields.range(request.range)
    let file = try ScratchFile(loop.uploads)
    try await store.readApart { [self] transaction in
      let all = try transaction.trackers(owner: caller.owner)
      let trackers = try lookup(transaction).tracker(request.tracker).map { [$0] } ?? all
      func put(_ text: String) throws {
        try life.goOn()
        try file.append(Array(text.utf8)[...])
      }
      let encoder = BackupFormat.encoder()
      var isFirst = true
      try put(request.format == .csv ? EntryTable.header(of: trackers) : "{\"entries\":[")
      for tracker in trackers {
        let filter = EntryFilter(owner: caller.owner, tracker: tracker.id, days: range)
        try BackupRecords.oldestFirst(filter, transaction) { entry in
          switch request.format {
          case .csv: try put(EntryTable.line(entry, of: tracker, among: trackers))
          case .json:
            let row = EntryObject(EntryRow(entry, of: tracker))
            try put((isFirst ? "\n" : ",\n") + String(decoding: encoder.encode(row), as: UTF8.self))
          }
          isFirst = false
        }
      }
      if request.format == .json { try put("\n]}\n") }
      try file.flush()
    }
    return TextParts(file, partBytes: partBytes)
  }

  func handle(_ request: Tracking.Import) async throws -> Tracking.Import.Reply {
    let path = try loop.uploads.path(of: request.upload, of: caller.owner)
    let bytes: [UInt8]
    do {
      bytes = try SystemFiles.read(path, atMost: Self.maxImportBytes)
    } catch {
      throw ControlFailure.limitExceeded("a file of entries has at most \(Self.maxImportBytes >> 20) MiB")
    }
    let settings = try await store.read { [self] transaction in
      let trackers = try transaction.trackers(owner: caller.owner)
      let items = try trackers.filter(\.hasItems).map { ($0.id, try transaction.items(of: $0.key)) }
      return EntryImportSettings(
        owner: caller.owner, now: now, zone: context.zones.local, trackers: trackers,
        items: Dictionary(uniqueKeysWithValues: items), into: try lookup(transaction).tracker(request.tracker)?.id)
    }
    var plan = try plan(bytes, request.format, settings)
    if let fault = plan.faults.first {
      let others = plan.faults.count - 1
      // The reader stops counting there.
      let more =
        plan.faults.count < EntryPlan.mostFaults
        ? " (and \(others) more lines are invalid)" : " (and at least \(others) more lines are invalid)"
      throw ControlFailure.invalidFile(line: fault.line ?? 0, fault.message + (others > 0 ? more : ""))
    }
    plan = try await leavingOutKnown(plan)
    plan.noteBeginnings(of: settings.trackers)
    if request.dryRun != true {
      try await add(plan)
      loop.uploads.remove(request.upload, of: caller.owner)
    }
    return answer(plan)
  }

  private func plan(
    _ bytes: [UInt8], _ format: Tracking.Import.Format, _ settings: EntryImportSettings
  ) throws -> EntryPlan {
    switch format {
    case .csv: return try EntryTable.read(bytes, settings)
    case .loop:
      // An upload has no name. Of the files of Loop, only the list of habits begins with this word.
      let name = bytes.starts(with: "Position,".utf8) ? "Habits.csv" : "Checkmarks.csv"
      return try LoopImport.read(bytes, called: name, settings)
    case .json:
      guard Nesting.isWithin(8, bytes) else {
        throw ControlFailure.invalidFile(line: 0, "it nests deeper than a file of entries may")
      }
      let file: EntryObject.File
      do {
        file = try JSONDecoder().decode(EntryObject.File.self, from: Data(bytes))
      } catch let error as DecodingError {
        throw ControlFailure.invalidFile(line: EntryObject.number(of: error), EntryObject.sentence(error))
      }
      try need(
        file.entries.count <= EntryPlan.mostEntries, limit: "a file has at most \(EntryPlan.mostEntries) entries")
      var reader = EntryReader(settings)
      for (index, entry) in file.entries.enumerated() { reader.take(entry.row(index + 1)) }
      return reader.plan
    }
  }

  /// Removes known entries from the plan. No other import of the owner runs meanwhile (`RequestQueue.Weight.long`).
  private func leavingOutKnown(_ plan: EntryPlan) async throws -> EntryPlan {
    try await store.readApart { [self] transaction in
      var plan = plan
      for (tracker, days) in plan.days {
        var known: [Entry] = []
        let filter = EntryFilter(owner: caller.owner, tracker: tracker, days: days)
        try BackupRecords.oldestFirst(filter, transaction) { entry in
          try life.goOn()
          known.append(entry)
        }
        plan.leaveOut(known)
      }
      return plan
    }
  }

  /// Records all entries as one change, in parts between which others write. Achievements are unlocked silently.
  ///
  /// An interrupted import stays in part. It can be undone, and the same file adds the rest.
  private func add(_ plan: EntryPlan) async throws {
    guard !plan.entries.isEmpty || !plan.trackers.isEmpty || !plan.items.isEmpty else { return }
    let change = TrackingChange(
      owner: caller.owner, at: now, kind: .imported, subject: String(plan.entries.count))
    let entries = plan.entries.sorted { ($0.tracker, $0.at) < ($1.tracker, $1.at) }
    var begin = 0
    repeat {
      try life.goOn()
      let part = entries[begin..<min(begin + Self.entriesOfPart, entries.count)]
      let (isFirst, isLast) = (begin == 0, part.endIndex == entries.count)
      try await commit(isLarge: true) { [self] transaction in
        var generator = PooledRandom()
        let trackers = try isFirst ? owned(plan.trackers, transaction) : []
        let outcome = try tracking(transaction).add(
          part, trackers: trackers, items: isFirst ? plan.items : [], as: change, using: &generator)
        let words = isLast ? "\(entries.count) entries imported" : nil
        return ((), TrackingNotices.of(outcome, owner: caller.owner, saying: words))
      }
      begin = part.endIndex
    } while begin < entries.count
  }

  /// Returns the file's trackers as they are to be written.
  private func owned(_ trackers: [Tracker], _ transaction: any StoreTransaction) throws -> [Tracker] {
    let known = try transaction.trackers(owner: caller.owner)
    let new = trackers.filter { tracker in !known.contains { $0.id == tracker.id } }
    try need(
      known.count + new.count <= TrackerFields.maxTrackers,
      limit: "trackers: at most \(TrackerFields.maxTrackers); the file has \(new.count) more")
    return trackers.map { tracker in
      var tracker = tracker.owned(by: caller.owner)
      // A known tracker gets the skipped days of the file.
      if let old = known.first(where: { $0.id == tracker.id }) { tracker.generation = old.generation + 1 }
      return tracker
    }
  }

  private func answer(_ plan: EntryPlan) -> Tracking.Import.Reply {
    let remarks = plan.remarks.map { remark in
      let what = remark.title.map { "\($0): \(remark.message)" } ?? remark.message
      return remark.line.map { "line \($0): \(what)" } ?? what
    }
    let touched = Set(plan.trackers.map(\.id) + plan.items.map(\.tracker) + plan.entries.map(\.tracker))
    return Tracking.Import.Reply(
      trackers: touched.sorted().map(\.rawValue), added: plan.entries.count, duplicates: plan.present,
      remarks: fitting(remarks))
  }
}

/// An entry of a JSON file: the fields of an `EntryRow`, with numbers as numbers.
struct EntryObject: Codable {
  struct File: Decodable { var entries: [EntryObject] }

  var tracker: String?
  var at: String?
  var day: String?
  var value: Double?
  var unit: String?
  var item: String?
  var note: String?
  var fields: [String: Double]?

  init(_ row: EntryRow) {
    (tracker, at, day, unit, item, note) = (row.tracker, row.at, row.day, row.unit, row.item, row.note)
    value = row.value.flatMap { Double($0) }
    let numbers = row.fields.compactMapValues { Double($0) }
    fields = numbers.isEmpty ? nil : numbers
  }

  func row(_ number: Int) -> EntryRow {
    EntryRow(
      line: number, tracker: tracker, at: at, day: day, value: value.map { "\($0)" }, unit: unit, item: item,
      note: note,
      fields: (fields ?? [:]).mapValues { "\($0)" })
  }

  /// Returns the number of the faulty entry, from 1; 0: no particular one.
  static func number(of error: DecodingError) -> Int {
    (context(of: error)?.codingPath.first { $0.intValue != nil }?.intValue).map { $0 + 1 } ?? 0
  }

  static func sentence(_ error: DecodingError) -> String {
    let path = (context(of: error)?.codingPath ?? []).filter { $0.intValue == nil }.map(\.stringValue)
    switch error {
    case .keyNotFound(let key, _): return "\(key.stringValue) is missing: a file has one object with a list of entries"
    case .typeMismatch, .valueNotFound: return "\(path.joined(separator: ".")) has the wrong type"
    default: return "it is not a JSON object with a list of entries"
    }
  }

  private static func context(of error: DecodingError) -> DecodingError.Context? {
    switch error {
    case .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context):
      context
    @unknown default: nil
    }
  }
}
