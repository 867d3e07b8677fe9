import ChimeWords

/// States, reasons and kinds of things as a person reads them. In `--json`, in `--plain` and as values of options they stay what they are.
enum StateWords {
  private static let states: Set<String> = [
    Words.mark("active"), Words.mark("paused"), Words.mark("finished"), Words.mark("fired"), Words.mark("delivered"),
    Words.mark("done"), Words.mark("dismissed"), Words.mark("snoozed"), Words.mark("missed"), Words.mark("suspend"),
    Words.mark("downtime"), Words.mark("skipped"), Words.mark("pending"), Words.mark("waiting"), Words.mark("dead"),
    Words.mark("cancelled"), Words.mark("failed"), Words.mark("refused"), Words.mark("latest"), Words.mark("all"),
    Words.mark("skip"), Words.mark("low"), Words.mark("critical"),
    // What `chime watch` calls what happens.
    Words.mark("added"), Words.mark("changed"), Words.mark("removed"), Words.mark("closed"), Words.mark("logged"),
    Words.mark("goal"), Words.mark("limit"), Words.mark("stock"), Words.mark("unlocked"), Words.mark("level"),
    Words.mark("milestone"), Words.mark("clock"), Words.mark("zone"), Words.mark("calendar"), Words.mark("resumed"),
    Words.mark("reloaded"), Words.mark("store"),
    Words.mark("pinged"), Words.mark("awaited"), Words.mark("new"), Words.mark("up"), Words.mark("running"),
    Words.mark("down"), Words.mark("started"), Words.mark("succeeded"),
    // What endpoints are told.
    Words.mark("repeated"), Words.mark("reopened"),
  ]

  static func say(_ state: String) -> String { states.contains(state) ? Words.say(key: state) : state }

  /// What a message tells of its occurrence.
  static func event(_ event: String) -> String {
    switch event {
    case "givenUp": Words.say("given up")
    case "withdrawal": Words.say("taken back")
    default: say(event)
    }
  }

  /// The language that a schedule is written in; those of other programs keep their names.
  static func dialect(_ dialect: String) -> String {
    switch dialect {
    case "phrase": Words.say("phrase")
    case "calendar": Words.say("calendar")
    case "solar": Words.say("solar")
    default: dialect
    }
  }

  /// How many columns the longest name of an event takes.
  static let eventWidth = [
    "added", "changed", "removed", "fired", "missed", "delivered", "failed", "done", "dismissed", "snoozed", "closed",
    "logged", "goal", "limit", "stock", "unlocked", "level", "milestone", "clock", "zone", "calendar", "resumed",
    "reloaded", "store", "pinged",
  ].reduce(0) { max($0, TextWidth.of(say($1))) }

  /// What a request calls one of its values.
  static func field(_ field: String) -> String {
    switch field {
    case "when": Words.say("schedule")
    case "title": Words.say("title")
    case "body": Words.say("text")
    case "timezone": Words.say("time zone")
    case "url": Words.say("address")
    case "secret": Words.say("secret")
    case "tags": Words.say("tags")
    case "channels": Words.say("channels")
    case "tracker": Words.say("tracker")
    case "unit": Words.say("unit")
    case "goal": Words.say("goal")
    case "amount", "value", "add": Words.say("amount")
    case "note": Words.say("note")
    case "range": Words.say("range")
    case "item": Words.say("item")
    default: field
    }
  }

  private static let kinds: Set<String> = [
    Words.mark("reminder"), Words.mark("occurrence"), Words.mark("delivery"), Words.mark("endpoint"),
    Words.mark("command"), Words.mark("tracker"), Words.mark("entry"), Words.mark("item"), Words.mark("milestone"),
    Words.mark("expectation"), Words.mark("pack"), Words.mark("achievement"), Words.mark("photo"), Words.mark("upload"),
  ]

  /// What it is that the daemon knows none of.
  static func kind(_ kind: String) -> String { kinds.contains(kind) ? Words.say(key: kind) : kind }
}
