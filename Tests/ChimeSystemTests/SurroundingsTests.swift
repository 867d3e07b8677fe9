import Foundation
import Testing

/// What schedules are read against changes under a running daemon, or while none runs.
@Suite(.serialized) struct SurroundingsTests {
  /// A folder of zones of the home's own, with one zone in it.
  private func installZone(_ rules: String, as name: String, _ home: Home) throws {
    let file = home.zones + "/" + name
    let folder = file.replacing(/\/[^\/]*$/, with: "")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    guard let bytes = FileManager.default.contents(atPath: "/usr/share/zoneinfo/" + rules),
      FileManager.default.createFile(atPath: file + ".dpkg-new", contents: bytes),
      rename(file + ".dpkg-new", file) == 0
    else { throw HarnessFailure("cannot install \(file)") }
  }

  private func next(_ title: String, _ home: Home) async throws -> JSON {
    try await home.answer("io.chime.Reminders.Get", ["id": .string(title)])["reminder"]["next"]
  }

  @Test(.timeLimit(.minutes(1)))
  func zonesThatAreReplacedOnDiskMoveTheirReminders() async throws {
    try await Home.live { home in
      try installZone("Europe/Prague", as: "Europe/Prague", home)
      try installZone("Europe/Lisbon", as: "Europe/Lisbon", home)
      let daemon = try await home.start(environment: ["TZDIR": home.zones])
      try await home.did("add", "Moves", "at", "2096-12-01", "09:00", "--tz", "Europe/Prague")
      try await home.did("add", "Stays", "at", "2096-12-01", "09:00", "--tz", "Europe/Lisbon")
      try await home.did("add", "Local", "at", "2096-12-01", "09:00")
      #expect(try await next("Moves", home)["at"] == "2096-12-01T09:00:00+01:00")
      let stays = try await next("Stays", home)

      try installZone("Asia/Tokyo", as: "Europe/Prague", home)
      try await eventually("the reminder moves") {
        try await next("Moves", home)["at"] == "2096-12-01T09:00:00+09:00"
      }
      #expect(try await next("Stays", home) == stays)
      #expect(try await next("Local", home)["at"] == "2096-12-01T09:00:00+01:00", "its link leads elsewhere")
      #expect(daemon.process.errors.contains("the rules of Europe/Prague have changed"))
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["clockEvents"].int == 1)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func theMachinesZoneIsReadAgainWhenItsFileIs() async throws {
    try await Home.live { home in
      try installZone("Europe/Prague", as: "Europe/Prague", home)
      unlink(home.localtime)
      #expect(symlink(home.zones + "/Europe/Prague", home.localtime) == 0)
      _ = try await home.start()
      try await home.did("add", "Local", "at", "2096-12-01", "09:00")
      #expect(try await next("Local", home)["at"] == "2096-12-01T09:00:00+01:00")
      try installZone("Asia/Tokyo", as: "Europe/Prague", home)
      try await eventually("the reminder moves") {
        try await next("Local", home)["at"] == "2096-12-01T09:00:00+09:00"
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func aZoneThatChangedWhileNoDaemonRanIsMadeUpFor() async throws {
    try await Home.live { home in
      let daemon = try await home.start()
      try await home.did("add", "Local", "at", "2096-12-01", "09:00")
      let before = try await next("Local", home)
      _ = try await daemon.stop()
      try home.setZone("Asia/Tokyo")
      let second = try await home.start()
      try await eventually("the reminder moves") {
        try await next("Local", home)["at"] == "2096-12-01T09:00:00+09:00"
      }
      #expect(before["at"] == "2096-12-01T09:00:00+01:00")
      #expect(second.process.errors.contains("changed since the last run: local"))
      // And once only: what it was computed with is kept.
      _ = try await second.stop()
      let third = try await home.start()
      #expect(!third.process.errors.contains("changed since the last run"))
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func theConfiguredPlaceMovesWhatFollowsTheSunThere() async throws {
    try await Home.live { home in
      let daemon = try await home.start()
      let refused = try await home.chime("add", "Evening", "sunset")
      #expect(refused.status == 64)
      #expect(refused.err.contains("[place]") && refused.err.contains("--place"), "\(refused.err)")
      let own = try await home.did("add", "Own", "sunset", "--place", "50.0875,14.4213")
      #expect(own.contains("sunset"))
      let shown = try await home.listed("show", "Own")["reminder"]
      #expect(shown["latitude"].number == 50.0875 && shown["longitude"].number == 14.4213)

      try home.configure("[place]\nlatitude = 50.0875\nlongitude = 14.4213\n")
      daemon.process.send(SIGHUP)
      try await eventually("it is told") { daemon.process.errors.contains("the configuration was read again") }
      try await home.did("add", "Evening", "sunset")
      let prague = try await next("Own", home)
      #expect(try await next("Evening", home) == prague)
      // The command knows no place and asks.
      let when = try await home.listed("when", "sunset")
      #expect(when["next"][0] == prague["at"])
      #expect(when["times"][0]["at"] == prague["at"])

      try home.configure("[place]\nlatitude = 38.7223\nlongitude = -9.1393\n")
      daemon.process.send(SIGHUP)
      try await eventually("the sun sets later in Lisbon") {
        let evening = try await next("Evening", home)
        return evening != .null && evening != prague
      }
      #expect(try await next("Own", home) == prague)
      // A reminder may go back to the configured place.
      try await home.did("edit", "Own", "--place", "")
      #expect(try await next("Own", home) == next("Evening", home))
      #expect(try await home.listed("show", "Own")["reminder"]["latitude"] == .null)
    }
  }
}

extension Home {
  var zones: String { path + "/zoneinfo" }
}
