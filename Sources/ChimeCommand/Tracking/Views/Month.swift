import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime month [TRACKER]`
enum Month {
  typealias T = TrackersInterface

  static let verb = Verb(
    name: "month", group: .track, arguments: ["[TRACKER]"], summary: "Show a month as a calendar of days that were met",
    details: [
      "A filled circle is a day that met the goal, an empty one a day that did not, and a point a day that does not "
        + "count. Without a TRACKER the calendar covers all trackers: a half-filled circle is a day that met some "
        + "goals. Brackets mark today. For a collection each day shows letters for the items that were used; a "
        + "legend below explains them.",
      "With --plain it prints one line for each day.",
    ],
    options: [MonthGrid.option, Glyphs.option],
    examples: ["chime month", "chime month water", "chime month water --month 2026-03"],
    alsoTried: ["calendar", "cal"],
    json:
      "`month`, `tracker` (null for all), `days`: of a tracker as of `tracker show`, of all `day`, `met` and `due`; and "
      + "`items`, of a collection: by day the ids of what was used",
    run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let today = try context.today()
    let month = try MonthGrid.chosen(context.line, today: today)
    if context.line.words.isEmpty {
      let trackers = try TrackerArgument.trackers(context)
      guard trackers.count == 1 else { return try showAll(context, trackers, month, today) }
      return try show(context, trackers[0], month, today)
    }
    return try show(context, TrackerArgument.one(context.line.words, context), month, today)
  }

  /// Reads the days of a month up to today.
  static func days(_ context: Context, _ tracker: T.Tracker, _ month: CivilDate, _ today: CivilDate) throws -> [T
    .DayTotal]
  {
    try context.daemon().call(
      T.Days(tracker: tracker.id, range: range(month, today))
    ).days
  }

  private static func range(_ month: CivilDate, _ today: CivilDate) -> T.Range {
    let end = month.adding(days: CivilDate.daysIn(month: month.month, year: month.year) - 1) ?? month
    return T.Range(from: month.description, to: min(end, today).description)
  }

  // MARK: One tracker

  private static func show(
    _ context: Context, _ tracker: T.Tracker, _ month: CivilDate, _ today: CivilDate
  ) throws -> ExitCode {
    let worn = try tracker.hasItems ? WornDays.read(context, tracker, range(month, today)) : nil
    let days = try days(context, tracker, month, today)
    switch context.format {
    case .json:
      context.print(json: [
        "month": String(month.description.prefix(7)), "tracker": tracker.id, "days": days, "items": worn?.days ?? [:],
      ])
    case .plain: plain(context, days, worn)
    case .human:
      let words = context.trackerWords
      let glyphs = context.glyphs
      let name = localized("%1, %2", words.title(tracker), DayText.monthAndYear(month))
      for line in TextWidth.wrap(name, to: context.width) { context.out(context.style(line, .strong)) }
      let known = Dictionary(days.map { ($0.day, $0) }) { $1 }
      let isWide = context.width >= 77
      let grid = MonthGrid(month: month, today: today) { day in
        if let letters = worn?.letters(day.description), !letters.isEmpty {
          let number = day.day < 10 ? " \(day.day)" : String(day.day)
          let room = isWide ? 6 : 1
          let text = letters.count > room ? letters.prefix(max(room - 1, 1)) + (room > 1 ? "+" : "") : letters[...]
          return .init(text: number + (isWide ? " " : "") + text, tone: .good)
        }
        return cell(day, known[day.description], isWide ? tracker : nil, glyphs, words)
      }
      for line in grid.lines(width: context.width, style: context.style) { context.out(line) }
      context.out()
      for line in TextWidth.wrap(summary(days, tracker), to: context.width) { context.out(line) }
      if let worn, !worn.items.isEmpty {
        for line in Glyphs.legend(worn.legend, width: context.width) { context.out(line) }
      }
      for line in Glyphs.legend(legend(glyphs, hasPart: false, tracker), width: context.width) {
        context.out(context.style(line, .faint))
      }
    }
    return .success
  }

  static func plain(_ context: Context, _ days: [T.DayTotal], _ worn: WornDays? = nil) {
    context.out(Plain.line(TrackersInterface.DayTotal.fieldNames + (worn == nil ? [] : ["items"])))
    for day in days {
      let items = worn.map { [($0.days[day.day] ?? []).joined(separator: ",")] } ?? []
      context.out(Plain.line(context.row(day) + items))
    }
  }

  /// Returns `27 ●`, with the percentage of an amount if there is room: `27 ● 60 %`.
  private static func cell(
    _ day: CivilDate, _ total: T.DayTotal?, _ tracker: T.Tracker?, _ glyphs: Glyphs, _ words: TrackerWords
  ) -> MonthGrid.Cell {
    let number = day.day < 10 ? " \(day.day)" : String(day.day)
    guard let total else { return .init(text: number, tone: .faint) }
    let mark = total.met ? glyphs.met : total.counts ? glyphs.open : glyphs.free
    var text = "\(number)\(mark)"
    if let tracker, total.entries > 0 {
      let more: String? =
        switch tracker.kind {
        case .measure: total.value.map { words.number($0, tracker) }
        case .amount: total.percent.map { "\($0)%" } ?? total.total.map { words.number($0, tracker) }
        case .check: total.entries > 1 ? "\(total.entries)x" : nil
        }
      if let more { text += " \(more)" }
    }
    let tone: Style.Tone = total.met ? .good : total.limit == .exceeded ? .bad : total.counts ? .plain : .faint
    return .init(text: text, tone: tone)
  }

  private static func summary(_ days: [T.DayTotal], _ tracker: T.Tracker) -> String {
    let due = days.count { $0.isAsked }
    let met = days.count { $0.isNumbered }
    guard due > 0 else { return localized("No day counts.") }
    if tracker.isLimited {
      return localized(count: due, "Within the limit on %1 of %n day.", "Within the limit on %1 of %n days.", met)
    }
    // A measurement does not meet the goal value, so use another word.
    return tracker.kind == .measure
      ? localized(count: due, "Measured on %1 of %n day.", "Measured on %1 of %n days.", met)
      : localized(count: due, "Met on %1 of %n day.", "Met on %1 of %n days.", met)
  }

  private static func legend(_ glyphs: Glyphs, hasPart: Bool, _ tracker: T.Tracker? = nil) -> [String] {
    let isMeasure = tracker?.kind == .measure
    if let tracker, tracker.isLimited {
      return [
        "\(glyphs.met) " + localized("within the limit"),
        "\(glyphs.open) "
          + localized(
            "above the limit, or not over yet"),
        "\(glyphs.free) " + localized("does not count"),
      ]
    }
    var signs = ["\(glyphs.met) " + (isMeasure ? localized("measured") : localized("met"))]
    if hasPart { signs.append("\(glyphs.part) " + localized("in part")) }
    signs.append("\(glyphs.open) " + (isMeasure ? localized("not measured") : localized("not met")))
    signs.append("\(glyphs.free) " + localized("does not count"))
    return signs
  }

  // MARK: All trackers

  private static func showAll(
    _ context: Context, _ trackers: [T.Tracker], _ month: CivilDate, _ today: CivilDate
  ) throws -> ExitCode {
    let all = try trackers.flatMap { try days(context, $0, month, today) }
    let marks = Dictionary(grouping: all, by: \.day).sorted { $0.key < $1.key }.map { day, totals in
      let due = totals.filter { $0.counts && !$0.isOpenLimit || $0.met }
      return T.DaySummary(
        day: day, met: due.count { $0.met }, due: due.count,
        started: due.count { !$0.met && $0.limit == nil && $0.entries > 0 })
    }
    switch context.format {
    case .json: context.print(json: ["month": String(month.description.prefix(7)), "tracker": nil, "summaries": marks])
    case .plain: context.plain(marks)
    case .human:
      guard !trackers.isEmpty else {
        context.note(localized("Nothing is tracked yet."))
        for line in TrackerArgument.beginning { context.note(line) }
        return .success
      }
      draw(context, marks, month, today)
    }
    return .success
  }

  private static func draw(_ context: Context, _ marks: [T.DaySummary], _ month: CivilDate, _ today: CivilDate) {
    let glyphs = context.glyphs
    context.out(context.style(DayText.monthAndYear(month), .strong))
    let known = Dictionary(marks.map { ($0.day, $0) }) { $1 }
    let isWide = context.width >= 63
    let grid = MonthGrid(month: month, today: today) { day in
      let number = day.day < 10 ? " \(day.day)" : String(day.day)
      guard let mark = known[day.description] else { return .init(text: number, tone: .faint) }
      guard mark.due > 0 else { return .init(text: number + glyphs.free, tone: .faint) }
      let sign = mark.met >= mark.due ? glyphs.met : mark.met + mark.started > 0 ? glyphs.part : glyphs.open
      let tone: Style.Tone = mark.met >= mark.due ? .good : .plain
      return .init(text: "\(number)\(sign)" + (isWide ? " \(mark.met)/\(mark.due)" : ""), tone: tone)
    }
    for line in grid.lines(width: context.width, style: context.style) { context.out(line) }
    context.out()
    let perfect = marks.count { $0.due > 0 && $0.met >= $0.due }
    let text = localized(count: perfect, "All goals were met on %n day.", "All goals were met on %n days.")
    for line in TextWidth.wrap(text, to: context.width) { context.out(line) }
    for line in Glyphs.legend(legend(glyphs, hasPart: true), width: context.width) {
      context.out(context.style(line, .faint))
    }
  }
}
