import ChimeCore
import ChimeDaemon
import ChimeDelivery
import ChimeExchange
import ChimeSchedule
import Varlink

/// What hostile texts are grown from, for measuring the slowest.
extension FuzzTarget {
  /// Whether its inputs are texts that can be grown by repeating a piece.
  public var takesText: Bool {
    switch self {
    case .tzif, .framer, .connection, .answer, .popup, .restore, .certificates: false
    default: true
    }
  }

  /// Hands a text to the parser, and leaves out what the fuzzer asks beyond.
  public func parse(_ text: String) {
    switch self {
    case .phrase, .cron, .calendar, .rrule, .solar:
      _ = try? Schedule.parse(text, now: Ground.now, in: Ground.scheduleContext)
    case .moments:
      _ = try? RFC3339.parse(text)
      _ = try? DurationText.parse(text)
    case .icalendar:
      _ = try? CalendarImport.read(
        Array(text.utf8), ImportSettings(now: Ground.now, scheduleContext: Ground.scheduleContext))
    case .crontab:
      _ = try? CrontabImport.read(
        Array(text.utf8), ImportSettings(now: Ground.now, scheduleContext: Ground.scheduleContext))
    case .json: _ = try? JSON(parsing: text)
    case .interface: _ = try? Interface(parsing: text)
    case .configuration:
      var loaded = LoadedConfiguration()
      try? ConfigurationFiles.apply(Array(text.utf8), file: "", to: &loaded)
    case .pack: _ = try? PackFile.read(Array(text.utf8), file: "")
    case .apply: _ = ManifestTrial.run(text, now: Ground.now, context: ReminderContext(zones: GroundZones()))
    case .template: _ = try? Template(text)
    case .secrets: _ = try? EndpointSecretFile(parsing: text)
    case .network:
      try? EndpointURL.validate(text)
      _ = try? ProxyServer(text)
    case .tzif, .framer, .connection, .answer, .popup, .restore, .certificates: break
    }
  }

  /// What a text begins with.
  public var beginnings: [String] {
    switch self {
    case .phrase:
      [
        "", "daily at ", "daily at 8 ", "daily at 8 except ", "every ", "every 5m on ", "day ", "last fri of ",
        "mon at 8 starting ", "every 90", "at ", "in ",
      ]
    case .cron: ["cron: ", "cron: 0 ", "cron: 0 0 ", "cron: 0 0 1 ", "cron: 0 0 * * ", "cron: 0 0 1-", "@", "0 "]
    case .calendar:
      [
        "calendar: ", "calendar: Mon,", "calendar: *-", "calendar: *-*-", "calendar: *:", "calendar: 0:0:",
        "calendar: @",
      ]
    case .rrule:
      [
        "RRULE:", "RRULE:FREQ=DAILY;", "RRULE:FREQ=YEARLY;BYDAY=", "RRULE:FREQ=YEARLY;BYSETPOS=1;BYMONTHDAY=",
        "DTSTART:20261201T090000 RDATE:", "DTSTART:20261201T090000 RRULE:FREQ=DAILY EXDATE:",
        "RRULE:FREQ=SECONDLY;BYSECOND=", "DTSTART:20261201T090000\n",
      ]
    case .solar: ["sunset ", "sunset - ", "dawn on ", "dawn except ", "solar ", "sunset at "]
    case .icalendar:
      [
        "", "BEGIN:VCALENDAR\r\n", "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20261201T090000\r\n",
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:",
      ]
    case .crontab: ["", "# ", "0 9 * * * ", "CRON_TZ="]
    case .configuration:
      ["", "x = \"", "x = [", "[calendars]\nx = [", "[commands.x]\narguments = [", "[commands.x.environment]\n", "[a"]
    case .pack:
      [
        "", "[pack]\nid = \"a\"\ntitle = \"", "[pack]\ntitle = {",
        "[[tracker]]\nid = \"a\"\nkind = \"amount\"\nunit = \"",
        "[[tracker]]\npresets = [", "[[reminder]]\nwhen = \"", "[[reminder]]\ntitle = \"", "[[achievement]]\nwhen = {",
        "[[quote]]\ntext = \"", "[category]\n",
      ]
    case .apply:
      [
        "", "set = \"", "[defaults]\ntags = [", "[[reminder]]\ntitle = \"", "[[reminder]]\nwhen = \"",
        "[[endpoint]]\nheaders = [", "[[tracker]]\npresets = [",
      ]
    case .template:
      [
        "", "{\"text\":\"", "{\"text\":\"{{title", "{\"body\":[", "{\"body\":{\"a\":", "{\"path\":\"/",
        "{\"headers\":{",
      ]
    case .network: ["", "https://", "https://example.org/", "http://["]
    case .secrets: ["", "whsec_", "token "]
    default: [""]
    }
  }

