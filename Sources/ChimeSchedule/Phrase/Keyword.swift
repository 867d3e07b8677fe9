/// What a word of a phrase means.
enum Keyword: Sendable, Hashable {
  case every, at, on, `in`, from, to, between, and, starting, until, times, except, after, of
  case today, tomorrow, now, daily, weekdays, weekends, noon, midnight, am, pm, article, hourly
  /// `mon`, `monday`; in the plural (`mondays`) it returns every week.
  case weekday(Weekday, plural: Bool)
  case month(Int)
  case unit(DurationUnit)
  /// A word of a kind of phrase that is not understood yet.
  case later(Later)

  enum Later: Sendable, Hashable { case months, rotas, done }

  /// Looks a word up, in any case.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count <= Keyword.longest else { return nil }
    let lowered = String(unsafeUninitializedCapacity: bytes.count) { buffer in
      var count = 0
      for byte in bytes {
        buffer[count] = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
        count += 1
      }
      return count
    }
    guard let keyword = Keyword.table[lowered] else { return nil }
    self = keyword
  }

  /// The length of the longest word in the table, which is also one that a string holds without allocation.
  static let longest = 15

  static let units: [String: DurationUnit] = [
    "ms": .millisecond, "millisecond": .millisecond, "milliseconds": .millisecond,
    "s": .second, "sec": .second, "secs": .second, "second": .second, "seconds": .second,
    "m": .minute, "min": .minute, "mins": .minute, "minute": .minute, "minutes": .minute,
    "h": .hour, "hr": .hour, "hrs": .hour, "hour": .hour, "hours": .hour,
    "d": .day, "day": .day, "days": .day,
    "w": .week, "wk": .week, "wks": .week, "week": .week, "weeks": .week,
  ]

  static let weekdayNames: [String: Keyword] = {
    var names: [String: Keyword] = [
      "tues": .weekday(.tuesday, plural: false), "thur": .weekday(.thursday, plural: false),
      "thurs": .weekday(.thursday, plural: false),
    ]
    for (day, name) in zip(
      Weekday.allCases, ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"])
    {
      names[name] = .weekday(day, plural: false)
      names[name + "s"] = .weekday(day, plural: true)
      names[day.abbreviation] = .weekday(day, plural: false)
    }
    return names
  }()

  static let monthNames: [String: Int] = {
    var names: [String: Int] = ["sept": 9]
    let full = [
      "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
      "december",
    ]
    for (index, name) in full.enumerated() {
      names[name] = index + 1
      names[String(name.prefix(3))] = index + 1
    }
    return names
  }()

  static let leading: [String: Keyword] = [
    "every": .every, "each": .every, "at": .at, "on": .on, "in": .in, "today": .today, "tomorrow": .tomorrow,
    "daily": .daily, "everyday": .daily, "weekdays": .weekdays, "weekday": .weekdays, "weekends": .weekends,
    "weekend": .weekends, "hourly": .hourly,
  ]

  static let bounds: [String: Keyword] = [
    "starting": .starting, "until": .until, "till": .until, "times": .times, "time": .times, "except": .except,
  ]

  private static let others: [String: Keyword] = [
    "from": .from, "to": .to, "through": .to, "thru": .to, "between": .between, "and": .and, "after": .after,
    "of": .of, "now": .now, "noon": .noon, "midday": .noon, "midnight": .midnight, "am": .am, "pm": .pm,
    "a": .article, "an": .article,
    "month": .later(.months), "months": .later(.months), "monthly": .later(.months), "year": .later(.months),
    "years": .later(.months), "yearly": .later(.months), "annually": .later(.months), "first": .later(.months),
    "third": .later(.months), "fourth": .later(.months), "last": .later(.months),
    "other": .later(.rotas), "weekly": .later(.rotas), "fortnight": .later(.rotas), "done": .later(.done),
  ]

  private static let table: [String: Keyword] = {
    var table = others
    table.merge(leading) { $1 }
    table.merge(bounds) { $1 }
    table.merge(weekdayNames) { $1 }
    table.merge(monthNames.mapValues { .month($0) }) { $1 }
    table.merge(units.mapValues { .unit($0) }) { $1 }
    return table
  }()
}
