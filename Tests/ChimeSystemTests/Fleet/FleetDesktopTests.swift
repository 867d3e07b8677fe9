import Foundation
import Testing

/// Popups of daemons that share a database: shown by one, answered through another.
@Suite(
  .proof(.fleet), .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"),
  .enabled(if: Machine.hasMockBus, "needs dbus-daemon and busctl"))
struct FleetDesktopTests {
  /// Each daemon recognizes its popups after a restart.
  @Test(.timeLimit(.minutes(2))) func eachDaemonRecognizesItsPopupsAfterARestart() async throws {
    try await Home.run { home in
      let server = try await PostgresServer.begin()
      let database = try await server.makeDatabase()
      try home.configure(
        "[store]\nengine = \"postgres\"\nconnection = \"\(server.connection(database))\"\n\(Transport.bus.toml)")
      let desktop = try await home.startMockDesktop()
      let first = try await home.start()
      let id = try await home.add("Tea", "in 1s")
      let popup = try await desktop.popup(titled: "Tea")
      try await eventually("it is delivered") { try await home.deliveries("delivered").count == 1 }
      let second = try await home.start(
        Machine.chimed, ["--state-dir", "\(home.path)/second", "--socket", "\(home.runtime)/second"])
      try await first.stopCleanly()
      try await second.stopCleanly()
      _ = try await home.start()
      try await home.mustRun("done", id)
      try await eventually("the popup is gone") {
        desktop.calls("CloseNotification").contains { $0.hasSuffix(" \(popup)") }
      }
    }
  }

  @Test(.timeLimit(.minutes(2)), arguments: Transport.allCases)
  func answerThroughAnotherDaemonClosesThePopup(_ transport: Transport) async throws {
    try await Home.run { home in
      let server = try await PostgresServer.begin()
      let database = try await server.makeDatabase()
      try home.configure(
        "[store]\nengine = \"postgres\"\nconnection = \"\(server.connection(database))\"\n\(transport.toml)")
      let desktop = try await home.startMockDesktop()
      let first = try await home.start()
      let second = try await home.start(
        Machine.chimed, ["--state-dir", "\(home.path)/second", "--socket", "\(home.runtime)/second"])
      try await eventually("the shares are equal") {
        try await server.sql(
          "SELECT count(*) FROM chime.shard_lease WHERE node IS NOT NULL GROUP BY node", on: database) == "128\n128"
      }
      let (id, other) = (try await home.add("Tea", "in 1s"), try await home.add("Coffee", "in 1s"))
      let popup = try await desktop.popup(titled: "Tea")
      _ = try await desktop.popup(titled: "Coffee")
      let owner = try await server.sql(
        """
        SELECT n.process FROM chime.delivery_queue l JOIN chime.shard_lease s ON s.shard = l.shard JOIN chime.node n ON n.id = s.node
        WHERE l.channel = 'desktop'
        """, on: database)
      // Answer through the daemon that did not show it.
      let socket = owner == String(first.process.pid) ? "\(home.runtime)/second" : home.socket
      try await home.mustRun("--socket", socket, "done", id)
      try await eventually("the popup is gone") {
        desktop.calls("CloseNotification").contains { $0.hasSuffix(" \(popup)") }
      }
      #expect(desktop.calls("CloseNotification").count == 1, "the other stands")
      try await home.mustRun("--socket", socket, "snooze", other, "1h")
      try await eventually("the other is gone, too") { desktop.calls("CloseNotification").count == 2 }
      try await first.stopCleanly()
      try await second.stopCleanly()
    }
  }
}
