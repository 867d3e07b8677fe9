import ChimeSchedule
import Foundation
import Testing

/// Compares hundreds of locations and dates with PyPI's `ephem`, whose solar positions are those of VSOP87, for the
/// same altitudes without its own refraction.
///
/// One process answers all questions. `CHIME_PYTHON` names a Python with the library; the default is
/// `.venv/bin/python3` in the checkout. Without one the test fails, unless `CHIME_SKIP_PEERS=1` is set.
@Suite(.disabled(if: ProcessInfo.processInfo.environment["CHIME_SKIP_PEERS"] == "1", "CHIME_SKIP_PEERS=1"))
struct SolarAgainstEphemTests {
  struct Question {
    var event: String
    var latitude, longitude: Double
    var second: Int64
  }

  /// Reads lines `event latitude longitude second`; answers each with the next event in seconds and the speed of the
  /// sun through the altitude, in degrees per second, or with `none` if ephem finds none on that day.
  static let program = """
    import ephem, sys
    altitudes = {"sunrise": "-0.833", "sunset": "-0.833", "dawn": "-6", "dusk": "-6"}
    epoch = ephem.Date("1970/1/1 00:00:00")
    sun = ephem.Sun()
    for line in sys.stdin:
        *words, latitude, longitude, second = line.split()
        observer = ephem.Observer()
        observer.lat, observer.lon, observer.pressure, observer.elevation = latitude, longitude, 0, 0
        observer.date = epoch + int(second) / 86400
        name = words[-1]
        observer.horizon = {"nautical": "-12", "astronomical": "-18"}.get(words[0], altitudes.get(name, "0"))
        try:
            if name == "noon":
                found = observer.next_transit(sun)
            elif name in ("sunrise", "dawn"):
                found = observer.next_rising(sun, use_center=True)
            else:
                found = observer.next_setting(sun, use_center=True)
        except ephem.CircumpolarError:
            print("none")
            continue
        heights = []
        for step in (-30, 30):
            observer.date = found + step / 86400
            sun.compute(observer)
            heights.append(float(sun.alt) * 57.29577951308232)
        print(round((found - epoch) * 86400), abs(heights[1] - heights[0]) / 60)
    """

  static let events = [
    "sunrise", "sunset", "solar noon", "dawn", "dusk", "nautical dawn", "nautical dusk", "astronomical dawn",
    "astronomical dusk",
  ]

  @Test func timesMatchEphemWithinAMinute() throws {
    var generator = SeededGenerator(seed: 20_261_121)
    let (first, last) = (instant("1970-01-02T00:00:00Z").seconds, instant("2100-01-01T00:00:00Z").seconds)
    let questions = (0..<ProofTier.amount(quick: 300, proof: 6_000)).map { index in
      // A third is within the polar circles, where some days have no event.
      let latitude =
        index % 3 == 0
        ? Double.random(in: 62...85, using: &generator) * (Bool.random(using: &generator) ? 1 : -1)
        : Double.random(in: -62...62, using: &generator)
      return Question(
        event: Self.events[index % Self.events.count], latitude: latitude,
        longitude: Double.random(in: -180...180, using: &generator),
        second: Int64.random(in: first...last, using: &generator))
    }
    let answers = try Self.ask(questions)
    #expect(answers.count == questions.count)
    var (compared, silent) = (0, 0)
    var largest: Int64 = 0
    var nearest = Int64.max
    for (question, answer) in zip(questions, answers) {
      let scheduleContext = ScheduleContext(
        zone: .utc, place: Place(latitude: question.latitude, longitude: question.longitude))
      let timetable = try Schedule(canonical: question.event).timetable(in: scheduleContext)
      let found = try #require(timetable.next(after: Instant(seconds: question.second))).seconds
      let words = answer.split(separator: " ")
      guard words.count == 2, let wanted = Int64(words[0]), let speed = Double(words[1]) else {
        silent += 1
        nearest = min(nearest, found - question.second)
        continue
      }
      // Where the sun grazes the altitude, its position is uncertain by more time: 0.006 degrees, a twentieth of the
      // effect of weather on refraction.
      let allowed = question.event == "solar noon" ? 15 : max(15, min(900, Int64(0.006 / speed)))
      let difference = abs(found - wanted)
      if speed > 0.000_8 { largest = max(largest, difference) }
      compared += 1
      #expect(
        difference <= allowed,
        "\(question.event) at \(question.latitude) \(question.longitude) after \(question.second): \(found - wanted) s, \(speed)"
      )
    }
    #expect(compared > questions.count * 3 / 4)
    #expect(silent > questions.count / 40)
    #expect(largest <= 15)
    // If ephem finds none on its day, the next event is on another.
    #expect(nearest > 43_200)
  }

  /// Asks one process all questions; each answer is a line.
  private static func ask(_ questions: [Question]) throws -> [String] {
    let root = URL(filePath: Package.folder)
    let python =
      ProcessInfo.processInfo.environment["CHIME_PYTHON"] ?? root.appending(path: ".venv/bin/python3").path
    try #require(
      FileManager.default.isExecutableFile(atPath: python),
      "no \(python): run make test, set CHIME_PYTHON, or set CHIME_SKIP_PEERS=1")
    let input = questions.map { "\($0.event) \($0.latitude) \($0.longitude) \($0.second)\n" }.joined()
    let result = try ChildProcess.run(python, ["-c", program], input: .bytes(Data(input.utf8)))
    try #require(result.status == 0, "\(python) has no PyPI 'ephem', or it failed: \(result.complaint)")
    return result.text.split(separator: "\n").map(String.init)
  }
}
