import Foundation
import Testing

/// Tests of the test harness itself.
@Suite struct HarnessTests {
  @Test func outputAndExitOfAChildAreCaptured() async throws {
    try await Home.run { home in
      let said = try await home.run("sh", ["-c", "echo out; echo err >&2; exit 3"])
      #expect(said.status == 3)
      #expect(said.out == "out\n")
      #expect(said.err == "err\n")
      let child = try await home.spawn("sleep", ["1000"])
      child.send(9)
      #expect(try await child.ended() == .signalled(9))
    }
  }

  /// A child inherits no descriptors of other concurrent tests.
  @Test func childInheritsOnlyItsThreeDescriptors() async throws {
    try await Home.run { home in
      let far = fcntl(STDERR_FILENO, F_DUPFD, 700)
      try #require(far >= 700)
      defer { close(far) }
      let child = try await home.spawn("cat", [], withInput: true)
      let folder = "/proc/\(child.pid)/fd"
      // The loader has libraries open for a moment; inherited descriptors would stay.
      try await eventually("it has its three and no other") {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["0", "1", "2"]
      }
    }
  }

  @Test func conditionThatNeverHoldsFailsTheTest() async throws {
    await #expect(throws: HarnessFailure.self) {
      try await eventually("pigs fly", within: .milliseconds(50)) { false }
    }
  }

  @Test(.enabled(if: Machine.hasMockBus, "needs dbus-daemon, busctl and notify-send"), .timeLimit(.minutes(1)))
  func simulatedPressReachesARealPopup() async throws {
    try await Home.run { home in
      let desktop = try await home.startMockDesktop()
      let popup = try await home.spawn("notify-send", ["--wait", "--action=done=Done", "Press me", "now"])
      let number = try await desktop.popup(titled: "Press me")
      // notify-send subscribes before it shows the popup, but learns its id a moment later.
      try await eventually("the button answers") {
        try await desktop.press("done", on: number)
        return !popup.isRunning
      }
      // It may have been pressed several times.
      #expect(Set(popup.lines) == ["done"])
    }
  }

  @Test(.proof(.booted), .enabled(if: Machine.canBoot, "needs root, namespaces and control groups"))
  func bootedMachineCannotAffectTheHost() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      #expect(try await machine.run("systemctl", ["is-system-running"]).out == "running\n")
      let now = try await machine.mustRun("date", "+%s").trimmingCharacters(in: .whitespacesAndNewlines)
      // Without isolation, each of these would affect the host.
      for attempt in [
        "date --set=@\(now)", "touch /usr/x", "echo 0 > /proc/sys/kernel/panic", "echo h > /proc/sysrq-trigger",
        "mknod /dev/x b 254 0 && cat /dev/x",
      ] {
        #expect(try await machine.run("sh", ["-c", attempt]).status != 0, "\(attempt)")
      }
      try await machine.mustRun("sh", "-c", "touch /tmp/x /etc/x /run/x")
      #expect(!FileManager.default.fileExists(atPath: "/run/x"))
      #expect(try await machine.mustRun("cat", "/sys/power/state") == "freeze mem\n")
      try await machine.stop()
      try await eventually("all of it has ended") { kill(machine.leader, 0) != 0 }
    }
  }
}
