import ChimeControl
import ChimeSchedule
import ChimeWords

/// A query about a schedule.
struct ScheduleQuestion {
  var text: String
  /// An IANA name, or `local`.
  var timezone: String
  var place: Place?
  var gap: Wire.Gap?
  var fold: Wire.Fold?
  /// The moment from which relative words and the next times count.
  var after: Instant
}

/// The meaning of a schedule and its next times.
struct Explanation {
  var canonical: String
  var dialect: String
  /// The zone of the schedule's clock times.
  var zone: Zone
  var moments: [Moment]
  /// The days in this period that calendars remove. Only the daemon knows the calendars.
  var excludedDays: [Wire.ExcludedDay] = []
  /// Remarks on the schedule as a whole.
  var notes: [String] = []
  /// The event it waits for, if it has no times of its own.
  var waits: String? { (try? Schedule(canonical: canonical))?.chain.map { ChainText.waits(Wire.Chain($0)) } }

  struct Moment {
    var instant: Instant
    /// The zone's abbreviation at that time: `CET`.
    var abbreviation: String
    /// A remark on a DST change.
    var remark: String?
  }
}

/// Interprets schedules without a daemon. If a text needs a location or a calendar from the daemon's configuration, it
/// asks the daemon.
enum Explaining {
  static func explain(_ context: Context, _ question: ScheduleQuestion, count: Int) throws -> Explanation {
    try understanding(context, question) { schedule, scheduleContext in
      let zone = try schedule.zoneIdentifier.map { try context.zone($0) } ?? scheduleContext.zone
      let timetable = schedule.timetable(
        in: scheduleContext, gap: question.gap.flatMap { GapRule(rawValue: $0.rawValue) },
        fold: question.fold.flatMap { FoldRule(rawValue: $0.rawValue) })
      let moments = timetable.occurrences(after: question.after).prefix(count).map {
        Explanation.Moment(
          instant: $0, abbreviation: zone.abbreviation(at: $0), remark: timetable.remark(for: $0)?.description)
      }
      return Explanation(
        canonical: schedule.canonical, dialect: schedule.dialect.rawValue, zone: zone, moments: moments)
    } asking: { daemon in
      let reply: SchedulesInterface.Explain.Reply = try daemon.call(
        SchedulesInterface.Explain(
          when: question.text, timezone: try zoneName(context, question), gap: question.gap, fold: question.fold,
          count: min(count, 1_000), after: RFC3339.format(question.after, in: .utc),
          latitude: question.place?.latitude, longitude: question.place?.longitude))
      let moments = reply.next.compactMap { moment in
        (try? RFC3339.parse(moment.at)).map {
          Explanation.Moment(instant: $0, abbreviation: moment.abbreviation, remark: moment.remark)
        }
      }
      return Explanation(
        canonical: reply.canonical, dialect: reply.dialect, zone: try context.zone(reply.zone), moments: moments,
        excludedDays: reply.excludedDays ?? [],
        // Remarks on single times begin with the time; the moments show those.
        notes: reply.remarks.filter { remark in !reply.next.contains { remark.hasPrefix("\($0.at): ") } })
    }
  }

  /// Converts the schedule into another dialect.
  static func convert(
    _ context: Context, _ question: ScheduleQuestion, to dialect: Dialect
  ) throws -> SchedulesInterface.Convert.Reply {
    try understanding(context, question) { schedule, scheduleContext in
      let conversion = try schedule.converted(to: dialect, now: question.after, in: scheduleContext)
      return SchedulesInterface.Convert.Reply(
        canonical: conversion.schedule.canonical, dialect: conversion.schedule.dialect.rawValue,
        remarks: conversion.remarks)
    } asking: { daemon in
      try daemon.call(
        SchedulesInterface.Convert(
          when: question.text, to: .init(rawValue: dialect.rawValue) ?? .phrase,
          timezone: try zoneName(context, question), latitude: question.place?.latitude,
          longitude: question.place?.longitude))
    }
  }

