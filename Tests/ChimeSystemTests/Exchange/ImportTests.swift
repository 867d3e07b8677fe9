import Foundation
import Testing

/// Imports from other programs, compared with what these programs print themselves.
@Suite(.serialized) struct ImportTests {
  @Test(.timeLimit(.minutes(1)), .enabled(if: Machine.has("remind")))
  func importedRemindScriptHasTheDaysThatRemindPrints() async throws {
    try await Home.run { home in
      // A zone where it is eleven in the morning, so that today's times do not pass during the test.
      let utc = Int(Date().timeIntervalSince1970) / 3_600 % 24
      let zone = "Etc/GMT" + (utc == 11 ? "" : utc > 11 ? "+\(utc - 11)" : "\(utc - 11)")
      try home.setZone(zone)
      _ = try await home.start()
      let script = """
        REM Mon Tue AT 9:00 MSG r1 %b
        REM 24 Dec MSG r2
        REM 1 Mar 2099 *14 UNTIL 1 Jun 2099 MSG r3
        REM Mon 8 MSG r4
        REM 1 -1 MSG r5
        REM 15 AT 23:59 MSG r6
        REM Sat Sun 3 Feb MSG r7
        REM 2099-11-05@7.30 MSG r8
        REM Oct MSG r9
        REM AT 23:58 MSG r10
        REM 31 MSG r11
        REM Fri 1 Mar 2099 MSG r12
        REM 29 Feb MSG r13

        """
      let file = home.path + "/.reminders"
      try home.write(script, to: file)
      let taken = try await home.chime("import", "remind", "--all-day-at", "23:57")
      #expect(taken.status == 0 && taken.err.hasPrefix("13 reminders added"), "\(taken.text)")
      let again = try await home.chime("import", "remind", "--all-day-at", "23:57")
      #expect(again.err.hasPrefix("0 reminders added, 13 skipped: 13 exist already"), "\(again.text)")
      let reminders = try await home.json("list", "-n", "all")["reminders"].elements
      let ours = Dictionary(
        uniqueKeysWithValues: reminders.map { ($0["title"].string ?? "", String(($0["next"].string ?? "").prefix(10))) }
      )
      // The next day of each reminder, as remind prints it.
      let theirs = try await home.run("/usr/bin/remind", ["-n", file], environment: ["TZ": zone])
      var seen = 0
      for line in theirs.out.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let title = words.first(where: { ours[String($0)] != nil }).map(String.init) else { continue }
        // A time that has passed today comes next week, where remind prints today.
        guard title != "r1" else { continue }
        #expect((ours[title] ?? "") == words[0].replacing("/", with: "-"), "\(title): \(line)")
        seen += 1
      }
      #expect(seen == 12, "\(theirs.text)")
    }
  }

  @Test(.timeLimit(.minutes(1)), .enabled(if: Machine.has("systemd-analyze")))
  func importedTimersHaveTheTimesThatSystemdPrints() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let calendars = [
        "daily", "*-*-* 6,18:00", "Mon..Fri 07:30", "*-*~01 12:00", "Sun 2099-*-* 03:10", "quarterly",
        "*-02-29 00:00:30",
        "Sat *-*-8..14 9:00 America/New_York",
      ]
      for (number, calendar) in calendars.enumerated() {
        try home.write(
          "[Unit]\nDescription=t\(number)\n[Timer]\nOnCalendar=\(calendar)\nPersistent=\(number % 2 == 0)\n",
          to: home.path + "/t\(number).timer")
      }
      try home.write("[Service]\nExecStart=/bin/backup --all\n", to: home.path + "/t0.service")
      let files = calendars.indices.map { home.path + "/t\($0).timer" }
      let taken = try await home.run(Machine.chime, ["import", "systemd"] + files)
      #expect(taken.err.hasPrefix("\(calendars.count) reminders added"), "\(taken.text)")
      let reminders = try await home.json("list", "-n", "all")["reminders"].elements
      for (number, calendar) in calendars.enumerated() {
        let reminder = try #require(reminders.first { $0["title"].string == "t\(number)" })
        #expect(reminder["catchUp"]["downtime"].string == (number % 2 == 0 ? "latest" : "skip"))
        let said = try await home.run(
          "/usr/bin/systemd-analyze", ["calendar", calendar],
          environment: ["TZ": "Europe/Prague", "SYSTEMD_COLORS": "0"])
        let next = try #require(said.out.split(separator: "\n").first { $0.contains("Next elapse:") }, "\(said.text)")
        let words = next.split(separator: " ")
        let ours = try Date(#require(reminder["next"].string), strategy: .iso8601)
        let form = DateFormatter()
        form.locale = Locale(identifier: "en_US_POSIX")
        form.timeZone = TimeZone(identifier: "Europe/Prague")
        form.dateFormat = "yyyy-MM-dd HH:mm:ss"
        #expect(form.string(from: ours) == words.suffix(3).prefix(2).joined(separator: " "), "\(calendar): \(next)")
      }
      #expect(
        reminders.first { $0["title"].string == "t0" }?["body"].string == "Starts t0.service\n/bin/backup --all")
    }
  }

  @Test(.timeLimit(.minutes(1)), .enabled(if: Machine.has("task")))
  func importedTasksAreDueWhenTaskwarriorSays() async throws {
    try await Home.run { home in
      _ = try await home.start()
      try home.write("data.location=\(home.path)/.task\nconfirmation=no\nverbose=nothing\n", to: home.path + "/.taskrc")
      let zone = ["TZ": "Europe/Prague"]
      func task(_ words: String...) async throws {
        let output = try await home.run("/usr/bin/task", words, environment: zone)
        #expect(output.status == 0, "\(words): \(output.text)")
      }
      try await task("add", "Rent", "due:2099-01-05", "recur:monthly", "project:home", "+money")
      try await task("add", "Call", "due:2099-12-01T10:30", "priority:L")
      try await task("add", "Someday")
      try await task("add", "Finished", "due:2099-01-01")
      try await task("4", "done")
      let taken = try await home.chime("import", "taskwarrior", "--tz", "Europe/Prague", environment: zone)
      #expect(taken.err.hasSuffix("2 reminders added, 1 skipped: 1 rejected\n"), "\(taken.text)")
      let reminders = try await home.json("list")["reminders"].elements
      #expect(
        reminders.map { "\($0["title"].string ?? "") \($0["next"].string ?? "") \($0["urgency"].string ?? "")" } == [
          "Rent 2099-01-05T09:00:00+01:00 normal", "Call 2099-12-01T10:30:00+01:00 low",
        ])
      #expect(reminders[0]["tags"] == ["money", "home"])
      let again = try await home.chime("import", "taskwarrior", "--tz", "Europe/Prague", environment: zone)
      #expect(again.err.contains("0 reminders added, 3 skipped: 2 exist already"), "\(again.text)")
    }
  }

  /// The output of `at -c` contains the caller's environment, which is private.
  @Test(.timeLimit(.minutes(1)), .enabled(if: Machine.has("at") && Machine.isRoot))
  func importedAtQueueLeavesOutTheEnvironment() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let made = try await home.run(
        "/bin/sh", ["-c", "printf 'chime-test-backup --all\\necho done\\n' | at -t 209903010915 2>&1"],
        environment: ["SECRET_OF_MINE": "hunter2", "TZ": "Europe/Prague"])
      let number = try #require(
        made.out.split(separator: "\n").last?.split(separator: " ").dropFirst().first, "\(made.text)")
      let taken = try await home.chime("import", "at", environment: ["TZ": "Europe/Prague"])
      _ = try await home.run("/bin/sh", ["-c", "atrm \(number)"])
      #expect(taken.status == 0, "\(taken.text)")
      let reminder = try #require(
        try await home.json("list", "-n", "all")["reminders"].elements.first {
          $0["title"].string == "chime-test-backup --all"
        }, "\(taken.text)")
      #expect(reminder["body"].string == "chime-test-backup --all\necho done")
      #expect(reminder["next"].string?.hasPrefix("2099-03-01T09:15:00") == true)
      let backup = try await home.mustRun("export")
      #expect(!backup.contains("hunter2") && !backup.contains("SECRET_OF_MINE"))
    }
  }
}
