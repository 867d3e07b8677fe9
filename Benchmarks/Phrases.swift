import ChimeSchedule

/// A text as users type it, with the time limit for parsing.
private struct MeasuredText {
  var text: String
  /// The words of a whole line, with a title.
  var line: [String]?
  var language: SpokenLanguage?
  /// In nanoseconds.
  var limit: Double

  /// A canonical text, as the daemon reads it.
  static func written(_ text: String) -> MeasuredText { MeasuredText(text: text, limit: 5_000) }

  static func said(_ text: String) -> MeasuredText { MeasuredText(text: text, limit: 20_000) }

  static func line(_ text: String, _ language: SpokenLanguage? = nil) -> MeasuredText {
    MeasuredText(
      text: text, line: text.split(separator: " ").map(String.init), language: language, limit: 20_000)
  }

  static let all = [
    written("weekdays at 08:30"), written("every 90m from 08:00 to 22:00 on weekdays"), written("at 2026-12-01 09:00"),
    written("last fri of mar,jun,sep,dec at 16:00"), written("every 2 weeks on tue at 19:00 starting 2026-11-23"),
    said("in 3 days at 9"), said("every other tuesday at half past seven in the evening"),
    said("every weekday morning except mondays and holidays until june 30"), line("Tea in 5 minutes"),
    line("Call mum tomorrow at 5pm"), line("every weekday at 9 except holidays stand-up to team"),
    line("Zavolat mámě zítra v 17", .czech),
    line("Ask the plumber about the leaking tap in the upstairs bathroom and whether he has a key on friday at 9"),
    line("Dentist next friday at 9"), line("Buy milk and bread"),
  ]
}

/// Measures parsing of single texts or lines without warm-up, valid or not; the median of all turns counts.
func measurePhrases(_ bench: Bench) throws {
  let rounds = bench.options.isQuick ? 20 : 200
  for measured in MeasuredText.all {
    var scheduleContext = try MeasuredSchedule.scheduleContext()
    scheduleContext.language = measured.language
    // As in the command: the daemon checks calendars.
    scheduleContext.calendar = { _ in [] }
    var times: [Double] = []
    for _ in 0..<rounds {
      let begin = monotonicNanoseconds()
      for _ in 0..<20 {
        if let line = measured.line {
          _ = try? ScheduleLine(line, place: .anywhere, now: MeasuredSchedule.now, in: scheduleContext)
        } else {
          _ = try? Schedule.parse(measured.text, now: MeasuredSchedule.now, in: scheduleContext)
        }
      }
      times.append(Double(monotonicNanoseconds() - begin) / 20)
    }
    bench.report(measured.text, Series(times).median, "ns", beside: .limit(measured.limit))
  }
}
