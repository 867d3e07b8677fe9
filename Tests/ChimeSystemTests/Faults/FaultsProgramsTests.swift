import Foundation
import Testing

/// Misbehaving programs: the daemon is not held up, and recovers with them.
@Suite(.serialized) struct FaultsProgramsTests {
  struct BadProgram: Sendable, CustomStringConvertible {
    let description: String
    let script: String
    let error: String
    /// Short only for programs that must run into it; on a busy machine, the faults of others take longer.
    var timeout = "20s"
  }

  static let programs = [
    BadProgram(description: "hangs", script: "exec sleep 600", error: "did not confirm the popup", timeout: "500ms"),
    BadProgram(
      description: "hangs and ignores signals", script: "trap '' TERM INT; while :; do sleep 1; done",
      error: "did not confirm", timeout: "500ms"),
    BadProgram(description: "crashes", script: "kill -SEGV $$", error: "signal 11"),
    BadProgram(description: "floods", script: "exec yes 'no number'", error: "wrote more than 65536 bytes"),
    // No digits: a line of random noise could be a number, which counts as a popup id.
    BadProgram(
      description: "floods with noise on both outputs",
      script: "cat /dev/urandom >&2 & LC_ALL=C exec tr -d 0-9 </dev/urandom", error: "wrote more"),
  ]

  /// An orphaned popup program has no reader; the popup stays on the screen without it.
  @Test(.timeLimit(.minutes(1)))
  func killedDaemonLeavesNoPopupProgram() async throws {
    try await Home.run { home in
      let program = home.path + "/show"
      try home.write("#!/bin/sh\necho 7\necho $$ > \(home.path)/pid\nexec sleep 1000\n", to: program, mode: 0o700)
      try home.configure("[desktop]\nprogram = \"\(program)\"\n")
      let daemon = try await home.start()
      _ = try await home.add("Tea", "in 1s")
      let pid = try await eventually("it is shown") { () -> pid_t? in
        let text = try? String(contentsOfFile: home.path + "/pid", encoding: .utf8)
        return text.flatMap { pid_t($0.trimmingCharacters(in: .newlines)) }
      }
      try await eventually("it has arrived") { try await home.deliveries("delivered").count == 1 }
      #expect(kill(pid, 0) == 0)
      try await daemon.crash()
      // The reaper of orphans may be slow.
      try await eventually("it has ended") {
        let state = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        return state?.contains(") Z ") ?? true
      }
    }
  }

  @Test(.timeLimit(.minutes(1)), arguments: programs)
  func misbehavingPopupProgramDelaysNoOtherReminder(_ bad: BadProgram) async throws {
    try await Home.run { home in
      let program = home.path + "/show"
      try home.write("#!/bin/sh\n\(bad.script)\n", to: program, mode: 0o700)
      let configuration = "[commands.run]\nprogram = \"true\"\n[desktop]\nprogram = \"\(program)\"\n"
      try home.configure(configuration + "timeout = \"\(bad.timeout)\"\n")
      let daemon = try await home.start()
      let before = daemon.process.peakKiB
      var reminders: [String] = []
      for number in 0..<10 {
        reminders.append(try await home.add("BadProgram \(number)", "in 1s", to: ["desktop", "run"]))
      }
      try await eventually("the others are served") { try await home.deliveries("delivered").count == 10 }
      // Each is retried repeatedly, so there may be no idle moment.
      for reminder in reminders {
        try await eventually("each popup was tried") {
          try await home.attempts(of: reminder).contains { $0["error"].string?.contains(bad.error) == true }
        }
      }
      let used = daemon.process.peakKiB - before
      #expect(used < 20_000 * Sanitizer.memory, "\(used) KiB")
      // The daemon stops in time while they run, and none survives.
      try await daemon.stopCleanly()
      let left = try await home.run("pgrep", ["-f", program])
      #expect(left.status == 1, "\(left.out)")

      // With a working program, each popup is delivered.
      try home.write("#!/bin/sh\necho 7\n", to: program, mode: 0o700)
      try home.configure(configuration + "timeout = \"20s\"\n")
      let second = try await home.start()
      try await home.retryDeliveries()
      try await eventually("all arrive") { try await home.deliveries("delivered").count == 20 }
      try await second.stopCleanly()
    }
  }
}
