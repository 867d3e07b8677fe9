/// A schedule of the solar dialect, understood.
struct SolarSchedule: DialectSchedule {
  /// The words that tell this dialect from a phrase, in lower case.
  static let firstWords = ["sunrise", "sunset", "dawn", "dusk", "civil", "nautical", "astronomical", "solar"]

  var canonical: String { "" }

  init(_ bytes: [UInt8], anchor: Anchor?) throws(Fault) {
    throw Fault(range: 0..<0, problem: "the solar dialect is not known yet", expected: "a phrase")
  }

  func timetable(in surroundings: Surroundings, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    Timetable(zone: zone, gap: .shift, fold: fold ?? .first, engine: .solar(SolarRule()))
  }
}
