/// The numbers, days of the week and months of a text. A hint has to keep them all, or it would mean something else.
struct HintFacts {
  private var counts: [String: Int] = [:]

  init(_ bytes: [UInt8]) {
    guard let tokens = try? SpokenToken.tokens(bytes) else { return }
    var index = 0
    while index < tokens.count {
      let token = tokens[index]
      index += 1
      switch token.kind {
      case .number, .ordinal:
        // A time is one number, with its colon or without: "0830" is "08:30".
        var value = token.value
        while index + 1 < tokens.count, tokens[index].isSign(":"), tokens[index + 1].kind == .number {
          value = value * 100 + tokens[index + 1].value
          index += 2
        }
        // And "9" is "9:00".
        if value >= 100, value % 100 == 0 { value /= 100 }
        counts["\(value)", default: 0] += 1
        // "eight" is no "eighth".
        if token.kind == .number, !token.isDigits { counts["\(value)w", default: 0] += 1 }
      case .word:
        if let day = token.facts.weekday {
          counts[day.abbreviation, default: 0] += 1
        } else if let month = token.month {
          counts[MonthDays.names[month - 1], default: 0] += 1
        }
      case .sign, .dots: break
      }
    }
  }

  /// Whether a hint with those facts has all of these.
  func areKept(by hint: HintFacts) -> Bool { counts.allSatisfy { hint.counts[$0.key, default: 0] >= $0.value } }
}