  private static func understanding<Answer>(
    _ context: Context, _ question: ScheduleQuestion, here: (Schedule, ScheduleContext) throws -> Answer,
    asking: (Daemon) throws -> Answer
  ) throws -> Answer {
    let scheduleContext = context.scheduleContext(in: try context.zone(question.timezone), at: question.place)
    do {
      return try here(try Schedule.parse(question.text, now: question.after, in: scheduleContext), scheduleContext)
    } catch let error as ScheduleError {
      let needs = Needs(question, scheduleContext)
      guard needs.isAny else { throw Failure(error) }
      let daemon: Daemon
      do {
        daemon = try context.daemon()
      } catch let failure as Failure where failure.status == .unavailable {
        var refusal = Failure(error)
        refusal.hints = [localized("no daemon answers to look up %1; ", needs.noun) + (failure.hints.first ?? "")]
        throw refusal
      }
      return try asking(daemon)
    }
  }

  /// Returns the zone's IANA name, since `local` may be another zone for the daemon.
  private static func zoneName(_ context: Context, _ question: ScheduleQuestion) throws -> String {
    question.timezone == "local" ? try context.localZone().identifier : question.timezone
  }

  /// The parts of the daemon's configuration that a text refers to.
  private struct Needs {
    var place = false
    var calendars: [String] = []

    var isAny: Bool { place || !calendars.isEmpty }

    init(_ question: ScheduleQuestion, _ scheduleContext: ScheduleContext) {
      // A parsed schedule knows its own needs.
      guard
        let schedule = try? Schedule.parse(question.text, now: question.after, in: scheduleContext.withEverything)
      else { return }
      place = schedule.needsPlace && question.place == nil
      calendars = schedule.calendarNames
    }

    var noun: String {
      let calendars = calendars.count == 1 ? localized("the calendar %1", calendars[0]) : localized("the calendars")
      return place ? self.calendars.isEmpty ? "a place" : localized("a place and %1", calendars) : calendars
    }
  }

  /// Prints what would be created.
  static func dryRun(
    _ context: Context, draft: RemindersInterface.Draft, would: String = localized("would add")
  ) throws -> ExitCode {
    let place = draft.latitude.flatMap { latitude in
      draft.longitude.flatMap { Place(latitude: latitude, longitude: $0) }
    }
    let question = ScheduleQuestion(
      text: draft.when ?? "", timezone: draft.timezone ?? "local", place: place, gap: draft.gap, fold: draft.fold,
      after: context.now)
    let explanation = try explain(context, question, count: 3)
    let stamps = explanation.moments.map { RFC3339.format($0.instant, in: explanation.zone) }
    let remarks = explanation.moments.compactMap(\.remark)
    switch context.format {
    case .json:
      context.print(json: [
        "dryRun": true, "title": draft.title, "canonical": explanation.canonical, "timezone": draft.timezone ?? "local",
        "next": stamps, "remarks": remarks,
      ])
    case .plain:
      context.out(Plain.line(["title", "canonical", "next"]))
      let fields: [String?] = [draft.title, explanation.canonical, stamps.first]
      context.out(Plain.line(fields.map { TerminalSanitizer.field($0 ?? "") }))
    case .human:
      context.out("\(TerminalSanitizer.line(would))  \(TerminalSanitizer.line(draft.title ?? ""))")
      context.out("  \(TerminalSanitizer.line(explanation.canonical))")
      if let waits = explanation.waits { context.out("  \(waits)") }
      for moment in explanation.moments {
        let clock = context.clock()
        let text = Adding.moment(context, moment.instant, zone: explanation.zone.identifier)
        context.out("  \(text), \(clock.relative(moment.instant))")
      }
    }
    context.warn(remarks)
    return .success
  }
}

extension ScheduleContext {
  /// A context with a location and all calendars, for parsing a text that the daemon will validate.
  var withEverything: ScheduleContext {
    var result = self
    result.place = place ?? Place(latitude: 0, longitude: 0)
    result.calendar = { _ in [] }
    return result
  }
}
