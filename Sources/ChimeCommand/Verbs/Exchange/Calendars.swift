import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime calendars [NAME]`
enum Calendars {
  static let verb = Verb(
    name: "calendars", group: .look, arguments: ["[CALENDAR]"],
    summary: "Show the calendars that schedules can leave out, such as public holidays",
    details: [
      "`except holidays` leaves out a country's public holidays, which come with Chime. The country is that of the "
        + "locale, or country = \"CZ\" (a part of one: \"DE-BY\") under [calendars] of chimed.toml. You can add "
        + "calendars there; one of your own named holidays replaces the public holidays."
    ],
    options: [
      Pagination.limit("days", usually: 10),
      .value("since", nil, "TIME", "Only from this day on, such as 2027-01-01 (default today)"),
    ],
    examples: ["chime calendars", "chime calendars holidays -n all"],
    alsoTried: ["holidays", "holiday", "calendar"],
    json: "`calendars`, each with the first of its days", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let words = context.line.words
    try need(words.count <= 1, localized("name one calendar, or none for all of them"))
    let limit = try Pagination.limit(context.line, usually: 10)
    let zone = try context.localZone()
    let from = try context.line.value("since").map {
      zone.civil(
        at: try TimeArgument.parse(
          $0, option: "since", now: context.now, in: context.scheduleContext(in: zone, at: nil), toward: .future)
      ).date
    }
    let reply = try context.daemon().call(
      SchedulesInterface.Calendars(
        name: words.first, from: from.map { "\($0)" }, count: min(limit ?? 1_000, 1_000)))
    let empty = [
      localized("There is no calendar, and the locale does not name a country."),
      localized("For public holidays, write country = \"CZ\" under [calendars] in chimed.toml: %1", "man chimed.toml"),
    ]
    switch context.format {
    case .json: context.print(json: ["calendars": reply.calendars])
    case .plain:
      context.out(Plain.line(["calendar", "from", "to", "name"]))
      for calendar in reply.calendars {
        for day in calendar.days {
          context.out(
            Plain.line([
              calendar.name, day.from, day.to,
              TerminalSanitizer.field(context.preferredLanguages.text(day.names ?? [:])),
            ]))
        }
      }
    case .human:
      if reply.calendars.isEmpty { empty.forEach(context.out) }
      for (place, calendar) in reply.calendars.enumerated() {
        if place > 0 { context.out() }
        show(context, calendar)
      }
    }
    return .success
  }

  private static func show(_ context: Context, _ calendar: SchedulesInterface.NamedCalendar) {
    let style = context.style
    let source =
      switch calendar.source {
      case .list: localized("from chimed.toml")
      case .file: localized("from %1", calendar.file ?? "")
      case .country:
        localized(
          "public holidays of %1, known through %2", calendar.country ?? "", calendar.through.map(String.init) ?? "")
      case .locale:
        localized(
          "public holidays of %1 (from the locale), known through %2", calendar.country ?? "",
          calendar.through.map(String.init) ?? "")
      }
    context.out(
      "\(style(TerminalSanitizer.line(calendar.name), .strong))  \(style(TerminalSanitizer.line(source), .faint))")
    if let problem = calendar.problem {
      context.out("  \(style(TerminalSanitizer.line(localizedServerMessage(problem)), .caution))")
    }
    if calendar.days.isEmpty { context.out("  \(localized("no future days"))") }
    for day in calendar.days {
      let name = context.preferredLanguages.text(day.names ?? [:])
      let days = day.from == day.to ? self.day(day.from) : "\(self.day(day.from)) – \(self.day(day.to))"
      context.out("  " + (name.isEmpty ? days : "\(days)  \(TerminalSanitizer.line(name))"))
    }
  }

  private static func day(_ text: String) -> String {
    CivilDate(text).map { "\(LocalizedFormat.weekday($0.weekday)) \(LocalizedFormat.date($0))" }
      ?? TerminalSanitizer.line(text)
  }
}
