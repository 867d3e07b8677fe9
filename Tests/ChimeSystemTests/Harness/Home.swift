import Foundation
import Testing

/// A user's home for one test, with its own HOME, XDG folders, local-time link and processes, isolated from the machine.
final class Home: Sendable {
  let path: String
  var runtime: String { path + "/run" }
  var socket: String { runtime + "/chime/io.chime" }
  var state: String { path + "/state/chime" }
  var configuration: String { path + "/config/chime/chimed.toml" }
  var localtime: String { path + "/localtime" }
  var log: String { path + "/log" }

  private let children = ChildRegistry()

  private init() throws {
    path = try RunFolder.makeFolder("home")
    for folder in ["run", "state", "config/chime", "data", "cache", "log"] {
      try FileManager.default.createDirectory(
        atPath: "\(path)/\(folder)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    try setZone("Europe/Prague")
  }

  /// Runs `body` in a new home; afterwards ends all its processes and removes the folder. A failure includes the
  /// programs' output.
  static func run<Value>(
    alone: Bool = false, isolation: isolated (any Actor)? = #isolation, _ body: (Home) async throws -> Value
  ) async throws -> Value {
    await AsyncSemaphore.homes.enter(alone: alone)
    do {
      let home = try Home()
      do {
        let value = try await body(home)
        await home.leave()
        await AsyncSemaphore.homes.leave(alone: alone)
        return value
      } catch {
        Issue.record("\(error)\n\(home.allOutput)")
        await home.leave()
        throw error
      }
    } catch {
      await AsyncSemaphore.homes.leave(alone: alone)
      throw error
    }
  }

  private func leave() async {
    await children.endAll()
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Changes the local-time link as timedatectl(1) does, by renaming a new link over the old.
  func setZone(_ identifier: String) throws {
    let new = localtime + ".new"
    unlink(new)
    guard symlink("/usr/share/zoneinfo/" + identifier, new) == 0, rename(new, localtime) == 0 else {
      throw HarnessFailure("cannot link \(localtime)")
    }
  }

  /// A configuration in which popups succeed without a bus: a stub replaces notify-send.
  static let popupStub = "[desktop]\nprogram = \"/bin/true\"\n"

  func configure(_ toml: String) throws {
    try write(toml, to: configuration)
  }

  func write(_ text: String, to file: String, mode: Int = 0o600) throws {
    guard
      FileManager.default.createFile(
        atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
    else { throw HarnessFailure("cannot write \(file)") }
  }

  /// The complete environment of the programs started here.
  var environment: [String: String] {
    // The sanitizer options given to the tests.
    let sanitizers = ProcessInfo.processInfo.environment.filter { ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key) }
    return sanitizers.merging([
      "PATH": Machine.searchPath, "HOME": path, "LC_ALL": "C.UTF-8", "USER": "chime-test",
      "XDG_RUNTIME_DIR": runtime, "XDG_STATE_HOME": path + "/state", "XDG_CONFIG_HOME": path + "/config",
      "XDG_DATA_HOME": path + "/data", "XDG_CACHE_HOME": path + "/cache", "CHIME_LOCALTIME": localtime,
      // No backtraces: a crash must be quick.
      "SWIFT_BACKTRACE": "enable=no",
      // No bus unless a test starts one; never the machine's own.
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path)/bus", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)/system-bus",
    ]) { $1 }
  }

  /// Starts a program that ends with the home.
  func spawn(
    _ program: String, _ arguments: [String] = [], environment more: [String: String] = [:], withInput: Bool = false,
    on terminal: PseudoTerminal? = nil
  ) async throws -> Child {
    let child = try Child(
      program, arguments, environment: environment.merging(more) { $1 }, folder: log, withInput: withInput,
      terminal: terminal?.path)
    await children.add(child)
    return child
  }

  struct Output: Sendable {
    let status: Int32
    let out: String
    let err: String
    /// All output, for failure messages.
    var text: String { "status \(status)\n\(out)\(err)" }
    var json: JSON { get throws { try JSON(parsing: out) } }
  }

  /// Runs a program to its end.
  func run(
    _ program: String, _ arguments: [String], environment more: [String: String] = [:],
    within limit: Duration = .seconds(20)
  ) async throws -> Output {
    let child = try await spawn(program, arguments, environment: more)
    do {
      let status: Int32 =
        switch try await child.ended(within: limit) {
        case .exited(let code): code
        case .signalled(let signal): 128 + signal
        }
      return Output(status: status, out: child.output, err: child.errors)
    } catch {
      child.destroy()
      throw error
    }
  }

  /// Runs `chime` to its end.
  func chime(_ arguments: String..., environment: [String: String] = [:]) async throws -> Output {
    try await run(Machine.chime, arguments, environment: environment)
  }

  /// Runs `chime` and expects success.
  @discardableResult
  func mustRun(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
    let output = try await run(Machine.chime, arguments)
    #expect(
      output.status == 0, "chime \(arguments.joined(separator: " ")): \(output.text)", sourceLocation: sourceLocation)
    return output.out
  }

  /// Runs a listing of `chime` with --json.
  func json(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSON {
    let output = try await run(Machine.chime, arguments + ["--json"])
    try #require(
      output.status == 0, "chime \(arguments.joined(separator: " ")) --json: \(output.text)",
      sourceLocation: sourceLocation)
    return try output.json
  }

  /// Makes one call on a new connection.
  func call(_ method: String, _ parameters: JSON = [:]) async throws -> RawSocket.Answer {
    let socket = socket
    return try await blocking { try RawSocket(path: socket).call(method, parameters) }
  }

  /// Returns the parameters of a call that must succeed.
  func answer(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
    let answer = try await call(method, parameters)
    guard answer.error == nil else { throw HarnessFailure("\(method): \(answer)") }
    return answer.parameters
  }

  var allOutput: String {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: log)) ?? []
    return files.sorted().compactMap { file in
      let text = String(decoding: FileManager.default.contents(atPath: "\(log)/\(file)") ?? Data(), as: UTF8.self)
      return text.isEmpty ? nil : "--- \(file)\n\(text.suffix(3_000))"
    }.suffix(12).joined(separator: "\n")
  }

  private actor ChildRegistry {
    private var children: [Child] = []

    func add(_ child: Child) {
      children.removeAll { !$0.isRunning }
      children.append(child)
    }

    func endAll() async {
      for child in children.reversed() { child.destroy() }
      for child in children { _ = try? await child.ended(within: .seconds(5)) }
      children = []
    }
  }
}
