import Foundation
import Testing

/// The units under a real `systemd --user` manager with a real journal, and systemd's analysis of them.
@Suite(.serialized) struct ServiceManagerTests {
  @Test(
    .enabled(if: Machine.canManage, "needs root, namespaces and control groups"), .timeLimit(.minutes(2)))
  func userUnitRunsUnderARealServiceManager() async throws {
    try await Home.run { home in
      let manager = try await UserManager.start(in: home)

      // The socket unit holds the socket; the first request starts the daemon.
      try await manager.systemctl("start", "chimed.socket")
      #expect(try await manager.property("ActiveState") == "inactive")
      let first = try await manager.run(Machine.chime, ["status", "--json"])
      #expect(first.status == 0, "\(first.text)")
      #expect(try await manager.property("ActiveState") == "active")
      let mode = try await manager.run("stat", ["-c", "%a %F", home.socket])
      #expect(mode.out == "600 socket\n")

      // READY, and a useful status.
      let added = try await manager.run(Machine.chime, ["in", "30m", "Drink water"])
      #expect(added.status == 0, "\(added.text)")
      try await eventually("the status text names what is next") {
        try await manager.property("StatusText").contains("Drink water")
      }

      // After a reload, the same process is ready again.
      let pid = try await manager.property("MainPID")
      try await manager.systemctl("reload", "chimed.service")
      try await eventually("it is active again") { try await manager.property("ActiveState") == "active" }
      #expect(try await manager.property("MainPID") == pid)

      // The journal entries have the documented fields.
      try home.configure("[log]\nlevel = \"debug\"\n")
      try await manager.systemctl("reload", "chimed.service")
      let soon = try await manager.run(Machine.chime, ["in", "1s", "Now", "--json"])
      #expect(soon.status == 0, "\(soon.text)")
      let id = try #require(Self.reminder(in: try soon.json)["id"].string)
      try await eventually("the journal has an entry with the reminder's field") {
        try await manager.run("journalctl", ["--output=json", "CHIME_REMINDER=\(id)"]).out.contains("MESSAGE")
      }

      // The watchdog kills a stuck loop, and systemd restarts the daemon without loss.
      let stuck = try #require(pid_t(pid))
      _ = try await manager.run("kill", ["-STOP", String(stuck)])
      try await eventually("it has been started again", within: .seconds(60)) {
        try await manager.property("NRestarts") == "1"
      }
      // systemd holds the socket: a request before the new process is ready waits.
      let waiting = try await manager.run(Machine.chime, ["list", "--json"])
      #expect(waiting.status == 0, "\(waiting.text)")
      #expect(try waiting.json["reminders"].elements.contains { $0["title"].string == "Drink water" })
      #expect(try await manager.property("MainPID") != pid)
      #expect(try await manager.property("Result") == "success")

      // A restart loses nothing and refuses no client.
      try await manager.systemctl("restart", "chimed.service")
      let after = try await manager.run(Machine.chime, ["list", "--json"])
      #expect(try after.json["reminders"].elements.contains { $0["title"].string == "Drink water" })

      // With an invalid configuration, systemd does not restart the daemon repeatedly.
      try home.configure("[nothing]\n")
      _ = try await manager.run("systemctl", ["--user", "restart", "chimed.service"])
      #expect(try await manager.property("ActiveState") == "failed")
      #expect(try await manager.property("ExecMainStatus") == "78")
      try home.configure("")
      try await manager.systemctl("start", "chimed.service")
      try await manager.systemctl("stop", "chimed.socket", "chimed.service")
      #expect(try await manager.property("ExecMainStatus") == "0")
    }
  }

  @Test func systemdAcceptsTheUnits() async throws {
    try await Home.run { home in
      for (folder, mode) in [("systemd", "--system"), ("systemd/user", "--user")] {
        let units = try Units.write(from: folder, to: home.path + "/units-\(mode)")
        let output = try await home.run("systemd-analyze", [mode, "--man=no", "verify"] + units)
        #expect(output.status == 0, "\(output.text)")
        // Only messages about these units count.
        let ours = output.err.split(separator: "\n").filter { $0.contains("chimed") }
        #expect(ours.isEmpty, "\(ours)")
      }
    }
  }

