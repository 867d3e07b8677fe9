/// A schedule of the rrule dialect, understood.
struct RecurrenceSchedule: DialectSchedule {
  var canonical: String { "" }

  init(_ bytes: [UInt8], anchor: Anchor?) throws(Fault) {
    throw Fault(range: 0..<0, problem: "the rrule dialect is not known yet", expected: "a phrase")
  }

  func timetable(in surroundings: Surroundings, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    Timetable(zone: zone, gap: .shift, fold: fold ?? .first, engine: .rrule(RecurrenceRule()))
  }
}
