import Testing

@testable import ChimeSchedule

/// Generated spoken times, compared with their intended meaning. Now is Monday 2026-11-23 08:15 in Prague.
///
/// An accepted text must have the intended meaning: in any order, with a title around it, and with a word inserted or
/// left out. The parser may reject a text.
@Suite struct SpokenGrammarTests {
  /// The meaning, independent of words.
  struct Meaning {
    enum Days {
      case once(CivilDate)
      case daily
      case weekdays
      case weekly([Int])
      case monthly(Int)
    }
    var days: Days
    /// Nil means nine o'clock.
    var time: (hour: Int, minute: Int)?
    var except: String?
    var count: Int?
    var until: CivilDate?

    /// The written form (`docs/schedules.md`), which another parser reads.
    var written: String {
      let at = "\(two(time?.hour ?? 9)):\(two(time?.minute ?? 0))"
      var text: String
      switch days {
      case .once(let date): text = "at \(date) \(at)"
      case .daily: text = "daily at \(at)"
      case .weekdays: text = "weekdays at \(at)"
      case .weekly(let days): text = "every \(days.map { PropertyTests.names[$0] }.joined(separator: ",")) at \(at)"
      case .monthly(let day): text = "day \(day) of month at \(at)"
      }
      if let until { text += " until \(until)" }
      if let count { text += " \(count) times" }
      if let except { text += " except on \(except)" }
      return text
    }

    private func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
  }

  /// A spoken time, as parts that may stand in any order.
  struct SpokenTime {
    enum Part: CaseIterable { case days, time, except, count, until }
    var meaning: Meaning
    /// Whether the current time of day is kept if no other is given: `in 2 days`.
    var keepsTime = false
    var parts: [(part: Part, text: String)]

    var text: String { parts.map(\.text).joined(separator: " ") }

    /// Returns the saying without one part; `nil` if the rest says nothing, or something else.
    func without(_ index: Int) -> SpokenTime? {
      guard !keepsTime else { return nil }
      var rest = self
      switch rest.parts.remove(at: index).part {
      case .days: return nil
      case .time: rest.meaning.time = nil
      case .except: rest.meaning.except = nil
      case .count: rest.meaning.count = nil
      case .until: rest.meaning.until = nil
      }
      return rest
    }
  }

  struct Generator {
    var random: SeededGenerator
    static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    static let months = [
      "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
      "december",
    ]
    static let today = 20_780

    mutating func pick<Element>(_ values: [Element]) -> Element {
      values[Int.random(in: 0..<values.count, using: &random)]
    }

    mutating func make() throws -> SpokenTime {
      var parts: [(SpokenTime.Part, String)] = []
      let (days, words) = try self.days()
      parts.append((.days, words))
      var meaning = Meaning(days: days)
      let keepsTime =
        [" day", " days", " from now", " two days"].contains { words.hasSuffix($0) } && !words.hasPrefix("e")
      if keepsTime || Int.random(in: 0..<5, using: &random) > 0 {
        let (time, words) = time()
        meaning.time = time
        parts.append((.time, words))
      }
      if case .once = days {
        return SpokenTime(meaning: meaning, keepsTime: keepsTime, parts: parts.shuffled(using: &random))
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        // In the written form, excepted weekdays are part of the weekdays, so use only calendars.
        meaning.except = "holidays"
        parts.append(
          (.except, pick(["except holidays", "except on holidays", "excluding holidays", "but not on holidays"])))
      }
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let count = Int.random(in: 2...30, using: &random)
        meaning.count = count
        parts.append((.count, pick(["for \(count) times", "\(count) times", "for the next \(count) times"])))
      case 1:
        let date = try date(in: 40...400)
        meaning.until = date
        parts.append((.until, "\(pick(["until", "till", "through"])) \(said(date))"))
      default: break
      }
      // Adjacent numbers would merge, so the count stands last.
      let last = parts.filter { $0.0 == .count || $0.0 == .until || $0.0 == .except }
      return SpokenTime(
        meaning: meaning,
        parts: parts.filter { $0.0 == .days || $0.0 == .time }.shuffled(using: &random) + last.shuffled(using: &random))
    }

    private mutating func date(in days: ClosedRange<Int>) throws -> CivilDate {
      try #require(CivilDate(dayNumber: Self.today + Int.random(in: days, using: &random)))
    }

    /// Returns a date with its year, in an unambiguous form.
    private mutating func said(_ date: CivilDate) -> String {
      let month = Self.months[date.month - 1]
      let ordinal = ordinal(date.day)
      return pick([
        "\(date)", "\(date.day).\(date.month).\(date.year)", "\(date.day) \(month) \(date.year)",
        "\(month.prefix(3)) \(date.day) \(date.year)", "\(month) \(ordinal) \(date.year)",
        "\(month) \(date.day), \(date.year)",
        "the \(ordinal) of \(month) \(date.year)", "\(date.year)/\(date.month)/\(date.day)",
      ])
    }

