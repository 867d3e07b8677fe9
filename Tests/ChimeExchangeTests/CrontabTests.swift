import ChimeSchedule
import Testing

@testable import ChimeExchange

/// The results of a crontab, line by line: `line title
///
/// schedule
///
/// zone
///
/// body`, or why a job is left out.
@Suite struct CrontabTests {
  static let settings = CalendarImportTests.settings

  static func described(_ text: String, hasUsers: Bool = false) throws -> [String] {
    let plan = try CrontabImport.read(Array(text.utf8), settings, hasUsers: hasUsers)
    return plan.drafts.map {
      "\($0.line) \($0.title) | \($0.schedule) | \($0.timezone ?? "-") | \(($0.body ?? "-").split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "↵"))"
    } + plan.remarks.map { "\($0.line ?? 0) \($0.kind) \($0.title ?? "-"): \($0.message)" }
  }

  @Test(
    arguments: [
      ("", []),
      ("\n# nothing here\n\n", []),
      ("30 8 * * 1-5 stand-up", ["1 stand-up | cron: 30 8 * * 1-5 | - | stand-up"]),
      ("\t 30  8\t*  *  mon-fri   stand-up --now  \n", ["1 stand-up --now | cron: 30 8 * * 1-5 | - | stand-up --now"]),
      ("30 8 * * 1-5 stand-up\r\n", ["1 stand-up | cron: 30 8 * * 1-5 | - | stand-up"]),
      ("@daily backup", ["1 backup | cron: 0 0 * * * | - | backup"]),
      // A comment is the title of the job below: the last line of a block, across settings and disabled jobs.
      ("# Back up\n0 1 * * * b", ["2 Back up | cron: 0 1 * * * | - | b"]),
      ("#Ansible: Back up\n0 1 * * * b", ["2 Back up | cron: 0 1 * * * | - | b"]),
      ("## Every night:\n#   Back up  everything \n0 1 * * * b", ["3 Back up everything | cron: 0 1 * * * | - | b"]),
      ("# Back up\n# -----------\n#\n#0 2 * * * old\nMAILTO=x\n0 1 * * * b", ["6 Back up | cron: 0 1 * * * | - | b"]),
      ("# Back up\n\n0 1 * * * b", ["3 b | cron: 0 1 * * * | - | b"]),
      (
        "# Back up\n0 1 * * * b\n0 2 * * * c", ["2 Back up | cron: 0 1 * * * | - | b", "3 c | cron: 0 2 * * * | - | c"]
      ),
      // Debian's header of a new crontab is no title.
      (
        "# For more information see the manual pages of crontab(5) and cron(8)\n#\n# m h  dom mon dow   command\n0 1 * * * b",
        ["4 b | cron: 0 1 * * * | - | b"]
      ),
      (
        "# Example of job definition:\n# .---------------- minute (0 - 59)\n# |  .------------- hour (0 - 23)\n"
          + "# *  *  *  *  * user-name command to be executed\n17 * * * * b", ["5 b | cron: 17 * * * * | - | b"]
      ),
      // Settings.
      ("SHELL=/bin/sh\nPATH = \"/usr/bin\"\n'A'='b'\n0 1 * * * b", ["4 b | cron: 0 1 * * * | - | b"]),
      (
        "0 1 * * * a\nCRON_TZ=America/New_York\n0 1 * * * b\nCRON_TZ=\"UTC\"\n0 1 * * * c\nCRON_TZ=\n0 1 * * * d",
        [
          "1 a | cron: 0 1 * * * | - | a", "3 b | cron: 0 1 * * * | America/New_York | b",
          "5 c | cron: 0 1 * * * | UTC | c", "7 d | cron: 0 1 * * * | - | d",
        ]
      ),
      (
        "CRON_TZ=Mars/Olympus\n# Dust\n0 1 * * * b\nCRON_TZ=Asia/Tokyo\n0 2 * * * c",
        [
          "5 c | cron: 0 2 * * * | Asia/Tokyo | c",
          "3 refused Dust: this machine has no time zone \"Mars/Olympus\" (CRON_TZ)",
        ]
      ),
      (
        "TZ=Asia/Tokyo\n0 1 * * * b",
        [
          "2 b | cron: 0 1 * * * | - | b",
          "1 note -: TZ is the clock of the commands and does not change when they run (CRON_TZ does); it is skipped",
        ]
      ),
      // Commands.
      ("0 1 * * * echo 50\\% done", ["1 echo 50% done | cron: 0 1 * * * | - | echo 50% done"]),
      ("0 1 * * * mail joe%Hi,%%bye \\%", ["1 mail joe | cron: 0 1 * * * | - | mail joe↵↵Input:↵Hi,↵↵bye %"]),
      ("0 1 * * * A=1 /bin/x", ["1 A=1 /bin/x | cron: 0 1 * * * | - | A=1 /bin/x"]),
      (
        "0 1 * * * /usr/bin/something --with-a-very-long-list --of-arguments --that-does-not end",
        [
          "1 /usr/bin/something --with-a-very-long-list --of-arguments --that-does… | cron: 0 1 * * * | - | "
            + "/usr/bin/something --with-a-very-long-list --of-arguments --that-does-not end"
        ]
      ),
      // Jobs that are left out.
      (
        "@reboot start\n@daily b",
        ["2 b | cron: 0 0 * * * | - | b", "1 refused -: @reboot means the start of the machine, which is not a time"]
      ),
      ("0 1 * * *\n@daily b", ["2 b | cron: 0 0 * * * | - | b", "1 refused -: the command is missing"]),
    ] as [(String, [String])])
  func linesBecomeReminders(_ text: String, _ expected: [String]) throws {
    #expect(try Self.described(text) == expected)
  }

  @Test func systemCrontabLinesHaveAUser() throws {
    #expect(
      try Self.described(
        "# Hourly\n17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly\n@daily  www-data\n", hasUsers: true)
        == [
          "2 Hourly | cron: 17 * * * * | - | cd / && run-parts --report /etc/cron.hourly↵↵User: root",
          "3 refused -: the user and the command are missing after the time",
        ])
  }

  @Test func invalidJobIsSkippedAndTheRestImported() throws {
    let told = try Self.described("61 * * * * a\n0 1 * * * b")
    #expect(told.count == 2)
    #expect(told[0] == "2 b | cron: 0 1 * * * | - | b")
    #expect(told[1].hasPrefix("1 refused -: "))
    #expect(!told[1].contains(" a:"), "the command is nobody's business")
  }

  @Test(arguments: ["hello", "hello\nthere\n", "BEGIN:VCALENDAR\nEND:VCALENDAR", "\u{0}\u{1}\u{2}", "* * * *"])
  func invalidCrontabsAreRefused(_ text: String) {
    let error = #expect(throws: ExchangeError.self) { try CrontabImport.read(Array(text.utf8), Self.settings) }
    #expect(error?.line == 1)
    #expect(error?.message.hasPrefix("this is not a crontab: ") == true)
  }

  @Test func numberOfJobsIsBounded() throws {
    let text = String(repeating: "* * * * * x\n", count: 10_001)
    let error = #expect(throws: ExchangeError.self) { try CrontabImport.read(Array(text.utf8), Self.settings) }
    #expect(error?.description == "line 10001: the text asks for more than 10000 reminders")
  }
}
