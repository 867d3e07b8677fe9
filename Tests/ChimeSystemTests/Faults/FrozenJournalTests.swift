import Foundation
import Testing

/// journald of a booted machine is stopped, and nobody reads the daemon's log. About 40 s.
@Suite(.proof(.booted), .enabled(if: Machine.canBoot, "needs root, namespaces and control groups"))
struct FrozenJournalTests {
  @Test(.timeLimit(.minutes(3)))
  func frozenJournalDoesNotDelayTheDaemon() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      try await machine.mustRun("chime", "--system", "add", "Beat", "every 1s")
      // Three times as many messages as fit.
      let count = 8_000
      let pad = String(repeating: ".", count: 400)
      let lines = (1...count).map { #"{"title": "Number \#($0) \#(pad)", "when": "in 2s"}"# }
      try machine.write(lines.joined(separator: "\n") + "\n", to: "/srv/many")

      try await machine.systemctl("kill", "--signal=SIGSTOP", "systemd-journald.service")
      let frozen = ContinuousClock.now
      try await machine.mustRun("chime", "--system", "add", "--from", "/srv/many", "--quiet")
      // The daemon answers and fires for half a minute.
      var longest = Duration.zero
      try await eventually("all have fired, and 30 s are over", within: .seconds(120)) {
        let asked = ContinuousClock.now
        // The exit status is 1: the reminders reach nobody, because no desktop is there.
        let status = try JSON(parsing: try await machine.run("chime", ["--system", "status", "--json"]).out)
        longest = max(longest, ContinuousClock.now - asked)
        return status["status"]["openOccurrences"].int ?? 0 >= count && ContinuousClock.now - frozen > .seconds(30)
      }
      let beats = try JSON(
        parsing: try await machine.mustRun("chime", "--system", "history", "Beat", "--json", "--limit", "all"))
      let times = beats["occurrences"].elements.compactMap { $0["scheduledAt"].string }
      print("FrozenJournalTests: \(times.count) beats; the longest wait for an answer was \(longest)")
      #expect(times.count >= 30, "each second had its time: \(times)")

      // After journald continues, the daemon logs the number of lost messages, and stops normally.
      try await machine.systemctl("kill", "--signal=SIGCONT", "systemd-journald.service")
      try await eventually("the missing ones are reported", within: .seconds(30)) {
        try await machine.journal("_SYSTEMD_UNIT=chimed.service").contains {
          $0["MESSAGE"].string?.contains("messages were dropped") == true
        }
      }
      try await machine.systemctl("stop", "chimed.service")
      #expect(try await machine.property("Result") == "success")
    }
  }
}
