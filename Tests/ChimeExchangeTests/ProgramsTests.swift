import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeExchange

/// The results of files of at, systemd, remind and taskwarrior: `line title
///
/// schedule
///
/// tags
///
/// body`, or a reason.
@Suite struct ProgramsTests {
  static let settings = CalendarImportTests.settings

  static func described(_ plan: ImportPlan) -> [String] {
    plan.drafts.map { draft in
      let body = (draft.body ?? "-").split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "↵")
      var parts = ["\(draft.line) \(draft.title)", "\(draft.schedule)", draft.tags.joined(separator: ","), body]
      if let rules = draft.catchUp { parts.append("\(rules.suspend)/\(rules.downtime)") }
      if let jitter = draft.jitter { parts.append("±\(DurationText.format(jitter))") }
      if draft.wake == true { parts.append("wakes") }
      if draft.urgency != .normal { parts.append(draft.urgency.rawValue) }
      return parts.joined(separator: " | ")
    } + plan.remarks.map { "\($0.line ?? 0) \($0.kind) \($0.title ?? "-"): \($0.message)" }
  }

  // MARK: at

  @Test func atJobsBecomeReminders() throws {
    let text = """
      7\tMon Mar  1 09:15:00 2027 a anna
      \t# the night's
      \tbackup --all && notify
      \techo done
      8\tWed Nov 25 08:31:05 2099 B anna
      9\tWed Nov 25 08:31:00 2009 a anna
      10\tWed Nov 25 08:31:00 2099 = anna
      nonsense
      """
    let plan = try AtImport.read(Array(text.utf8), Self.settings)
    #expect(
      Self.described(plan) == [
        "1 backup --all && notify | at 2027-03-01 09:15 |  | # the night's↵backup --all && notify↵echo done",
        "5 at job 8 | at 2099-11-25 08:31:05 |  | -",
        "5 note at job 8: it is in the queue B of batch, which waits for an idle machine",
        "6 past at job 9: it has no future time", "7 past at job 10: it runs at this moment",
        "8 refused -: expected a job of atq, such as \"7 Mon Mar 1 09:15:00 2027 a anna\"",
      ])
    #expect(throws: ExchangeError.self) { try AtImport.read(Array("hello\n".utf8), Self.settings) }
    #expect(try AtImport.read([], Self.settings) == ImportPlan())
  }

  // MARK: systemd

  @Test func systemdTimersBecomeReminders() throws {
    let text = """
      # /usr/lib/systemd/system/apt-daily.timer
      [Unit]
      Description=Daily apt download activities

      [Timer]
      OnCalendar=*-*-* 6,18:00
      RandomizedDelaySec=12h
      Persistent=true

      [Install]
      WantedBy=timers.target

      # /etc/systemd/system/apt-daily.timer.d/override.conf
      [Timer]
      OnCalendar=
      OnCalendar=Mon 7:00 Europe/Prague
      OnCalendar=Fri \\
        8:00
      WakeSystem=yes
      # /etc/systemd/system/clean.timer
      [Timer]
      OnBootSec=15min
      OnUnitActiveSec=1d
      # /etc/systemd/system/boot.timer
      [Timer]
      OnBootSec=5min
      # /etc/systemd/system/bad.timer
      [Timer]
      OnCalendar=whenever
      OnUnitActiveSec=1month
      Unit=other.service
      # /etc/systemd/system/pg@.timer
      [Timer]
      OnCalendar=daily
      # /etc/systemd/system/apt-daily.service
      [Service]
      ExecStart=/usr/lib/apt/apt.systemd.daily update
      # /etc/systemd/system/clean.service
      [Unit]
      Description=Clean up %i
      """
    let plan = try TimerImport.read(Array(text.utf8), Self.settings)
    let body = "Starts apt-daily.service↵/usr/lib/apt/apt.systemd.daily update"
    #expect(
      Self.described(plan) == [
        "16 Daily apt download activities | calendar: Mon *-*-* 07:00:00 Europe/Prague |  | \(body) | latest/latest | ±12h | wakes",
        "17 Daily apt download activities | calendar: Fri *-*-* 08:00:00 |  | \(body) | latest/latest | ±12h | wakes",
        "23 clean | every 24h starting 2000-01-01T00:00:00Z |  | Starts clean.service | latest/skip",
        "23 note clean: OnUnitActiveSec counts from when clean.service ran; Chime reads it as every 24h, on a grid of its own",
        "22 note clean: OnBootSec counts from a start, which is not a time",
        "26 refused boot: OnBootSec counts from a start, which is not a time",
        "29 refused bad: calendar: whenever: \"whenever\" is neither a weekday nor a shorthand (column 11); expected an "
          + "expression like Mon..Fri *-*-* 09:00, or a word like daily",
        "30 refused bad: OnUnitActiveSec=1month is not a span of a minute or more",
        "32 refused pg@.timer: it is a template: import its instances, NAME@WHAT.timer",
      ])
    for wrong in ["", "[Timer]\nOnCalendar=daily\n", "# /a.service\n[Service]\nExecStart=x\n"] {
      #expect(throws: ExchangeError.self) { try TimerImport.read(Array(wrong.utf8), Self.settings) }
    }
  }

  // MARK: remind

  @Test(
    arguments: [
      ("REM MSG Every day", ["1 Every day | calendar: *-*-* 09:00:00 |  | -"]),
      // The first weekday from the 15th on: one per month.
      (
        "REM Mon Tue Wed Thu Fri 15 AT 9:00 MSG Rent",
        [
          "1 Rent | DTSTART:20000101T090000 RRULE:FREQ=MONTHLY;BYMONTHDAY=15,16,17,18,19,20,21;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1 |  | -"
        ]
      ),
      ("REM Mon Tue AT 9:00 MSG Stand-up %b", ["1 Stand-up | calendar: Mon,Tue *-*-* 09:00:00 |  | -"]),
      ("rem 15 at 18:30 msg %\"Rent%\" is due", ["1 Rent | calendar: *-*-15 18:30:00 |  | -"]),
      ("REM Dec 24 MSG Presents", ["1 Presents | calendar: *-12-24 09:00:00 |  | -"]),
      ("REM 24 Dec 2026 AT 5:15pm MSG Tree", ["1 Tree | at 2026-12-24 17:15 |  | -"]),
      ("REM 2026-12-24@17.15 MSG Tree", ["1 Tree | at 2026-12-24 17:15 |  | -"]),
      ("REM 24 Dec 2006 MSG Old", ["1 past Old: it has no future time"]),
      ("REM Mon 8 MSG Second Monday", ["1 Second Monday | calendar: Mon *-*-08..14 09:00:00 |  | -"]),
      ("REM 1 -1 MSG Last day", ["1 Last day | calendar: *-*~01 09:00:00 |  | -"]),
      (
        "REM 1 Mar 2027 *14 UNTIL 1 Jun 2027 MSG Bins",
        ["1 Bins | DTSTART:20270301T090000 RRULE:FREQ=DAILY;INTERVAL=14;UNTIL=20270601T235959 |  | -"]
      ),
      (
        "REM Fri AT 9:00 UNTIL 2027-06-01 TAG work MSG Report",
        ["1 Report | DTSTART:20000101T090000 RRULE:FREQ=DAILY;UNTIL=20270601T235959;BYDAY=FR | work | -"]
      ),
      (
        "REM 24 Dec +3 MSG Presents",
        [
          "1 Presents | calendar: *-12-24 09:00:00 |  | -",
          "1 Presents | DTSTART:20000101T090000 RRULE:FREQ=DAILY;BYMONTH=12;BYMONTHDAY=24 TRIGGER:-P3D |  | -",
          "1 note Presents: remind shows it on each of the 3 days before; Chime takes the first of them and the day itself",
        ]
      ),
      (
        "REM Mon AT 9:00 +15 *5 MSG Call",
        [
          "1 Call | calendar: Mon *-*-* 09:00:00 |  | -",
          "1 Call | DTSTART:20000101T090000 RRULE:FREQ=DAILY;BYDAY=MO TRIGGER:-PT15M |  | -",
          "1 note Call: the repeats every 5 minutes before it are left out; --nag repeats a reminder",
        ]
      ),
      (
        "# a comment\nSET x 5\n\nREM Mon \\\nMSG Two lines\nREM [x] MSG Odd\nREM Mon SKIP MSG Skipped\nREM Mon 30 MSG Far\nBANNER %\nREM Mon\nMon MSG Bare",
        [
          "4 Two lines | calendar: Mon *-*-* 09:00:00 |  | -", "11 Bare | calendar: Mon *-*-* 09:00:00 |  | -",
          "2 refused -: SET is a part of remind's language that Chime does not read",
          "6 refused -: it has an expression of remind, [x]",
          "7 refused -: SKIP depends on days that remind leaves out, or on its functions",
          "8 refused Far: the weekday may fall in the next month",
          "10 refused -: expected MSG and a text after it",
        ]
      ),
      (
        "REM Mon RUN backup --all",
        [
          "1 backup --all | calendar: Mon *-*-* 09:00:00 |  | Runs: backup --all",
          "1 note backup --all: Chime reminds of it, and does not run it",
        ]
      ),
    ] as [(String, [String])])
  func remindLinesBecomeReminders(_ text: String, _ expected: [String]) throws {
    #expect(try Self.described(RemindImport.read(Array(text.utf8), Self.settings)) == expected)
  }

  // MARK: taskwarrior

  @Test func taskwarriorTasksBecomeReminders() throws {
    let text = """
      [
      {"id":1,"description":"Send \\u010d\\ud83d\\udca7","due":"20261224T170000Z","status":"pending","tags":["home","a b"],"project":"x.y","priority":"L","uuid":"1","annotations":[{"entry":"20261101T000000Z","description":"By post"}]},
      {"id":2,"description":"Day","due":"20261223T230000Z","status":"pending","uuid":"2"},
      {"id":3,"description":"Bins","due":"20261207T060000Z","recur":"weekly","until":"20270601T050000Z","status":"recurring","mask":"-","uuid":"3"},
      {"id":4,"description":"Bins","due":"20261207T060000Z","recur":"weekly","status":"pending","parent":"3","uuid":"4"},
      {"id":5,"description":"Odd","due":"20261207T060000Z","recur":"now and then","status":"recurring","uuid":"5"},
      {"id":6,"description":"No date","status":"pending","uuid":"6"},
      {"id":0,"description":"Done","due":"20261207T060000Z","status":"completed","uuid":"7"},
      {"id":7,"description":"Wrong","due":"tomorrow","status":"pending","uuid":"8"}
      ]
      """
    #expect(
      try Self.described(TaskImport.read(Array(text.utf8), Self.settings)) == [
        "2 Send č💧 | at 2026-12-24 18:00 | home,a b,x.y | By post | low", "3 Day | at 2026-12-24 09:00 |  | -",
        "4 Bins | DTSTART:20261207T070000 RRULE:FREQ=WEEKLY;UNTIL=20270601T070000 |  | -",
        "6 refused Odd: Chime does not read its recurrence \"now and then\"",
        "7 refused No date: it has no due date", "8 closed Done: it is done",
        "9 refused Wrong: its due date \"tomorrow\" is not a date of taskwarrior, such as 20261224T170000Z",
      ])
  }

  @Test(
    arguments: [
      ("daily", "FREQ=DAILY"), ("weekdays", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
      ("fortnight", "FREQ=WEEKLY;INTERVAL=2"),
      ("3d", "FREQ=DAILY;INTERVAL=3"), ("2wks", "FREQ=WEEKLY;INTERVAL=2"), ("P1M", "FREQ=MONTHLY"),
      ("PT6H", "FREQ=HOURLY;INTERVAL=6"),
      ("2q", "FREQ=MONTHLY;INTERVAL=6"), ("P1Y", "FREQ=YEARLY"), ("PT5M", nil), ("P1H", nil), ("0d", nil), ("", nil),
      ("p", nil), ("99999999d", nil),
    ] as [(String, String?)])
  func taskwarriorRecurrencesBecomeRules(_ text: String, _ rule: String?) {
    #expect(TaskRecurrence(text)?.rule == rule)
  }

  // MARK: Hostile

  @Test(
    arguments: [
      "[", "[{]", "{\"a\":1}", "[1]", "[{\"description\":\"x\"", "[{\"description\":\"\\u12\"}]",
      "[{\"description\":\"x\ny\"}]",
      String(repeating: "[", count: 100_000), "[]x", "\u{FEFF}nul",
    ])
  func invalidTaskListsAreRefused(_ text: String) {
    #expect(throws: ExchangeError.self) { try TaskImport.read(Array(text.utf8), Self.settings) }
  }

  /// Whatever the input is, a parser ends, and its drafts are valid reminders.
  @Test func noiseGivesValidRemindersOrNone() {
    var state: UInt64 = 0x9E37_79B9
    func next(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    let pieces = [
      "REM ", "Mon ", "31 ", "Feb ", "2027 ", "AT ", "25:99 ", "9:30 ", "+", "*", "-1 ", "9999999999999999999 ",
      "UNTIL ", "MSG ",
      "%\"", "%", "[", "\\", "\n", "\r\n", "\t", "\0", "\u{202E}", "é", "# /x.timer\n", "[Timer]\n", "OnCalendar=",
      "OnUnitActiveSec=",
      "Persistent=", "999999999999d ", "{\"description\":\"a\",\"due\":\"20270101T000000Z\",\"recur\":\"", "\"}", "[",
      "]", ",", "\"", "1 Mon Mar 1 09:15:00 2027 a x\n",
    ]
    for _ in 0..<3_000 {
      var text = ""
      for _ in 0..<next(24) { text += pieces[next(pieces.count)] }
      let bytes = Array(text.utf8)
      for plan in [
        try? RemindImport.read(bytes, Self.settings), try? TimerImport.read(bytes, Self.settings),
        try? TaskImport.read(bytes, Self.settings), try? AtImport.read(bytes, Self.settings),
      ] {
        for draft in plan?.drafts ?? [] {
          #expect(!draft.title.isEmpty && draft.title.utf8.count <= DraftText.maximumTitle)
          #expect(!draft.title.unicodeScalars.contains { $0.value < 0x20 })
        }
      }
    }
  }
}
