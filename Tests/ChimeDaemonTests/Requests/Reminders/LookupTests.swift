import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Testing

@testable import ChimeDaemon

/// Looking up a reminder by title.
@Suite struct LookupTests {
  private let now = Instant(seconds: 1_800_000_000)

  private enum State { case open, coming, ended }

  /// Adds reminders titled Tea, each an hour after the one before; returns the result of the lookup.
  private func found(_ states: [State]) async throws -> Result<String, ControlFailure> {
    try await MemoryStore().write { transaction in
      for (index, state) in states.enumerated() {
        let time = now + .hours(Int64(index))
        let reminder = Reminder(
          id: ReminderID(rawValue: "tea\(index)"), owner: 1, title: "Tea",
          schedule: try Schedule(canonical: "daily at 09:00"),
          createdAt: .earliest)
        try transaction.upsert(reminder, next: state == .ended || state == .open ? time : time + .days(1))
        guard state != .coming else { continue }
        let occurrence = Occurrence(
          id: OccurrenceID(reminder: reminder.id, scheduledAt: time), title: "Tea", owner: 1,
          state: state == .open ? .fired : .done, firedAt: time)
        let due = DueReminder(reminder: reminder, scheduledAt: time, dueAt: time, isRegular: true, occurrence: nil)
        _ = try transaction.record([
          FiringResult(due: due, occurrences: [occurrence], deliveries: [], next: nil, advances: true, skipNext: 0)
        ])
      }
      do {
        return .success(try Lookup(transaction: transaction, owner: 1).reminder("Tea").reminder.id.rawValue)
      } catch let failure as ControlFailure {
        return .failure(failure)
      }
    }
  }

  @Test func lookupPrefersWaitingThenComingThenLatestReminders() async throws {
    #expect(try await found([.ended, .open, .coming, .ended]).get() == "tea1")
    #expect(try await found([.ended, .ended, .coming, .ended]).get() == "tea2")
    #expect(try await found([.ended, .ended, .ended]).get() == "tea2")
    #expect(try await found(Array(repeating: .ended, count: 30) + [.coming]).get() == "tea30")
  }

  /// Equally good matches are listed with distinguishing details, and no others.
  @Test func equallyGoodMatchesAreListed() async throws {
    for states in [[State.open, .ended, .open, .coming], [.coming, .ended, .coming]] {
      guard case .failure(.ambiguous(let title, let candidates)) = try await found(states) else {
        Issue.record("one of \(states) was taken")
        continue
      }
      #expect(title == "Tea")
      #expect(candidates == ["tea0 Tea (daily at 09:00)", "tea2 Tea (daily at 09:00)"])
    }
  }
}
