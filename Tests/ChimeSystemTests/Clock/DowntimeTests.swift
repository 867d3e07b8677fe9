import Foundation
import Testing

/// The downtime notice of the real daemon.
@Suite(
  .serialized,
  .enabled(if: Machine.hasMockBus && Machine.has("sqlite3"), "needs dbus-daemon, busctl, notify-send and sqlite3"))
struct DowntimeTests {
  private func sql(_ statement: String, _ home: Home) async throws {
    let output = try await home.run("sqlite3", ["-cmd", ".timeout 10000", home.state + "/chime.db", statement])
    try #require(output.status == 0, "\(output.text)")
  }

  /// Shifts a stopped daemon's store by a day: due times and recorded times move a day back.
  private func passDay(_ home: Home) async throws {
    try await sql(
      """
      UPDATE due SET next_at = next_at - 86400000, scheduled_at = scheduled_at - 86400000;
      UPDATE note SET value = value - 86400000 WHERE name IN ('alive', 'clock');
      """, home)
  }

  private func add(_ home: Home, _ title: String, after hours: Double, _ options: String...) async throws {
    let start = Date(timeIntervalSinceNow: hours * 3_600).ISO8601Format()
    let output = try await home.run(Machine.chime, ["add", title, "every 24h starting \(start)"] + options)
    #expect(output.status == 0, "\(output.text)")
  }

  @Test(.timeLimit(.minutes(1)))
  func downtimeNoticeIsShownFirstAndOnce() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      try home.configure(Transport.bus.toml)
      let first = try await home.start()
      try await add(home, "Tea", after: 23)
      try await add(home, "Medicine", after: 22, "--grace", "30m")
      try await add(home, "Backup", after: 21, "--catch-up", "downtime=skip")
      try await add(home, "Later", after: 42)
      try await first.stopCleanly()
      try await passDay(home)

      let second = try await home.start()
      _ = try await desktop.popup(titled: "Tea")
      let shown = desktop.shown
      #expect(shown.count == 2 && shown[0].contains("Chime was down from "), "\(shown)")
      let written = desktop.written
      #expect(written.contains("1 reminder was missed, 1 reminder came late"), "\(written)")
      #expect(written.contains("missed: \"Medicine\", at ") && written.contains("late: \"Tea\", at "), "\(written)")
      #expect(!written.contains("Backup"), "nobody misses what is to be skipped")
      // The notice is in the history, and is not repeated after a crash.
      #expect(try await home.mustRun("history").contains("Chime was down from"))
      try await second.crash()
      let third = try await home.start()
      try await home.mustRun("in", "1s", "Third")
      _ = try await desktop.popup(titled: "Third")
      #expect(desktop.shown.count { $0.contains("Chime was down") } == 1, "\(desktop.shown)")

      // With the setting off there is no notice; late reminders still fire.
      try await third.stopCleanly()
      try home.configure(Transport.bus.toml + "[late]\nnotifyDowntime = false\n")
      try await passDay(home)
      _ = try await home.start()
      _ = try await desktop.popup(titled: "Later")
      #expect(desktop.shown.count { $0.contains("Chime was down") } == 1, "\(desktop.shown)")
    }
  }
}
