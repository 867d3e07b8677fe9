import ChimeControl
import ChimeCore
import ChimeExchange
import ChimeSchedule
import ChimeTracking
import FoundationEssentials
import Varlink

// Entries from and to files that other programs read.
extension Desk {
  /// The longest file of entries that is read.
  static let maxImportBytes = 64 << 20

  func exportEntries(_ request: Tracking.Export.Parameters) async throws -> any ReplyParts {
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

  func importEntries(_ request: Tracking.Import.Parameters) async throws -> Tracking.Import.Reply {
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
        owner: caller.owner, now: now, zone: bearings.zones.local, trackers: trackers,
        items: Dictionary(uniqueKeysWithValues: items), into: try lookup(transaction).tracker(request.tracker)?.id)
    }
    let plan = try plan(bytes, request.format, settings)
    if let fault = plan.faults.first {
      let others = plan.faults.count - 1
      throw ControlFailure.invalidFile(
        line: fault.line ?? 0, fault.message + (others > 0 ? " (and \(others) more lines are at fault)" : ""))
    }
    guard request.dryRun != true else {
      return try await store.read { [self] transaction in
        var plan = plan
        try leaveOutKnown(&plan, transaction)
        return answer(plan)
      }
    }
    let reply: Tracking.Import.Reply = try await changeTracking(isLarge: true) { [self] work, generator in
      var plan = plan
      try leaveOutKnown(&plan, work.transaction)
      let outcome = try add(plan, work, using: &generator)
      return (answer(plan), outcome, "\(plan.entries.count) entries imported")
    }
    loop.uploads.remove(request.upload, of: caller.owner)
    return reply
  }

  private func plan(
    _ bytes: [UInt8], _ format: Tracking.Import.Parameters.Format, _ settings: EntryImportSettings
  ) throws -> EntryPlan {
    switch format {
    case .csv: return try EntryTable.read(bytes, settings)
    case .loop:
      // An upload has no name, and of Loop's files only the list of habits has this for its first word.
      let name = bytes.starts(with: "Position,".utf8) ? "Habits.csv" : "Checkmarks.csv"
      return try LoopImport.read(bytes, called: name, settings)
    case .json:
      guard Nesting.isWithin(8, bytes) else {
        throw ControlFailure.invalidFile(line: 0, "it nests deeper than a file of entries does")
      }
      let file: EntryObject.File
      do {
        file = try JSONDecoder().decode(EntryObject.File.self, from: Data(bytes))
      } catch let error as DecodingError {
        throw ControlFailure.invalidFile(line: EntryObject.number(of: error), EntryObject.sentence(error))
      }
      guard file.entries.count <= EntryPlan.mostEntries else {
        throw ControlFailure.limitExceeded("a file has at most \(EntryPlan.mostEntries) entries")
      }
      var reader = EntryReader(settings)
      for (index, entry) in file.entries.enumerated() { reader.take(entry.row(index + 1)) }
      return reader.plan
    }
  }

  private func leaveOutKnown(_ plan: inout EntryPlan, _ transaction: any StoreTransaction) throws {
    for (tracker, days) in plan.days {
      let filter = EntryFilter(owner: caller.owner, tracker: tracker, days: days)
      var page = Page(limit: 5_000)
      while true {
        let found = try transaction.entries(filter, page: page)
        plan.leaveOut(found)
        guard found.count == page.limit else { break }
        page.offset += page.limit
      }
    }
  }

  /// All of it as one change, of which nobody is told what it unlocks.
  private func add(
    _ plan: EntryPlan, _ work: TrackingWork, using generator: inout some RandomNumberGenerator
  ) throws -> TrackingOutcome {
    var outcome = TrackingOutcome()
    let transaction = work.transaction
    guard !plan.entries.isEmpty || !plan.trackers.isEmpty || !plan.items.isEmpty else { return outcome }
    let known = try transaction.trackers(owner: caller.owner)
    let new = plan.trackers.filter { tracker in !known.contains { $0.id == tracker.id } }
    guard known.count + new.count <= Self.maxTrackers else {
      throw ControlFailure.limitExceeded("trackers: at most \(Self.maxTrackers); the file has \(new.count) more")
    }
    outcome.change = try transaction.begin(
      TrackingChange(owner: caller.owner, at: now, kind: .imported, subject: String(plan.entries.count)))
    for tracker in plan.trackers {
      var tracker = tracker.owned(by: caller.owner)
      // One that is there gets the days that the file says were skipped.
      if let old = known.first(where: { $0.id == tracker.id }) { tracker.generation = old.generation + 1 }
      try transaction.put(tracker)
    }
    for item in plan.items { try transaction.put(item) }
    for entry in plan.entries { _ = try transaction.insert(entry) }
    try work.renew(touched(plan), &outcome, using: &generator)
    return outcome
  }

  /// The trackers that change, each with the days that get entries.
  private func touched(_ plan: EntryPlan) -> [TrackerID: Set<CivilDate>] {
    var days: [TrackerID: Set<CivilDate>] = [:]
    for id in plan.trackers.map(\.id) + plan.items.map(\.tracker) { days[id] = [] }
    for entry in plan.entries { days[entry.tracker, default: []].insert(entry.day) }
    return days
  }

  private func answer(_ plan: EntryPlan) -> Tracking.Import.Reply {
    let remarks = plan.remarks.map { remark in
      let what = remark.title.map { "\($0): \(remark.message)" } ?? remark.message
      return remark.line.map { "line \($0): \(what)" } ?? what
    }
    return Tracking.Import.Reply(
      trackers: touched(plan).keys.sorted().map(\.rawValue), added: plan.entries.count, present: plan.present,
      remarks: fitting(remarks))
  }
}

/// An entry as a JSON file has it: the members of an `EntryRow`, with numbers as numbers.
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

  /// Which entry of the file a fault is in, from 1; 0: none in particular.
  static func number(of error: DecodingError) -> Int {
    (context(of: error)?.codingPath.first { $0.intValue != nil }?.intValue).map { $0 + 1 } ?? 0
  }

  static func sentence(_ error: DecodingError) -> String {
    let path = (context(of: error)?.codingPath ?? []).filter { $0.intValue == nil }.map(\.stringValue)
    switch error {
    case .keyNotFound(let key, _): return "\(key.stringValue) is missing: a file has one object with a list of entries"
    case .typeMismatch, .valueNotFound: return "\(path.joined(separator: ".")) is of another kind than it should be"
    default: return "it is no JSON object with a list of entries"
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
