import ChimeWords

/// States, reasons and kinds of things as a person reads them. In `--json`, in `--plain` and as values of options they stay what they are.
enum StateWords {
  static func say(_ state: String) -> String {
    switch state {
    case "active": Words.say("active")
    case "paused": Words.say("paused")
    case "finished": Words.say("finished")
    case "fired": Words.say("fired")
    case "delivered": Words.say("delivered")
    case "done": Words.say("done")
    case "dismissed": Words.say("dismissed")
    case "snoozed": Words.say("snoozed")
    case "missed": Words.say("missed")
    case "suspend": Words.say("suspend")
    case "downtime": Words.say("downtime")
    case "skipped": Words.say("skipped")
    case "pending": Words.say("pending")
    case "waiting": Words.say("waiting")
    case "dead": Words.say("dead")
    case "cancelled": Words.say("cancelled")
    case "failed": Words.say("failed")
    case "refused": Words.say("refused")
    case "latest": Words.say("latest")
    case "all": Words.say("all")
    case "skip": Words.say("skip")
    case "low": Words.say("low")
    case "critical": Words.say("critical")
    // What `chime watch` calls what happens.
    case "added": Words.say("added")
    case "changed": Words.say("changed")
    case "removed": Words.say("removed")
    case "closed": Words.say("closed")
    case "logged": Words.say("logged")
    case "goal": Words.say("goal")
    case "unlocked": Words.say("unlocked")
    case "level": Words.say("level")
    case "milestone": Words.say("milestone")
    case "clock": Words.say("clock")
    case "zone": Words.say("zone")
    case "calendar": Words.say("calendar")
    case "resumed": Words.say("resumed")
    case "reloaded": Words.say("reloaded")
    case "store": Words.say("store")
    default: state
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
    "logged", "goal", "unlocked", "level", "milestone", "clock", "zone", "calendar", "resumed", "reloaded", "store",
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
    case "amount", "value": Words.say("amount")
    case "note": Words.say("note")
    case "range": Words.say("range")
    case "item": Words.say("item")
    default: field
    }
  }

  /// What it is that the daemon knows none of.
  static func kind(_ kind: String) -> String {
    switch kind {
    case "reminder": Words.say("reminder")
    case "occurrence": Words.say("occurrence")
    case "delivery": Words.say("delivery")
    case "endpoint": Words.say("endpoint")
    case "command": Words.say("command")
    case "tracker": Words.say("tracker")
    case "entry": Words.say("entry")
    case "item": Words.say("item")
    case "milestone": Words.say("milestone")
    case "pack": Words.say("pack")
    case "achievement": Words.say("achievement")
    case "photo": Words.say("photo")
    case "upload": Words.say("upload")
    default: kind
    }
  }
}
