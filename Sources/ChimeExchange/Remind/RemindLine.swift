import ChimeSchedule

/// A RemindLine is one REM line of a remind script: the time and the message.
///
///     REM Mon Tue AT 9:00 +15 MSG Stand-up
///     REM 24 Dec +3 MSG Presents
///     REM 1 Mar 2027 *14 UNTIL 1 Jun 2027 MSG Bins
///
/// Source: remind(1), "The REM command", of remind 4.2.2.
struct RemindLine: Equatable {
  /// Monday is 1; empty for every day.
  var weekdays: Set<Int> = []
  var day: Int?
  var month: Int?
  var year: Int?
  /// The repetition in days from the date on.
  var every: Int?
  /// How many days or minutes before its time the first notice comes.
  var daysAhead: Int?
  var minutesAhead: Int?
  var minutesApart: Int?
  /// Whether it means the last day of the month before the named one.
  var isDayBefore = false
  var time: CivilTime?
  var until: CivilDate?
  var from: CivilDate?
  /// The kind: MSG, RUN, …
  var kind = ""
  var text = ""
  var priority: Int?
  var tags: [String] = []

  /// A Refusal says why a line cannot be imported.
  struct Refusal: Error, Equatable {
    var message: String
    init(_ message: String) { self.message = message }
  }

  private static let kinds: Set<String> = ["MSG", "MSF", "RUN", "CAL", "PS", "PSFILE", "SPECIAL"]
  private static let moving: Set<String> = ["SKIP", "BEFORE", "AFTER", "OMIT", "OMITFUNC", "SATISFY", "SCHED", "WARN"]

  /// - Parameter words: The text after REM.
  init(_ words: Substring) throws(Refusal) {
    var rest = words
    /// The clause that the next date words belong to.
    var place = "date"
    var dates: [String: RemindDate] = [:]
    while let word = Self.word(&rest) {
      let upper = word.uppercased()
      if word.utf8.contains(UInt8(ascii: "[")) {
        throw Refusal("it has an expression of remind, \(excerpt(String(word)))")
      }
      if Self.kinds.contains(upper) {
        (kind, text) = (upper, trimmed(rest))
        break
      }
      switch upper {
      case "AT":
        guard let word = Self.word(&rest), let time = Self.time(word) else {
          throw Refusal("expected a time of day after AT, such as 9:30")
        }
        self.time = time
        place = "time"
      case "UNTIL", "THROUGH": place = "until"
      case "FROM", "SCANFROM": place = "from"
      case "TAG":
        if let word = Self.word(&rest) { tags.append(String(word)) }
      case "PRIORITY":
        guard let number = Self.word(&rest).flatMap({ Int($0) }) else {
          throw Refusal("expected a number after PRIORITY")
        }
        priority = number
      case "DURATION": _ = Self.word(&rest)
      case "ONCE", "NOQUEUE", "ADDOMIT": break
      case _ where Self.moving.contains(upper):
        throw Refusal("\(upper) depends on days that remind leaves out, or on its functions")
      default:
        if try takeMark(word, at: place) { continue }
        let known = dates[place] ?? RemindDate()
        guard let date = known.with(word) else {
          throw Refusal(
            kind.isEmpty && rest.isEmpty
              ? "expected MSG and a text after it" : "Chime does not read \"\(excerpt(String(word)))\"")
        }
        if let time = date.time { self.time = time }
        dates[place] = date
        if place == "time" { dates["date"] = (dates["date"] ?? RemindDate()).joined(date) }
      }
    }
    guard !kind.isEmpty else { throw Refusal("expected MSG and a text after it") }
    let date = dates["date"] ?? RemindDate()
    (weekdays, day, month, year) = (date.weekdays, date.day, date.month, date.year)
    until = try Self.whole(dates["until"], "UNTIL")
    from = try Self.whole(dates["from"], "FROM")
  }

  private static func whole(_ date: RemindDate?, _ name: String) throws(Refusal) -> CivilDate? {
    guard let date else { return nil }
    guard let whole = date.whole else { throw Refusal("expected a whole date after \(name), such as 1 Jun 2027") }
    return whole
  }

