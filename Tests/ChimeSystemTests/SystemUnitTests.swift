import Foundation
import Testing

/// The system's unit, hardened as it is shipped, on a machine with a real systemd, bus, logind and journal.
@Suite(.serialized, .enabled(if: Machine.canBoot, "needs root, namespaces and control groups"), .timeLimit(.minutes(2)))
struct SystemUnitTests {
  @Test func theSocketStartsTheServiceOfAHardenedUnit() async throws {
    try await Home.live { home in
      let machine = try await BootedSystem.start(in: home)
      #expect(try await machine.run("systemctl", ["is-system-running"]).out == "running\n")
      try await machine.systemctl("enable", "--now", "chimed.socket")
      #expect(try await machine.property("ActiveState") == "inactive")
      let status = try await machine.run("chime", ["--system", "status", "--json"])
      #expect(status.status == 0, "\(status.text)")
      #expect(try await machine.property("ActiveState") == "active")
    }
  }
}
