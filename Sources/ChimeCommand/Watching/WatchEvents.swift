/// The colors of event kinds.
enum WatchEvents {
  static func tone(_ kind: String) -> Style.Tone {
    switch kind {
    case "fired": .strong
    case "delivered", "done", "logged", "goal", "unlocked", "level", "milestone": .good
    case "failed", "store": .bad
    case "missed", "clock", "zone", "resumed", "limit", "stock": .caution
    default: .plain
    }
  }
}
