import ChimeControl
import ChimeSchedule

/// A schedule understood here, without a daemon: what it means and when it comes.
struct Explanation {
  var schedule: Schedule
  var zone: Zone
  var times: [Instant]
  var remarks: [String]
}

enum Explaining {
  /// Understands a schedule as the daemon would at `now`.
  static func explain(
    _ text: String, zone: Zone, gap: Wire.Gap?, fold: Wire.Fold?, after: Instant, count: Int
  ) throws -> Explanation {
    let gap = gap.flatMap { GapRule(rawValue: $0.rawValue) }
    let fold = fold.flatMap { FoldRule(rawValue: $0.rawValue) }
    let schedule: Schedule
    do {
      schedule = try Schedule.parse(text, now: after, zone: zone)
    } catch {
      throw Failure(error)
    }
    let timetable = schedule.timetable(in: zone, gap: gap, fold: fold)
    let times = Array(timetable.occurrences(after: after).prefix(count))
    let remarks = times.compactMap { timetable.remark(for: $0)?.description }
    return Explanation(schedule: schedule, zone: zone, times: times, remarks: remarks)
  }

  /// Says what would be made of it.
  static func dryRun(
    _ context: Context, draft: RemindersInterface.Draft, would: String = "would add"
  ) throws -> ExitCode {
    let zone = try context.zone(draft.timezone ?? "local")
    let explanation = try explain(
      draft.when, zone: zone, gap: draft.gap, fold: draft.fold, after: context.now, count: 3)
    switch context.format {
    case .json:
      context.print(
        json: .members([
          "dryRun": .bool(true), "title": .string(draft.title), "canonical": .string(explanation.schedule.canonical),
          "timezone": .string(draft.timezone ?? "local"),
          "next": .strings(explanation.times.map { RFC3339.format($0, in: zone) }),
          "remarks": .strings(explanation.remarks),
        ]))
    case .plain:
      context.out(Plain.line(["title", "canonical", "next"]))
      let first = explanation.times.first.map { RFC3339.format($0, in: zone) } ?? ""
      context.out(Plain.line([draft.title, explanation.schedule.canonical, first].map { Harmless.field($0) }))
    case .human:
      context.out("\(Harmless.line(would))  \(Harmless.line(draft.title))")
      context.out("  \(explanation.schedule.canonical)")
      for time in explanation.times {
        let clock = context.clock()
        context.out("  \(Adding.moment(context, time, zone: draft.timezone ?? "local")), \(clock.relative(time))")
      }
    }
    context.warn(explanation.remarks)
    return .success
  }
}
