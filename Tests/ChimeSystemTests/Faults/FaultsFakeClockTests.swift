import Foundation
import Testing

/// The daemon under libfaketime: DST changes and years at high speed, and a clock that jumps by hours and years.
@Suite(.proof(.clock), .serialized, .enabled(if: FakeClock.isAvailable, "needs libfaketime (Debian's faketime)"))
struct FaultsFakeClockTests {
  struct Change: Sendable, CustomStringConvertible {
    let description: String
    let start: String
    let end: String
    /// The time by which all reminders must be added.
    let begin: String
    /// The expected records of each schedule, derived by hand from the zone's rules and docs/schedules.md.
    let times: [String: [String]]
  }

  /// DST changes in Prague in 2026: 02:00 to 03:00 on 29 March, 03:00 to 02:00 on 25 October, both at 01:00 UTC.
  static let changes = [
    Change(
      description: "spring forward", start: "2026-03-28T17:00:00Z", end: "2026-03-29T03:00:00Z",
      begin: "2026-03-28T23:40:00Z",
      times: [
        "daily at 2:30": ["2026-03-29T03:30:00+02:00"],
        "cron: */30 1-3 * * *": [
          "2026-03-29T01:00:00+01:00", "2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00",
          "2026-03-29T03:30:00+02:00",
        ],
        "calendar: *-*-* 01..04:15": [
          "2026-03-29T01:15:00+01:00", "2026-03-29T03:15:00+02:00", "2026-03-29T04:15:00+02:00",
        ],
        "every 45m starting 2026-03-28T23:45:00Z": [
          "2026-03-29T00:45:00+01:00", "2026-03-29T01:30:00+01:00", "2026-03-29T03:15:00+02:00",
          "2026-03-29T04:00:00+02:00", "2026-03-29T04:45:00+02:00",
        ],
      ]),
    Change(
      description: "fall back", start: "2026-10-24T16:00:00Z", end: "2026-10-25T03:00:00Z",
      begin: "2026-10-24T23:40:00Z",
      times: [
        "daily at 2:30": ["2026-10-25T02:30:00+02:00"],
        "cron: */30 2-3 * * *": [
          "2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00",
          "2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00", "2026-10-25T03:30:00+01:00",
        ],
        "calendar: *-*-* 02..03:15": ["2026-10-25T02:15:00+02:00", "2026-10-25T03:15:00+01:00"],
        "every 45m starting 2026-10-24T23:45:00Z": [
          "2026-10-25T01:45:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:15:00+01:00",
          "2026-10-25T03:00:00+01:00", "2026-10-25T03:45:00+01:00",
        ],
      ]),
  ]

