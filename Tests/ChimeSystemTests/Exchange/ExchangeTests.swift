import Foundation
import Testing

/// Imports of a calendar and a crontab, and an export that an independent program reads.
@Suite(.serialized) struct ExchangeTests {
  private static let calendar = """
    BEGIN:VCALENDAR
    VERSION:2.0
    PRODID:-//Test//EN
    BEGIN:VEVENT
    UID:1
    DTSTAMP:20260101T000000Z
    DTSTART;TZID=America/New_York:20991201T090000
    SUMMARY:Dentist\\, far
      away
    DESCRIPTION:Bring the card
    CATEGORIES:Health
    BEGIN:VALARM
    ACTION:DISPLAY
    TRIGGER:-PT15M
    END:VALARM
    BEGIN:VALARM
    ACTION:DISPLAY
    TRIGGER:-P1D
    END:VALARM
    END:VEVENT
    BEGIN:VEVENT
    UID:2
    DTSTART:20200101T090000Z
    SUMMARY:Long ago
    END:VEVENT
    BEGIN:VEVENT
    UID:3
    DTSTART;TZID=Mars/Olympus:20990101T090000
    SUMMARY:Elsewhere
    END:VEVENT
    BEGIN:VTODO
    UID:4
    DUE;VALUE=DATE:20991224
    SUMMARY:Wrap up
    END:VTODO
    END:VCALENDAR

    """

  @Test(.timeLimit(.minutes(1)))
  func calendarIsImportedAndExported() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let file = home.path + "/a.ics"
      try home.write(Self.calendar, to: file)
      let dry = try await home.chime("import", file, "--dry-run")
      #expect(dry.status == 0, "\(dry.text)")
      #expect(dry.err.contains("3 reminders would be added, 2 skipped: 1 has passed, 1 rejected"), "\(dry.err)")
      #expect(try await home.json("list")["reminders"].elements.isEmpty, "a dry run adds nothing")

