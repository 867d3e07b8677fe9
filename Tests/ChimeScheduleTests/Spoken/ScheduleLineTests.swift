import Testing

@testable import ChimeSchedule

/// Lines with a title and a time. Now is Monday 2026-11-23 08:15 in Prague.
@Suite struct ScheduleLineTests {
  static func read(
    _ line: String, _ place: ScheduleLine.Place, language: SpokenLanguage? = nil
  ) throws -> Result<ScheduleLine, ScheduleLine.Refusal> {
    // Every second piece between quotation marks is one word.
    var words: [String] = []
    for (index, piece) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
      words += index % 2 == 1 ? [String(piece)] : piece.split(separator: " ").map(String.init)
    }
    var scheduleContext = ScheduleContext(
      zone: try zone("Europe/Prague"), place: Place(latitude: 50, longitude: 14),
      calendar: { $0 == "holidays" ? [] : nil })
    scheduleContext.language = language
    do throws(ScheduleLine.Refusal) {
      return .success(try ScheduleLine(words, place: place, now: SpokenTests.monday, in: scheduleContext))
    } catch {
      return .failure(error)
    }
  }

  /// Parses a line whose first word is the verb: `at`, `in` or `add`.
  static func read(
    _ line: String, language: SpokenLanguage? = nil
  ) throws -> Result<ScheduleLine, ScheduleLine.Refusal> {
    let verb = String(line.prefix { $0 != " " })
    return try read(
      String(line.dropFirst(verb.count + 1)), verb == "add" ? .anywhere : .after(verb), language: language)
  }

  static let table: [(line: String, title: String, canonical: String)] = [
    ("at 5:30 p.m. Tea", "Tea", "at 2026-11-23 17:30"),
    ("at 9 next monday Dentist", "Dentist", "at 2026-11-30 09:00"),
    ("at 8 tonight Movie", "Movie", "at 2026-11-23 20:00"),
    ("in 3 days at 9 Dentist", "Dentist", "at 2026-11-26 09:00"),
    ("at 8 in the evening Call mum", "Call mum", "at 2026-11-23 20:00"),
    ("in 1 hour and a half Walk", "Walk", "at 2026-11-23T08:45:00Z"),
    ("at 9 24.12. Bake cookies", "Bake cookies", "at 2026-12-24 09:00"),
    ("at 8 every morning Take the pills", "Take the pills", "daily at 08:00"),
    ("at 10 day after tomorrow Dentist", "Dentist", "at 2026-11-25 10:00"),
    ("at 5pm dec 24 Gifts", "Gifts", "at 2026-12-24 17:00"),
    ("at 9 Dentist", "Dentist", "at 2026-11-23 09:00"),
    ("at tomorrow 9:00 Water the plants", "Water the plants", "at 2026-11-24 09:00"),
    ("at tomorrow 9 Water the plants", "Water the plants", "at 2026-11-24 09:00"),
    ("at 2026-12-01 09:00 Dentist", "Dentist", "at 2026-12-01 09:00"),
    ("at friday 17:30 Leave", "Leave", "at 2026-11-27 17:30"),
    ("at every day 9 Dentist", "Dentist", "daily at 09:00"),
    ("at 9 'Dentist next monday'", "Dentist next monday", "at 2026-11-23 09:00"),
    ("at 9 in the garden", "in the garden", "at 2026-11-23 09:00"),
    ("at 18:30 'Call home'", "Call home", "at 2026-11-23 18:30"),
    ("at '9 Dentist'", "Dentist", "at 2026-11-23 09:00"),
    ("in 25m Tea", "Tea", "at 2026-11-23T07:40:00Z"),
    ("in 1h 30m Take the bread out", "Take the bread out", "at 2026-11-23T08:45:00Z"),
    ("in 2 weeks Water the cactus", "Water the cactus", "at 2026-12-07 08:15"),
    ("add Call mum tomorrow at 5pm", "Call mum", "at 2026-11-24 17:00"),
    ("add tomorrow at 5pm call mum", "call mum", "at 2026-11-24 17:00"),
    (
      "add every weekday at 9 except holidays stand-up to team", "stand-up to team",
      "weekdays at 09:00 except on holidays"
    ),
    ("add 'Drink water' every 90m from 8:00 to 22:00", "Drink water", "every 90m from 08:00 to 22:00"),
    ("add Stand-up weekdays at 9:25", "Stand-up", "weekdays at 09:25"),
    ("add Tea in 5 minutes", "Tea", "at 2026-11-23T07:20:00Z"),
    ("add Buy 2 tickets tomorrow at 5pm", "Buy 2 tickets", "at 2026-11-24 17:00"),
    ("add Read chapter 5 tomorrow at 9", "Read chapter 5", "at 2026-11-24 09:00"),
    ("add Submit report by friday 5pm", "Submit report", "at 2026-11-27 17:00"),
    ("add Meeting on the 15th at 3pm", "Meeting", "at 2026-12-15 15:00"),
    ("add Pay rent every 1st", "Pay rent", "day 1 of month at 09:00"),
    ("add water the plants every 3 days", "water the plants", "every 3 days at 09:00 starting 2026-11-23"),
    ("add Backup 'cron: 0 3 * * *'", "Backup", "cron: 0 3 * * *"),
    ("add Tea at sunset", "Tea", "sunset"),
    ("add call Anna, mon 9:30", "call Anna", "at 2026-11-23 09:30"),
    ("add lunch with Bob at noon on friday", "lunch with Bob", "at 2026-11-27 12:00"),
    ("add meet tomorrow at 9 with Eva", "meet with Eva", "at 2026-11-24 09:00"),
    ("add 'every day' daily at 8", "every day", "daily at 08:00"),
    ("add Monday every day at 9", "Monday", "daily at 09:00"), ("add Evening sunset", "Evening", "sunset"),
  ]

  /// The parser skips runs with words of no time, and words after the one at which a reading stops. An exhaustive
  /// search finds nothing more.
  @Test(
    arguments: (SpokenTests.table.map(\.text) + table.map(\.line)).map { ($0, nil) }
      + CzechTests.table.map { ($0.czech, SpokenLanguage.czech) })
  func everyTimeOfALineIsFound(_ text: String, _ language: SpokenLanguage?) throws {
    var scheduleContext = try SpokenTests.scheduleContext()
    scheduleContext.language = language
    let words = ["Zyx"] + text.split(separator: " ").map(String.init)
    let reader = ScheduleLine.Reader(
      words: words, place: .anywhere, now: SpokenTests.monday, scheduleContext: scheduleContext)
    var longest: Range<Int>?
    for start in words.indices {
      for end in start + 1...words.count where end - start >= longest?.count ?? 1 {
        if reader.understood(words[start..<end].joined(separator: " ")) != nil { longest = start..<end }
      }
    }
    #expect(reader.longestRun()?.words == longest)
  }

  @Test(arguments: table) func understandsLines(_ line: String, _ title: String, _ canonical: String) throws {
    let read = try Self.read(line).get()
    #expect(read.title == title)
    #expect(read.schedule.canonical == canonical)
  }

  /// Leftover time words: the line, the leftover words, and the first suggested line.
  static let refused: [(line: String, words: String, choice: String?)] = [
    ("at 9 Dentist next monday", "next monday", "9|next|monday|Dentist"),
    ("at 9 next friday Dentist", "next friday", "9|friday|Dentist"),
    ("in 3 days Call mum at 9", "at 9", "3|days|at|9|Call|mum"),
    ("in 20 minutes call at 5", "at 5", "20|minutes|call at 5"),
    ("at 9 quux tuesday", "tuesday", "9|tuesday|quux"),
    ("at 9 30 Tea", "30", "9:30|Tea"),
    // A title is not assembled from both sides of the time, and a repeated time is not another time.
    ("add timeoff monday 7 to 9am", "to 9am", nil), ("add Midnight snack at midnight and noon", "and noon", nil),
    ("add Midnight snack at midnight", "Midnight", "Midnight snack|at|midnight"),
    ("at 9 Dentist tommorow", "tommorow", "9|tomorrow|Dentist"),
    ("add Dentist next friday at 9", "next", "Dentist|friday|at|9"),
    ("add Dentist 5 tomorrow", "5", "Dentist|tomorrow|at|5"),
    ("add tomorrow 5 apples", "5", "apples|tomorrow|at|5"),
    ("add monday dentist at 9", "monday", "dentist|monday|at|9"),
    ("add Submit report before friday", "before", "Submit report before|friday"),
    ("add Call mum tommorow at 9", "tommorow", "Call|mum|tomorrow|at|9"),
    ("add Tea wekdays at 9", "wekdays", "Tea|weekdays|at|9"),
  ]

  /// Words after a time that would change its meaning do not become a title; at the beginning of a title they may.
  @Test(arguments: [
    ("add Team lunch friday next", "next"), ("add Dentist friday after next", "after next"),
    ("add Lunch friday coming", "coming"), ("add Tea thursday last", "last"), ("add Tea tomorrow late", "late"),
    ("add Call at 5 sharp", "sharp"), ("add Tea tomorrow noonish", "noonish"),
  ])
  func wordsAfterATimeAreNoTitle(_ line: String, _ words: String) throws {
    guard case .failure(.leftOver(let left)) = try Self.read(line) else {
      Issue.record("\(line) was taken: \(try Self.read(line))")
      return
    }
    #expect(left.words == words)
  }

  @Test(arguments: [
    "at 9 Next steps for Anna", "at 9 Last chance to pay", "at 9 After work drinks", "at 9 Before", "in 1s Before",
  ])
  func titleMayBeginWithATimeWord(_ line: String) throws {
    #expect(try Self.read(line).get().title == line.split(separator: " ").dropFirst(2).joined(separator: " "))
  }

  /// A range of hours is no UTC offset; it once fired eleven hours late.
  @Test(arguments: [
    "add Call Zoe tomorrow 10:00-11:00", "add tomorrow 14:00-15:30 Call Zoe", "add Zoe 2026-11-27 09:00-10:00",
  ])
  func rangeOfHoursIsNoUTCOffset(_ line: String) throws {
    if case .success(let read) = try Self.read(line) { Issue.record("\(line): \(read.schedule.canonical)") }
  }

  /// A line with nothing but an ambiguous time is not read as the title "next" with a nearer time.
  @Test func ambiguousTimeIsNoTitle() throws {
    guard case .failure(.noTime(let error, _)) = try Self.read("add next tuesday at 9") else {
      Issue.record("\(try Self.read("add next tuesday at 9"))")
      return
    }
    #expect(error?.choices == ["tuesday at 9", "tuesday next week at 9"])
  }

  @Test(arguments: refused) func refusesLinesWithLeftoverWords(_ line: String, _ words: String, _ choice: String?)
    throws
  {
    guard case .failure(.leftOver(let left)) = try Self.read(line) else {
      Issue.record("\(line) was taken: \(try Self.read(line))")
      return
    }
    #expect(left.words == words)
    #expect(left.choices.first?.joined(separator: "|") == choice)
    #expect(left.choices.count <= 3)
    let verb = line.prefix { $0 != " " }
    for choice in left.choices {
      let again = choice.map { $0.contains(" ") ? "'\($0)'" : $0 }.joined(separator: " ")
      #expect(throws: Never.self) { try Self.read("\(verb) \(again)").get() }
    }
  }

  /// Invalid time words report their own error.
  @Test func invalidTimesReportTheirOwnError() throws {
    for (line, says) in [
      ("add Tea daily at 25:00", "is not an hour of the day"), ("add Tea daily at 9 until 2020-01-01", "no occurrence"),
      ("at 9 next friday Dentist", "is ambiguous"),
    ] {
      guard case .failure(.leftOver(let left)) = try Self.read(line) else {
        Issue.record("\(line) was taken")
        continue
      }
      #expect(left.error?.message.contains(says) == true, "\(line): \(left.error?.message ?? "nothing")")
    }
  }

  @Test func missingTitleOrTimeIsReported() throws {
    guard case .failure(.noTitle) = try Self.read("at 9 tomorrow") else {
      Issue.record("a title is missing")
      return
    }
    guard case .failure(.noTime(nil, _)) = try Self.read("add Buy milk") else {
      Issue.record("a time is missing")
      return
    }
    guard case .failure(.noTime(let error?, _)) = try Self.read("in 20 Tea") else {
      Issue.record("a unit is missing")
      return
    }
    #expect(error.message.contains("needs a unit of time"))
    guard case .failure(.noTime(let error?, _)) = try Self.read("add Tea evry 90m") else {
      Issue.record("a word is misspelt")
      return
    }
    #expect(error.suggestion == "every 90m")
  }

  static let wordsOfTime = [
    "monday", "tue", "fridays", "may", "december", "today", "tomorrow", "tonight", "morning", "evening", "night",
    "noon",
    "midnight", "daily", "weekly", "monthly", "hourly", "weekdays", "weekends", "every", "each", "until", "except",
    "starting", "pm", "am", "5pm", "17:30", "24.12.", "2026-12-24", "12/24", "minutes", "hours", "days", "weeks",
    "o’clock", "fortnight", "teatime", "sunset", "twice", "biweekly", "wendesday", "tommorow", "evry", "mornin",
  ]

  /// A time word inserted into a valid line at the edges of time or title is rejected or becomes part of the time,
  /// never of the title.
  @Test(arguments: wordsOfTime) func insertedTimeWordNeverJoinsTheTitle(_ word: String) throws {
    var generator = SeededGenerator(seed: UInt64(word.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
    let lines = Self.table.filter { !$0.line.contains("'") }.shuffled(using: &generator)
    for (line, title, canonical) in lines.prefix(ProofTier.amount(quick: 2, proof: lines.count)) {
      let words = line.split(separator: " ").map(String.init)
      let titleWords = title.split(separator: " ").map(String.init)
      for place in 1...words.count {
        // In the middle of the title it belongs to the title.
        let isInside =
          place < words.count
          && titleWords.indices.dropLast().contains { index in
            words[place - 1].hasPrefix(titleWords[index]) && words[place].hasPrefix(titleWords[index + 1])
          }
        guard !isInside else { continue }
        let changed = words[..<place] + [word] + words[place...]
        guard case .success(let read) = try Self.read(changed.joined(separator: " ")) else { continue }
        let isTaken = read.title.split(whereSeparator: { $0 == " " || $0 == "," }).contains { $0 == word }
        #expect(!isTaken, "\(changed.joined(separator: " ")): \(read.title) / \(read.text)")
        #expect(
          read.schedule.canonical == canonical || read.text.split(separator: " ").contains { $0.contains(word) },
          "\(changed.joined(separator: " ")): \(read.schedule.canonical)")
      }
    }
  }

  /// Without one of its time words, a line is an error or has another time; the word never becomes a title.
  @Test(arguments: table.map(\.line)) func removedTimeWordChangesTheTime(_ line: String) throws {
    guard !line.contains("'") else { return }
    let words = line.split(separator: " ").map(String.init)
    let title = try Self.read(line).get().title
    for place in words.indices.dropFirst() {
      var changed = words
      changed.remove(at: place)
      guard case .success(let read) = try Self.read(changed.joined(separator: " ")) else { continue }
      let known = Set(title.split(separator: " "))
      let foreign = read.title.split(separator: " ").filter { !known.contains($0) }
      let isHarmless = foreign.allSatisfy { !SpokenWords.alone.contains($0.lowercased()) }
      #expect(isHarmless, "\(changed.joined(separator: " ")): \(read.title) / \(read.text)")
    }
  }
}
