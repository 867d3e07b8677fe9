import Foundation
import Testing

/// PyPI's `varlink` client finds everything by introspection.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct IntrospectionTests {
  @Test(.timeLimit(.minutes(1)))
  func foreignClientFindsAndCallsAllMethods() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let id = try await home.add("Seen from outside", "in 1h")
      let output = try await home.run(Machine.clients, [Machine.support("varlink-stranger"), home.socket])
      #expect(output.status == 0, "\(output.text)")
      let seen = try output.json
      let interfaces = seen["interfaces"].elements.compactMap(\.string)
      for name in [
        "Reminders", "Occurrences", "Schedules", "Deliveries", "Endpoints", "Commands", "Trackers", "Daemon",
      ] {
        #expect(interfaces.contains("io.chime.\(name)"))
        let file = Machine.package + "/Sources/ChimeControl/Interfaces/io.chime.\(name).varlink"
        let text = String(decoding: try #require(FileManager.default.contents(atPath: file)), as: UTF8.self)
        #expect(seen["descriptions"]["io.chime.\(name)"].string == text, "introspection gives the file itself")
      }
      #expect(interfaces.contains("org.varlink.service"))
      #expect(seen["reminders"][0]["id"].string == id)
      #expect(seen["added"]["title"].string == "Added from Python")
      #expect(seen["error"].string == "io.chime.Reminders.NotFound")
      #expect(seen["logged"]["progress"]["percent"].int == 20 && seen["logged"]["entry"]["value"].int == 500)
      #expect(seen["days"].elements.count == 1 && seen["backup"][0]["header"]["format"].string == "chime-backup")
      #expect(seen["refused"].string == "io.chime.Trackers.InvalidValue")
      #expect(seen["monitor"].elements.count == 2, "an empty list at once, then what happens: \(seen["monitor"])")
    }
  }
}
