/// The kind of value that an argument takes, found by its placeholder in the verb table: `ID|TITLE`, `ZONE`, `FILE`.
///
/// The table names each placeholder once, for help, manual and completion. A test checks that each has a kind here.
enum ArgumentKind: Equatable {
  enum Reminders { case all, unfinished, open, paused, running, expected }

  case free
  case words([Candidate])
  case files
  case verbs
  case reminders(Reminders)
  case schedule
  case trackers, items, amounts, entries, milestones, fields, fieldNames
  case packs(installed: Bool?)
  case packReminders
  case endpoints, commands, channels, tags, zones, deliveries, templates, calendarsOfTime, tenants, calendars
  /// Several values, separated by commas.
  indirect case list(ArgumentKind)
  indirect case either(ArgumentKind, ArgumentKind)

  /// Returns the kind of a verb's positional argument with the placeholder `name`.
  static func word(_ name: String, of path: [Verb]) -> ArgumentKind? {
    let verbs = path.map(\.name)
    switch name {
    case "ID|TITLE":
      switch verbs.first {
      case "expect", "ping": return .reminders(.expected)
      case "done", "snooze", "dismiss": return .reminders(.open)
      case "resume": return .reminders(.paused)
      case "pause": return .reminders(.running)
      case "skip", "move", "edit", "fire": return .reminders(.unfinished)
      default: return .reminders(.all)
      }
    case "SCHEDULE": return .schedule
    case "LENGTH": return .words(Typical.lengths)
    case "+LENGTH": return .words(Typical.lengths.map { Candidate("+" + $0.value) })
    case "TIME": return .words(Typical.times)
    case "DAY": return .words(Typical.days)
    case "TRACKER": return .trackers
    case "ITEM": return .items
    case "AMOUNT": return .amounts
    case "NUMBER": return verbs.first == "milestone" ? .milestones : .entries
    case "PACK": return .packs(installed: true)
    case "DELIVERY": return .deliveries
    case "VERB": return .verbs
    case "CALENDAR": return .calendars
    case "NAME":
      switch verbs.first {
      case "command": return .commands
      case "pack": return .packs(installed: true)
      case "endpoint" where verbs.last == "templates": return .templates
      case "endpoint" where verbs.last == "add": return .free
      case "endpoint": return .endpoints
      case "expect": return .free
      case "run": return .reminders(.expected)
      default: return nil
      }
    case "NAME|FILE": return .either(.packs(installed: verbs.last == "add" ? false : nil), .files)
    case "FILE", "FILE|-", "FILE.ics|-", "FILE.toml|DIR|-", "DIR", "FILE|DIR": return .files
    case "TITLE", "TEXT", "URL": return .free
    case "PROGRAM": return .files
    default:
      // A literal stands for itself: `crontab`, or each of `bash|zsh|fish`.
      let choices = name.split(separator: "|").map(String.init)
      guard choices.allSatisfy({ $0.allSatisfy { $0.isLowercase } }) else { return nil }
      return .words(choices.map { Candidate($0) })
    }
  }

