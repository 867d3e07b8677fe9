import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime when SCHEDULE…`
enum When {
  static let verb = Verb(
    name: "when", group: .look, arguments: ["SCHEDULE…", "--batch"],
    summary: "Show how Chime reads a schedule and its next times; needs no daemon",
    details: [
      "It shows the schedule in its canonical form, its dialect and zone, and its next times with their offset and "
        + "distance; a clock change adds a remark to the times it affects. It contacts the daemon only for a place "
        + "or a calendar of the configuration.",
      "With --as it prints the schedule in another dialect, and on standard error the differences.",
      "With --batch it reads one JSON object a line from standard input and answers each with one, in the same "
        + "order: {\"when\": \"weekdays at 8:30\", \"timezone\": \"Europe/Prague\", \"after\": 1774600000, "
        + "\"count\": 5} gives {\"canonical\": …, \"dialect\": …, \"next\": [1774852200, …]} in whole seconds "
        + "since 1970, or {\"error\": {\"code\": …, \"column\": …, \"message\": …, \"suggestion\": …}}. Only "
        + "\"when\" is required; optional are \"gap\", \"fold\", \"latitude\" and \"longitude\", and \"as\", a "
        + "dialect for the answer, which then has \"remarks\". \"line\" instead of \"when\" is a line as `add` "
        + "takes it, and the answer also has its \"title\". Codes: invalidSchedule, neverOccurs, tooCostly, "
        + "outOfRange, inexpressible, invalidTimezone, invalidValue, invalidJSON.",
    ],
    options: [
      .value("count", "n", "N", "The number of times (default 5)"),
      .value("tz", nil, "ZONE", "The time zone, such as Europe/Prague; local (the default) is the machine's"),
      .value(
        "gap", nil, "RULE", "For a wall-clock time that daylight saving removes: shift it by the gap, or skip it",
        choices: Wire.Gap.allCases.map(\.rawValue)),
      .value(
        "fold", nil, "RULE", "For a wall-clock time that daylight saving repeats: first, last or both",
        choices: Wire.Fold.allCases.map(\.rawValue)),
      .value(
        "place", nil, "LAT,LON",
        "The place for sunrise and sunset, such as 50.0875,14.4213; the default is the daemon's place"),
      .value("after", nil, "TIME", "Compute as if it were added at that time, instead of now"),
      .value(
        "as", nil, "DIALECT", "Write it as a phrase, cron, calendar, rrule or solar expression",
        choices: Dialect.allCases.map(\.rawValue)),
      .flag("line", nil, "Read the words as `add` does, with a title among them, and show which are which"),
      .flag("batch", nil, "JSON lines in, JSON lines out"),
    ],
    examples: [
      "chime when \"every 45m from 9 to 17 on mon-fri\" -n 8",
      "chime when daily at 2:30 --tz Europe/Prague --after 2026-03-27", "chime when \"cron: 0 9 * * 1-5\" --as phrase",
      "chime when --line Call mum tomorrow at 5pm",
    ],
    alsoTried: ["explain", "parse", "calendar", "check", "convert"],
    json:
      "with `--line` `title`, and `tags`, `urgency`, `channels` and `body` where the line has them; `canonical`, `dialect`, `zone`, `next`: a list of times, `times`: a list of the same with `at`, `epochSeconds` since "
      + "1970, `abbreviation` (CET), `secondsUntil` and `remark`, `remarks`: a list of sentences, and `excludedDays`: the days among these times that a "
      + "calendar takes from it, each with `date`, `calendar` and `name`; with `--as` only "
      + "`canonical`, `dialect` and `remarks`",
    run: run)

  static let most = 10_000

  static func run(_ context: Context) throws -> ExitCode {
    let line = context.line
    if line.has("batch") {
      try context.noWords()
      Batch(environment: context.process.environment).run(context.process)
      return .success
    }
    guard var text = context.optionalSubject() else {
      throw Failure.usage(localized("a schedule is missing"), hint: localized("chime when \"weekdays at 8:30\""))
    }
    let timezone = line.value("tz") ?? "local"
    let zone = try context.zone(timezone)
    let after = try line.value("after").map {
      try TimeArgument.parse(
        $0, option: "after", now: context.now, in: context.scheduleContext(in: zone, at: nil), toward: .future)
    }
    var title: String?
    var marks = QuickMarks()
    if line.has("line") {
      let read = try TitleAndTime.read(
        context, line.words, place: .anywhere, verb: "when --line",
        usage: localized("chime when --line Call mum tomorrow at 5pm"), now: after)
      (title, text, marks) = (read.title, read.when, read.marks)
    }
    let question = ScheduleQuestion(
      text: context.written(text), timezone: timezone, place: try DraftOptions.place(line), gap: DraftOptions.gap(line),
      fold: DraftOptions.fold(line), after: after ?? context.now)
    if let dialect = line.value("as").flatMap(Dialect.init(rawValue:)) {
      convert(context, try Explaining.convert(context, question, to: dialect))
      return .success
    }
    let count = try line.count("count", maximum: most) ?? 5
    let explanation = try Explaining.explain(context, question, count: count)
    print(context, explanation, title: title, marks, after: question.after, isWhole: explanation.moments.count < count)
    return .success
  }

  private static func convert(_ context: Context, _ conversion: SchedulesInterface.Convert.Reply) {
    switch context.format {
    case .json:
      context.print(json: [
        "canonical": conversion.canonical, "dialect": conversion.dialect, "remarks": conversion.remarks,
      ])
      return
    case .plain:
      context.out("canonical\tdialect")
      context.out(Plain.line([TerminalSanitizer.field(conversion.canonical), conversion.dialect]))
    case .human: context.out(TerminalSanitizer.line(conversion.canonical))
    }
    for remark in conversion.remarks { context.note(localizedServerMessage(remark), .caution) }
  }

  private static func print(
    _ context: Context, _ explanation: Explanation, title: String?, _ marks: QuickMarks, after: Instant,
    isWhole: Bool
  ) {
    let zone = explanation.zone
    let moments = explanation.moments
    func stamp(_ moment: Explanation.Moment) -> String { RFC3339.format(moment.instant, in: zone) }
    func secondsUntil(_ moment: Explanation.Moment) -> Int { Int(moment.instant.seconds - after.seconds) }
    switch context.format {
    case .json:
      let times = moments.map {
        Output.NextTime(
          at: .init(at: stamp($0), zone: zone.identifier), epochSeconds: Int($0.instant.seconds),
          abbreviation: $0.abbreviation,
          secondsUntil: secondsUntil($0), remark: $0.remark)
      }
      let line = title.map { [JSONText.Member(name: "title", value: .string($0))] + marks.members } ?? []
      context.print(
        json: [
          "canonical": explanation.canonical, "dialect": explanation.dialect, "zone": zone.identifier,
          "next": moments.map(stamp), "times": times, "remarks": moments.compactMap(\.remark) + explanation.notes,
          "excludedDays": explanation.excludedDays,
        ], before: line)
    case .plain:
      context.out(Plain.line(["next", "epochSeconds", "abbreviation", "secondsUntil", "remark"]))
      for moment in moments {
        context.out(
          Plain.line([
            stamp(moment), String(moment.instant.seconds), moment.abbreviation, String(secondsUntil(moment)),
            moment.remark ?? "",
          ]))
      }
    case .human:
      if let title { context.out(TerminalSanitizer.line(([title] + marks.lines).joined(separator: "\n"))) }
      picture(context, explanation, after: after, isWhole: isWhole)
    }
  }

  private static func picture(_ context: Context, _ explanation: Explanation, after: Instant, isWhole: Bool) {
    let style = context.style
    let clock = WallClock(zone: explanation.zone, now: after)
    context.out(style(TerminalSanitizer.line(explanation.canonical), .strong))
    context.out(style("\(StateWords.dialect(explanation.dialect)), \(explanation.zone.identifier)", .faint))
    if let waits = explanation.waits { return context.out(waits) }
    context.out()
    var table = Table(columns: [
      .init(title: "NEXT"), .init(title: "OFFSET"), .init(title: "LEFT"),
    ])
    for moment in explanation.moments {
      let offset = String(RFC3339.format(moment.instant, in: explanation.zone).dropFirst(19))
      // Zones without abbreviations use their offset as label.
      let label = moment.abbreviation.first?.isLetter == true ? " \(moment.abbreviation)" : ""
      table.rows.append([
        .init(clock.text(moment.instant)), .init(offset == "Z" ? "UTC" : offset + label, .faint),
        .init(clock.relative(moment.instant)),
      ])
    }
    let width = context.process.output.width
    let lines = table.lines(width: width, style: style)
    let used = table.lines(width: width, style: Style(isColored: false)).map { TextWidth.of($0) }
    context.out(lines[0])
    for ((line, used), moment) in zip(zip(lines, used).dropFirst(), explanation.moments) {
      guard let remark = moment.remark.map({ TerminalSanitizer.line(localizedServerMessage($0)) }) else {
        context.out(line)
        continue
      }
      // Beside the time if there is room, else below.
      if width.map({ used + 2 + TextWidth.of(remark) <= $0 }) ?? true {
        context.out("\(line)  \(style(remark, .caution))")
      } else {
        context.out(line)
        context.out(style("  ↑ \(remark)", .caution))
      }
    }
    if isWhole { context.out(style(localized("and no further time"), .faint)) }
    if !explanation.excludedDays.isEmpty {
      let text = localized("left out: %1", ExcludedDays.text(explanation.excludedDays, context.preferredLanguages))
      for line in TextWidth.wrap(TerminalSanitizer.line(text), to: context.width) { context.out(style(line, .faint)) }
    }
    for note in explanation.notes { context.out(style(TerminalSanitizer.line(localizedServerMessage(note)), .caution)) }
  }
}
