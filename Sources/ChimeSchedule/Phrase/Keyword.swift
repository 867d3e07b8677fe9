/// A Keyword is the meaning of a word of a phrase.
enum Keyword: Sendable, Hashable {
  case every, at, on, `in`, from, to, between, and, starting, until, times, except, after, of
  case today, tomorrow, now, daily, weekdays, weekends, noon, midnight, am, pm, article, hourly
  /// `mon`, `monday`. The plural (`mondays`) recurs every week.
  case weekday(Weekday, plural: Bool)
  case month(Int)
  case unit(DurationUnit)
  /// `month`, `months`, and the same for years. They are not units of time, because they have no fixed length.
  case months, years
  case weekly, fortnight, fortnightly, monthly, yearly
  case other, last, the, done
  /// `first`, `third`. The word `second` is a ``unit(_:)``, because it is a unit of time too.
  case ordinal(Int)
  /// `st`, `nd`, `rd` or `th`, right after a number.
  case ordinalSuffix

  /// Looks up a word, in any case.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count <= Keyword.longest else { return nil }
    guard let keyword = Keyword.packed[PackedWord(bytes)] else { return nil }
    self = keyword
  }

  /// The length of the longest word in the table.
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
    "weekend": .weekends, "hourly": .hourly, "weekly": .weekly, "fortnightly": .fortnightly, "monthly": .monthly,
    "yearly": .yearly, "annually": .yearly, "the": .the, "last": .last, "day": .unit(.day),
  ]

  static let ordinals: [String: Keyword] = [
    "first": .ordinal(1), "third": .ordinal(3), "fourth": .ordinal(4), "fifth": .ordinal(5), "second": .unit(.second),
    "sixth": .ordinal(6), "seventh": .ordinal(7), "eighth": .ordinal(8), "ninth": .ordinal(9), "tenth": .ordinal(10),
  ]

  /// The words that may follow `every`, besides numbers and names of days.
  static let counted: [String: Keyword] = [
    "month": .months, "months": .months, "year": .years, "years": .years, "other": .other, "fortnight": .fortnight,
  ]

  static let bounds: [String: Keyword] = [
    "starting": .starting, "until": .until, "till": .until, "times": .times, "time": .times, "except": .except,
  ]

  private static let others: [String: Keyword] = [
    "from": .from, "to": .to, "through": .to, "thru": .to, "between": .between, "and": .and, "after": .after,
    "of": .of, "now": .now, "noon": .noon, "midday": .noon, "midnight": .midnight, "am": .am, "pm": .pm,
    "a": .article, "an": .article, "done": .done, "completion": .done, "st": .ordinalSuffix, "nd": .ordinalSuffix,
    "rd": .ordinalSuffix, "th": .ordinalSuffix,
  ]

  /// All words that a phrase knows.
  static let all = Set(table.keys)

  private static let table: [String: Keyword] = {
    var table = others
    table.merge(leading) { $1 }
    table.merge(bounds) { $1 }
    table.merge(ordinals) { $1 }
    table.merge(counted) { $1 }
    table.merge(weekdayNames) { $1 }
    table.merge(monthNames.mapValues { .month($0) }) { $1 }
    table.merge(units.mapValues { .unit($0) }) { $1 }
    return table
  }()

  private static let packed = PackedTable(table)
}

/// A PackedWord is a short word in lower case as two numbers. The lexer looks up every word, and making and hashing
/// strings would dominate the cost.
struct PackedWord: Equatable {
  var low: UInt64 = 0
  var high: UInt64 = 0

  init(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      high = high << 8 | low >> 56
      low = low << 8 | UInt64((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
    }
  }

  /// The first slot of the word in a table of 1,024.
  var slot: Int { Int(truncatingIfNeeded: ((low ^ high &* 31) &* 0x9E37_79B9_7F4A_7C15) >> 54) }
}

/// A PackedTable maps packed words to meanings. It is a hash table with linear probing.
struct PackedTable<Meaning: Sendable>: Sendable {
  private var slots = [(word: PackedWord, meaning: Meaning)?](repeating: nil, count: 1_024)

  init(_ meanings: [String: Meaning]) {
    precondition(meanings.count <= slots.count / 2)
    for (text, meaning) in meanings {
      let word = PackedWord(text.utf8)
      var slot = word.slot
      while slots[slot] != nil { slot = (slot + 1) % slots.count }
      slots[slot] = (word, meaning)
    }
  }

  subscript(word: PackedWord) -> Meaning? {
    var slot = word.slot
    while let found = slots[slot] {
      if found.word == word { return found.meaning }
      slot = (slot + 1) % slots.count
    }
    return nil
  }
}
