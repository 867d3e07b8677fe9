/// HintFacts are the numbers, weekdays and months of a text. A suggestion must keep them all to keep the meaning.
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
        // A time is one number, with or without its colon: "0830" equals "08:30".
        var value = token.value
        while index + 1 < tokens.count, tokens[index].isSign(":"), tokens[index + 1].kind == .number {
          value = value * 100 + tokens[index + 1].value
          index += 2
        }
        // "9" equals "9:00".
        if value >= 100, value % 100 == 0 { value /= 100 }
        counts["\(value)", default: 0] += 1
        // "eight" differs from "eighth".
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

  /// Returns whether the suggestion has all facts of this text.
  func areKept(by hint: HintFacts) -> Bool { counts.allSatisfy { hint.counts[$0.key, default: 0] >= $0.value } }
}
