/// How words are set off on a terminal, or not at all.
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

  /// Colours are for terminals; a `NO_COLOR` that is not empty and `TERM=dumb` turn them off, `--color` overrules both.
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
