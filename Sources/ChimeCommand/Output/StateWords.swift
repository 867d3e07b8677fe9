import ChimeWords

/// Localized names of states, reasons and kinds. `--json`, `--plain` and option values use the untranslated names.
enum StateWords {
  private static let states: Set<String> = [
    localizable("active"), localizable("paused"), localizable("finished"), localizable("fired"),
    localizable("delivered"),
    localizable("done"), localizable("dismissed"), localizable("snoozed"), localizable("missed"),
    localizable("suspend"),
    localizable("downtime"), localizable("skipped"), localizable("pending"), localizable("waiting"),
    localizable("dead"),
    localizable("cancelled"), localizable("failed"), localizable("refused"), localizable("latest"), localizable("all"),
    localizable("skip"), localizable("low"), localizable("critical"),
    // Events of `chime watch`.
    localizable("added"), localizable("changed"), localizable("removed"), localizable("closed"), localizable("logged"),
    localizable("goal"), localizable("limit"), localizable("stock"), localizable("unlocked"), localizable("level"),
    localizable("milestone"), localizable("clock"), localizable("zone"), localizable("calendar"),
    localizable("resumed"),
    localizable("reloaded"), localizable("store"),
    localizable("pinged"), localizable("awaited"), localizable("new"), localizable("up"), localizable("running"),
    localizable("down"), localizable("started"), localizable("succeeded"),
    // Events of webhook messages.
    localizable("repeated"), localizable("reopened"),
  ]

  static func say(_ state: String) -> String { states.contains(state) ? localized(key: state) : state }

  /// Returns the name of a message's event.
  static func event(_ event: String) -> String {
    switch event {
    case "givenUp": localized("given up")
    case "withdrawal": localized("taken back")
    default: say(event)
    }
  }

  /// Returns the name of a schedule's dialect; names of other programs stay as they are.
  static func dialect(_ dialect: String) -> String {
    switch dialect {
    case "phrase": localized("phrase")
    case "calendar": localized("calendar")
    case "solar": localized("solar")
    default: dialect
    }
  }

  /// The width of the longest event name, in columns.
  static let eventWidth = [
    "added", "changed", "removed", "fired", "missed", "delivered", "failed", "done", "dismissed", "snoozed", "closed",
    "logged", "goal", "limit", "stock", "unlocked", "level", "milestone", "clock", "zone", "calendar", "resumed",
    "reloaded", "store", "pinged",
  ].reduce(0) { max($0, TextWidth.of(say($1))) }

  /// Returns the name of a request's field.
  static func field(_ field: String) -> String {
    switch field {
    case "when": localized("schedule")
    case "title": localized("title")
    case "body": localized("text")
    case "timezone": localized("time zone")
    case "url": localized("address")
    case "secret": localized("secret")
    case "tags": localized("tags")
    case "channels": localized("channels")
    case "tracker": localized("tracker")
    case "unit": localized("unit")
    case "goal": localized("goal")
    case "amount", "value", "add": localized("amount")
    case "note": localized("note")
    case "range": localized("range")
    case "item": localized("item")
    default: field
    }
  }

  private static let kinds: Set<String> = [
    localizable("reminder"), localizable("occurrence"), localizable("delivery"), localizable("endpoint"),
    localizable("command"), localizable("tracker"), localizable("entry"), localizable("item"), localizable("milestone"),
    localizable("expectation"), localizable("pack"), localizable("achievement"), localizable("photo"),
    localizable("upload"),
  ]

  /// Returns the name of a kind of object that the daemon did not find.
  static func kind(_ kind: String) -> String { kinds.contains(kind) ? localized(key: kind) : kind }
}
