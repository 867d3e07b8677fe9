import Foundation
import Testing

/// Changes of the schedule context (zones, calendars, words) under a running daemon, or during downtime.
@Suite(.serialized) struct ScheduleContextTests {
  /// Installs a zone into the home's own zone folder.
  private func installZone(_ rules: String, as name: String, _ home: Home) throws {
    let file = home.zones + "/" + name
    let folder = file.replacing(/\/[^\/]*$/, with: "")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    guard let bytes = FileManager.default.contents(atPath: "/usr/share/zoneinfo/" + rules),
      FileManager.default.createFile(atPath: file + ".dpkg-new", contents: bytes),
      rename(file + ".dpkg-new", file) == 0
    else { throw HarnessFailure("cannot install \(file)") }
  }

  /// Queries the store's file beside the running daemon.
  private func sql(_ statement: String, _ home: Home) async throws -> String {
    let output = try await home.run("sqlite3", ["-cmd", ".timeout 10000", home.state + "/chime.db", statement])
    try #require(output.status == 0, "\(output.text)")
    return output.out
  }

  private func next(_ title: String, _ home: Home) async throws -> JSON {
    try await home.answer("io.chime.Reminders.Get", ["id": .string(title)])["reminder"]["next"]
  }

  @Test(.timeLimit(.minutes(1)))
  func replacedZoneFileMovesTheRemindersOfItsZone() async throws {
    try await Home.run { home in
      try installZone("Europe/Prague", as: "Europe/Prague", home)
      try installZone("Europe/Lisbon", as: "Europe/Lisbon", home)
      let daemon = try await home.start(environment: ["TZDIR": home.zones])
      try await home.mustRun("add", "Moves", "at", "2096-12-01", "09:00", "--tz", "Europe/Prague")
      try await home.mustRun("add", "Stays", "at", "2096-12-01", "09:00", "--tz", "Europe/Lisbon")
      try await home.mustRun("add", "Local", "at", "2096-12-01", "09:00")
      #expect(try await next("Moves", home)["at"] == "2096-12-01T09:00:00+01:00")
      let stays = try await next("Stays", home)

      try installZone("Asia/Tokyo", as: "Europe/Prague", home)
      try await eventually("the reminder moves") {
        try await next("Moves", home)["at"] == "2096-12-01T09:00:00+09:00"
      }
      #expect(try await next("Stays", home) == stays)
      #expect(try await next("Local", home)["at"] == "2096-12-01T09:00:00+01:00", "its link leads elsewhere")
      #expect(daemon.process.errors.contains("the rules of Europe/Prague have changed"))
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["clockEvents"].int == 1)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func replacedFileOfTheLocalZoneMovesLocalReminders() async throws {
    try await Home.run { home in
      try installZone("Europe/Prague", as: "Europe/Prague", home)
      unlink(home.localtime)
      #expect(symlink(home.zones + "/Europe/Prague", home.localtime) == 0)
      _ = try await home.start()
      try await home.mustRun("add", "Local", "at", "2096-12-01", "09:00")
      #expect(try await next("Local", home)["at"] == "2096-12-01T09:00:00+01:00")
      try installZone("Asia/Tokyo", as: "Europe/Prague", home)
      try await eventually("the reminder moves") {
        try await next("Local", home)["at"] == "2096-12-01T09:00:00+09:00"
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func zoneChangeDuringDowntimeMovesRemindersAtTheNextStart() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      try await home.mustRun("add", "Local", "at", "2096-12-01", "09:00")
      let before = try await next("Local", home)
      _ = try await daemon.stop()
      try home.setZone("Asia/Tokyo")
      let second = try await home.start()
      try await eventually("the reminder moves") {
        try await next("Local", home)["at"] == "2096-12-01T09:00:00+09:00"
      }
      #expect(before["at"] == "2096-12-01T09:00:00+01:00")
      #expect(second.process.errors.contains("changed since the last run: local"))
      // Only once: the new context is recorded.
      _ = try await second.stop()
      let third = try await home.start()
      #expect(!third.process.errors.contains("changed since the last run"))
    }
  }

  /// Power may fail between two pages of recomputation, and the zone may be the former one at the next start. Meanwhile
  /// the recorded context marks due times as mixed.
  @Test(.timeLimit(.minutes(1)), .enabled(if: Machine.has("sqlite3"), "needs sqlite3"))
  func interruptedRecomputationIsRepeatedAtTheNextStart() async throws {
    try await Home.run { home in
      func sql(_ statement: String) async throws -> String { try await self.sql(statement, home) }
      let first = try await home.start()
      try await home.mustRun("add", "Local", "at", "2096-12-01", "09:00")
      _ = try await first.stop()
      _ = try await sql(
        """
        CREATE TABLE seen (value TEXT);
        CREATE TRIGGER watch AFTER UPDATE ON note WHEN new.name = 'context'
          BEGIN INSERT INTO seen VALUES (new.value); END;
        """)
      try home.setZone("Asia/Tokyo")
      let second = try await home.start()
      try await eventually("the reminder moves") {
        try await next("Local", home)["at"] == "2096-12-01T09:00:00+09:00"
      }
      try await eventually("that is noted") {
        try await sql("SELECT value FROM note WHERE name = 'context'").hasPrefix("local Asia/Tokyo")
      }
      _ = try await second.stop()
      let seen = try await sql("SELECT value FROM seen ORDER BY rowid").split(separator: "\n")
      #expect(
        seen.first?.hasPrefix("changing ") == true && seen.contains { $0.hasPrefix("local Asia/Tokyo") }, "\(seen)")

      // As after a power failure before the last page.
      _ = try await sql("UPDATE note SET value = 'changing 4007000000000' WHERE name = 'context'")
      let third = try await home.start()
      try await eventually("it is done again") {
        try await sql("SELECT value FROM note WHERE name = 'context'").hasPrefix("local Asia/Tokyo")
      }
      #expect(third.process.errors.contains("while it recomputed due times"))
    }
  }

  /// Recomputation for one zone fails while that for others succeeds: the next daemon must know that it is incomplete.
  @Test(.timeLimit(.minutes(2)), .enabled(if: Machine.has("sqlite3"), "needs sqlite3"))
  func partialRecomputationIsCompletedByTheNextDaemon() async throws {
    try await Home.run { home in
      func sql(_ statement: String) async throws -> String { try await self.sql(statement, home) }
      let prague = "[place]\nlatitude = 50.0875\nlongitude = 14.4213\n"
      try home.configure(prague)
      let first = try await home.start()
      let many = (0..<5_000).map { ["title": .string("Local \($0)"), "when": "at 2096-12-01T09:00"] as JSON }
      _ = try await home.answer("io.chime.Reminders.AddMany", ["reminders": .array(many)])
      try await home.mustRun("add", "Evening", "sunset", "--tz", "UTC")
      _ = try await first.stop()
      _ = try await sql(
        """
        CREATE TABLE seen (value TEXT);
        CREATE TRIGGER watch AFTER UPDATE ON note WHEN new.name = 'context'
          BEGIN INSERT INTO seen VALUES (new.value); END;
        CREATE TRIGGER stuck BEFORE UPDATE ON due
          WHEN new.reminder = (SELECT max(key) FROM reminder WHERE title LIKE 'Local%')
          BEGIN SELECT RAISE(ABORT, 'it is stuck'); END;
        """)
      let second = try await home.start()
      let before = try await next("Evening", home)
      try home.setZone("Asia/Tokyo")
      try home.configure(prague.replacing("50.0875", with: "-34.6"))
      try await eventually("the zone is noticed", every: .milliseconds(1)) {
        second.process.errors.contains("zone is now Asia/Tokyo")
      }
      second.process.send(SIGHUP)
      try await eventually("the sun's times have moved", within: .seconds(60)) {
        try await next("Evening", home) != before
      }
      try await eventually("it is told that not all have", within: .seconds(60)) {
        second.process.errors.contains("due times could not be recomputed")
      }
      #expect(try await sql("SELECT value FROM note WHERE name = 'context'").hasPrefix("changing "))
      #expect(try await !sql("SELECT value FROM seen").contains("local Asia/Tokyo"))
      _ = try await sql("DROP TRIGGER stuck")
      try await eventually("all have in the end", within: .seconds(60)) {
        try await sql("SELECT value FROM note WHERE name = 'context'").hasPrefix("local Asia/Tokyo")
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func configuredLocationMovesSolarReminders() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      let refused = try await home.chime("add", "Evening", "sunset")
      #expect(refused.status == 64)
      #expect(refused.err.contains("[place]") && refused.err.contains("--place"), "\(refused.err)")
      let own = try await home.mustRun("add", "Own", "sunset", "--place", "50.0875,14.4213")
      #expect(own.contains("sunset"))
      let shown = try await home.json("show", "Own")["reminder"]
      #expect(shown["latitude"].number == 50.0875 && shown["longitude"].number == 14.4213)

      try home.configure("[place]\nlatitude = 50.0875\nlongitude = 14.4213\n")
      daemon.process.send(SIGHUP)
      try await eventually("it is reported") { daemon.process.errors.contains("the configuration was reloaded") }
      try await home.mustRun("add", "Evening", "sunset")
      let prague = try await next("Own", home)
      #expect(try await next("Evening", home) == prague)
      // The command has no location and asks the daemon.
      let when = try await home.json("when", "sunset")
      #expect(when["next"][0] == prague["at"])
      #expect(when["times"][0]["at"] == prague["at"])

      try home.configure("[place]\nlatitude = 38.7223\nlongitude = -9.1393\n")
      daemon.process.send(SIGHUP)
      try await eventually("the sun sets later in Lisbon") {
        let evening = try await next("Evening", home)
        return evening != .null && evening != prague
      }
      #expect(try await next("Own", home) == prague)
      // A reminder can return to the configured location.
      try await home.mustRun("edit", "Own", "--place", "")
      #expect(try await next("Own", home) == next("Evening", home))
      #expect(try await home.json("show", "Own")["reminder"]["latitude"] == .null)
    }
  }

  /// Each word for a time of day and its configured time; whole days have none.
  @Test(.timeLimit(.minutes(1)))
  func configurationDefinesTheWordsForTimesOfDay() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      try await home.mustRun("add", "Stretch", "every morning")
      #expect(try await home.json("when", "every morning")["canonical"] == "daily at 08:00")
      try home.configure("[words]\nmorning = \"06:45\"\nday = \"10:00\"\nlunchtime = \"11:30\"\n")
      daemon.process.send(SIGHUP)
      try await eventually("it is reported") { daemon.process.errors.contains("the configuration was reloaded") }
      // The command parses these itself, and asks the daemon for the time of morning.
      #expect(try await home.json("when", "every morning")["canonical"] == "daily at 06:45")
      #expect(try await home.json("when", "--line", "Call mum weekdays")["canonical"] == "weekdays at 10:00")
      // The daemon parses this one.
      try await home.mustRun("add", "Walk", "every morning")
      #expect(try await home.json("show", "Walk")["reminder"]["when"] == "daily at 06:45")
      // An existing reminder keeps its time.
      #expect(try await home.json("show", "Stretch")["reminder"]["when"] == "daily at 08:00")
      let words = try await home.answer("io.chime.Schedules.Words", [:])["words"]
      #expect(words["morning"] == "06:45" && words["night"] == "22:00" && words["noon"] == .null)

      // Without a daemon, the default times apply.
      _ = try await daemon.stop()
      #expect(try await home.json("when", "every morning")["canonical"] == "daily at 08:00")
    }
  }

