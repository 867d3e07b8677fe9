import ChimeControl
import ChimeCore
import ChimeSchedule

/// A SchedulesHandler explains and converts schedules, and saves nothing.
struct SchedulesHandler: SchedulesInterface.Handler, RequestPart {
  let requestContext: RequestContext

  func handle(_ request: SchedulesInterface.Explain) throws -> SchedulesInterface.Explain.Reply {
    let count = request.count ?? 5
    try need((1...1_000).contains(count), "count", "give a number from 1 to 1000")
    let after = try instant(request.after, "after") ?? now
    let fields = ReminderFields(context: context, configuration: configuration, now: after)
    let question = try Question(
      request.when, request.timezone, request.latitude, request.longitude, fields, usually: configuration.timezone)
    let timetable = question.schedule.timetable(
      in: question.scheduleContext, gap: request.gap.flatMap { GapRule(rawValue: $0.rawValue) },
      fold: request.fold.flatMap { FoldRule(rawValue: $0.rawValue) })
    let zone = question.scheduleContext.zone
    var occurrences = timetable.occurrences(after: after, steps: Self.explainingSteps)
    var moments: [SchedulesInterface.ScheduleTime] = []
    while moments.count < count, let time = occurrences.next() {
      moments.append(
        SchedulesInterface.ScheduleTime(
          at: RFC3339.format(time, in: zone), zone: zone.identifier, abbreviation: zone.abbreviation(at: time),
          secondsUntil: Int(time.seconds - after.seconds), remark: timetable.remark(for: time)?.description))
    }
    var remarks = moments.compactMap { moment in moment.remark.map { "\(moment.at): \($0)" } }
    if occurrences.walk.isGivenUp {
      remarks.append("these are \(moments.count) of \(count): computing more of them takes too long")
    }
    let last = moments.last.flatMap { try? RFC3339.parse($0.at) } ?? .latest
    if let remark = beyondHolidays(question.schedule, last, zone) { remarks.append(remark) }
    return SchedulesInterface.Explain.Reply(
      canonical: question.schedule.canonical, dialect: question.schedule.dialect.rawValue, zone: zone.identifier,
      next: moments, remarks: remarks,
      excludedDays: wire.excludedDays(
        question.schedule.excludedDays(
          after: after, before: last, in: question.scheduleContext,
          gap: request.gap.flatMap { GapRule(rawValue: $0.rawValue) },
          fold: request.fold.flatMap { FoldRule(rawValue: $0.rawValue) })))
  }

  /// Returns a remark if the last time lies beyond the known public holidays.
  private func beyondHolidays(_ schedule: Schedule, _ last: Instant, _ zone: Zone) -> String? {
    guard let holidays = context.holidays, schedule.calendarNames.contains(PublicHolidays.calendarName),
      zone.civil(at: last).date.year > holidays.years.upperBound
    else { return nil }
    return "Chime knows public holidays through \(holidays.years.upperBound); it does not leave out later ones"
  }

  func handle(_ request: SchedulesInterface.Calendars) throws -> SchedulesInterface.Calendars.Reply {
    let count = request.count ?? 10
    try need((1...1_000).contains(count), "count", "give a number from 1 to 1000")
    var first = context.zones.local.civil(at: now).date
    if let from = request.from {
      guard let date = CivilDate(from) else {
        throw ControlFailure.invalidValue(field: "from", "give a day, such as 2027-01-01")
      }
      first = date
    }
    let names = Set(context.calendars.keys).union(configuration.calendars.keys)
    if let name = request.name, !names.contains(name) {
      let shown = TrackerFields.shown(name)
      let known = names.sorted().prefix(10).joined(separator: ", ")
      throw ControlFailure.invalidValue(
        field: "name",
        names.isEmpty ? "no calendar is configured" : "there is no calendar named '\(shown)'; there are \(known)")
    }
    return SchedulesInterface.Calendars.Reply(
      calendars: names.sorted().filter { request.name == nil || $0 == request.name }.map { calendar($0, first, count) })
  }

  private func calendar(_ name: String, _ first: CivilDate, _ count: Int) -> SchedulesInterface.NamedCalendar {
    let ranges = (context.calendars[name] ?? []).filter { $0.upperBound >= first }
      .sorted { $0.lowerBound < $1.lowerBound }.prefix(count)
    let days = ranges.map {
      SchedulesInterface.CalendarDays(
        from: "\($0.lowerBound)", to: "\($0.upperBound)",
        names: $0.lowerBound == $0.upperBound ? wire.dayNames(name, $0.lowerBound) : nil)
    }
    var calendar = SchedulesInterface.NamedCalendar(
      name: name, source: .list, problem: context.calendarProblems[name], days: Array(days))
    switch configuration.calendars[name] {
    case .file(let path): (calendar.source, calendar.file) = (.file, path)
    case .days: break
    case nil:
      calendar.source = configuration.holidayCountry.isEmpty ? .locale : .country
      calendar.country = context.holidays?.country
      calendar.through = context.holidays?.years.upperBound
    }
    return calendar
  }

  /// The search limit of one answer, in steps: about 2 ms, whatever the schedule.
  private static let explainingSteps = 200_000

  func handle(_ request: SchedulesInterface.Convert) throws -> SchedulesInterface.Convert.Reply {
    let question = try Question(
      request.when, request.timezone, request.latitude, request.longitude, fields, usually: configuration.timezone)
    let dialect = Dialect(rawValue: request.to.rawValue) ?? .phrase
    let conversion = try question.schedule.converted(to: dialect, now: now, in: question.scheduleContext)
    return SchedulesInterface.Convert.Reply(
      canonical: conversion.schedule.canonical, dialect: conversion.schedule.dialect.rawValue,
      remarks: conversion.remarks)
  }

  func handle(_: SchedulesInterface.Words) -> SchedulesInterface.Words.Reply {
    let words = WordTimes.all.map { ($0.name, configuration.words[keyPath: $0.time].description) }
    return SchedulesInterface.Words.Reply(words: Dictionary(uniqueKeysWithValues: words))
  }

  /// A schedule that a client asks about.
  private struct Question {
    var schedule: Schedule
    /// The context, in the zone that governs the schedule.
    var scheduleContext: ScheduleContext

    init(
      _ when: String, _ timezone: String?, _ latitude: Double?, _ longitude: Double?, _ fields: ReminderFields,
      usually zone: ZoneChoice
    ) throws {
      let choice = timezone.map(ZoneChoice.init) ?? zone
      let place = try fields.place(latitude, longitude)
      schedule = try fields.schedule(when, in: choice, at: place)
      let governing = schedule.zoneIdentifier.map(ZoneChoice.named) ?? choice
      scheduleContext = fields.context.scheduleContext(in: try fields.zone(governing), at: place)
    }
  }
}
