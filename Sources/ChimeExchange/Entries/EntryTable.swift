public import ChimeTracking

/// EntryTable reads and writes entries as comma-separated values, for spreadsheets.
///
///     id,tracker,at,day,value,unit,item,note,fields.fat
///     17,weight,2026-03-01T07:10:00+01:00,2026-03-01,82.4,kg,,after the run,21.5
///
/// The header is required; columns may be in any order. Reading needs `tracker` (unless one tracker is given) and `at`
/// or `day`; it ignores `id`. Times have the offset of the wall clock. Values are in `unit`, those of further fields in
/// the unit of the tracker's field. Photos are not included.
///
/// Source: RFC 4180.
public enum EntryTable {
  static let columns = ["id", "tracker", "at", "day", "value", "unit", "item", "note"]
  private static let fieldPrefix = "fields."

  /// Returns the header and its line end, with the fields of all trackers to write.
  public static func header(of trackers: [Tracker]) -> String {
    SeparatedValues.line(columns + fields(of: trackers).map { fieldPrefix + $0 })
  }

  /// Returns the line of an entry with its line end.
  ///
  /// - Parameter trackers: The trackers given to the header.
  public static func line(_ entry: Entry, of tracker: Tracker, among trackers: [Tracker]) -> String {
    let row = EntryRow(entry, of: tracker)
    let own = [
      entry.id.description, row.tracker ?? "", row.at ?? "", row.day ?? "", row.value ?? "", row.unit ?? "",
      FormulaGuard.guarded(row.item ?? ""), FormulaGuard.guarded(row.note ?? ""),
    ]
    return SeparatedValues.line(own + fields(of: trackers).map { row.fields[$0] ?? "" })
  }

  private static func fields(of trackers: [Tracker]) -> [String] { Set(trackers.flatMap(\.fields.keys)).sorted() }

  /// - Throws: ``ExchangeError`` if the text is not such a table. Errors of single lines are in the plan's `faults`.
  public static func read(_ text: [UInt8], _ settings: EntryImportSettings) throws(ExchangeError) -> EntryPlan {
    let records = try SeparatedValues.read(text)
    guard let header = records.first else { throw ExchangeError(line: nil, "the file is empty") }
    let names = header.fields.map { trimmed($0).lowercased() }
    try check(names, header.line, needsTracker: settings.into == nil)
    var reader = EntryReader(settings)
    for record in records.dropFirst() {
      try need(
        record.fields.count == names.count, line: record.line,
        "expected \(names.count) columns, as in the header, but found \(record.fields.count)")
      reader.take(row(record, names, header.fields.map(trimmed)))
    }
    return reader.plan
  }

  private static func check(_ names: [String], _ line: Int, needsTracker: Bool) throws(ExchangeError) {
    var seen: Set<String> = []
    for name in names {
      try need(
        columns.contains(name) || name.hasPrefix(fieldPrefix) && name != fieldPrefix, line: line,
        "there is no column \(quoted(name)); the header has \(columns.joined(separator: ", ")) and fields.NAME")
      try need(seen.insert(name).inserted, line: line, "the column \(quoted(name)) occurs twice")
    }
    if needsTracker, !seen.contains("tracker") { throw ExchangeError(line: line, "the header has no column tracker") }
    if !seen.contains("at"), !seen.contains("day") {
      throw ExchangeError(line: line, "the header has neither a column at nor a column day")
    }
  }

  private static func row(_ record: SeparatedValues.Record, _ names: [String], _ written: [String]) -> EntryRow {
    var row = EntryRow(line: record.line)
    for (index, name) in names.enumerated() {
      let field = record.fields[index]
      switch name {
      case "id": break
      case "tracker": row.tracker = trimmed(field)
      case "at": row.at = trimmed(field)
      case "day": row.day = trimmed(field)
      case "value": row.value = trimmed(field)
      case "unit": row.unit = trimmed(field)
      case "item": row.item = FormulaGuard.unguarded(field)
      case "note": row.note = FormulaGuard.unguarded(field)
      default: row.fields[String(written[index].dropFirst(fieldPrefix.count))] = trimmed(field)
      }
    }
    return row
  }
}