  @Test(.timeLimit(.minutes(1)), arguments: changes)
  func remindersFireOnTimeThroughClockChanges(_ change: Change) async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let daemon = try await home.start(environment: FakeClock.running(from: try date(change.start), times: 3_600))
      var ids: [String: String] = [:]
      for schedule in change.times.keys.sorted() { ids[schedule] = try await home.add(schedule, schedule) }
      let begun = try #require(try await now(home))
      try #require(begun < change.begin, "the machine was too slow: begun at \(begun)")
      try await eventually("the morning comes", within: .seconds(30)) {
        try await now(home).map { $0 > change.end } ?? false
      }
      // Reminders due just before that may not be recorded yet.
      try await eventually("all of it is recorded") {
        for id in ids.values {
          let next = try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"]["next"]["at"]
          guard let next = next.string, try date(next) > date(change.end) else { return false }
        }
        return true
      }
      for (schedule, id) in ids {
        let seen = try await home.record(of: id)
        let until = try date(change.end)
        let times = try seen.filter { try date($0.at) < until }.map(\.at).reversed()
        // Under load a time may be late and the one before it missed; both are recorded.
        #expect(Array(times) == change.times[schedule], "\(schedule) (\(seen))")
      }
      try await daemon.stopCleanly()
    }
  }

  /// The daemon is stopped for five minutes: late reminders follow their catch-up rules and record the cause.
  @Test(.timeLimit(.minutes(2)))
  func stopOfMinutesFollowsTheCatchUpRules() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let daemon = try await home.start(
        environment: FakeClock.running(from: Date(timeIntervalSince1970: 1_780_000_000), times: 20))
      var ids: [String: String] = [:]
      for rule in ["latest", "all", "skip"] {
        try await home.mustRun("add", rule, "every 1m", "--catch-up", "suspend=\(rule)")
        ids[rule] = try await home.answer("io.chime.Reminders.Get", ["id": .string(rule)])["reminder"]["id"].string
      }
      daemon.process.send(SIGSTOP)
      try await eventually("it is stopped") { daemon.process.runState == "T" }
      let until = Date(timeIntervalSinceNow: 15)
      try await eventually("five minutes of its clock pass", within: .seconds(60)) { Date() > until }
      daemon.process.send(SIGCONT)
      let late = try await eventually("it has caught up") { () -> [String: [String]]? in
        var found: [String: [String]] = [:]
        for (rule, id) in ids {
          let record = try await home.record(of: id)
          found[rule] = record.filter { $0.late != nil || $0.state == "missed" }.map { $0.late ?? "missed" }
          // Each time has one record.
          #expect(Set(record.map(\.at)).count == record.count)
        }
        return found.values.allSatisfy { $0.count >= 3 } ? found : nil
      }
      // The latest time may be less than a minute old. Then it is not late, and stands for the others.
      #expect(late["latest"].map { $0.count { $0 == "suspend" } <= 1 } == true, "one popup, not a storm: \(late)")
      #expect(late["all"]?.allSatisfy { $0 == "suspend" } == true, "\(late)")
      #expect(late["skip"]?.allSatisfy { $0 == "missed" } == true, "\(late)")
      #expect(daemon.process.errors.split(separator: "\n").count { $0.contains("the daemon was stopped for") } == 1)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func clockJumpsFireNothingTwiceAndLoseNothing() async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let file = home.path + "/offset"
      try home.step(nil, to: "+0", in: file)
      var daemon = try await home.start(environment: FakeClock.steered(by: file))
      var ids: [String: String] = [:]
      for when in ["every 1h", "daily at 9:00", "mon,thu at 18:30", "cron: 0 3 1 * *"] {
        ids[when] = try await home.add(when, when)
      }
      var stream = try await home.spawn(Machine.chime, ["watch", "--json"])
      var fired: [String] = []
      func gather() throws {
        for line in stream.lines {
          let event = try JSON(parsing: line)
          if event["event"].string == "fired" { fired.append(event["occurrence"].string ?? "?") }
        }
      }
      let seed = UInt64.random(in: 0..<1_000_000)
      var random = Seeded(state: seed)
      // Hours, days and years, in whole hours, so that nothing is due close to a jump.
      let spans = [2, 5, 26, 24 * 9, 24 * 31, 24 * 366, 24 * 365 * 9]
      var offset = 0
      for jump in 0..<12 {
        offset =
          Bool.random(using: &random)
          ? 0 : max(0, (Bool.random(using: &random) ? 1 : -1) * (spans.randomElement(using: &random) ?? 1) + offset)
        let words = "jump \(jump) to +\(offset)h, seed \(seed)"
        if jump == 6 {
          try gather()
          try await daemon.crash()
          try home.step(nil, to: "+\(offset)h", in: file)
          daemon = try await home.start(environment: FakeClock.steered(by: file))
          stream = try await home.spawn(Machine.chime, ["watch", "--json"])
          try await eventually("it watches") {
            try await home.answer("io.chime.Daemon.Status")["status"]["connections"].int == 2
          }
        } else {
          let before = try await home.clockEvents()
          try home.step(daemon, to: "+\(offset)h", in: file)
          try await eventually("it has looked: \(words)") { try await home.clockEvents() > before }
        }
        let there = Date(timeIntervalSinceNow: Double(offset) * 3_600)
        try await eventually("all is computed for then: \(words)") {
          let all = try await home.answer("io.chime.Reminders.List")["reminders"].elements
          for reminder in all {
            guard let at = reminder["next"]["at"].string, let id = reminder["id"].string else { return false }
            let next = try date(at)
            // A time that fired in days that the clock has left does not recur; then the next is a month later.
            let ahead = try await home.record(of: id).count { try $0.state != "missed" && date($0.at) > there }
            // The next time is neither past nor in a year that the clock has left.
            guard next > there, next.timeIntervalSince(there) < Double(33 + 31 * ahead) * 86_400 else { return false }
          }
          return true
        }
      }
      try gather()
      let twice = Dictionary(grouping: fired) { $0 }.filter { $1.count > 1 }.keys.sorted()
      #expect(twice.isEmpty, "seed \(seed)")
      for (when, id) in ids {
        let times = try await home.record(of: id).map(\.at)
        #expect(Set(times).count == times.count, "\(when), seed \(seed)")
      }
      print("jumps of seed \(seed): \(fired.count) fired")
    }
  }

  /// Years at half a day per second and faster; times that cannot fire in time are recorded as missed.
  @Test(.timeLimit(.minutes(10)), arguments: [400_000, 4_000_000])
  func yearsAtHighSpeedHaveACompleteHistory(_ speed: Int) async throws {
    try await Home.run { home in
      try home.configure("[desktop]\nprogram = \"true\"\n[history]\nretention = \"\"\n")
      let start = "2027-02-01T00:00:00Z"
      let daemon = try await home.start(environment: FakeClock.running(from: try date(start), times: speed))
      let schedule = "mon,wed,sat at 2:30"
      let id = try await home.add("Years", schedule)
      let added = try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"]["createdAt"]["at"]
        .string
      let end =
        speed == 40_000 ? "2027-12-01T00:00:00Z" : speed == 400_000 ? "2031-01-01T00:00:00Z" : "2028-02-01T00:00:00Z"
      try await eventually("the years pass", within: .seconds(500)) { try await now(home).map { $0 > end } ?? false }
      _ = try await daemon.stop()
      // Read the results with a daemon whose clock runs at normal speed.
      _ = try await home.start(environment: FakeClock.running(from: try date(end), times: 1))
      try await eventually("it has caught up") {
        let next = try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"]["next"]["at"].string
        return try next.map { try date($0) > date(end) } ?? false
      }
      let record = try await home.record(of: id)
      var seen = 0
      let after = try date(added ?? start)
      let until = try date(end)
      for one in record where try date(one.at) < until { seen += one.count }
      #expect(Set(record.map(\.at)).count == record.count)
      #expect(seen == nights(after, until), "added at \(added ?? "?"), \(record.count) records")
    }
  }

  /// Counts Mondays, Wednesdays and Saturdays at 2:30 in Prague, by Foundation's calendar and zone rules.
  private func nights(_ after: Date, _ until: Date) -> Int {
    var calendar = Calendar(identifier: .gregorian)
    guard let zone = TimeZone(identifier: "Europe/Prague") else { return -1 }
    calendar.timeZone = zone
    var day = calendar.startOfDay(for: after)
    var count = 0
    while day < until {
      // In the DST gap the time is an hour later by the clock, which is the same instant.
      let time = calendar.date(bySettingHour: 2, minute: 30, second: 0, of: day) ?? day
      if [2, 4, 7].contains(calendar.component(.weekday, from: day)), time > after, time < until { count += 1 }
      day = calendar.date(byAdding: .day, value: 1, to: day) ?? until
    }
    return count
  }

  /// Returns the daemon's current time.
  private func now(_ home: Home) async throws -> String? {
    let soon = try await home.answer("io.chime.Schedules.Explain", ["when": "in 1s", "count": 1])["next"][0]
    return soon["at"].string.flatMap { try? date($0).ISO8601Format() }
  }

  private func date(_ text: String) throws -> Date {
    try Date(text, strategy: .iso8601)
  }

  private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }
}
