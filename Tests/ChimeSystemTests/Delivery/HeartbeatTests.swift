import Foundation
import Glibc
import Testing

/// Monitoring of the daemon from outside, over real HTTP.
@Suite(.serialized, .enabled(if: Machine.hasClients, "needs .venv: Packaging/dependencies test"))
struct HeartbeatTests {
  private static func toml(_ receiver: Receiver, _ home: Home, _ more: String = "") throws -> String {
    try home.write(Receiver.secret + "\n", to: home.path + "/heartbeat.secret")
    return """
      [heartbeat]
      url = "\(receiver.url)"
      failUrl = "\(receiver.url)/fail"
      every = "1s"
      secretFile = "\(home.path)/heartbeat.secret"
      \(more)
      """
  }

  private func heartbeat(_ home: Home) async throws -> JSON {
    try await home.answer("io.chime.Daemon.Status")["status"]["heartbeat"]
  }

  @Test(.enabled(if: SmallDisk.isPossible, "needs root and mount"), .timeLimit(.minutes(1)))
  func heartbeatStopsWhileTheStoreRefusesWrites() async throws {
    try await Home.run { home in
      try await home.onSmallDisk { disk in
        let receiver = try await Receiver.start(in: home)
        func beats() -> Int { receiver.requests.count { $0.path == "/hook" } }
        try home.configure(try Self.toml(receiver, home))
        let daemon = try await home.start()
        _ = try await home.add("Tea", "in 1h")
        try await eventually("it beats again and again") { beats() >= 2 }
        #expect(receiver.requests.allSatisfy { $0.verdicts == ["ok", "ok"] && $0.answered == 204 }, "it is signed")
        #expect(receiver.requests[0].body["type"].string == "chime.heartbeat")
        #expect(receiver.requests[0].body["data"]["problem"] == .null)
        #expect(try await heartbeat(home)["problem"] == .null)
        #expect(try await home.chime("status").out.contains("  heartbeat   accepted "))

        try disk.fill()
        let failure = try await eventually("the receiver of faults is notified") {
          receiver.requests.first { $0.path == "/hook/fail" }
        }
        #expect(failure.body["data"]["problem"].string?.contains("the disk is full") == true, "\(failure.body)")
        let before = beats()
        #expect(
          try await heartbeat(home)["problem"].string?.contains("the heartbeat cannot be sent: the disk is full")
            == true)
        // The daemon checks the store each second; count these checks instead of waiting for a time.
        func held() async throws -> Int {
          let line = try await home.mustRun("metrics").split(separator: "\n").first {
            $0.hasPrefix("chime_heartbeats_total{outcome=\"suppressed\"}")
          }
          return line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
        }
        try await eventually("it has evaluated again") { try await held() >= 3 }
        #expect(beats() == before, "none is sent meanwhile")
        #expect(receiver.requests.count { $0.path == "/hook/fail" } == 1, "and that is reported once")

        disk.free()
        try await eventually("it beats again") { beats() > before }
        try await eventually("everything works") { try await heartbeat(home)["problem"] == .null }
        let said = daemon.process.errors
        #expect(said.components(separatedBy: "the heartbeat cannot be sent").count == 2, "\(said)")
        #expect(said.contains("heartbeats are sent again"))
      }
    }
  }

  /// A reload starts the heartbeat, reports a faulty receiver, and stops it.
  @Test(.timeLimit(.minutes(1)))
  func reloadStartsAndStopsTheHeartbeat() async throws {
    try await Home.run { home in
      let receiver = try await Receiver.start(in: home, answering: [500])
      let daemon = try await home.start()
      #expect(try await heartbeat(home) == .null)
      try home.configure(try Self.toml(receiver, home))
      daemon.process.send(SIGHUP)
      try await eventually("the first is refused") {
        daemon.process.errors.contains("does not accept the heartbeat: answered 500")
      }
      try await eventually("the next is taken") { try await heartbeat(home)["acceptedAt"] != .null }
      try await eventually("and that is printed") { daemon.process.errors.contains("heartbeats are sent again") }

      unlink(home.path + "/heartbeat.secret")
      try await eventually("none leaves without its signature") {
        try await heartbeat(home)["problem"].string?.contains("it cannot be signed") == true
      }
      let status = try await home.chime("status")
      #expect(status.status == 1 && status.out.contains("it cannot be signed"), "\(status.text)")
      let doctor = try await home.chime("doctor")
      #expect(doctor.out.contains("heartbeat.secret"), "\(doctor.text)")

      // The address rules for endpoints apply to the heartbeat too.
      try home.configure(try Self.toml(receiver, home, "[webhook]\ndeny = [\"127.0.0.1\"]"))
      _ = try await home.answer("io.chime.Daemon.Reload")
      try await eventually("the address is refused") {
        try await heartbeat(home)["problem"].string?.contains("127.0.0.1") == true
      }

      try home.configure("[heartbeat]\nfailUrl = \"\(receiver.url)\"\n")
      let refused = try await home.run(Machine.chimed, ["--check"])
      #expect(refused.status == 78 && refused.text.contains("heartbeat.failUrl needs heartbeat.url"), "\(refused.text)")
      try home.configure("")
      _ = try await home.answer("io.chime.Daemon.Reload")
      #expect(try await heartbeat(home) == .null)
    }
  }
}
