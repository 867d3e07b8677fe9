import Foundation
import Testing

/// A container with a real systemd as init (`Support/booted`), with Chime installed as by `make install`.
///
///     try await Home.run { home in
///       let machine = try await BootedSystem.start(in: home)
///       try await machine.systemctl("enable", "--now", "chimed.socket")
///       let output = try await machine.run("chime", ["--system", "status"])
///     }
///
/// It ends with the home, or with the test process. The home's folder is `/srv/home` inside.
struct BootedSystem: Sendable {
  let home: Home
  /// The pid of its init, as seen from outside.
  let leader: pid_t
  private let process: Child

  /// Boots it and waits until systemd has started everything: half a second on an idle machine.
  ///
  /// - Parameter build: the folder of the programs to install.
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

  /// Kills it, as a power cut does.
  func stop() async throws {
    process.destroy()
    _ = try await process.ended()
  }

  /// Returns the outside path of a file inside.
  func path(_ inside: String) -> String { "/proc/\(leader)/root" + inside }

  func write(_ text: String, to inside: String, mode: Int = 0o644) throws {
    let file = path(inside)
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try home.write(text, to: file, mode: mode)
  }

  /// Runs a program inside to its end.
  ///
  /// - Parameters:
  ///   - user: the uid, with the same gid and the user's groups; root by default.
  ///   - groups: other supplementary groups, as in a session from before a change.
  func run(
    _ program: String, _ arguments: [String] = [], as user: Int? = nil, in groups: String? = nil,
    within limit: Duration = .seconds(20)
  ) async throws -> Home.Output {
    try await home.run("nsenter", entering(program, arguments, as: user, in: groups), within: limit)
  }

  /// Starts a program inside that ends with the home.
  func spawn(_ program: String, _ arguments: [String] = [], as user: Int? = nil) async throws -> Child {
    try await home.spawn("nsenter", entering(program, arguments, as: user, in: nil))
  }

  /// Runs a program inside and expects success.
  @discardableResult
  func mustRun(
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

  /// Returns a property of a unit, as `systemctl show` prints it.
  func property(_ name: String, of unit: String = "chimed.service") async throws -> String {
    try await run("systemctl", ["show", unit, "--property=\(name)", "--value"]).out
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Returns matching journal entries, oldest first, with all fields.
  func journal(_ matches: String...) async throws -> [JSON] {
    // After this, all sent messages are in the journal.
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
    // The library paths of a debug build.
    let more = (try? String(contentsOfFile: path("/etc/environment"), encoding: .utf8)) ?? ""
    line += more.split(separator: "\n").map(String.init)
    // Drop the capabilities that the container's systemd lacks, for clock, modules and others.
    line += ["setpriv", "--bounding-set=-sys_time,-sys_module,-sys_rawio,-sys_boot,-syslog"]
    if let user {
      line += ["--reuid=\(user)", "--regid=\(user)"]
      line += groups.map { ["--groups=\($0)"] } ?? ["--init-groups"]
    }
    return line + ["--", program] + arguments
  }
}