  @Test func systemUnitHasALowExposure() async throws {
    try await Home.run { home in
      let units = try Units.write(from: "systemd", to: home.path + "/units")
      let service = try #require(units.first { $0.hasSuffix(".service") })
      // In tenths: fails if the exposure exceeds 1.6.
      let output = try await home.run("systemd-analyze", ["security", "--offline=true", "--threshold=16", service])
      #expect(output.status == 0, "\(output.text.suffix(200))")
    }
  }

  /// The user unit is as restricted as popups and user programs permit; comments in the unit explain the rest.
  @Test func userUnitIsAsRestrictedAsCommandsPermit() async throws {
    try await Home.run { home in
      let units = try Units.write(from: "systemd/user", to: home.path + "/units")
      let service = try #require(units.first { $0.hasSuffix(".service") })
      // In tenths, analyzed as root's unit, which counts as more exposed: fails above 7.7.
      let words = ["security", "--user", "--offline=true", "--threshold=77", service]
      let output = try await home.run("systemd-analyze", words)
      #expect(output.status == 0, "\(output.text.suffix(200))")
    }
  }

  private static func reminder(in json: JSON) -> JSON { json["reminder"] == .null ? json : json["reminder"] }
}

/// Writes the units as `make install` does, for the programs of this build.
enum Units {
  @discardableResult
  static func write(from folder: String, to target: String) throws -> [String] {
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    let source = Machine.package + "/" + folder
    return try ["chimed.service", "chimed.socket"].map { name in
      let file = FileManager.default.fileExists(atPath: "\(source)/\(name)") ? name : name + ".in"
      let text = try String(contentsOfFile: "\(source)/\(file)", encoding: .utf8)
        .replacing("@bindir@", with: Machine.programs)
        .replacing("@docdir@", with: Machine.package)
      try text.write(toFile: "\(target)/\(name)", atomically: true, encoding: .utf8)
      return "\(target)/\(name)"
    }
  }
}

/// A real user manager in namespaces (`Support/user-manager`), with commands run beside it.
struct UserManager: Sendable {
  let home: Home
  private let inside: pid_t

  static func start(in home: Home) async throws -> UserManager {
    try Units.write(from: "systemd/user", to: home.path + "/config/systemd/user")
    // The shipped unit has a watchdog of half a minute; use the shortest that a busy machine can meet.
    let dropIn = home.path + "/config/systemd/user/chimed.service.d"
    try FileManager.default.createDirectory(atPath: dropIn, withIntermediateDirectories: true)
    try home.write("[Service]\nWatchdogSec=8\nPassEnvironment=CHIME_LOCALTIME\n", to: dropIn + "/test.conf")
    let process = try await home.spawn(Machine.support("user-manager"))
    let inside = try await eventually("the manager has its namespace") { () -> pid_t? in
      if let end = process.end { throw HarnessFailure("the manager ended with \(end): \(process.errors)") }
      // The script's earlier children are other commands; unshare(1) stays.
      let own = "/proc/\(process.pid)"
      guard (try? String(contentsOfFile: own + "/comm", encoding: .utf8)) == "unshare\n" else { return nil }
      let children = try? String(contentsOfFile: "\(own)/task/\(process.pid)/children", encoding: .utf8)
      return children?.split(separator: " ").first.flatMap { pid_t($0) }
    }
    let manager = UserManager(home: home, inside: inside)
    try await eventually("the manager runs") {
      try await manager.run("systemctl", ["--user", "is-system-running"]).out == "running\n"
    }
    return manager
  }

  func run(
    _ program: String, _ arguments: [String], within limit: Duration = .seconds(20)
  ) async throws -> Home.Output {
    try await home.run(
      "nsenter", ["--target", String(inside), "--mount", "--root", "--pid", "--cgroup", "--", program] + arguments,
      // SYSTEMD_IGNORE_CHROOT: the machine itself may be a chroot, such as a build container.
      environment: ["SYSTEMD_IGNORE_CHROOT": "1"],
      within: limit)
  }

  func systemctl(_ arguments: String...) async throws {
    let output = try await run("systemctl", ["--user"] + arguments)
    guard output.status == 0 else {
      let journal = try await run("journalctl", ["--no-pager", "-n", "30"])
      throw HarnessFailure("systemctl \(arguments): \(output.text)\n\(journal.out)")
    }
  }

  func property(_ name: String) async throws -> String {
    try await run("systemctl", ["--user", "show", "chimed.service", "--property=\(name)", "--value"]).out
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
