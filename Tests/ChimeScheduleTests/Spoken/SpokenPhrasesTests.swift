import Testing

@testable import ChimeSchedule

/// Phrases and lines as users type them into Todoist, Google's and Apple's reminders, Fantastical, TickTick, Outlook,
/// Slack, Taskwarrior, org, at(1), remind and cron, each with its meaning. The meanings were written before the parser
/// was tried. Now is Monday 2026-11-23 08:15 in Prague.
@Suite struct SpokenPhrasesTests {
  static func scheduleContext() throws -> ScheduleContext {
    var scheduleContext = ScheduleContext(
      zone: try zone("Europe/Prague"), place: Place(latitude: 50, longitude: 14),
      calendar: { ["holidays", "vacation"].contains($0) ? [] : nil })
    scheduleContext.calendarNames = { ["holidays", "vacation"] }
    return scheduleContext
  }

  /// A text and its meaning: a schedule, or a title and a schedule. `refused` marks texts without a time or with
  /// several meanings.
  struct Row: Sendable, CustomTestStringConvertible {
    var text: String
    var meaning: String
    var testDescription: String { text }

    init(_ line: Substring) {
      let sides = line.split(separator: " → ", maxSplits: 1).map(String.init)
      (text, meaning) = (sides[0], sides.count > 1 ? sides[1] : "")
    }

    var isRefused: Bool { meaning == "refused" }
  }

  static func rows(_ text: String) -> [Row] { text.split(separator: "\n").map(Row.init) }

  static let phrases = [first, second, third, fourth, fifth].flatMap(rows)
  static let lines = [firstLines, secondLines, thirdLines, fourthLines, fifthLines].flatMap(rows)

  @Test(arguments: phrases) func phraseHasItsMeaning(_ row: Row) throws {
    let scheduleContext = try Self.scheduleContext()
    guard !row.isRefused else {
      let error = #expect(throws: ScheduleError.self) {
        try Schedule.parse(row.text, now: SpokenTests.monday, in: scheduleContext)
      }
      if let error { try helps(error, row.text, scheduleContext) }
      return
    }
    let schedule = try Schedule.parse(row.text, now: SpokenTests.monday, in: scheduleContext)
    #expect(schedule.canonical == row.meaning)
    #expect(try Schedule.parse(schedule.canonical, now: SpokenTests.monday, in: scheduleContext) == schedule)
  }

  /// Each error offers help: a valid suggestion that contains everything typed, or a valid example, which names a day
  /// if one was typed.
  private func helps(_ error: ScheduleError, _ text: String, _ scheduleContext: ScheduleContext) throws {
    func isSchedule(_ text: some StringProtocol) -> Bool {
      (try? Schedule.parse(String(text), now: SpokenTests.monday, in: scheduleContext)) != nil
    }
    let hints = error.choices + [error.suggestion].compactMap { $0 }
    for hint in hints { #expect(isSchedule(hint), "\(text): \(hint)") }
    if let hint = error.suggestion {
      #expect(HintFacts(Array(text.utf8)).areKept(by: HintFacts(Array(hint.utf8))), "\(text): \(hint)")
    }
    guard hints.isEmpty else { return }
    let quoted = error.expected.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
    let examples = quoted.filter { $0.offset % 2 == 1 && isSchedule($0.element) }.map { String($0.element) }
    #expect(!examples.isEmpty, "\(text): \(error.expected)")
    let typed = try days(text)
    // An example within the sentence must fit the typed text.
    let isFitting =
      try typed.isEmpty || !error.expected.contains("for example")
      || examples.contains { try !days($0).isDisjoint(with: typed) }
    #expect(isFitting, "\(text): \(error.expected)")
  }

  /// Returns the weekdays and months in a text.
  private func days(_ text: String) throws -> Set<String> {
    Set(
      try SpokenToken.tokens(Array(text.utf8)).compactMap { token in
        token.facts.weekday?.abbreviation ?? token.month.map { MonthDays.names[$0 - 1] }
      })
  }

  @Test(arguments: rows(czech)) func czechPhraseHasItsMeaning(_ row: Row) throws {
    var scheduleContext = try Self.scheduleContext()
    scheduleContext.language = .czech
    let schedule = try? Schedule.parse(row.text, now: SpokenTests.monday, in: scheduleContext)
    #expect(schedule?.canonical ?? "refused" == row.meaning)
  }

  @Test(arguments: lines) func lineHasItsMeaning(_ row: Row) throws { try line(row, nil) }

  @Test(arguments: rows(czechLines)) func czechLineHasItsMeaning(_ row: Row) throws { try line(row, .czech) }

  /// Checks a line whose first word is the verb: `add`, `at` or `in`.
  private func line(_ row: Row, _ language: SpokenLanguage?) throws {
    let verb = String(row.text.prefix { $0 != " " })
    var words: [String] = []
    for (index, piece) in row.text.dropFirst(verb.count + 1).split(separator: "\"", omittingEmptySubsequences: false)
      .enumerated()
    {
      words += index % 2 == 1 ? [String(piece)] : piece.split(separator: " ").map(String.init)
    }
    let place: ScheduleLine.Place = verb == "add" ? .anywhere : .after(verb)
    var scheduleContext = try Self.scheduleContext()
    scheduleContext.language = language
    do throws(ScheduleLine.Refusal) {
      let read = try ScheduleLine(words, place: place, now: SpokenTests.monday, in: scheduleContext)
      #expect("\(read.title) | \(read.schedule.canonical)" == row.meaning)
    } catch {
      #expect(row.isRefused, "\(error)")
      if case .noTime(let refusal?, let choices) = error, choices.isEmpty {
        try helps(refusal, refusal.text, scheduleContext)
      }
      guard case .leftOver(let left) = error else { return }
      // Each suggested line is valid.
      for choice in left.choices {
        #expect(throws: Never.self) {
          try ScheduleLine(choice, place: place, now: SpokenTests.monday, in: scheduleContext)
        }
      }
    }
  }
}