  /// Reads `+5`, `*7` or `-1`; after AT they are minutes. Returns whether the word was such a mark.
  private mutating func takeMark(_ word: Substring, at place: String) throws(Refusal) -> Bool {
    guard let mark = word.first, "+*-".contains(mark) else { return false }
    let figures = word.drop { $0 == mark }
    guard let number = Int(figures), (0...100_000).contains(number) else {
      throw Refusal("Chime does not read \"\(excerpt(String(word)))\"")
    }
    switch (mark, place == "time") {
    case ("+", true): minutesAhead = number
    case ("*", true): minutesApart = number
    case ("+", false): daysAhead = number
    case ("*", false):
      guard number > 0 else { throw Refusal("*0 is not a repeat") }
      every = number
    default:
      guard number == 1 else {
        throw Refusal("-\(number) counts back from its date, which Chime reads only for the last day of a month")
      }
      isDayBefore = true
    }
    return true
  }

  /// Reads the next word, without the blanks before it.
  static func word(_ rest: inout Substring) -> Substring? {
    rest = rest.drop { $0 == " " || $0 == "\t" }
    let word = rest.prefix { $0 != " " && $0 != "\t" }
    rest = rest[word.endIndex...]
    return word.isEmpty ? nil : word
  }

  /// Parses `9:30`, `9.30` or `9:30pm`.
  static func time(_ word: Substring) -> CivilTime? {
    var figures = word.lowercased()[...]
    var afternoon: Bool?
    for (ending, isAfternoon) in [("am", false), ("pm", true)] where figures.hasSuffix(ending) {
      afternoon = isAfternoon
      figures = figures.dropLast(2)
    }
    let parts = figures.split(whereSeparator: { $0 == ":" || $0 == "." })
    guard parts.count == 2, var hour = Int(parts[0]), let minute = Int(parts[1]), parts[1].count == 2 else {
      return nil
    }
    if let afternoon {
      guard (1...12).contains(hour) else { return nil }
      hour = hour % 12 + (afternoon ? 12 : 0)
    }
    return CivilTime(hour: hour, minute: minute)
  }
}

/// A RemindDate collects the parts of a date, in any order.
struct RemindDate: Equatable {
  var weekdays: Set<Int> = []
  var day: Int?
  var month: Int?
  var year: Int?
  var time: CivilTime?

  var whole: CivilDate? {
    guard weekdays.isEmpty, let year, let month, let day else { return nil }
    return CivilDate(year: year, month: month, day: day)
  }

  /// Returns the date with one more word; `nil` if the word is not part of a date.
  func with(_ word: Substring) -> RemindDate? {
    var date = self
    let bare = word.last == "," ? word.dropLast() : word
    if let number = Int(bare) {
      if (1...31).contains(number), day == nil {
        date.day = number
      } else if number >= 1_970, number < 10_000, year == nil {
        date.year = number
      } else {
        return nil
      }
    } else if let month = EnglishNames.number(of: bare, in: EnglishNames.months), self.month == nil {
      date.month = month
    } else if let weekday = EnglishNames.number(of: bare, in: EnglishNames.weekdays) {
      date.weekdays.insert(weekday)
    } else {
      // 2027-03-01, 2027/03/01@09:30
      let halves = bare.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      let parts = halves[0].split(whereSeparator: { $0 == "-" || $0 == "/" }).map { Int($0) }
      guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2], self.day == nil,
        self.year == nil, CivilDate(year: year, month: month, day: day) != nil
      else { return nil }
      (date.year, date.month, date.day) = (year, month, day)
      if halves.count == 2 {
        guard let time = RemindLine.time(halves[1]) else { return nil }
        date.time = time
      }
    }
    return date
  }

  func joined(_ other: RemindDate) -> RemindDate {
    RemindDate(
      weekdays: weekdays.union(other.weekdays), day: day ?? other.day, month: month ?? other.month,
      year: year ?? other.year, time: time ?? other.time)
  }
}
