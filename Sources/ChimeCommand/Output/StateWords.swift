import ChimeWords

/// States and reasons as a person reads them. In `--json`, in `--plain` and as values of options they stay what they are.
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
    default: state
    }
  }
}
