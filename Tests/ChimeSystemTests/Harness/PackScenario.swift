import Foundation
import Testing

/// A daemon with a clock that the test moves, a mock desktop and a webhook receiver, to simulate a month in seconds.
///
/// The clock runs between two moves. Each move waits until the daemon has noticed the new time, and nothing is due or
/// pending.
struct PackScenario: Sendable {
  let home: Home
  let daemon: Daemon
  let desktop: MockDesktop
  let receiver: Receiver
  let start: Date

  private var file: String { home.path + "/offset" }

  /// Starts a daemon in Prague with a clock at `2027-03-01 07:00` or another moment.
  static func begin(in home: Home, at start: String, configuration: String = "") async throws -> PackScenario {
    let date = try prague(start)
    let file = home.path + "/offset"
    let desktop = try await home.startMockDesktop()
    try home.step(nil, to: offset(to: date), in: file)
    let clock = FakeClock.steered(by: file)
    // Signatures contain the daemon's time, so the receiver needs the same clock.
    let receiver = try await Receiver.start(
      in: home, behind: ["/usr/bin/env"] + clock.map { "\($0.key)=\($0.value)" }.sorted())
    try home.configure(
      """
      [defaults]
      channels = ["desktop", "hook"]
      [late]
      spread = "0s"

      """ + configuration)
    let daemon = try await home.start(environment: clock)
    try await home.addEndpoint("hook", receiver)
    return PackScenario(home: home, daemon: daemon, desktop: desktop, receiver: receiver, start: date)
  }

  // MARK: The clock

  /// Moves the clock to a day, counted from the first, and a time.
  func go(day: Int, _ time: String) async throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "Europe/Prague"))
    let parts = time.split(separator: ":").compactMap { Int($0) }
    let date = try #require(calendar.date(byAdding: .day, value: day, to: start))
    try await go(
      to: try #require(
        calendar.date(
          bySettingHour: parts[0], minute: parts[1], second: parts.count > 2 ? parts[2] : 0, of: date)))
  }

  private func go(to date: Date) async throws {
    // Messages in flight are signed with the current time.
    try await settle()
    let before = try await home.clockEvents()
    try home.step(daemon, to: Self.offset(to: date), in: file)
    try await eventually("it has looked at the clock: \(date)") { try await home.clockEvents() > before }
    try await settle(after: date)
  }

  /// Waits until nothing is due and no delivery is pending.
  func settle(after date: Date? = nil) async throws {
    try await eventually("nothing is due at \(date.map { "\($0)" } ?? "this moment")") {
      let all = try await home.answer("io.chime.Reminders.List")["reminders"].elements
      let isAhead = try all.allSatisfy { reminder in
        guard let date, let next = reminder["next"]["at"].string else { return true }
        return try Date(next, strategy: .iso8601) > date
      }
      guard isAhead else { return false }
      return try await home.answer("io.chime.Daemon.Status")["status"]["pendingDeliveries"].int == 0
    }
  }

  private static func offset(to date: Date) -> String {
    let seconds = date.timeIntervalSince(Date())
    return (seconds < 0 ? "" : "+") + String(format: "%.3f", seconds)
  }

  private static func prague(_ text: String) throws -> Date {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "Europe/Prague")
    formatter.dateFormat = "yyyy-MM-dd HH:mm"
    return try #require(formatter.date(from: text))
  }

  // MARK: Actions

  @discardableResult
  func install(_ pack: String, _ choices: JSON = .null) async throws -> JSON {
    try await home.answer("io.chime.Trackers.InstallPack", ["name": .string(pack), "choices": choices])
  }

  /// Logs an entry and returns the change.
  @discardableResult
  func log(_ tracker: String, _ more: JSON = [:]) async throws -> JSON {
    guard case .object(var members) = more else { throw HarnessFailure("\(more)") }
    members["tracker"] = .string(tracker)
    return try await home.answer("io.chime.Trackers.Log", .object(members))["change"]
  }

  /// Returns the ids of the achievements that a change has unlocked.
  static func unlocked(_ change: JSON) -> Set<String> {
    Set(change["unlocked"].elements.compactMap { $0["id"].string })
  }

  // MARK: State

  /// Returns today's progress of a tracker.
  func progress(_ tracker: String) async throws -> JSON {
    let day = try await home.answer("io.chime.Trackers.Day")["view"]
    return try #require(day["progress"].elements.first { $0["tracker"]["id"].string == tracker }, "\(day)")
  }

  /// Returns the id of the reminder that a pack has created.
  func reminder(_ key: String, of pack: String) async throws -> String {
    let packs = try await home.answer("io.chime.Trackers.Packs")["packs"].elements
    let installed = try #require(packs.first { $0["id"].string == pack })
    return try #require(installed["reminders"].elements.first { $0["key"].string == key }?["id"].string, "\(installed)")
  }

  /// Returns how many of a reminder's times on a day (YYYY-MM-DD) fired, and how many were skipped as done.
  func times(of reminder: String, on day: String) async throws -> (fired: Int, quiet: Int) {
    var fired = 0
    var quiet = 0
    let all = try await home.answer(
      "io.chime.Occurrences.List", ["filter": ["reminder": .string(reminder)], "limit": 1_000])["occurrences"].elements
    for one in all where one["scheduledAt"]["at"].string?.hasPrefix(day) == true {
      if one["missed"].string == "doneAlready" {
        quiet += one["missedCount"].int ?? 1
      } else if one["state"].string != "missed" {
        fired += 1
      }
    }
    return (fired, quiet)
  }

  /// Returns the number of popups that contain a text.
  func popups(_ text: String) -> Int { desktop.shown.count { $0.contains(text) } }

  /// Returns the number of webhooks whose title contains a text.
  func messages(_ title: String) -> Int {
    receiver.requests.count { ($0.body["data"]["title"].string ?? "").contains(title) }
  }

  /// Waits for a notification on both channels, and checks their number.
  func isNotified(_ text: String, times: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    try await settle()
    try await eventually("\(text) is notified: \(desktop.shown.suffix(6))") {
      popups(text) >= times && messages(text) >= times
    }
    #expect(popups(text) == times, "\(text)", sourceLocation: sourceLocation)
    #expect(messages(text) == times, "\(text)", sourceLocation: sourceLocation)
    #expect(
      receiver.requests.allSatisfy { $0.verdicts == ["ok", "ok"] }, "every message is signed",
      sourceLocation: sourceLocation)
  }
}
