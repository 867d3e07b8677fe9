import ChimeControl
import ChimeCore
import ChimeSchedule

// What a schedule means, without saving anything.
extension Desk {
  func handle(_ request: SchedulesInterface.Explain) throws -> SchedulesInterface.Explain.Reply {
    let count = request.count ?? 5
    guard (1...1_000).contains(count) else {
      throw ControlFailure.invalidValue(field: "count", "give a number from 1 to 1000")
    }
    let after = try instant(request.after, "after") ?? now
    let fields = ReminderFields(bearings: bearings, configuration: configuration, now: after)
    let question = try Question(
      request.when, request.timezone, request.latitude, request.longitude, fields, usually: configuration.timezone)
    let timetable = question.schedule.timetable(
      in: question.surroundings, gap: request.gap.flatMap { GapRule(rawValue: $0.rawValue) },
      fold: request.fold.flatMap { FoldRule(rawValue: $0.rawValue) })
    let zone = question.surroundings.zone
    var occurrences = timetable.occurrences(after: after, steps: Self.explainingSteps)
    var moments: [SchedulesInterface.Moment] = []
    while moments.count < count, let time = occurrences.next() {
      moments.append(
        SchedulesInterface.Moment(
          at: RFC3339.format(time, in: zone), zone: zone.identifier, label: zone.abbreviation(at: time),
          seconds: Int(time.seconds - after.seconds), remark: timetable.remark(for: time)?.description))
    }
    var remarks = moments.compactMap { moment in moment.remark.map { "\(moment.at): \($0)" } }
    if occurrences.walk.isGivenUp {
      remarks.append("these are \(moments.count) of \(count): looking for more of them takes too long")
    }
    return SchedulesInterface.Explain.Reply(
      canonical: question.schedule.canonical, dialect: question.schedule.dialect.rawValue, zone: zone.identifier,
      next: moments, remarks: remarks)
  }

  /// What all searches for one answer may take together: 2 ms, so that an answer takes about as long whatever the schedule.
  private static let explainingSteps = 200_000

  func handle(_ request: SchedulesInterface.Convert) throws -> SchedulesInterface.Convert.Reply {
    let question = try Question(
      request.when, request.timezone, request.latitude, request.longitude, fields, usually: configuration.timezone)
    let dialect = Dialect(rawValue: request.to.rawValue) ?? .phrase
    let conversion = try question.schedule.converted(to: dialect, now: now, in: question.surroundings)
    return SchedulesInterface.Convert.Reply(
      canonical: conversion.schedule.canonical, dialect: conversion.schedule.dialect.rawValue,
      remarks: conversion.remarks)
  }

  func handle(_: SchedulesInterface.Words) -> SchedulesInterface.Words.Reply {
    let words = WordTimes.all.map { ($0.name, configuration.words[keyPath: $0.time].description) }
    return SchedulesInterface.Words.Reply(words: Dictionary(uniqueKeysWithValues: words))
  }

  /// A schedule that somebody asks about.
  private struct Question {
    var schedule: Schedule
    /// Their zone is the one that governs.
    var surroundings: Surroundings

    init(
      _ when: String, _ timezone: String?, _ latitude: Double?, _ longitude: Double?, _ fields: ReminderFields,
      usually zone: ZoneChoice
    ) throws {
      let choice = timezone.map(ZoneChoice.init) ?? zone
      let place = try fields.place(latitude, longitude)
      schedule = try fields.schedule(when, in: choice, at: place)
      let governing = schedule.zoneIdentifier.map(ZoneChoice.named) ?? choice
      surroundings = fields.bearings.surroundings(in: try fields.zone(governing), at: place)
    }
  }
}
