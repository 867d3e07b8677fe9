import ChimeControl
import ChimeCore
import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// Reminders that notify nobody: each of their channels is missing or disabled.
@Suite(.serialized)
struct HearingTests {
  private typealias Reminders = RemindersInterface
  private typealias Endpoints = EndpointsInterface

  private func add(_ house: TrackerHouse, _ title: String, to channels: [String]) throws -> String {
    try house.call(Reminders.Add(reminder: .init(title: title, when: "daily at 16:00", channels: channels))).reminder.id
  }

  private func health(_ house: TrackerHouse) throws -> DaemonInterface.Health {
    try house.call(DaemonInterface.Status()).status
  }

  private func unheard(_ house: TrackerHouse) throws -> [String: String] {
    let list = try house.call(Reminders.List()).reminders
    return Dictionary(
      uniqueKeysWithValues: list.compactMap { reminder in reminder.unheard.map { (reminder.title, $0) } })
  }

  /// A program that replaces notify-send can always show popups.
  private func live(_ body: (TrackerHouse) async throws -> Void) async throws {
    try await TrackerHouse.live({ $0.channels.desktopProgram = "/bin/true" }, body)
  }

  @Test func aChannelThatIsMissingOrOffIsHeardByNobody() async throws {
    try await live { house in
      #expect(try health(house).unheard == 0)
      let phone = try add(house, "Phone", to: ["phone"])
      _ = try add(house, "Both", to: ["phone", "desktop"])
      var found = try health(house)
      #expect(found.unheard == 1)
      #expect(found.notices?.map(\.kind) == ["mute"] && found.notices?.first?.about == phone)
      #expect(
        found.notices?.map(\.sentence) == ["\"Phone\" (\(phone)) reaches nobody: there is no endpoint or command phone"]
      )
      #expect(try unheard(house) == ["Phone": "there is no endpoint or command phone"])
      let _: Endpoints.Put.Reply = try house.call(
        Endpoints.Put(name: "phone", url: "https://example.org", newSecret: .hmac))
      #expect(try health(house).unheard == 0 && unheard(house).isEmpty)
      let _: Endpoints.Disable.Reply = try house.call(Endpoints.Disable(name: "phone"))
      #expect(try unheard(house)["Phone"] == "the endpoint phone is disabled: disabled by hand")
      _ = try add(house, "Command", to: ["say"])
      found = try health(house)
      #expect(found.unheard == 2)
      #expect(found.notices?.first?.sentence.hasPrefix("2 reminders reach nobody, the first of them") == true)
      let get = try house.call(Reminders.Get(id: phone)).reminder
      #expect(get.unheard != nil)
      let metrics: DaemonInterface.Metrics.Reply = try house.call(DaemonInterface.Metrics())
      #expect(metrics.text.contains("\nchime_reminders_unheard 2\n"), "\(metrics.text)")
      // A finished reminder needs no channel.
      for title in ["Phone", "Command"] {
        let _: Reminders.Remove.Reply = try house.call(Reminders.Remove(id: title))
      }
      #expect(try health(house).unheard == 0)
    }
  }

  @Test func popupsThatCannotBeShownAreHeardByNobody() async throws {
    // The configured program does not exist.
    try await TrackerHouse.live(inMemory: true) { house in
      _ = try add(house, "Tea", to: ["desktop"])
      #expect(try health(house).unheard == 1)
      #expect(
        try unheard(house) == ["Tea": "the daemon cannot show popups: /nonexistent does not exist, or may not be run"])
    }
    // The bus transport is configured, but there is no bus.
    try await TrackerHouse.live(inMemory: true, { $0.channels.desktopTransport = .bus }) { house in
      _ = try add(house, "Tea", to: ["desktop"])
      #expect(try unheard(house)["Tea"]?.hasPrefix("the daemon cannot show popups: ") == true)
    }
  }
}
