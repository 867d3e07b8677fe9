import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeStoreSQLite

/// The time from which a schedule counts is stored with its reminder, but only for schedules that count.
struct CountingTests {
  @Test(arguments: ["every 45m", "in 25m", "tomorrow at 9:00"], [false, true])
  func startOfCountingIsStored(_ text: String, isEdited: Bool) async throws {
    let folder = try Folder()
    let made = Instant(seconds: 1_795_161_600)
    let read = isEdited ? made + .hours(1) : made
    let reminder = Reminder(
      id: ReminderID(rawValue: "abcd"), owner: 1, title: "Tea",
      schedule: try Schedule.parse(text, now: read, zone: .utc), timezone: .named("UTC"), createdAt: made)
    let store = try SQLiteStore.open(path: folder.path + "/chime.db")
    try await store.write { try $0.upsert(reminder, next: read + .days(1)) }
    let found = try await store.read { try $0.reminder(reminder.id)?.reminder }
    #expect(found?.schedule.countsFrom == read)
    await store.close()
  }

  @Test(arguments: ["every 45m starting 2030-01-01", "at 2030-01-01 09:00", "daily at 9:00", "cron: 0 9 * * *"])
  func absoluteScheduleHasNoStartOfCounting(_ text: String) throws {
    let schedule = try Schedule.parse(text, now: Instant(seconds: 1_795_161_600), zone: .utc)
    #expect(schedule.countsFrom == nil)
  }
}
