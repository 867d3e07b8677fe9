/// A CalendarExpression is an expression of systemd.time(7): patterns of weekdays, date, time and zone.
///
/// Lists are normalized: sorted, without duplicates, ranges ending on a value that they reach. An empty list means `*`.
struct CalendarExpression: Hashable {
  /// The days of the week; all of them if the text names none.
  var weekdays: WeekdaySet = .everyDay
  var years: [CalendarComponent] = []
  var months: [CalendarComponent] = []
  var days: [CalendarComponent] = []
  /// Whether days count from the end of the month.
  var daysAreFromEnd = false
  var hours: [CalendarComponent] = []
  var minutes: [CalendarComponent] = []
  /// In microseconds; never empty.
  var seconds: [CalendarComponent] = [CalendarComponent(0)]
  /// The name or label of the zone at the end: `UTC`, `Europe/Prague`, `CEST`.
  var zone: String?

  /// Whether each field names one value.
  var isOneOff: Bool {
    [years, months, days, hours, minutes, seconds].allSatisfy { $0.count == 1 && $0[0].step == 0 }
  }

  /// systemd's normalized form, as `systemd-analyze calendar` prints it.
  var normalized: String {
    let dayField: CalendarField = daysAreFromEnd ? .dayFromEnd : .day
    var text = weekdays == .everyDay ? "" : weekdayList + " "
    text += years.formatted(.year) + "-" + months.formatted(.month)
    text += (daysAreFromEnd ? "~" : "-") + days.formatted(dayField)
    text += " " + hours.formatted(.hour) + ":" + minutes.formatted(.minute) + ":" + seconds.formatted(.second)
    if let zone { text += " " + zone }
    return text
  }

  /// The weekdays, with runs of three days or more as ranges: `Mon..Wed,Fri,Sat`.
  private var weekdayList: String {
    var parts: [String] = []
    var day = 0
    while day < 7 {
      guard weekdays.rawValue >> day & 1 == 1 else {
        day += 1
        continue
      }
      let run = (~UInt32(weekdays.rawValue) >> UInt32(day)).trailingZeroBitCount
      let first = CalendarExpression.weekdayNames[day]
      let last = CalendarExpression.weekdayNames[day + run - 1]
      parts.append(run == 1 ? first : first + (run == 2 ? "," : "..") + last)
      day += run
    }
    return parts.joined(separator: ",")
  }

  private static let weekdayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  /// The words that stand for a whole expression, with their expressions.
  static let shorthands: [String: String] = [
    "minutely": "*-*-* *:*:00", "hourly": "*-*-* *:00:00", "daily": "*-*-* 00:00:00",
    "weekly": "Mon *-*-* 00:00:00", "monthly": "*-*-01 00:00:00", "quarterly": "*-01,04,07,10-01 00:00:00",
    "yearly": "*-01-01 00:00:00", "annually": "*-01-01 00:00:00", "anually": "*-01-01 00:00:00",
    "semiannually": "*-01,07-01 00:00:00", "semi-annually": "*-01,07-01 00:00:00",
    "biannually": "*-01,07-01 00:00:00", "bi-annually": "*-01,07-01 00:00:00",
  ]
}
