import Foundation
import Testing

/// Suspend and resume by logind under a real systemd: the delay lock, reminders due meanwhile, and the wake-up alarm.
/// Only the suspension itself is simulated. About 15 s.
@Suite(
  .proof(.booted), .serialized, .enabled(if: Machine.canBoot, "needs root, namespaces and control groups"),
  .timeLimit(.minutes(2)))
struct BootedSleepTests {
  @Test func delayLockLastsUntilDeliveriesEnd() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      try machine.write(
        """
        [commands]
        enabled = true
        [commands.short]
        program = "/bin/sleep"
        arguments = ["1.2"]
        [commands.long]
        program = "/bin/sleep"
        arguments = ["20"]
        """, to: "/etc/chime/chimed.toml")
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      try await Self.isLocked(machine)

      // A running command ends and is recorded before the machine sleeps; reminders due meanwhile wait.
      try await machine.mustRun("chime", "--system", "in", "1s", "Quick", "--to", "short")
      try await eventually("it runs") { try await machine.run("pgrep", ["-xf", "/bin/sleep 1.2"]).status == 0 }
      let due = try await machine.mustRun("chime", "--system", "in", "6s", "Due asleep", "--to", "short", "--json")
      let id = try #require(try JSON(parsing: due)["reminder"]["id"].string)
      try await Self.suspend(machine)
      #expect(try await Self.locks(machine).isEmpty, "the lock is released while the machine sleeps")
      let asleep = try #require(try await Self.entry(machine, "_PID=1", "Starting systemd-suspend.service"))
      let ended = try #require(try await Self.entry(machine, "CHIME_ENDPOINT=short", "delivered to short"))
      #expect(ended < asleep, "the run is recorded before the machine sleeps")
      // Long enough for the reminder to become due: only the service manager stops, not the clock.
      try await eventually("it is past its time") {
        try await machine.mustRun("date", "+%s.%N").trimmingCharacters(in: .whitespacesAndNewlines)
          > Self.seconds(asleep + 7_000_000)
      }
      #expect(
        try await machine.journal("CHIME_REMINDER=\(id)").allSatisfy { $0["MESSAGE"].string?.contains("fired") != true }
      )
      try await Self.wake(machine)
      try await eventually("due reminders fire") {
        try await machine.journal("CHIME_REMINDER=\(id)").contains { $0["MESSAGE"].string?.contains("fired") == true }
      }
      try await Self.isLocked(machine)
      let resumed = try await machine.journal("MESSAGE_ID=928a614437024531b3b8c90ce31950d9")
      #expect(resumed.compactMap { $0["MESSAGE"].string } == ["the machine is awake again"], "notified once")

      // A long command is not awaited, and logind's delay limit is not exhausted.
      try await machine.mustRun("chime", "--system", "in", "1s", "Slow", "--to", "long")
      try await eventually("it runs") { try await machine.run("pgrep", ["-xf", "/bin/sleep 20"]).status == 0 }
      try await Self.suspend(machine)
      let begins = try #require(try await Self.entry(machine, "_SYSTEMD_UNIT=chimed.service", "about to sleep"))
      let sleeps = try #require(try await Self.entry(machine, "_PID=1", "Starting systemd-suspend.service"))
      #expect((1_900_000..<4_000_000).contains(sleeps - begins), "it was waited for \(sleeps - begins) µs")
      try await Self.wake(machine)
      let logind = try await machine.journal("_SYSTEMD_UNIT=systemd-logind.service")
      #expect(
        !logind.contains { $0["MESSAGE"].string?.contains("timeout") == true }, "logind never ran out of patience")
    }
  }

  @Test func delayLockIsTakenAgainAfterLogindOrBusRestarts() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      try await Self.isLocked(machine)
      try await machine.systemctl("restart", "systemd-logind.service")
      try await Self.isLocked(machine)
      try await machine.systemctl("restart", "dbus.service")
      _ = try await eventually("the loss is reported") {
        try await Self.entry(machine, "_SYSTEMD_UNIT=chimed.service", "the connection to the system bus is lost")
      }
      try await eventually("the bus is back", within: .seconds(20)) {
        try await Self.entry(machine, "_SYSTEMD_UNIT=chimed.service", "chimed is connected to the system bus again")
          != nil
      }
      try await Self.isLocked(machine)
      try await Self.suspend(machine)
      try await Self.wake(machine)
      _ = try await eventually("the wake-up is reported") {
        try await Self.entry(machine, "MESSAGE_ID=928a614437024531b3b8c90ce31950d9", "awake again")
      }
    }
  }

  @Test func wakeAlarmNeedsTheCapabilityDropIn() async throws {
    try await Home.run { home in
      let machine = try await BootedSystem.start(in: home)
      try await machine.systemctl("enable", "--now", "chimed.socket", "chimed.service")
      let added = try await machine.run("chime", ["--system", "in", "1h", "Tea", "--wake"])
      #expect(added.status == 0 && added.err.contains("CAP_WAKE_ALARM"), "\(added.text)")
      #expect(
        try await machine.mustRun("chime", "--system", "show", "Tea").contains("cannot wake the machine: chimed lacks"))
      // Status 1 means that something needs attention.
      let status = try await machine.run("chime", ["--system", "status"])
      #expect(status.status == 1 && status.out.contains("CAP_WAKE_ALARM"), "\(status.text)")
      let told = try await machine.journal("_SYSTEMD_UNIT=chimed.service", "PRIORITY=4")
      #expect(told.count { $0["MESSAGE"].string?.contains("cannot be woken") == true } == 1, "notified once")
      #expect(try await Self.alarm(machine) == nil)

      // The drop-in as installed. It hardly increases the unit's exposure.
      try await machine.mustRun(
        "install", "-D", "-m", "644", "/usr/local/share/doc/chime/wake.conf",
        "/etc/systemd/system/chimed.service.d/wake.conf")
      try await machine.systemctl("daemon-reload")
      try await machine.systemctl("restart", "chimed.service")
      // Pretend that the machine has a hardware clock with an alarm.
      let without = try await machine.run("chime", ["--system", "status"])
      #expect(without.status == 1 && without.out.contains("no hardware clock with an alarm"), "\(without.text)")
      try await machine.mustRun(
        "sh", "-c",
        "mount -t tmpfs tmpfs /sys/class && mkdir -p /sys/class/rtc/rtc0 && touch /sys/class/rtc/rtc0/wakealarm")
      try await machine.systemctl("restart", "chimed.service")
      // No user's desktop is there, which still needs attention.
      let armed = try await machine.run("chime", ["--system", "status"])
      #expect(armed.status == 1 && !armed.out.contains("woken"), "\(armed.text)")
      #expect(try await machine.mustRun("chime", "--system", "show", "Tea").contains("the machine from its sleep"))
      let seconds = try #require(try await Self.alarm(machine))
      #expect((3_000...3_600).contains(seconds), "armed for the reminder")
      let exposure = try await machine.run("systemd-analyze", ["security", "--threshold=16", "chimed.service"])
      #expect(exposure.status == 0, "\(exposure.out.suffix(200))")
      // The capability allows nothing else about the clock.
      let pid = try await machine.property("MainPID")
      #expect(try await machine.mustRun("cat", "/proc/\(pid)/status").contains("CapEff:\t0000000800000000\n"))

      // The alarm follows edits.
      try await machine.mustRun("chime", "--system", "in", "30m", "Sooner", "--wake")
      try await eventually("the earlier one") { (1_000...1_800).contains(try await Self.alarm(machine) ?? 0) }
      try await machine.mustRun("chime", "--system", "edit", "Sooner", "--no-wake")
      try await eventually("the later one again") { (1_801...3_600).contains(try await Self.alarm(machine) ?? 0) }
      try await machine.mustRun("chime", "--system", "pause", "Tea")
      try await machine.mustRun("chime", "--system", "in", "2h", "Much later", "--wake")
      try await eventually("the one that is not paused") {
        (3_601...7_200).contains(try await Self.alarm(machine) ?? 0)
      }
    }
  }

  // MARK: The machine

  /// Returns the seconds until the wake-up alarm; nil without such a timer (proc(5), `fdinfo`). The kernel still shows
  /// the setting of a disarmed timer.
  private static func alarm(_ machine: BootedSystem) async throws -> Int? {
    let pid = try await machine.property("MainPID")
    let timer = try await machine.run("sh", ["-c", "grep -h -A3 'clockid: 8' /proc/\(pid)/fdinfo/*"])
    guard let value = timer.out.split(separator: "(").dropFirst().first else { return nil }
    return Int(value.prefix { $0 != "," })
  }

  private static func locks(_ machine: BootedSystem) async throws -> [Substring] {
    try await machine.run("systemd-inhibit", ["--list", "--no-pager", "--no-legend"]).out.split(separator: "\n")
      .filter { $0.contains("Chime") && $0.contains("delay") }
  }

  private static func isLocked(_ machine: BootedSystem) async throws {
    try await eventually("sleep waits for it") { try await locks(machine).count == 1 }
  }

  /// Requests a suspension, and waits until the machine sleeps.
  private static func suspend(_ machine: BootedSystem) async throws {
    try await machine.mustRun(
      "busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
      "Suspend", "b", "false")
    try await eventually("the machine sleeps") {
      try await machine.property("ActiveState", of: "systemd-suspend.service") == "activating"
    }
  }

  private static func wake(_ machine: BootedSystem) async throws {
    try await machine.mustRun("touch", "/run/wake")
    try await eventually("the machine wakes") {
      try await machine.property("ActiveState", of: "systemd-suspend.service") == "inactive"
    }
  }

  /// Returns the time of the latest matching journal entry in microseconds; nil without one.
  private static func entry(_ machine: BootedSystem, _ match: String, _ text: String) async throws -> Int? {
    try await machine.journal(match).last { $0["MESSAGE"].string?.contains(text) == true }
      .flatMap { $0["__REALTIME_TIMESTAMP"].string.flatMap { Int($0) } }
  }

  private static func seconds(_ microseconds: Int) -> String { "\(microseconds / 1_000_000).0" }
}