  private func days(_ when: String, _ home: Home) async throws -> [String] {
    let answer = try await home.answer(
      "io.chime.Schedules.Explain", ["when": .string(when), "after": "2096-12-23T12:00:00Z", "count": 3])
    return answer["next"].elements.compactMap { $0["at"].string.map { String($0.prefix(10)) } }
  }

  @Test(.timeLimit(.minutes(1)))
  func excludedCalendarFollowsItsFile() async throws {
    try await Home.run { home in
      let file = home.path + "/school.ics"
      func school(_ day: String) throws {
        let text = [
          "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:1", "DTSTART;VALUE=DATE:\(day)",
          "END:VEVENT",
          "END:VCALENDAR", "",
        ].joined(separator: "\r\n")
        try home.write(text, to: file + ".new")
        guard rename(file + ".new", file) == 0 else { throw HarnessFailure("cannot write \(file)") }
      }
      try school("20961224")
      let lists = "holidays = [\"2096-12-25..2096-12-26\"]"
      try home.configure("[calendars]\n\(lists)\nschool = \"\(file)\"\n")
      let daemon = try await home.start()
      #expect(try await days("daily at 8 except on holidays", home) == ["2096-12-24", "2096-12-27", "2096-12-28"])
      #expect(
        try await days("daily at 8 except on holidays and school", home) == ["2096-12-27", "2096-12-28", "2096-12-29"])
      // The command has no calendars and asks the daemon.
      let when = try await home.mustRun("when", "daily at 8 except on holidays", "--after", "2096-12-24", "-n", "2")
      #expect(when.contains("2096-12-27 08:00"), "\(when)")
      let misspelt = try await home.chime("add", "Work", "daily at 8 except on holydays")
      #expect(misspelt.status == 64)
      #expect(misspelt.err.contains("did you mean \"daily at 8 except on holidays\"?"), "\(misspelt.err)")

      try await home.mustRun("add", "Lessons", "daily at 8 except on school starting 2096-12-24")
      try await home.mustRun("add", "Work", "daily at 8 except on holidays starting 2096-12-25")
      #expect(try await next("Lessons", home)["at"] == "2096-12-25T08:00:00+01:00")
      #expect(try await next("Work", home)["at"] == "2096-12-27T08:00:00+01:00")

      // The file is replaced under the running daemon.
      try school("20961225")
      try await eventually("the reminder moves") {
        try await next("Lessons", home)["at"] == "2096-12-24T08:00:00+01:00"
      }
      // A reload removes the list: its reminders continue without it, and this is reported.
      try home.configure("[calendars]\nschool = \"\(file)\"\n")
      daemon.process.send(SIGHUP)
      try await eventually("the reminder moves") {
        try await next("Work", home)["at"] == "2096-12-25T08:00:00+01:00"
      }
      let sentence = "the calendar holidays is no longer configured; one reminder continues without it"
      try await eventually("it is reported") { daemon.process.errors.contains(sentence) }
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["attention"] == [.string(sentence)])
      try await eventually("STATUS= reports it") { daemon.status?.contains(sentence) == true }
      let status = try await home.chime("status")
      #expect(status.status == 1 && status.out.contains(sentence), "\(status.text)")

