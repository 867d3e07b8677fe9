import ChimeControl
import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDaemon

/// `io.chime.Occurrences.Move` moves one time, and changes nothing else.
@Suite(.serialized)
struct MovingTests {
  private typealias Wired = OccurrencesInterface

  private func add(_ house: TrackerHouse, _ when: String) throws -> RemindersInterface.Reminder {
    try house.call(RemindersInterface.Add(reminder: .init(title: "Stand-up", when: when, timezone: "UTC"))).reminder
  }

  private func get(_ house: TrackerHouse, _ id: String) throws -> RemindersInterface.Reminder {
    try house.call(RemindersInterface.Get(id: id)).reminder
  }

  private func move(_ house: TrackerHouse, _ parameters: Wired.Move) throws -> Wired.Occurrence {
    try house.call(parameters).occurrence
  }

  private func instant(_ time: Wire.Time?) throws -> Instant { try RFC3339.parse(#require(time).at) }

  @Test(arguments: [false, true]) func theNextTimeAloneComesLater(inMemory: Bool) async throws {
    try await TrackerHouse.live(inMemory: inMemory) { house in
      let reminder = try add(house, "daily at 09:25")
      let next = try instant(reminder.next)
      let moved = try move(house, .init(id: reminder.id, by: "PT1H"))
      #expect(moved.state == .snoozed && moved.rounds == 0 && moved.firedAt == nil)
      #expect(try instant(moved.scheduledAt) == next && instant(moved.snoozedUntil) == next + .hours(1))
      #expect(try instant(get(house, reminder.id).next) == next + .hours(1))
      // It has not fired: only its id can be answered.
      #expect(house.refusal(Wired.Done())?.name == "io.chime.Occurrences.Conflict")
      // Moved again, it is the same occurrence, and the following time stays.
      let again = try move(house, .init(id: reminder.id, by: "PT30M"))
      #expect(again.id == moved.id)
      #expect(try instant(again.snoozedUntil) == next + .minutes(90))
      let stored = try await house.store.read { try $0.reminder(ReminderID(rawValue: reminder.id)) }
      #expect(stored?.next == next + .days(1) && stored?.snoozedUntil == next + .minutes(90))
      #expect(stored?.reminder.schedule.canonical == reminder.when)
      // Move it to a time, where it is done before it fires.
      let to = RFC3339.format(next + .days(2), in: .utc)
      #expect(try instant(move(house, .init(id: reminder.id, to: to)).snoozedUntil) == next + .days(2))
    }
  }

  @Test func whatCannotBeMovedIsRefused() async throws {
    try await TrackerHouse.live { house in
      let reminder = try add(house, "daily at 09:25")
      for parameters in [
        Wired.Move(id: reminder.id), .init(id: reminder.id, by: "PT1H", to: "2030-01-01T00:00:00Z"),
        .init(id: reminder.id, to: "2001-01-01T00:00:00Z"), .init(id: reminder.id, by: "P400D"),
      ] {
        #expect(house.refusal(parameters)?.name == "io.chime.Occurrences.InvalidValue")
      }
      _ = try house.call(RemindersInterface.Skip(id: reminder.id))
      let refusal = house.refusal(Wired.Move(id: reminder.id, by: "PT1H"))
      #expect(refusal?.text("message").contains("chime skip \(reminder.id) -n 0") == true)
    }
  }
}
