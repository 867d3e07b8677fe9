import ChimeControl
import Foundation
import Testing

@testable import ChimeCommand

/// Reminders that are left without a channel that works are named, where that comes about.
@Suite struct MuteRemindersTests {
  private static func reminder(_ id: String, _ channels: [String]) -> RemindersInterface.Reminder {
    var reminder = Samples.reminder(id, "Tea \(id)")
    reminder.channels = channels
    return reminder
  }

  @Test func aChannelThatIsMissingOrOffIsHeardByNobody() {
    var (disabled, faulty, off) = (Samples.endpoint, Samples.endpoint, Samples.command)
    (disabled.name, disabled.disabled) = ("disabled", "410 Gone")
    (faulty.name, faulty.fault) = ("faulty", "its secret is gone")
    (off.name, off.enabled) = ("off", false)
    let mute = MuteReminders.among(
      [
        Self.reminder("a", ["gone"]), Self.reminder("b", ["gone", "desktop"]), Self.reminder("c", ["team"]),
        Self.reminder("d", ["disabled", "faulty", "off"]), Self.reminder("e", ["backup"]), Self.reminder("f", []),
      ], [Samples.endpoint, disabled, faulty], [Samples.command, off])
    #expect(mute.map(\.id) == ["a", "d", "f"])
  }

  @Test func removingAnEndpointNamesThoseItLeavesMute() throws {
    let daemon = try FakeDaemon { method, _ in
      switch method {
      case EndpointsInterface.Remove.method: .reply(EndpointsInterface.Remove.Reply(endpoint: Samples.endpoint))
      case EndpointsInterface.List.method: .reply(EndpointsInterface.List.Reply(endpoints: []))
      case CommandsInterface.List.method: .reply(CommandsInterface.List.Reply(commands: []))
      default:
        .reply(
          RemindersInterface.List.Reply(reminders: [
            Self.reminder("a", ["team"]), Self.reminder("b", ["desktop", "team"]), Self.reminder("c", ["other"]),
          ]))
      }
    }
    let outcome = chime(["endpoint", "remove", "team", "--yes"], daemon: daemon)
    #expect(outcome.status == .success)
    #expect(
      outcome.errors.contains("Nobody hears 1 reminder now, whose channels are missing or off: a \"Tea a\"\n"),
      "\(outcome.errors)")
    #expect(outcome.errors.contains("`chime edit a --to desktop`"), "\(outcome.errors)")
  }

  /// Endpoints are no part of a backup: on a new machine they are missing.
  @Test func aRestoreNamesThoseWhoseEndpointsAreNotHere() throws {
    let file = RunFolder.url.appending(path: "mute-\(UUID().uuidString).backup")
    try Data("backup".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let daemon = try FakeDaemon { method, parameters in
      switch method {
      case EndpointsInterface.List.method: .reply(EndpointsInterface.List.Reply(endpoints: []))
      case CommandsInterface.List.method: .reply(CommandsInterface.List.Reply(commands: []))
      case RemindersInterface.List.method:
        .reply(
          RemindersInterface.List.Reply(reminders: [Self.reminder("a", ["team"]), Self.reminder("b", ["desktop"])]))
      default: FakeDesk().answer(method, parameters)
      }
    }
    let outcome = chime(["restore", file.path, "--yes"], daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(outcome.errors.contains("missing or off: a \"Tea a\"\n"), "\(outcome.errors)")
    #expect(!chime(["restore", file.path, "--dry-run"], daemon: daemon).errors.contains("Nobody hears"))
  }
}