      // It is reported again after a restart, until no reminder uses it.
      _ = try await daemon.stop()
      let second = try await home.start()
      try await eventually("it is reported again") { second.process.errors.contains(sentence) }
      try await home.mustRun("edit", "Work", "--when", "daily at 8 starting 2096-12-25")
      try await eventually("nothing is missing any more") {
        try await home.answer("io.chime.Daemon.Status")["status"]["attention"] == []
      }
    }
  }

  /// The command asks the daemon for calendar names, so that none ends up in a title.
  @Test(.timeLimit(.minutes(1)))
  func addLineExcludesCalendarsThatTheDaemonKnows() async throws {
    try await Home.run { home in
      try home.configure("[calendars]\nschool-days = [\"2096-12-24..2096-12-26\"]\n")
      _ = try await home.start()
      try await home.mustRun("add", "every", "weekday", "at", "9", "except", "school-days", "stand-up", "to", "team")
      let list = try await home.mustRun("list", "--plain")
      #expect(list.contains("stand-up to team"), "\(list)")
      let when = try await home.mustRun(
        "when", "--line", "Lessons", "every", "weekday", "at", "9", "except", "school-days", "--after",
        "2096-12-23T10:00",
        "-n", "1")
      #expect(when.contains("Lessons") && when.contains("2096-12-27 09:00"), "\(when)")
      let left = try await home.chime("add", "every", "day", "at", "9", "except", "may", "school-days", "Walk")
      #expect(left.status == 64 && left.err.contains("school-days"), "\(left.text)")
      let unknown = try await home.chime("add", "every", "day", "at", "9", "except", "office-days", "Walk")
      #expect(unknown.status == 64 && unknown.err.contains("office-days"), "\(unknown.text)")
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func unreadableCalendarIsReportedAndTheDaemonRuns() async throws {
    try await Home.run { home in
      try home.configure("[calendars]\nschool = \"\(home.path)/school.ics\"\n")
      let check = try await home.run(Machine.chimed, ["--check"])
      #expect(check.status == 78)
      #expect(check.err.contains("chimed.toml:2: calendars.school:"), "\(check.err)")
      let daemon = try await home.start()
      let refused = try await home.chime("add", "Lessons", "daily at 8 except on school")
      #expect(refused.err.contains("school.ics cannot be read"), "\(refused.err)")
      #expect(try await home.chime("status").out.contains("school.ics cannot be read"))
      let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n"
      try home.write(text, to: home.path + "/school.ics")
      try await eventually("it is read once it is there") {
        try await home.answer("io.chime.Daemon.Status")["status"]["attention"] == []
      }
      try await home.mustRun("add", "Lessons", "daily at 8 except on school")
      #expect(daemon.process.isRunning)
      #expect(try await home.run(Machine.chimed, ["--check"]).status == 0)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func doneMovesAScheduleThatCountsFromDone() async throws {
    try await Home.run { home in
      let daemon = try await home.start()
      let id = try await home.add("Water plants", "every 3 days after done at 9 starting tomorrow")
      let before = try await next("Water plants", home)
      let fired = try await home.answer("io.chime.Occurrences.Fire", ["id": .string(id)])
      #expect(try await next("Water plants", home) == before, "firing moves nothing")
      try await home.mustRun("done", "Water plants")
      let after = try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"]
      let done = try #require(after["lastDone"]["at"].string)
      #expect(after["next"] != before)
      // Three days after the day on which it was done, whatever the hour.
      let day = try Date(String(done.prefix(10)) + "T00:00:00Z", strategy: .iso8601)
      let third = day.addingTimeInterval(3 * 86_400).formatted(.iso8601.year().month().day())
      #expect(after["next"]["at"].string?.hasPrefix(third + "T09:00:00") == true, "\(after)")
      // A second *done* changes nothing.
      _ = try await home.answer("io.chime.Occurrences.Done", ["id": fired["occurrence"]["id"]])
      #expect(try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"] == after)
      // It is durable.
      _ = try await daemon.stop()
      _ = try await home.start()
      #expect(try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"] == after)
      // A schedule that does not use the time of completion drops it; one that does takes it from the history.
      try await home.mustRun("edit", id, "--when", "daily at 9")
      #expect(try await home.json("show", id)["reminder"]["lastDone"] == .null)
      try await home.mustRun("edit", id, "--when", "every 3 days after done at 9")
      #expect(
        try await home.answer("io.chime.Reminders.Get", ["id": .string(id)])["reminder"]["lastDone"]
          == after["lastDone"])
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func scheduleWithItsOwnZoneIgnoresTheLocalZone() async throws {
    try await Home.run { home in
      _ = try await home.start()
      try await home.mustRun("add", "Fixed", "calendar: 2096-12-01 09:00 Asia/Tokyo")
      #expect(try await next("Fixed", home) == ["at": "2096-12-01T09:00:00+09:00", "zone": "Asia/Tokyo"])
      #expect(try await home.mustRun("show", "Fixed").contains("Asia/Tokyo, as its schedule says"))
      let before = try await next("Fixed", home)
      try home.setZone("America/New_York")
      try await eventually("the daemon notices") {
        try await home.answer("io.chime.Daemon.Status")["status"]["zone"] == "America/New_York"
      }
      #expect(try await next("Fixed", home) == before)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func scheduleIsExplainedAndConvertedOverTheSocket() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let explained = try await home.answer(
        "io.chime.Schedules.Explain",
        ["when": "daily at 2:30", "timezone": "Europe/Prague", "after": "2096-03-24T00:00:00Z", "count": 2])
      #expect(explained["dialect"] == "phrase")
      #expect(explained["zone"] == "Europe/Prague")
      let sentence = "02:30 does not exist on 2096-03-25; moved to 03:30"
      #expect(
        explained["next"] == [
          [
            "at": "2096-03-24T02:30:00+01:00", "zone": "Europe/Prague", "abbreviation": "CET", "secondsUntil": 5_400,
          ],
          [
            "at": "2096-03-25T03:30:00+02:00", "zone": "Europe/Prague", "abbreviation": "CEST", "secondsUntil": 91_800,
            "remark": .string(sentence),
          ],
        ])
      #expect(explained["remarks"] == [.string("2096-03-25T03:30:00+02:00: \(sentence)")])
      // The zone in the text overrides the parameter.
      let own = try await home.answer(
        "io.chime.Schedules.Explain",
        [
          "when": "calendar: 09:00 Asia/Tokyo", "timezone": "Europe/Prague", "after": "2096-03-24T00:00:00Z",
          "count": 1,
        ])
      #expect(own["zone"] == "Asia/Tokyo")
      #expect(own["next"][0]["at"] == "2096-03-25T09:00:00+09:00")

      let sun: [String: JSON] = [
        "when": "sunset", "timezone": "Europe/Prague", "after": "2096-03-24T00:00:00Z", "count": 1,
      ]
      #expect(
        try await home.call("io.chime.Schedules.Explain", .object(sun)).error == "io.chime.Schedules.InvalidSchedule")
      let somewhere = sun.merging(["latitude": .number(50.0875), "longitude": .number(14.4213)]) { $1 }
      let evening = try await home.answer("io.chime.Schedules.Explain", .object(somewhere))
      #expect(evening["next"][0]["at"].string?.hasPrefix("2096-03-24T18:") == true, "\(evening)")
      let half = try await home.call("io.chime.Schedules.Explain", .object(sun.merging(["latitude": 50]) { $1 }))
      #expect(half.error == "io.chime.Schedules.InvalidValue")
      #expect(half.parameters["field"] == "longitude")

      let same = try await home.answer("io.chime.Schedules.Convert", ["when": "daily at 9", "to": "phrase"])
      #expect(same == ["canonical": "daily at 09:00", "dialect": "phrase", "remarks": []])
      let never = try await home.call("io.chime.Schedules.Convert", ["when": "daily at 9", "to": "solar"])
      #expect(never.error == "io.chime.Schedules.Inexpressible")
      let wrong = try await home.call("io.chime.Schedules.Convert", ["when": "daily at 90", "to": "cron"])
      #expect(wrong.error == "io.chime.Schedules.InvalidSchedule")
    }
  }
}

extension Home {
  var zones: String { path + "/zoneinfo" }
}
