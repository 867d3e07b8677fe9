import ChimeSchedule
import ChimeWords

/// Finds the words that can come next in a schedule.
///
/// It tries each word of a vocabulary with the schedule parser, and keeps those that complete a schedule or after which
/// the parser only expects more. So there is no second grammar to maintain.
enum ScheduleCompletion {
  /// Returns the words that can follow `before`, which is empty or ends in a space or a comma.
  static func words(after before: String, beginningWith typed: String, now: Instant) -> [Candidate] {
    let found = vocabulary(now).filter { candidate in
      candidate.value.hasPrefix(typed.lowercased()) && fits(before + candidate.value, now: now)
    }
    // Offer `every month` and `every 3 months`, although the parser accepts either form in both.
    let isMany = before.split(separator: " ").last.flatMap { Int($0) }.map { $0 > 1 } ?? false
    let words = Set(found.map(\.value))
    return found.filter { candidate in
      isMany ? !words.contains(candidate.value + "s") : !words.contains(String(candidate.value.dropLast()))
    }
  }

  /// Whether the text is a schedule or the beginning of one.
  static func fits(_ text: String, now: Instant) -> Bool {
    do {
      _ = try Schedule.parse(text, now: now, in: scheduleContext)
      return true
    } catch {
      return error.code == .invalidSchedule && error.column == text.count + 1
    }
  }

  // A location, because the parser refuses sunrise and sunset without one.
  private static let scheduleContext = ScheduleContext(zone: .utc, place: Place(latitude: 50, longitude: 14))

  private static func vocabulary(_ now: Instant) -> [Candidate] {
    let tomorrow = RFC3339.format(now + .days(1), in: .utc).prefix(10)
    return structure + moments + lengths + numbers + weekdays + months
      + [Candidate(String(tomorrow), localized("a date"))]
  }

  private static let structure: [Candidate] = [
    Candidate("every", localized("repeating: every 90m, every mon")),
    Candidate("daily", localized("on each day")), Candidate("weekdays", localized("from Monday to Friday")),
    Candidate("weekends", localized("on Saturdays and Sundays")), Candidate("at", localized("a time of the day")),
    Candidate("in", localized("once, after a length of time")), Candidate("on", localized("a day")),
    Candidate("today", localized("once, today")), Candidate("tomorrow", localized("once, tomorrow")),
    Candidate("hourly"), Candidate("weekly"), Candidate("fortnightly"), Candidate("monthly"), Candidate("yearly"),
    Candidate("from", localized("a window of the day begins")),
    Candidate("between", localized("a window of the day")), Candidate("to"), Candidate("and"),
    Candidate("starting", localized("no earlier than a day")), Candidate("until", localized("no later than a day")),
    Candidate("except", localized("days to leave out")), Candidate("times", localized("how many times in all")),
    Candidate("after"), Candidate("done", localized("counted from when it was last done")), Candidate("of"),
    Candidate("month"), Candidate("months"), Candidate("year"), Candidate("years"), Candidate("day"), Candidate("days"),
    Candidate("week"), Candidate("weeks"), Candidate("hours"), Candidate("minutes"),
    Candidate("other", localized("each second")), Candidate("first"), Candidate("second"), Candidate("third"),
    Candidate("fourth"), Candidate("last"),
    Candidate("sunrise"), Candidate("sunset"), Candidate("dawn"), Candidate("dusk"),
  ]
  private static let moments = ["7:00", "8:00", "9:00", "12:00", "18:00", "22:00", "noon", "midnight"].map {
    Candidate($0, localized("a time of the day"))
  }
  private static let lengths = ["15m", "30m", "45m", "90m", "1h", "2h", "4h"].map {
    Candidate($0, localized("a length of time"))
  }
  private static let numbers = ["1", "2", "3", "10", "15"].map { Candidate($0) }
  private static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map {
    Candidate($0, localized("a day of the week"))
  }
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"].map {
    Candidate($0, localized("a month"))
  }
}
