import ChimeControl
import FoundationEssentials
import Glibc
import Varlink

/// A chimed with store, socket and log in one folder, without a bus and a service manager.
final class MeasuredDaemon {
  let folder: String
  let socket: String
  private let program: String
  private var process: Program

  var pid: pid_t { process.pid }

  /// Starts the daemon, and waits until it answers.
  init(program: String, folder: String, configuration: String) throws {
    self.program = program
    self.folder = folder
    socket = folder + "/io.chime"
    let file = folder + "/chimed.toml"
    guard FileManager.default.createFile(atPath: file, contents: Data(configuration.utf8)) else {
      throw BenchFailure(call: file)
    }
    process = try Self.launch(program, folder)
    try waitForAnswer()
  }

  private static func launch(_ program: String, _ folder: String, notify: String? = nil) throws -> Program {
    var environment = [
      "PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere",
    ]
    environment["NOTIFY_SOCKET"] = notify
    return try Program(
      program,
      ["--state-dir", folder + "/state", "--socket", folder + "/io.chime", "--config", folder + "/chimed.toml"],
      environment: environment, errors: folder + "/log")
  }

  private func waitForAnswer() throws {
    for _ in 0..<500 {
      if (try? health()) != nil { return }
      pause(seconds: 0.02)
    }
    throw BenchFailure("chimed does not answer; it said: \(log.suffix(1_000))")
  }

  var log: String { String(decoding: FileManager.default.contents(atPath: folder + "/log") ?? Data(), as: UTF8.self) }

  /// Stops the daemon cleanly.
  func stop() { _ = process.endAndRead() }

  /// Starts the daemon again; returns the time from launch to READY in milliseconds (sd_notify(3)).
  func start() throws -> Double {
    let notices = try NoticeSocket(path: folder + "/notify")
    let begin = monotonicNanoseconds()
    process = try Self.launch(program, folder, notify: notices.path)
    guard notices.waitForReady(seconds: 60) else {
      throw BenchFailure("chimed was not ready; it said: \(log.suffix(1_000))")
    }
    return Double(monotonicNanoseconds() - begin) / 1_000_000
  }

  func client() throws -> VarlinkClient { try VarlinkClient("unix:" + socket) }

  func health() throws -> DaemonInterface.Health {
    let reply: DaemonInterface.Status.Reply = try client().call(DaemonInterface.Status())
    return reply.status
  }

  func add(_ drafts: [RemindersInterface.Draft]) throws {
    let client = try client()
    for draft in drafts {
      let _: RemindersInterface.Add.Reply = try client.call(RemindersInterface.Add(reminder: draft))
    }
  }

  /// Adds an endpoint for a receiver on this machine.
  func putEndpoint(_ name: String = "bench", port: String) throws {
    let _: EndpointsInterface.Put.Reply = try client().call(
      EndpointsInterface.Put(
        name: name, url: "http://127.0.0.1:\(port)/",
        secret: "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()))
  }

  /// Returns all occurrences that the daemon has recorded.
  func occurrences() throws -> [OccurrencesInterface.Occurrence] {
    let client = try client()
    var all: [OccurrencesInterface.Occurrence] = []
    var cursor: String?
    repeat {
      let page: OccurrencesInterface.List.Reply = try client.call(
        OccurrencesInterface.List(limit: 1_000, cursor: cursor))
      all += page.occurrences
      cursor = page.cursor
    } while cursor != nil
    return all
  }

  /// Waits until no delivery is pending, or until the timeout.
  func settle(within seconds: Int) throws {
    for _ in 0..<(seconds * 5) {
      if try health().pendingDeliveries == 0 { return }
      pause(seconds: 0.2)
    }
  }
}

/// Returns typical reminders.
func everydayDrafts(_ count: Int) -> [RemindersInterface.Draft] {
  let schedules = ["every 90m from 8:00 to 22:00", "weekdays at 9:25", "at 2199-12-24 18:00", "weekends at 10:00"]
  return (0..<count).map { number in
    RemindersInterface.Draft(
      title: "Reminder number \(number)", when: schedules[number % schedules.count],
      timezone: number % 2 == 0 ? "Europe/Prague" : nil)
  }
}

/// Returns the schedule of a single second of the wall clock.
func once(at second: Int64) -> String {
  var time = time_t(second)
  var parts = tm()
  gmtime_r(&time, &parts)
  func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
  return "at \(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
}
