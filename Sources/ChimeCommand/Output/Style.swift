/// Colors and emphasis on a terminal, or none.
struct Style: Sendable {
  enum Tone: String, Sendable {
    case plain = ""
    case strong = "1"
    case faint = "2"
    case good = "32"
    case caution = "33"
    case bad = "31"
    case teal = "36"
    case plum = "35"
    case slate = "34"
  }

  var isColored: Bool

  init(isColored: Bool) { self.isColored = isColored }

  /// Enables color for terminals, unless `NO_COLOR` is not empty or `TERM=dumb`; `--color` overrides both.
  init(when: String?, isTerminal: Bool, environment: [String: String]) {
    switch when {
    case "always": isColored = true
    case "never": isColored = false
    default:
      let isUnwanted = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
      isColored = isTerminal && !isUnwanted && environment["TERM"] != "dumb"
    }
  }

  func callAsFunction(_ text: String, _ tone: Tone) -> String {
    isColored && tone != .plain && !text.isEmpty ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text
  }
}
