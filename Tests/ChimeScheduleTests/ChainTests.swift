import ChimeSchedule
import Testing

@Suite struct ChainTests {
  private static let now = Instant(seconds: 1_774_600_000)

  private func read(_ text: String, _ language: SpokenLanguage? = nil) throws -> Schedule {
    var scheduleContext = ScheduleContext(zone: .utc)
    scheduleContext.language = language
    return try Schedule.parse(text, now: Self.now, in: scheduleContext)
  }

  @Test(arguments: [
    ("after done of backup", "after done of backup"),
    ("After Done Of backup", "after done of backup"),
    ("after completion of \"backup\"", "after done of backup"),
    ("30m after done of backup", "30m after done of backup"),
    ("1h30m after missed of k3f2", "90m after missed of k3f2"),
    ("2 days after done of \"Check the figures\"", "48h after done of \"Check the figures\""),
    ("an hour after missed of Check the figures", "1h after missed of \"Check the figures\""),
    ("after \"Check the figures\" is done", "after done of \"Check the figures\""),
    ("10 minutes after backup is missed", "10m after missed of backup"),
    ("after done of \"He said \"stop\"\"", "after done of \"He said \"stop\"\""),
    ("after done of „Kontrola čísel“", "after done of \"Kontrola čísel\""),
  ])
  func readsChainsInAnyWording(_ text: String, _ canonical: String) throws {
    let schedule = try read(text)
    #expect(schedule.canonical == canonical)
    #expect(schedule.dialect == .phrase)
    #expect(try Schedule(canonical: canonical) == schedule)
  }

  @Test(arguments: [
    ("po splnění „Kontrola čísel“", "after done of \"Kontrola čísel\""),
    ("30 minut po zmeškání zálohy", "30m after missed of \"zálohy\""),
    ("půl hodiny po dokonceni zaloha", "30m after done of zaloha"),
  ])
  func readsCzech(_ text: String, _ canonical: String) throws {
    #expect(try read(text, .czech).canonical == canonical)
    #expect(Schedule.written(text, now: Self.now, in: czech) == canonical)
    #expect(throws: ScheduleError.self) { try read(text) }
  }

  private var czech: ScheduleContext {
    var scheduleContext = ScheduleContext(zone: .utc)
    scheduleContext.language = .czech
    return scheduleContext
  }

  @Test func timesComeFromTheContext() throws {
    let schedule = try read("30m after done of backup")
    #expect(schedule.chain == Chain(.done, of: "backup", delay: .minutes(30)))
    #expect(schedule.timetable(in: .utc).next(after: .earliest) == nil)
    var scheduleContext = ScheduleContext(zone: .utc)
    scheduleContext.chainedTimes = [Instant(seconds: 20), Instant(seconds: 10)]
    let timetable = schedule.timetable(in: scheduleContext)
    #expect(timetable.occurrences(after: .earliest).map(\.seconds) == [10, 20])
    #expect(timetable.next(after: Instant(seconds: 10)) == Instant(seconds: 20))
  }

  @Test func delayIsRoundedUpToASecond() {
    let chain = Chain(.done, of: "backup", delay: .minutes(1))
    #expect(chain.time(after: Instant(milliseconds: 1_001)) == Instant(seconds: 62))
    #expect(chain.time(after: Instant(milliseconds: 2_000)) == Instant(seconds: 62))
    #expect(Chain(.done, of: "backup", delay: .days(366)).time(after: .latest) <= .latest)
  }

  @Test(arguments: [
    ("after done of", "the other reminder is missing"), ("after missed of \"\"", "the other reminder is missing"),
    ("367d after done of backup", "at most 366 days"), ("500ms after done of backup", "at most 366 days"),
  ])
  func refusesInvalidChains(_ text: String, _ problem: String) throws {
    let error = try #require(throws: ScheduleError.self) { try read(text) }
    #expect(error.message.contains(problem), "\(error.message)")
  }

  @Test(arguments: ["every 3 days after done at 9:00", "every 4h after done"])
  func scheduleAfterItsOwnDoneIsNoChain(_ text: String) throws {
    #expect(try read(text).chain == nil)
  }

  @Test(arguments: [
    (["Send the report", "after", "done", "of", "Check the figures"], "Send the report"),
    (["Send", "the", "report", "after", "done", "of", "Check", "the", "figures"], "Send the report"),
    (["Send", "the", "report", "after", "Check the figures", "is", "done"], "Send the report"),
    (["Send the report after done of \"Check the figures\""], "Send the report"),
  ])
  func chainMayFollowATitle(_ words: [String], _ title: String) throws {
    let line = try ScheduleLine(words, place: .anywhere, now: Self.now, in: ScheduleContext(zone: .utc))
    #expect(line.title == title)
    #expect(line.text == "after done of \"Check the figures\"")
    #expect(line.schedule.chain?.reminder == "Check the figures")
  }

  @Test func delayBelongsToTheChain() throws {
    let line = try ScheduleLine(
      ["Look", "at", "the", "log", "1h", "30m", "after", "missed", "of", "backup"], place: .anywhere, now: Self.now,
      in: ScheduleContext(zone: .utc))
    #expect(line.title == "Look at the log")
    #expect(line.text == "90m after missed of backup")
  }

  @Test func chainConvertsToNoOtherDialect() throws {
    let schedule = try read("after done of backup")
    #expect(throws: (any Error).self) {
      try schedule.converted(to: .rrule, now: Self.now, in: ScheduleContext(zone: .utc))
    }
  }
}
