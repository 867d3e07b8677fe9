import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime logbook TRACKER`
enum Logbook {
  typealias T = TrackersInterface

  static let verb = Verb(
    name: "logbook", group: .track, arguments: ["TRACKER"], summary: "List a tracker's entries by month",
    details: [
      "The newest come first. For a measure each value has the moving average and its weekly change beside it; each "
        + "month begins with its average and the difference from the month before.",
      "With several --filter an entry has to match all of them: notes (those with a note), milestones (of days with "
        + "one), weekday=mon,wed, item=ID, text=WORDS. Several weekday filters add up.",
    ],
    options: [
      RangeText.option,
      .value(
        "filter", nil, "FILTER", "Only entries of a kind: notes, milestones, weekday=DAYS, item=ID or text=WORDS",
        repeats: true),
      Glyphs.option,
    ],
    examples: [
      "chime logbook weight", "chime logbook weight --range 3M --filter notes",
      "chime logbook weight --range all --filter weekday=mon",
      "chime logbook watches --filter item=speedmaster --plain",
    ],
    alsoTried: ["diary", "journal"],
    json: "`entries`, and `more`, which is false", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let tracker = try TrackerArgument.one(context.line.words, context)
    let range = try RangeText.parse(context.line.value("range") ?? "3M", today: context.today())
    var asked = try filter(context, tracker)
    asked.range = range
    let entries = try all(context, asked)
    let words = context.trackerWords
    let empty = [
      localized("No entry of %1 matches.", words.title(tracker)),
      localized("`%1` logs an entry; --range all covers all time", words.logging(tracker)),
    ]
    var failure: (any Error)?
    context.print(entries, named: "entries", empty: empty) {
      do {
        let months = try monthly(context, tracker, range)
        let stones = try context.daemon().call(T.Milestones(tracker: tracker.id)).milestones
        var page = LogbookPage(tracker: tracker, entries: entries, months: months, milestones: stones)
        if tracker.hasItems {
          let items = try context.daemon().call(T.Items(tracker: tracker.id)).items
          page.items = Dictionary(items.map { ($0.id, $0.title) }) { $1 }
        }
        show(context, page)
      } catch { failure = error }
    }
    if let failure { throw failure }
    return .success
  }

  /// Builds the query from the options.
  private static func filter(_ context: Context, _ tracker: T.Tracker) throws -> T.Entries {
    var asked = T.Entries(tracker: tracker.id)
    for text in context.line.values("filter") {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let value = parts.count == 2 ? trimmed(parts[1]) : nil
      switch (parts[0].lowercased(), value) {
      case ("notes", nil): asked.withNotes = true
      case ("milestones", nil): asked.withMilestones = true
      case ("weekday", let days?), ("weekdays", let days?):
        asked.weekdays = try (asked.weekdays ?? []) + WeekdayText.parse(days, option: "filter")
      case ("item", let item?) where !item.isEmpty:
        try need(tracker.hasItems, localized("%1 has no items", tracker.id))
        let items = try context.daemon().call(T.Items(tracker: tracker.id)).items
        guard let known = try TrackerArgument.item(item, among: items) else {
          throw Failure.failed(
            localized("there is no item \"%1\"", item), hint: SpellingSuggestions.question(item, among: items.map(\.id))
          )
        }
        asked.item = known.id
      case ("text", let words?) where !words.isEmpty: asked.text = words
      default:
        throw Failure.usage(
          localized("--filter must be one of notes, milestones, weekday=DAYS, item=ID, text=WORDS, not \"%1\"", text),
          hint: SpellingSuggestions.question(
            parts[0], among: ["notes", "milestones", "weekday=mon", "item=ID", "text=WORDS"]))
      }
    }
    return asked
  }

  /// Reads all pages.
  private static func all(_ context: Context, _ asked: T.Entries) throws -> [T.Entry] {
    var asked = asked
    var entries: [T.Entry] = []
    asked.limit = 500
    while true {
      asked.offset = entries.count
      let reply: T.Entries.Reply = try context.daemon().call(asked)
      entries += reply.entries
      if reply.entries.isEmpty || entries.count >= reply.total { return entries }
    }
  }

  /// Reads whole months, and the one before the first for comparison.
  private static func monthly(
    _ context: Context, _ tracker: T.Tracker, _ range: T.Range?
  ) throws -> [T.Period] {
    let first = range?.from.flatMap { CivilDate($0) }.map { DayText.firstOfMonth($0) }
    let before = first.flatMap { $0.adding(days: -1) }.map { DayText.firstOfMonth($0) }
    let whole = before.map { T.Range(from: $0.description, to: range?.to) } ?? range
    return try context.daemon().call(T.Stats(tracker: tracker.id, range: whole)).statistics.months
  }

  private static func show(_ context: Context, _ page: LogbookPage) {
    let width = context.process.output.width
    for line in page.lines(
      width: width, style: context.style, glyphs: context.glyphs, words: context.trackerWords)
    { context.out(line) }
  }
}

/// A logbook for printing: a table with a section for each month and aligned columns.
struct LogbookPage {
  typealias T = TrackersInterface

  var tracker: T.Tracker
  /// Newest first.
  var entries: [T.Entry]
  var months: [T.Period]
  var milestones: [T.Milestone]
  /// The items' titles, by id.
  var items: [String: String] = [:]

  func lines(width: Int?, style: Style, glyphs: Glyphs, words: TrackerWords) -> [String] {
    var table = Table(columns: columns(words))
    for entry in entries { table.rows.append(row(entry, glyphs, words)) }
    let drawn = table.lines(width: width, style: style)
    var lines = [drawn[0]]
    var month = ""
    for (entry, line) in zip(entries, drawn.dropFirst()) {
      if String(entry.day.prefix(7)) != month {
        month = String(entry.day.prefix(7))
        lines += [""] + TextWidth.wrap(heading(month, words), to: width ?? .max).map { style($0, .strong) }
      }
      lines.append(line)
    }
    return lines
  }

  /// The additional measures that occur in these entries.
  private var fieldNames: [String] {
    Set(entries.flatMap(\.fields.keys)).sorted()
  }
  private var isMeasure: Bool { tracker.kind == .measure }
  private var isCheck: Bool { tracker.kind == .check }

  private func columns(_ words: TrackerWords) -> [Table.Column] {
    var columns: [Table.Column] = [.init(title: localized("DATE"))]
    if !isMeasure { columns.append(.init(title: localized("TIME"), dropOrder: 1)) }
    if !isCheck {
      columns.append(.init(title: words.title(tracker).uppercased(), alignRight: true))
    }
    if isMeasure {
      columns.append(.init(title: localized("AVG"), alignRight: true))
      columns.append(.init(title: localized("RATE"), alignRight: true, dropOrder: 1))
      for name in fieldNames { columns.append(.init(title: name.uppercased(), alignRight: true, dropOrder: 2)) }
    }
    if tracker.hasItems { columns.append(.init(title: localized("ITEM"), canShrink: true)) }
    columns.append(.init(title: localized("NOTES"), canShrink: true))
    return columns
  }

  private func row(_ entry: T.Entry, _ glyphs: Glyphs, _ words: TrackerWords) -> [Table.Cell] {
    var row = [Table.Cell(day(entry.day))]
    if !isMeasure { row.append(.init(String(entry.at.at.dropFirst(11).prefix(5)), .faint)) }
    if !isCheck { row.append(.init(entry.value.map { words.number($0, tracker) } ?? "", .strong)) }
    if isMeasure {
      row.append(.init(entry.average.map { words.number($0, tracker) } ?? ""))
      // The sign shows the direction without color.
      let tone = entry.rate.map { MeasureTrend($0, value: entry.value, of: tracker).tone } ?? .plain
      row.append(
        .init(
          entry.rate.map { words.signed($0, tracker, withUnit: false) } ?? "", tone == .plain ? .faint : tone))
      for name in fieldNames {
        let value = entry.fields[name]
        row.append(.init(value.map { TrackerWords.shortest($0) + (tracker.fields[name].map { " \($0)" } ?? "") } ?? ""))
      }
    }
    if tracker.hasItems { row.append(.init(entry.item.map { items[$0] ?? $0 } ?? "")) }
    let crossed = milestones.filter { $0.day == entry.day }.map { "\(glyphs.star) \($0.title)" }
    row.append(.init((crossed + [entry.note].compactMap { $0 }).joined(separator: "  ")))
    return row
  }

  /// Returns `Fri 27`; the heading names the month.
  private func day(_ text: String) -> String {
    guard let day = CivilDate(text) else { return text }
    return "\(LocalizedFormat.weekday(day.weekday)) \(day.day < 10 ? " " : "")\(day.day)"
  }

  /// Returns `March 2026: average 79.1 kg, -0.5 kg`.
  private func heading(_ month: String, _ words: TrackerWords) -> String {
    let name = CivilDate(month + "-01").map { DayText.monthAndYear($0) } ?? month
    guard let index = months.firstIndex(where: { $0.from.hasPrefix(month) }) else { return name }
    let period = months[index]
    var facts: [String] = []
    if isMeasure, let average = period.average {
      facts.append(localized("average %1", words.amount(average, tracker)))
      if index > 0, let before = months[index - 1].average { facts.append(words.signed(average - before, tracker)) }
    } else {
      if let total = period.total { facts.append(localized("%1 in all", words.amount(total, tracker))) }
      if period.due > 0 {
        facts.append(localized(count: period.due, "%1 of %2 day", "%1 of %2 days", period.met, period.due))
      }
    }
    return facts.isEmpty ? name : localized("%1: %2", name, facts.joined(separator: ", "))
  }
}

extension TrackerWords {
  /// Returns `+0.4 kg` or `-0.4 kg`; without a sign if it rounds to zero.
  func signed(_ value: Double, _ tracker: Tracker, withUnit: Bool = true) -> String {
    let text = withUnit ? amount(value.magnitude, tracker) : number(value.magnitude, tracker)
    let isNothing = !text.contains { ("1"..."9").contains($0) }
    return isNothing ? text : (value < 0 ? "-" : "+") + text
  }
}
