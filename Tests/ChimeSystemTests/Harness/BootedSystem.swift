import Foundation
import Testing

/// A machine of its own with a real systemd as its first process (`Support/booted`), in which Chime is installed as
/// `make install` does it; and commands that are run in there.
///
///     try await Home.live { home in
///       let machine = try await BootedSystem.start(in: home)
///       try await machine.systemctl("enable", "--now", "chimed.socket")
///       let output = try await machine.run("chime", ["--system", "status"])
///     }
///
/// It ends with the home, or with the test process. What it makes of the home's folder is at `/srv/home` in there.
struct BootedSystem: Sendable {
  let home: Home
  /// Its first process, as this machine counts.
  let leader: pid_t
  private let process: Child

  /// Boots and waits until systemd says that everything has been started: half a second on an idle machine.
  /// - Parameter build: the folder of the programs that are installed in it.
  static func start(in home: Home, build: String = Machine.programs) async throws -> BootedSystem {
    let notifications = try NotifySocket(path: home.path + "/booted")
    defer { notifications.close() }
    let process = try await home.spawn(
      Machine.support("booted"), [build, home.path], environment: ["NOTIFY_SOCKET": "/srv/home/booted"])
    try await eventually("the machine has booted; it said: \(process.errors.suffix(2_000))", within: .seconds(30)) {
      if let end = process.end { throw HarnessFailure("the machine ended with \(end): \(process.errors)") }
      return notifications.lines.contains("READY=1")
    }
    let children = try String(contentsOfFile: "/proc/\(process.pid)/task/\(process.pid)/children", encoding: .utf8)
    guard let leader = children.split(separator: " ").first.flatMap({ pid_t($0) }) else {
      throw HarnessFailure("the machine has no first process")
    }
    return BootedSystem(home: home, leader: leader, process: process)
  }

  /// Cuts its power.
  func stop() async throws {
    process.destroy()
    _ = try await process.ended()
  }

  /// The path by which this machine reaches a file of that one.
  func path(_ inside: String) -> String { "/proc/\(leader)/root" + inside }

  func write(_ text: String, to inside: String, mode: Int = 0o644) throws {
    let file = path(inside)
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try home.write(text, to: file, mode: mode)
  }

  /// Runs a program in there to its end.
  /// - Parameters:
  ///   - user: who runs it, by number, in the group of the same number and all of theirs; root by default.
  ///   - groups: the groups instead of theirs, as a session from before a change would still have them.
  func run(
    _ program: String, _ arguments: [String] = [], as user: Int? = nil, in groups: String? = nil,
    within limit: Duration = .seconds(20)
  ) async throws -> Home.Output {
    try await home.run("nsenter", entering(program, arguments, as: user, in: groups), within: limit)
  }

  /// Starts a program in there that ends with the home.
  func spawn(_ program: String, _ arguments: [String] = [], as user: Int? = nil) async throws -> Child {
    try await home.spawn("nsenter", entering(program, arguments, as: user, in: nil))
  }

  /// Runs a program in there and expects it to succeed.
  @discardableResult
  func did(
    _ program: String, _ arguments: String..., as user: Int? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let output = try await run(program, arguments, as: user)
    #expect(output.status == 0, "\(program) \(arguments): \(output.text)", sourceLocation: sourceLocation)
    return output.out
  }

  func systemctl(_ arguments: String...) async throws {
    let output = try await run("systemctl", arguments)
    guard output.status == 0 else {
      let journal = try await run("journalctl", ["--no-pager", "-n", "40"])
      throw HarnessFailure("systemctl \(arguments): \(output.text)\n\(journal.out)")
    }
  }

  /// One property of a unit, as `systemctl show` has it.
  func property(_ name: String, of unit: String = "chimed.service") async throws -> String {
    try await run("systemctl", ["show", unit, "--property=\(name)", "--value"]).out
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// The entries of the journal that match, oldest first, with all their fields.
  func journal(_ matches: String...) async throws -> [JSON] {
    // What has been sent is in the journal when this returns.
    _ = try await run("journalctl", ["--sync"])
    return try await run("journalctl", ["--output=json", "--all"] + matches).out
      .split(separator: "\n").map { try JSON(parsing: String($0)) }
  }

  private func entering(_ program: String, _ arguments: [String], as user: Int?, in groups: String?) -> [String] {
    var line = [
      "--target", String(leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd",
    ]
    line += ["--", "env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LC_ALL=C.UTF-8"]
    line += ["HOME=/", "SWIFT_BACKTRACE=enable=no"]
    // The libraries of a debug build.
    let more = (try? String(contentsOfFile: path("/etc/environment"), encoding: .utf8)) ?? ""
    line += more.split(separator: "\n").map(String.init)
    // The clock, the kernel's modules and the rest are as far out of reach as they are for that machine's systemd.
    line += ["setpriv", "--bounding-set=-sys_time,-sys_module,-sys_rawio,-sys_boot,-syslog"]
    if let user {
      line += ["--reuid=\(user)", "--regid=\(user)"]
      line += groups.map { ["--groups=\($0)"] } ?? ["--init-groups"]
    }
    return line + ["--", program] + arguments
  }
}