      let taken = try await home.chime("import", file, "--tag", "imported", "--to", "desktop")
      #expect(taken.status == 0, "\(taken.text)")
      #expect(taken.err.contains("3 reminders added, 2 skipped"), "\(taken.err)")
      #expect(
        taken.err.contains("skipped: line 26: \"Elsewhere\": this machine has no time zone \"Mars/Olympus\""),
        "\(taken.err)")
      let again = try await home.chime("import", file)
      #expect(again.err.contains("0 reminders added, 5 skipped: 1 has passed, 3 exist already"), "\(again.err)")

      let reminders = try await home.json("list")["reminders"].elements
      #expect(
        reminders.map { $0["next"].string } == [
          "2099-11-30T09:00:00-05:00", "2099-12-01T08:45:00-05:00", "2099-12-24T09:00:00+01:00",
        ])
      #expect(reminders.map { $0["title"].string } == ["Dentist, far away", "Dentist, far away", "Wrap up"])
      #expect(reminders[0]["tags"] == ["imported", "Health"])
      #expect(reminders[0]["body"].string == "Bring the card")

      let exported = try await home.chime("export", "--format", "ics")
      #expect(exported.status == 0, "\(exported.text)")
      #expect(exported.err.contains("3 reminders exported"))
      #expect(exported.out.hasPrefix("BEGIN:VCALENDAR\r\n"))
      let one = try await home.chime("export", "--format", "ics", try #require(reminders[2]["id"].string))
      #expect(one.out.contains("SUMMARY:Wrap up\r\n"))
      #expect(!one.out.contains("SUMMARY:Dentist"))

      try home.write(exported.out, to: home.path + "/out.ics")
      if Machine.hasClients {
        let seen = try await home.run(Machine.clients, ["-c", Self.reader, home.path + "/out.ics"])
        #expect(
          seen.out.split(separator: "\n") == [
            "Dentist, far away|2099-11-30T09:00:00-05:00", "Dentist, far away|2099-12-01T08:45:00-05:00",
            "Wrap up|2099-12-24T09:00:00",
          ], "\(seen.text)")
      }
      // Into an empty daemon, the export gives the same reminders.
      for reminder in reminders { try await home.mustRun("remove", try #require(reminder["id"].string), "--yes") }
      try await home.mustRun("import", home.path + "/out.ics")
      let back = try await home.json("list")["reminders"].elements
      for field in ["title", "body", "when", "timezone", "tags", "next", "urgency"] {
        #expect(back.map { $0[field] } == reminders.map { $0[field] }, "\(field)")
      }
    }
  }

  private static let reader = """
    import icalendar, sys
    for event in icalendar.Calendar.from_ical(open(sys.argv[1], "rb").read()).walk("VEVENT"):
        assert not event.errors
        print(event["SUMMARY"] + "|" + event["DTSTART"].dt.isoformat())
    """

  @Test(.timeLimit(.minutes(1)))
  func crontabIsImported() async throws {
    try await Home.run { home in
      _ = try await home.start()
      // The output of crontab(1), which the machine may not have.
      let folder = home.path + "/bin"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try home.write(
        """
        #!/bin/sh
        test "$*" = -l || exit 2
        echo '# m h  dom mon dow   command'
        echo '# Back up'
        echo '0 3 * * * /usr/bin/backup --all'
        echo '@reboot start'
        echo 'CRON_TZ=Asia/Tokyo'
        echo '30 9 * * mon-fri  report'
        """, to: folder + "/crontab", mode: 0o700)
      let path = ["PATH": "\(folder):/usr/bin:/bin"]
      let taken = try await home.chime("import", "crontab", environment: path)
      #expect(taken.status == 0, "\(taken.text)")
      #expect(
        taken.err == """
          skipped: line 4: @reboot means the start of the machine, which is not a time
          2 reminders added, 1 skipped: 1 rejected

          """, "\(taken.err)")
      let reminders = try await home.json("list")["reminders"].elements
      let backup = try #require(reminders.first { $0["title"].string == "Back up" })
      #expect(backup["when"].string == "cron: 0 3 * * *")
      #expect(backup["body"].string == "/usr/bin/backup --all")
      let report = try #require(reminders.first { $0["title"].string == "report" })
      #expect(report["timezone"].string == "Asia/Tokyo")
      let again = try await home.chime("import", "crontab", environment: path)
      #expect(
        again.err.contains("0 reminders added, 3 skipped: 2 exist already, 1 rejected"), "\(again.err)")
      let none = try await home.chime("import", "crontab", environment: ["PATH": "/nonexistent"])
      #expect(none.status == 1)
      #expect(none.err.contains("the program crontab is not installed"), "\(none.err)")
      try home.write("#!/bin/sh\necho no crontab for you >&2; exit 1\n", to: folder + "/crontab", mode: 0o700)
      let empty = try await home.chime("import", "crontab", environment: path)
      #expect(empty.status == 1)
      #expect(empty.err.contains("crontab -l prints no crontab of this user"), "\(empty.err)")
    }
  }

  /// The contract of the import method.
  @Test(.timeLimit(.minutes(1)))
  func importCallIsAllOrNothing() async throws {
    try await Home.run { home in
      _ = try await home.start()
      let method = "io.chime.Reminders.Import"
      for (parameters, error, field) in [
        (["format": "icalendar", "text": "BEGIN:VCALENDAR\nBEGIN:VEVENT\n"], "InvalidText", nil),
        (["format": "crontab", "text": "hello"], "InvalidText", nil),
        (["format": "crontab", "text": "@daily x", "timezone": "Mars/Olympus"], "InvalidValue", "timezone"),
        (["format": "crontab", "text": "@daily x", "channels": ["no such!"]], "InvalidValue", "channels"),
        (["format": "icalendar", "text": "", "allDayAt": "25:00"], "InvalidValue", "allDayAt"),
      ] as [(JSON, String, String?)] {
        let answer = try await home.call(method, parameters)
        #expect(answer.error == "io.chime.Reminders.\(error)", "\(answer)")
        if let field { #expect(answer.parameters["field"].string == field) }
      }
      #expect(try await home.json("list")["reminders"].elements.isEmpty)
      let unknown = try await home.call("io.chime.Reminders.Export", ["format": "papyrus"])
      #expect(unknown.error == "io.chime.Reminders.InvalidValue")
      // The same token returns the same reply without a second import.
      let twice: JSON = ["format": "crontab", "text": "@daily x", "token": "t", "again": true]
      let first = try await home.answer(method, twice)
      #expect(try await home.answer(method, twice) == first)
      #expect(try await home.json("list")["reminders"].elements.count == 1)
      // Two equal lines give two reminders, and both are recognized later.
      let alike: JSON = ["format": "crontab", "text": "@daily y\n@daily y\n"]
      #expect(try await home.answer(method, alike)["added"].elements.count == 2)
      let known = try await home.answer(method, alike)
      #expect(known["added"].elements.isEmpty)
      #expect(known["remarks"].elements.map { $0["kind"].string } == ["duplicate", "duplicate"])
    }
  }
}
