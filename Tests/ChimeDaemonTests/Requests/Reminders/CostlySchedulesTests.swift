import ChimeControl
import ChimeCore
import ChimeSchedule
import Foundation
import Testing
import Varlink

@testable import ChimeDaemon

/// Schedules that are too costly are rejected from every source, with the rule and a remedy.
@Suite(.serialized)
struct CostlySchedulesTests {
  typealias Wired = RemindersInterface

  static let useless = "FREQ=DAILY;INTERVAL=99991;BYMONTHDAY=15,22;BYDAY=TH"
  static let union = "DTSTART:20260101T000000Z RRULE:FREQ=DAILY RRULE:\(useless)"

  static func refusal(_ daemon: TestDaemon, _ method: String, _ parameters: some JSONWritable) -> String {
    do {
      _ = try daemon.client.call(method, parameters, returning: JSON.self)
      return "taken"
    } catch VarlinkClientError.remote(let error) {
      return "\(error.name) \(error.parameters(JSON.self)?["message"]?.description ?? "")"
    } catch {
      return "\(error)"
    }
  }

  @Test func addAndUpdateNameTheCostlyRule() async throws {
    try await TestDaemon.run(inMemory: true) { daemon in
      let added: Wired.Add.Reply = try daemon.call(Wired.Add(reminder: .init(title: "Tea", when: "daily at 9:00")))
      for said in [
        Self.refusal(daemon, Wired.Add.method, Wired.Add(reminder: .init(title: "Tea", when: Self.union))),
        Self.refusal(
          daemon, Wired.Update.method,
          Wired.Update(id: added.reminder.id, change: .init(when: Self.union))),
        Self.refusal(
          daemon, SchedulesInterface.Explain.method, SchedulesInterface.Explain(when: Self.union)),
      ] {
        #expect(said.contains("InvalidSchedule"), "\(said)")
        #expect(said.contains("the rule \(Self.useless) never has a time"), "\(said)")
        #expect(said.contains("remove this one"), "\(said)")
      }
    }
  }

  @Test func importSkipsAndReportsACostlyEvent() async throws {
    let event = """
      BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Tea\r\nDTSTART:20260101T000000Z\r
      RRULE:FREQ=DAILY\r\nRRULE:\(Self.useless)\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n
      """
    try await TestDaemon.run(inMemory: true) { daemon in
      let reply = try daemon.client.call(
        Wired.Import.method, ["format": "icalendar", "text": event], returning: JSON.self)
      let said = String(decoding: reply.bytes, as: UTF8.self)
      #expect(said.contains("never has a time"), "\(said)")
      let all: Wired.List.Reply = try daemon.call(Wired.List())
      #expect(all.reminders.isEmpty)
    }
  }

  /// A backup's schedules are validated like a client's, although they are in stored form.
  @Test func backupWithACostlyScheduleIsRefused() async throws {
    try await TestDaemon.run { daemon in
      let plain = "DTSTART:20260101T000000Z RRULE:FREQ=DAILY RRULE:FREQ=WEEKLY"
      let _: Wired.Add.Reply = try daemon.call(Wired.Add(reminder: .init(title: "Tea", when: plain)))
      let lines = String(decoding: try daemon.backup(), as: UTF8.self).split(separator: "\n").dropLast().map(
        String.init)
      // The unmodified backup is accepted.
      _ = try BackupTests.restore(daemon, BackupTests.sealed(lines), dryRun: true)
      let costly = BackupTests.sealed(lines.map { $0.replacing(plain, with: Self.union) })
      #expect(String(decoding: costly, as: UTF8.self).contains(Self.useless))
      let error = #expect(throws: VarlinkClientError.self) { _ = try BackupTests.restore(daemon, costly, dryRun: true) }
      #expect("\(String(describing: error))".contains("never has a time"), "\(String(describing: error))")
    }
  }

  /// A reply has a limit of work, and says that more times follow.
  @Test func explainingManyTimesIsBounded() async throws {
    let rules = [11, 13, 17, 19, 23, 25, 29, 31].map { " RRULE:FREQ=DAILY;INTERVAL=\($0);BYMONTHDAY=31;BYDAY=TH" }
    try await TestDaemon.run(inMemory: true) { daemon in
      let reply: SchedulesInterface.Explain.Reply = try daemon.call(
        SchedulesInterface.Explain(
          when: "DTSTART:20260101T000000Z" + rules.joined(), count: 1_000))
      #expect((10..<1_000).contains(reply.next.count))
      #expect(reply.remarks.last?.contains("of 1000: computing more of them takes too long") == true)
      let few: SchedulesInterface.Explain.Reply = try daemon.call(
        SchedulesInterface.Explain(when: "cron: 0 12 29 2 *", count: 1_000))
      #expect(few.next.count == 1_000 && few.remarks.isEmpty)
    }
  }
}
