import Foundation
import Glibc
import Testing

/// The inherited environment of the daemon process.
@Suite struct ProcessEnvironmentTests {
  /// If standard error is closed, the next opened file would get its number, and log output would go into the store's
  /// lock file.
  @Test(.timeLimit(.minutes(1)))
  func closedStandardDescriptorsAreReopened() async throws {
    try await Home.run { home in
      let daemon = try await home.spawn("sh", ["-c", "exec \(Machine.chimed) <&- >&- 2>&-"])
      try await eventually("it answers") { (try? await home.call("io.chime.Daemon.Status")) != nil }
      for number in 0...2 {
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(daemon.pid)/fd/\(number)")
        #expect(target == "/dev/null", "descriptor \(number)")
      }
      daemon.send(SIGTERM)
      #expect(try await daemon.ended() == .exited(0))
      // The log output is not in it.
      let lock = try String(contentsOfFile: home.state + "/chime.db.lock", encoding: .utf8)
      #expect(lock == "\(daemon.pid)\n", "\(lock)")
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: [12, 16, 31])
  func tooFewDescriptorsAreReportedWithARemedy(_ count: Int) async throws {
    try await Home.run { home in
      let output = try await home.run("sh", ["-c", "ulimit -n \(count); exec \(Machine.chimed)"])
      #expect(output.status == 71, "\(output)")
      #expect(output.err.contains("raise LimitNOFILE= of the unit, or ulimit -n"), "\(output.err)")
    }
  }

  @Test(
    .enabled(if: Machine.isRoot && Machine.has("setpriv"), "needs root, to be another user"), .timeLimit(.minutes(1)))
  func tooFewThreadsAreReportedWithARemedy() async throws {
    try await Home.run { home in
      let nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups"
      let output = try await home.run(
        "bash", ["-c", "ulimit -u 2; exec \(nobody) \(Machine.chimed) --state-dir \(home.path)/nobody"])
      #expect(output.status == 71, "\(output)")
      #expect(output.err.contains("raise TasksMax= or LimitNPROC= of the unit"), "\(output.err)")
    }
  }
}
