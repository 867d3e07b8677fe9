/// A schedule of the cron dialect, understood.
struct CronSchedule: DialectSchedule {
  var canonical: String { "" }

  init(_ bytes: [UInt8], anchor: Anchor?) throws(Fault) {
    throw Fault(range: 0..<0, problem: "the cron dialect is not known yet", expected: "a phrase")
  }

  func timetable(in surroundings: Surroundings, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    Timetable(zone: zone, gap: .shift, fold: fold ?? .first, engine: .cron(CronRule()))
  }
}