  /// What is repeated after that.
  public var pieces: [String] {
    let common = [
      " ", "\n", "\t", "\0", "a", "é", "\u{202E}", "9", "0", "-", "+", ",", ".", "..", "/", "*", ":", ";", "~", "(",
      "1,", "1-",
      "1/", "8:30,", "mon,", "mon ", "1 ", "* ", "Z", "\u{1F431}", "\r\n", "\"", "[", "{",
    ]
    switch self {
    case .phrase:
      return common + [
        "every ", "at ", "at 8 ", "except ", "2026-12-24,", "2026-12-24..2026-12-26,", "1h ", "99999999999w ",
        "until 2027-01-01 ", "3 times ", "first mon of month ", "jan,", "5th ", "and ", "on ", "[Europe/Prague]",
      ]
    case .cron: return common + ["L", "L,", "W,", "15W,", "5#3,", "friL,", "0-59/1,", "*/1,", "jan-dec,", "L-3,"]
    case .calendar:
      return common + ["Mon..Fri,", "1..31,", "1/1,", "~1,", "0.5/0.1,", "*-*-* ", "UTC ", "2026..9999/1,", "00:00,"]
    case .rrule:
      return common + [
        "MO,", "-1MO,", "53MO,", "BYDAY=MO;", "BYSETPOS=-366;", "FREQ=DAILY;", "20261201T090000,", "20261201,",
        "RDATE:20261201T090000\n", "EXDATE:20261201T090000\n", "RRULE:FREQ=DAILY\n", "366,", "-1,",
        "20261201T090000Z,", "\n ",
      ]
    case .solar: return common + ["30m ", "1h", "on mon ", "except 2026-12-24 ", "- ", "dawn "]
    case .icalendar:
      return common + [
        "\r\n ", "BEGIN:VEVENT\r\n", "BEGIN:VEVENT\r\nEND:VEVENT\r\n", "RRULE:FREQ=DAILY\r\n",
        "EXDATE:20261201T090000\r\n",
        "BEGIN:VEVENT\r\nDTSTART:20261201T090000\r\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29\r\nEND:VEVENT\r\n",
        "BEGIN:VALARM\r\n", "X;Y=", "\\n",
      ]
    case .crontab:
      return common + [
        "0 0 31 2 * x\n", "* * * * * x\n", "0 9 L * friL x\n", "@daily\n", "A=b\n", "CRON_TZ=UTC\n", "%", "# x\n",
      ]
    case .json: return common + ["[1,", "{\"a\":", "\"a\",", "\\u00e9", "1e1,", "[],"]
    case .interface:
      return common + [
        "interface a.b\n", "# x\n", "type T (a: int)\n", "method F() -> ()\n", "error E ()\n", "?", "[]", "[string]",
        "(a: ",
      ]
    case .configuration:
      return common + [
        "a.", "a = 1\n", "[a]\n", "[[a]]\n", "{a=", "\"2026-12-24\",", "[commands.x]\n", "A = \"b\"\n", "'", "\\u0041",
      ]
    case .pack:
      return common + [
        "[[tracker]]\n", "[[tracker]]\nid = \"a\"\nkind = \"check\"\n", "[[reminder]]\n", "[[achievement]]\n",
        "[[quote]]\n",
        "{{", "}}", "{{remaining}}", "mon,", "a = 1\n", "a.b = 1\n", "\"5 ml\",", "cs = \"a\",", "streak = 1,",
      ]
    case .apply:
      return common + [
        "[[reminder]]\n", "[[endpoint]]\n", "[[tracker]]\n", "id = \"a\"\n", "title = \"a\"\nwhen = \"daily\"\n",
        "\"A: b\",",
      ]
    case .template:
      return common + [
        "{{", "}}", "{{title}}", "{{title", "|", "|markdown", "|html|max:1", "|prefix:a", "{\"a\":", "{\"{{late}}\":",
        "[1,",
        "\\u0041", "\"a\":\"b\",",
      ]
    case .secrets: return common + ["whsec_", "AAAA", "token a\n", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "#\n"]
    default: return common
    }
  }
}
