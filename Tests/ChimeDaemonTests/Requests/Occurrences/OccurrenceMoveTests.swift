import ChimeControl
import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDaemon

/// `io.chime.Occurrences.Move` moves one time, and changes nothing else.
@Suite(.serialized)
struct OccurrenceMoveTests {
  private typealias Wired = OccurrencesInterface

  private func add(_ daemon: TestDaemon, _ when: String) throws -> RemindersInterface.Reminder {
    try daemon.call(RemindersInterface.Add(reminder: .init(title: "Stand-up", when: when, timezone: "UTC"))).reminder
  }

  private func get(_ daemon: TestDaemon, _ id: String) throws -> RemindersInterface.Reminder {
    try daemon.call(RemindersInterface.Get(id: id)).reminder
  }

  private func move(_ daemon: TestDaemon, _ parameters: Wired.Move) throws -> Wired.Occurrence {
    try daemon.call(parameters).occurrence
  }

  private func instant(_ time: Wire.Time?) throws -> Instant { try RFC3339.parse(#require(time).at) }

  @Test(arguments: [false, true]) func moveChangesTheNextTimeOnly(inMemory: Bool) async throws {
    try await TestDaemon.run(inMemory: inMemory) { daemon in
      let reminder = try add(daemon, "daily at 09:25")
      let next = try instant(reminder.next)
      let moved = try move(daemon, .init(id: reminder.id, by: "PT1H"))
      #expect(moved.state == .snoozed && moved.rounds == 0 && moved.firedAt == nil)
      #expect(try instant(moved.scheduledAt) == next && instant(moved.snoozedUntil) == next + .hours(1))
      #expect(try instant(get(daemon, reminder.id).next) == next + .hours(1))
      // It has not fired: only its id can be answered.
      #expect(daemon.refusal(Wired.Done())?.name == "io.chime.Occurrences.Conflict")
      // Moved again, it is the same occurrence, and the following time stays.
      let again = try move(daemon, .init(id: reminder.id, by: "PT30M"))
      #expect(again.id == moved.id)
      #expect(try instant(again.snoozedUntil) == next + .minutes(90))
      let stored = try await daemon.store.read { try $0.reminder(ReminderID(rawValue: reminder.id)) }
      #expect(stored?.next == next + .days(1) && stored?.snoozedUntil == next + .minutes(90))
      #expect(stored?.reminder.schedule.canonical == reminder.when)
      // Move it to a time, where it is done before it fires.
      let to = RFC3339.format(next + .days(2), in: .utc)
      #expect(try instant(move(daemon, .init(id: reminder.id, to: to)).snoozedUntil) == next + .days(2))
    }
  }

  @Test func invalidMovesAreRefused() async throws {
    try await TestDaemon.run { daemon in
      let reminder = try add(daemon, "daily at 09:25")
      for parameters in [
        Wired.Move(id: reminder.id), .init(id: reminder.id, by: "PT1H", to: "2030-01-01T00:00:00Z"),
        .init(id: reminder.id, to: "2001-01-01T00:00:00Z"), .init(id: reminder.id, by: "P400D"),
      ] {
        #expect(daemon.refusal(parameters)?.name == "io.chime.Occurrences.InvalidValue")
      }
      _ = try daemon.call(RemindersInterface.Skip(id: reminder.id))
      let refusal = daemon.refusal(Wired.Move(id: reminder.id, by: "PT1H"))
      #expect(refusal?.text("message").contains("chime skip \(reminder.id) -n 0") == true)
    }
  }
}