    private func ordinal(_ day: Int) -> String {
      "\(day)\((11...13).contains(day) ? "th" : [1: "st", 2: "nd", 3: "rd"][day % 10] ?? "th")"
    }

    private mutating func days() throws -> (Meaning.Days, String) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: return (.daily, pick(["every day", "daily", "each day", "everyday"]))
      case 1:
        return (
          .weekdays,
          pick([
            "every weekday", "weekdays", "on weekdays", "every workday", "each business day", "monday to friday",
            "mon-fri",
          ])
        )
      case 2, 3:
        let all = (0..<7).shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)).sorted()
        guard all != [5, 6], all.count < 3 || Int.random(in: 0..<2, using: &random) == 0 else { return try self.days() }
        let names = all.map { Self.days[$0] }
        let short = all.map { PropertyTests.names[$0] }
        return (
          .weekly(all),
          pick([
            "every \(names.joined(separator: " and "))", "every \(short.joined(separator: " "))",
            "every \(short.joined(separator: ","))",
            "on \(names.map { $0 + "s" }.joined(separator: " and "))", names.map { $0 + "s" }.joined(separator: ", "),
            "each \(names.joined(separator: ", "))", "every \(names.joined(separator: " & "))",
          ])
        )
      case 4:
        let day = Int.random(in: 1...28, using: &random)
        return (
          .monthly(day),
          pick([
            "every \(ordinal(day)) of the month", "on the \(ordinal(day)) of every month",
            "monthly on the \(ordinal(day))", "every month on the \(ordinal(day))",
          ])
        )
      case 5:
        let date = try date(in: 1...6)
        let day = Self.days[(Int(date.dayNumber) - Self.today) % 7]
        return (.once(date), pick([day, "on \(day)", "this \(day)", "coming \(day)", "\(day.prefix(3))"]))
      case 6:
        let days = Int.random(in: 1...2, using: &random)
        let date = try #require(CivilDate(dayNumber: Self.today + days))
        return (
          .once(date),
          days == 1
            ? pick(["tomorrow", "tmrw", "in 1 day", "in a day"])
            : pick(["day after tomorrow", "the day after tomorrow", "in 2 days", "in two days", "2 days from now"])
        )
      default:
        let date = try date(in: 20...300)
        return (.once(date), pick(["", "on "]) + said(date))
      }
    }

    private mutating func time() -> ((hour: Int, minute: Int), String) {
      let hour = Int.random(in: 0..<24, using: &random)
      let minute = pick([0, 0, 0, 5, 15, 30, 45, Int.random(in: 0..<60, using: &random)])
      let (twelve, half) = (hour % 12 == 0 ? 12 : hour % 12, hour < 12 ? "am" : "pm")
      let padded = minute < 10 ? "0\(minute)" : "\(minute)"
      var forms = [
        "at \(hour):\(padded)", "\(hour):\(padded)", "at \(twelve):\(padded)\(half)", "\(twelve):\(padded) \(half)",
        "at \(twelve):\(padded) \(half.prefix(1)).m.", "@ \(hour):\(padded)", "at \(hour)h\(padded)",
      ]
      if minute == 0 { forms += ["at \(twelve)\(half)", "\(twelve) \(half)", "at \(twelve) \(half)"] }
      if minute == 0, (13...20).contains(hour) { forms.append("at \(hour)") }
      if minute == 0, (6...11).contains(hour) { forms.append("at \(hour) in the morning") }
      if minute == 0, (18...21).contains(hour) { forms.append("at \(twelve) in the evening") }
      if (hour, minute) == (12, 0) { forms += ["at noon", "noon", "at midday"] }
      if minute == 30, (7...10).contains(hour) { forms.append("at half past \(hour)") }
      return ((hour, minute), pick(forms))
    }
  }

  private func expected(_ meaning: Meaning) throws -> String {
    try Schedule.parse(meaning.written, now: SpokenTests.monday, in: SpokenTests.scheduleContext()).canonical
  }

  private func canonical(_ text: String) throws -> String? {
    try? Schedule.parse(text, now: SpokenTests.monday, in: SpokenTests.scheduleContext()).canonical
  }

  private func line(_ words: [String]) throws -> ScheduleLine? {
    try? ScheduleLine(words, place: .anywhere, now: SpokenTests.monday, in: SpokenTests.scheduleContext())
  }

  private func sayings(_ seed: Int, _ body: (SpokenTime, inout Generator) throws -> Void) throws {
    var generator = Generator(random: SeededGenerator(seed: UInt64(seed) &* 7_919 &+ 101))
    for _ in 0..<ProofTier.amount(quick: 6, proof: 150) {
      let saying = try generator.make()
      try body(saying, &generator)
    }
  }

  @Test(arguments: 0..<8) func generatedTimesHaveTheirMeaning(_ seed: Int) throws {
    try sayings(seed) { saying, _ in
      let (expected, read) = (try expected(saying.meaning), try canonical(saying.text))
      #expect(read == expected, "\(saying.text)")
    }
  }

  /// Without one part, the other parts keep their meaning.
  @Test(arguments: 0..<8) func remainingPartsKeepTheirMeaning(_ seed: Int) throws {
    try sayings(seed) { saying, _ in
      for index in saying.parts.indices {
        guard let rest = saying.without(index) else { continue }
        let (expected, read) = (try expected(rest.meaning), try canonical(rest.text))
        #expect(read == expected, "\(rest.text)")
      }
    }
  }

  static let titles = ["Call mum", "Water plants", "Stand-up to team", "Pay rent", "Zyx", "Brush teeth with Anna"]

  @Test(arguments: 0..<8) func titleDoesNotChangeTheTime(_ seed: Int) throws {
    try sayings(seed) { saying, generator in
      let (title, expected) = (generator.pick(Self.titles), try expected(saying.meaning))
      for text in ["\(title) \(saying.text)", "\(saying.text) \(title)"] {
        let read = try line(text.split(separator: " ").map(String.init))
        #expect(read?.title == title, "\(text)")
        #expect(read?.schedule.canonical == expected, "\(text)")
      }
    }
  }

  /// Inserted words of no time, and joining words, never make another time, even between words that only together form
  /// a time: `in 1 apple day`.
  @Test(arguments: 0..<8) func insertedWordMakesNoOtherTime(_ seed: Int) throws {
    let foreign = ["apple", "Zyx", "please", "with", "team", "report", "kk", "at", "on", "the", "and", "of", ","]
    try sayings(seed) { saying, generator in
      let (title, expected) = (generator.pick(Self.titles), try expected(saying.meaning))
      let words = "\(title) \(saying.text)".split(separator: " ").map(String.init)
      for place in 0...words.count {
        let word = generator.pick(foreign)
        if Self.isTime(word, before: place < words.count ? words[place] : nil) { continue }
        let changed = Array(words[..<place]) + [word] + words[place...]
        guard let read = try line(changed) else { continue }
        #expect(
          read.schedule.canonical == expected,
          "\(changed.joined(separator: " ")): \(read.schedule.canonical) instead of \(expected)")
      }
      // And without a title.
      let time = saying.text.split(separator: " ").map(String.init)
      for place in 0...time.count {
        let word = generator.pick(foreign)
        if Self.isTime(word, before: place < time.count ? time[place] : nil) { continue }
        let changed = (Array(time[..<place]) + [word] + time[place...]).joined(separator: " ")
        guard let read = try canonical(changed) else { continue }
        #expect(read == expected, "\(changed): \(read) instead of \(expected)")
      }
    }
  }

  /// "at" before a year can be a time: `5 march at 2027` is at 20:27.
  private static func isTime(_ word: String, before following: String?) -> Bool {
    word == "at" && following.flatMap { Int($0) }.map((1970...2059).contains) == true
  }

  /// An inserted time word is rejected, or becomes part of the time with all others.
  @Test(arguments: 0..<8) func insertedTimeWordIsUsedOrRefused(_ seed: Int) throws {
    try sayings(seed) { saying, generator in
      let title = generator.pick(Self.titles)
      let words = "\(title) \(saying.text)".split(separator: " ").map(String.init)
      for place in title.split(separator: " ").count...words.count {
        let word = generator.pick(ScheduleLineTests.wordsOfTime)
        let changed = Array(words[..<place]) + [word] + words[place...]
        guard let read = try line(changed) else { continue }
        let text = changed.joined(separator: " ")
        #expect(read.title == title || read.title == "\(title) on", "\(text): \(read.title)")
        let facts = HintFacts(Array(words.dropFirst(title.split(separator: " ").count).joined(separator: " ").utf8))
        #expect(facts.areKept(by: HintFacts(Array(read.text.utf8))), "\(text): \(read.text)")
      }
    }
  }

  /// Without one word, the text is rejected, or all other words are part of the time.
  @Test(arguments: 0..<8) func removedWordIsNotReplaced(_ seed: Int) throws {
    try sayings(seed) { saying, generator in
      let (title, expected) = (generator.pick(Self.titles), try expected(saying.meaning))
      let time = saying.text.split(separator: " ").map(String.init)
      for place in time.indices {
        var changed = time
        let word = changed.remove(at: place)
        guard let read = try line(title.split(separator: " ").map(String.init) + changed) else { continue }
        let text = "\(title) \(changed.joined(separator: " "))"
        // "on" and "day" may end a title: "Turn the lights on", "Mother's day".
        let rest = read.title.dropFirst(title.count).split(separator: " ")
        #expect(
          read.title.hasPrefix(title) && rest.allSatisfy { ["on", "in", "a", "the", "business", "day"].contains($0) },
          "\(text): \(read.title)")
        let isJoining = ["at", "on", "the", "of", "and", "@", "&"].contains(word)
        if isJoining {
          #expect(
            read.schedule.canonical == expected,
            "\(text): \(read.schedule.canonical) instead of \(expected)")
        }
      }
    }
  }
}
