import ChimeControl
import Foundation
import Testing

@testable import ChimeCommand

/// Reminders without a working channel are named when that happens.
@Suite struct UnreachableReminderTests {
  private static func reminder(
    _ id: String, _ channels: [String], undeliverable: String? = nil
  ) -> RemindersInterface.Reminder {
    var reminder = Samples.reminder(id, "Tea \(id)")
    (reminder.channels, reminder.undeliverable) = (channels, undeliverable)
    return reminder
  }

  @Test func listMarksAReminderThatReachesNobody() throws {
    let daemon = try FakeDaemon { _, _ in
      .reply(
        RemindersInterface.List.Reply(reminders: [
          Self.reminder("a", ["team"], undeliverable: "there is no endpoint or command team"),
          Self.reminder("b", ["desktop"]),
        ]))
    }
    let outcome = chime(["list"], daemon: daemon)
    let rows = outcome.lines.filter { $0.contains("Tea") }
    #expect(rows.map { $0.contains("! reaches nobody") } == [true, false], "\(outcome.output)")
    let narrow = chime(["list"], daemon: daemon, width: 40)
    #expect(narrow.output.contains("! reaches nobody"), "\(narrow.output)")
    let json = chime(["list", "--json"], daemon: daemon)
    #expect(json.output.contains(#""undeliverable":"there is no endpoint or command team""#), "\(json.output)")
  }

  @Test func statusReportsAReminderThatReachesNobody() throws {
    var health = Samples.health()
    let sentence = "\"Tea\" (r7k2) reaches nobody: there is no endpoint or command team"
    (health.undeliverable, health.attention) = (1, [sentence])
    health.notices = [.init(kind: "undeliverable", about: "r7k2", sentence: sentence)]
    let daemon = try FakeDaemon { [health] method, _ in
      method == DaemonInterface.Status.method
        ? .reply(DaemonInterface.Status.Reply(status: health))
        : .reply(EndpointsInterface.List.Reply(endpoints: []))
    }
    let outcome = chime(["status"], daemon: daemon)
    #expect(outcome.status == .failed)
    #expect(
      outcome.output.contains(sentence) && outcome.output.contains("`chime edit r7k2 --to CHANNEL`"),
      "\(outcome.output)")
    #expect(!outcome.output.contains("all right"))
  }

  @Test func removingAnEndpointNamesRemindersWithoutAChannel() throws {
    let daemon = try FakeDaemon { method, _ in
      switch method {
      case EndpointsInterface.Remove.method: .reply(EndpointsInterface.Remove.Reply(endpoint: Samples.endpoint))
      default:
        .reply(
          RemindersInterface.List.Reply(reminders: [
            Self.reminder("a", ["team"], undeliverable: "gone"), Self.reminder("b", ["desktop", "team"]),
            Self.reminder("c", ["other"], undeliverable: "gone"),
          ]))
      }
    }
    let outcome = chime(["endpoint", "remove", "team", "--yes"], daemon: daemon)
    #expect(outcome.status == .success)
    #expect(
      outcome.errors.contains("1 reminder reaches nobody, because its channels are missing or off: a \"Tea a\"\n"),
      "\(outcome.errors)")
    #expect(outcome.errors.contains("`chime edit a --to desktop`"), "\(outcome.errors)")
  }

  /// Endpoints are not part of a backup: they are missing on a new machine.
  @Test func restoreNamesRemindersWithMissingEndpoints() throws {
    let file = RunFolder.url.appending(path: "mute-\(UUID().uuidString).backup")
    try Data("backup".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let daemon = try FakeDaemon { method, parameters in
      switch method {
      case RemindersInterface.List.method:
        .reply(
          RemindersInterface.List.Reply(reminders: [
            Self.reminder("a", ["team"], undeliverable: "gone"), Self.reminder("b", ["desktop"]),
          ]))
      default: FakeTrackerDaemon().answer(method, parameters)
      }
    }
    let outcome = chime(["restore", file.path, "--yes"], daemon: daemon)
    #expect(outcome.status == .success, "\(outcome.errors)")
    #expect(outcome.errors.contains("missing or off: a \"Tea a\"\n"), "\(outcome.errors)")
    #expect(!chime(["restore", file.path, "--dry-run"], daemon: daemon).errors.contains("reaches nobody"))
  }
}
