import ChimeControl
import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// Reminders that notify nobody: each of their channels is missing or disabled.
@Suite(.serialized)
struct UnreachableReminderTests {
  private typealias Reminders = RemindersInterface
  private typealias Endpoints = EndpointsInterface

  private func add(_ daemon: TestDaemon, _ title: String, to channels: [String]) throws -> String {
    try daemon.call(Reminders.Add(reminder: .init(title: title, when: "daily at 16:00", channels: channels))).reminder
      .id
  }

  private func health(_ daemon: TestDaemon) throws -> DaemonInterface.Health {
    try daemon.call(DaemonInterface.Status()).status
  }

  private func undeliverable(_ daemon: TestDaemon) throws -> [String: String] {
    let list = try daemon.call(Reminders.List()).reminders
    return Dictionary(
      uniqueKeysWithValues: list.compactMap { reminder in reminder.undeliverable.map { (reminder.title, $0) } })
  }

  /// A program that replaces notify-send can always show popups.
  private func run(_ body: (TestDaemon) async throws -> Void) async throws {
    try await TestDaemon.run({ $0.channels.desktopProgram = "/bin/true" }, body)
  }

  @Test func reminderWithMissingOrDisabledChannelsReachesNobody() async throws {
    try await run { daemon in
      #expect(try health(daemon).undeliverable == 0)
      let phone = try add(daemon, "Phone", to: ["phone"])
      _ = try add(daemon, "Both", to: ["phone", "desktop"])
      var found = try health(daemon)
      #expect(found.undeliverable == 1)
      #expect(found.notices?.map(\.kind) == ["undeliverable"] && found.notices?.first?.about == phone)
      #expect(
        found.notices?.map(\.sentence) == ["\"Phone\" (\(phone)) reaches nobody: there is no endpoint or command phone"]
      )
      #expect(try undeliverable(daemon) == ["Phone": "there is no endpoint or command phone"])
      let _: Endpoints.Put.Reply = try daemon.call(
        Endpoints.Put(name: "phone", url: "https://example.org", newSecret: .hmac))
      #expect(try health(daemon).undeliverable == 0 && undeliverable(daemon).isEmpty)
      let _: Endpoints.Disable.Reply = try daemon.call(Endpoints.Disable(name: "phone"))
      #expect(try undeliverable(daemon)["Phone"] == "the endpoint phone is disabled: disabled by hand")
      _ = try add(daemon, "Command", to: ["say"])
      found = try health(daemon)
      #expect(found.undeliverable == 2)
      #expect(found.notices?.first?.sentence.hasPrefix("2 reminders reach nobody, the first of them") == true)
      let get = try daemon.call(Reminders.Get(id: phone)).reminder
      #expect(get.undeliverable != nil)
      let metrics: DaemonInterface.Metrics.Reply = try daemon.call(DaemonInterface.Metrics())
      #expect(metrics.text.contains("\nchime_reminders_undeliverable 2\n"), "\(metrics.text)")
      // A finished reminder needs no channel.
      for title in ["Phone", "Command"] {
        let _: Reminders.Remove.Reply = try daemon.call(Reminders.Remove(id: title))
      }
      #expect(try health(daemon).undeliverable == 0)
    }
  }

  @Test func reminderWhosePopupsCannotBeShownReachesNobody() async throws {
    // The configured program does not exist.
    try await TestDaemon.run(inMemory: true) { daemon in
      _ = try add(daemon, "Tea", to: ["desktop"])
      #expect(try health(daemon).undeliverable == 1)
      #expect(
        try undeliverable(daemon) == [
          "Tea": "the daemon cannot show popups: /nonexistent does not exist, or may not be run"
        ])
    }
    // The bus transport is configured, but there is no bus.
    try await TestDaemon.run(inMemory: true, { $0.channels.desktopTransport = .bus }) { daemon in
      _ = try add(daemon, "Tea", to: ["desktop"])
      #expect(try undeliverable(daemon)["Tea"]?.hasPrefix("the daemon cannot show popups: ") == true)
    }
  }
}
