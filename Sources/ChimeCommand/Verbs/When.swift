import ChimeControl
import ChimeSchedule

/// `chime when SCHEDULE…`
enum When {
  static let verb = Verb(
    name: "when", group: .look, arguments: ["SCHEDULE…", "--batch"],
    summary: "Tell what a schedule means and when it comes; needs no daemon",
    details: [
      "With --batch it reads one JSON object a line from standard input and answers each with one, in the same order: "
        + "{\"when\": \"weekdays at 8:30\", \"timezone\": \"Europe/Prague\", \"after\": 1774600000, \"count\": 5} gives "
        + "{\"canonical\": …, \"dialect\": …, \"next\": [1774852200, …]} in whole seconds since 1970, or {\"error\": "
        + "{\"code\": …, \"column\": …, \"message\": …, \"suggestion\": …}}. Only \"when\" is needed; \"gap\" and \"fold\" may "
        + "be given. Codes: invalidSchedule, neverOccurs, outOfRange, invalidTimezone, invalidValue, invalidJSON."
    ],
    options: [
      .value("count", "n", "N", "How many times (5 unless told otherwise)"),
      .value("tz", nil, "ZONE", "The time zone, such as Europe/Prague; local (the default) is the machine's"),
      .value(
        "gap", nil, "RULE", "A wall-clock time that daylight saving removes: shift it by the gap, or skip it",
        choices: Wire.Gap.allCases.map(\.rawValue)),
      .value(
        "fold", nil, "RULE", "A wall-clock time that daylight saving repeats: first, last or both",
        choices: Wire.Fold.allCases.map(\.rawValue)),
      .value("after", nil, "TIME", "As if it were set at that time, instead of now"),
      .flag("batch", nil, "JSON lines in, JSON lines out"),
    ],
    examples: [
      .init(command: "chime when \"every 45m from 9 to 17 on mon-fri\" -n 8"),
      .init(command: "chime when daily at 2:30 --tz Europe/Prague --after 2026-03-27"),
    ],
    alsoTried: ["explain", "parse", "calendar", "check"],
    json: "`canonical`, `dialect`, `zone`, `next`: a list of times, and `remarks`: a list of sentences", run: run)

  static let most = 10_000

  static func run(_ context: Context) throws -> ExitCode {
    let line = context.line
    if line.has("batch") {
      try context.noWords()
      Batch(environment: context.world.environment).run(context.world)
      return .success
    }
    guard let text = context.optionalSubject() else {
      throw Failure.usage("a schedule is missing", hint: "chime when \"weekdays at 8:30\"")
    }
    let zone = try context.zone(line.value("tz") ?? "local")
    let after = try line.value("after").map {
      try MomentText.parse($0, option: "after", now: context.now, zone: zone, toward: .future)
    }
    let count = try line.count("count", maximum: most) ?? 5
    let explanation = try Explaining.explain(
      text, zone: zone, gap: DraftOptions.gap(line), fold: DraftOptions.fold(line), after: after ?? context.now,
      count: count)
    print(context, explanation, isWhole: explanation.times.count < count)
    return .success
  }

  private static func print(_ context: Context, _ explanation: Explanation, isWhole: Bool) {
    let zone = explanation.zone
    let stamps = explanation.times.map { RFC3339.format($0, in: zone) }
    switch context.format {
    case .json:
      context.print(
        json: .members([
          "canonical": .string(explanation.schedule.canonical),
          "dialect": .string(explanation.schedule.dialect.rawValue),
          "zone": .string(zone.identifier), "next": .strings(stamps), "remarks": .strings(explanation.remarks),
        ]))
    case .plain:
      context.out("next\tseconds")
      for (stamp, time) in zip(stamps, explanation.times) { context.out("\(stamp)\t\(time.seconds)") }
      context.warn(explanation.remarks)
    case .human:
      context.out("\(context.style(explanation.schedule.canonical, .strong))  (\(zone.identifier))")
      context.out()
      let clock = WallClock(zone: zone, now: context.now)
      var table = Table(columns: [.init(title: "NEXT"), .init(title: "ZONE", dropOrder: 1), .init(title: "LEFT")])
      for time in explanation.times {
        table.rows.append([
          .init(clock.text(time)), .init(zone.abbreviation(at: time), .faint), .init(clock.relative(time)),
        ])
      }
      context.print(table: table)
      if isWhole { context.out("and no further time") }
      if !explanation.remarks.isEmpty { context.out() }
      for remark in explanation.remarks { context.out(context.style(Harmless.line(remark), .caution)) }
    }
  }
}
