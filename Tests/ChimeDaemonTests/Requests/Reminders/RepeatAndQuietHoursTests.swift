import ChimeControl
import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDaemon

/// Repetition and quiet hours over the protocol.
struct RepeatAndQuietHoursTests {
  /// 2026-11-20T08:00:00Z, a Friday.
  static let now = ReminderFieldsTests.now
  static let ten = now + .hours(14)

  typealias Change = RemindersInterface.Draft

  static func apply(_ changes: Change...) throws -> Reminder {
    var reminder = try ReminderFieldsTests.reminder()
    for change in changes { try ReminderFieldsTests.fields.apply(change, to: &reminder) }
    return reminder
  }

  @Test func fieldsThatAreNotNamedStay() throws {
    let first = Change(
      jitter: "PT10M",
      nag: .init(
        every: "PT5M", max: 6, escalation: [.init(from: 4, channels: ["b"]), .init(from: 2, channels: ["a"])]),
      quiet: .init(rule: .drop, hours: ["weekdays 22-7"]))
    let reminder = try Self.apply(first)
    let nag = Nag(
      every: .minutes(5), max: 6,
      escalation: [
        .init(from: 2, channels: [ChannelName(rawValue: "a")]), .init(from: 4, channels: [ChannelName(rawValue: "b")]),
      ])
    #expect(reminder.nag == nag && reminder.jitter == .minutes(10))
    #expect(reminder.quiet == QuietRule(hours: try QuietHours(["mon-fri 22:00-07:00"]), handling: .drop))
    let faster = try Self.apply(first, Change(nag: .init(every: "PT1M"), quiet: .init(rule: .hold)))
    #expect(faster.nag == Nag(every: .minutes(1), max: 6, escalation: nag.escalation))
    #expect(faster.quiet == QuietRule(hours: reminder.quiet?.hours, handling: .hold))
    let fewer = try Self.apply(first, Change(nag: .init(max: 4, escalation: []), quiet: .init(hours: [])))
    #expect(fewer.nag == Nag(every: .minutes(5), max: 4) && fewer.quiet == QuietRule(handling: .drop))
    let none = try Self.apply(first, Change(snooze: ["PT1M"]), Change(reset: [.jitter, .nag, .quiet, .snooze]))
    #expect(none.nag == nil && none.quiet == nil && none.jitter == .zero)
    #expect(none.snoozeLengths == Configuration().snooze)
    #expect(try Self.apply(Change(nag: .init(every: "PT10S"))).nag?.max == Nag.usualMax)
  }

  @Test(arguments: [
    (Change(nag: .init(max: 3)), "nag", "give the interval of repeats"),
    (Change(nag: .init(every: "PT9S")), "nag", "from 10s to 1w"),
    (Change(nag: .init(every: "5m")), "nag", "ISO 8601"),
    (Change(nag: .init(every: "PT5M", max: 0)), "nag", "1 to 100 repeats, not 0"),
    (Change(nag: .init(every: "PT5M", max: 101)), "nag", "1 to 100 repeats, not 101"),
    (
      Change(nag: .init(every: "PT5M", max: 2, escalation: [.init(from: 3, channels: ["a"])])), "nag",
      "there is no repeat 3"
    ),
    (Change(nag: .init(every: "PT5M", escalation: [.init(from: 0, channels: ["a"])])), "nag", "there is no repeat 0"),
    (Change(nag: .init(every: "PT5M", escalation: [.init(from: 1, channels: [])])), "nag", "give one to"),
    (Change(nag: .init(every: "PT5M", escalation: [.init(from: 1, channels: ["a b"])])), "nag", "is not a channel"),
    (Change(quiet: .init(hours: ["22:00"])), "quiet", "the end is missing"),
    (Change(quiet: .init(hours: ["0-24"])), "quiet", "leave no free minute"),
    (Change(jitter: "PT25H"), "jitter", "from 0s to 1d"), (Change(jitter: "-PT1M"), "jitter", "from 0s to 1d"),
    (Change(location: "a\nb"), "location", "control character"),
    (Change(category: "a\nb"), "category", "control character"),
    (Change(category: String(repeating: "x", count: 256)), "category", "at most 255"),
  ])
  func refusesInvalidRepeatsAndQuietHours(change: Change, field: String, sentence: String) throws {
    do {
      let reminder = try Self.apply(change)
      Issue.record("taken: \(reminder)")
    } catch ControlFailure.invalidValue(let named, let message) {
      #expect(named == field)
      #expect(message.contains(sentence), "\(message)")
    }
  }

  /// The time at which a reminder next fires; the store only knows the scheduled time.
  @Test(
    arguments: [
      ("daily at 12", [], QuietRule.Handling.hold, 4, nil), ("daily at 22", ["22:00-07:00"], .hold, 23, 14),
      ("daily at 22", ["22:00-07:00"], .off, 14, nil),
      ("every 2h starting 2026-11-20T22:00:00Z", ["22-7"], .drop, 24, nil),
      ("daily at 22", ["22:00-07:00"], .drop, 14, nil),
    ] as [(String, [String], QuietRule.Handling, Int64, Int64?)])
  func nextNotificationFollowsJitterAndQuietHours(
    when: String, hours: [String], rule: QuietRule.Handling, at: Int64, held: Int64?
  ) throws {
    var reminder = try ReminderFieldsTests.reminder()
    reminder.schedule = try Schedule.parse(when, now: Self.now, zone: .utc)
    reminder.timezone = .named("UTC")
    reminder.quiet = QuietRule(hours: try QuietHours(hours), handling: rule)
    let wire = WireMapper(context: ReminderFieldsTests.fields.context, now: Self.now)
    let next = reminder.timetable(in: .utc).next(after: Self.now)
    let heard = try #require(wire.nextNotification(ReminderRecord(reminder: reminder, next: next)))
    #expect(heard.at == Self.now + .hours(at))
    #expect(heard.held == held.map { Self.now + .hours($0) })
  }

  @Test func nextNotificationFollowsJitterAndGrace() throws {
    var reminder = try ReminderFieldsTests.reminder()
    reminder.schedule = try Schedule.parse("daily at 22", now: Self.now, zone: .utc)
    (reminder.timezone, reminder.jitter) = (.named("UTC"), .minutes(10))
    let wire = WireMapper(context: ReminderFieldsTests.fields.context, now: Self.now)
    #expect(
      wire.nextNotification(ReminderRecord(reminder: reminder, next: Self.ten))?.at == Self.ten + reminder.jitterOffset)
    // Held longer than its grace: each day is the same, so show the scheduled time.
    reminder.quiet = QuietRule(hours: try QuietHours(["22:00-07:00"]), handling: .hold)
    reminder.grace = .hours(1)
    #expect(
      wire.nextNotification(ReminderRecord(reminder: reminder, next: Self.ten))?.at == Self.ten + reminder.jitterOffset)
    // Repeats do not count if the reminder no longer repeats.
    let record = ReminderRecord(reminder: reminder, repeatAt: Self.ten)
    #expect(wire.repeatAt(record) == nil)
  }
}