  /// Returns the kind of an option's value.
  static func value(of option: Verb.Option) -> ArgumentKind? {
    if !option.choices.isEmpty { return .words(option.choices.map { Candidate($0) }) }
    switch (option.value, option.name) {
    case ("ZONE", _): return .zones
    case ("CHANNEL", _): return .list(.channels)
    case ("TAG", _): return .list(.tags)
    case ("TRACKER", _), ("NAME", "tracker"): return .trackers
    case ("NAME", "tenant"): return .tenants
    case ("NAME", "endpoint"): return .endpoints
    case ("ITEM", _): return .items
    case ("ID|TITLE", _): return .reminders(.all)
    case ("DELIVERY", _): return .deliveries
    case ("SCHEDULE", _): return .schedule
    case ("FILE", _), ("PATH", _), ("DIR", _), ("NAME", "icon"), ("NAME", "sound"): return .files
    case ("NAME|FILE", _): return .either(.templates, .files)
    case ("NAME", "pack"): return .list(.packs(installed: nil))
    case ("ID", "pack"): return .packs(installed: true)
    case ("NAME", "category"): return .words(Typical.categories)
    case ("KEY", _), ("KEY=SCHEDULE", _): return .packReminders
    case ("NAME=VALUE", "field"): return .fields
    case ("NAME", "field"): return .fieldNames
    case ("TIME", _): return .words(Typical.times)
    case ("DAY", _): return .words(Typical.days)
    case ("MONTH", _): return .calendarsOfTime
    case ("RANGE", _): return .words(Typical.ranges)
    case ("LENGTH", _), ("SPAN", "overlap"): return .words(Typical.lengths)
    case ("LENGTHS", _): return .list(.words(Typical.lengths))
    case ("SPAN", "quiet-hours"): return .words(Typical.quietHours)
    case ("RULE", "catch-up"): return .words(Typical.catchUp)
    case ("DAYS", "days"), ("[TRACKER=]DAYS", _): return .words(Typical.weekdays)
    case ("DAYS", "warn"): return .words(["3", "7", "14"].map { Candidate($0) })
    case ("TIMES", _): return .words([Candidate("3/week"), Candidate("10/month"), Candidate("3/10")])
    case ("HH:MM", _): return .words(Typical.hours)
    case ("ORDER", _): return .words(["used", "last", "title", "since", "brand"].map { Candidate($0) })
    case ("FILTER", _): return .words(Typical.filters)
    case ("EVENTS", _): return .list(.words(EndpointAdding.eventNames.map { Candidate($0) }))
    case ("WHICH", _): return .words([Candidate("all"), Candidate("tag:")])
    case ("WHAT", "reset"): return .list(.words(Typical.resettable))
    case ("N", "limit"): return .words([Candidate("all")])
    case ("AMOUNT", "logs"): return .words([Candidate("no")])
    case ("N", _), ("AMOUNT", _), ("TEXT", _), ("TITLE", _), ("URL", _), ("TOKEN", _), ("LAT,LON", _), ("UNIT", _),
      ("STEP", _), ("LIST", _), ("BRAND", _), ("MODEL", _), ("CATEGORY", _), ("[TRACKER=]VALUE", _), ("KEY=VALUE", _),
      ("N:CHANNELS", _), ("N/SPAN", _), ("MAILBOX", _), ("NAME", "user"), ("USERS", _),
      ("'NAME: VALUE'", _), ("ID", "id"), ("NAME", "set"), ("NAME", "set"), ("DAYS", "average"),
      ("[TRACKER=]AMOUNT", _),
      ("[TRACKER=]UNIT", _),
      ("[TRACKER=]TITLE", _), ("[TRACKER=]STEP", _):
      return .free
    default: return nil
    }
  }

  /// One usage line of a verb: `[ID|TITLE] [LENGTH]`; or `--all TRACKER`, which applies if the line has that option.
  struct Usage: Equatable {
    var option: String?
    /// The placeholders, and whether each extends to the end of the line.
    var places: [Place] = []

    struct Place: Equatable {
      var name: String
      var goesOn: Bool
    }

    init(_ text: String, of verb: Verb) {
      var isValue = false
      for part in text.split(separator: " ") {
        var name = part.filter { $0 != "[" && $0 != "]" }
        if isValue {
          isValue = false
        } else if name.hasPrefix("--") {
          option = option ?? String(name.dropFirst(2))
          isValue = verb.options.contains { "--\($0.name)" == name && $0.value != nil }
        } else {
          let many = name.last == "…"
          if many { name.removeLast() }
          // A title of several words needs no quotes, and a verb may be nested in another.
          places.append(Place(name: name, goesOn: many || name.contains("TITLE") || name == "VERB"))
        }
      }
    }
  }
}

/// Frequent values, offered as examples where any other value is allowed.
enum Typical {
  static let lengths = ["5m", "10m", "15m", "20m", "30m", "1h", "2h", "1d"].map { Candidate($0) }
  static let days = ["today", "yesterday", "mon", "tue", "wed", "thu", "fri", "sat", "sun"].map { Candidate($0) }
  static let times = ["today", "tomorrow", "yesterday", "mon", "tue", "wed", "thu", "fri", "sat", "sun", "1h", "1d"]
    .map { Candidate($0) }
  static let hours = ["4:00", "6:00", "7:00", "8:00", "9:00"].map { Candidate($0) }
  static let weekdays = ["daily", "weekdays", "weekends", "mon-fri", "mon,wed,fri", "sat,sun"].map { Candidate($0) }
  static let ranges = ["1W", "1M", "3M", "6M", "1Y", "all"].map { Candidate($0) }
  static let quietHours = ["22:00-07:00", "mon-fri 22:00-07:00", "sat,sun 22:00-09:00"].map { Candidate($0) }
  static let catchUp = ["latest", "all", "skip", "suspend=", "downtime="].map { Candidate($0) }
  static let filters = ["notes", "milestones", "weekday=", "item=", "text="].map { Candidate($0) }
  static let resettable = [
    "headers", "template", "certificates", "replies", "via", "from", "replyTo", "user", "senders", "events",
    "reminders", "concurrency", "rate", "inOrder", "token",
  ].map { Candidate($0) }
  /// From the Desktop Notifications Specification, with Chime's own.
  static let categories = [
    "call", "call.incoming", "device", "email", "email.arrived", "im", "im.received", "network", "presence", "transfer",
    "x-chime.health",
  ].map { Candidate($0) }
}
