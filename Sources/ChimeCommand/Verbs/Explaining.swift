import ChimeControl
import ChimeSchedule
import ChimeWords

/// What somebody asks about a schedule.
struct ScheduleQuestion {
  var text: String
  /// An IANA name, or `local`.
  var timezone: String
  var place: Place?
  var gap: Wire.Gap?
  var fold: Wire.Fold?
  /// What its relative words and its times count from.
  var after: Instant
}

/// What a schedule means and when it comes.
struct Explanation {
  var canonical: String
  var dialect: String
  /// The zone that governs.
  var zone: Zone
  var moments: [Moment]
  /// The days among them that calendars take from the schedule. Only the daemon knows calendars.
  var leftOut: [Wire.LeftOut] = []
  /// What is to be known of all of them.
  var notes: [String] = []
  /// What it waits for that has no times of its own.
  var waits: String? { (try? Schedule(canonical: canonical))?.chain.map { ChainText.waits(Wire.Chain($0)) } }

  struct Moment {
    var instant: Instant
    /// What clocks are labelled with then: `CET`.
    var label: String
    /// What a change of offset has to do with it.
    var remark: String?
  }
}

/// Understands schedules here, without a daemon; where a text needs a place or a calendar that only the daemon's
/// configuration knows, the daemon is asked.
enum Explaining {
  static func explain(_ context: Context, _ question: ScheduleQuestion, count: Int) throws -> Explanation {
    try understanding(context, question) { schedule, scheduleContext in
      let zone = try schedule.zoneIdentifier.map { try context.zone($0) } ?? scheduleContext.zone
      let timetable = schedule.timetable(
        in: scheduleContext, gap: question.gap.flatMap { GapRule(rawValue: $0.rawValue) },
        fold: question.fold.flatMap { FoldRule(rawValue: $0.rawValue) })
      let moments = timetable.occurrences(after: question.after).prefix(count).map {
        Explanation.Moment(
          instant: $0, label: zone.abbreviation(at: $0), remark: timetable.remark(for: $0)?.description)
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
          Explanation.Moment(instant: $0, label: moment.label, remark: moment.remark)
        }
      }
      return Explanation(
        canonical: reply.canonical, dialect: reply.dialect, zone: try context.zone(reply.zone), moments: moments,
        leftOut: reply.leftOut ?? [],
        // Those of the times have the time before them.
        notes: reply.remarks.filter { remark in !reply.next.contains { remark.hasPrefix("\($0.at): ") } })
    }
  }

  /// The schedule in another dialect.
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

  /// The zone by the name that the daemon knows it by: `local` here may be another than the daemon's.
  private static func zoneName(_ context: Context, _ question: ScheduleQuestion) throws -> String {
    question.timezone == "local" ? try context.localZone().identifier : question.timezone
  }

  /// What of the daemon's configuration a text refers to.
  private struct Needs {
    var place = false
    var calendars: [String] = []

    var isAny: Bool { place || !calendars.isEmpty }

    init(_ question: ScheduleQuestion, _ scheduleContext: ScheduleContext) {
      // Understood, it says itself what it has to be told.
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

  /// Says what would be made of it.
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
      context.print(
        json: .members([
          "dryRun": .bool(true), "title": .optional(draft.title), "canonical": .string(explanation.canonical),
          "timezone": .string(draft.timezone ?? "local"), "next": .strings(stamps), "remarks": .strings(remarks),
        ]))
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
  /// The same with some place, and with every calendar there could be: to understand a text that is somebody else's to
  /// judge.
  var withEverything: ScheduleContext {
    var result = self
    result.place = place ?? Place(latitude: 0, longitude: 0)
    result.calendar = { _ in [] }
    return result
  }
}
