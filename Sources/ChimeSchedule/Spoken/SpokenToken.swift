/// A SpokenToken is one word, number or sign of a spoken text.
struct SpokenToken {
  enum Kind: Equatable {
    case word
    /// Digits, or a number word: `20`, `twenty`.
    case number
    /// `15th`, `fifth`.
    case ordinal
    case sign(UInt8)
    case dots
  }

  var kind: Kind
  /// The facts about a word; without meaning for numbers and signs.
  var facts = SpokenFacts()
  var value = 0
  var range: Range<Int>
  /// Whether it follows the previous token without a space.
  var isAdjacent: Bool
  /// Whether a number is written in digits, not as a word.
  var isDigits = false

  var month: Int? { facts.isMonth ? facts.value : nil }

  func isSign(_ sign: Unicode.Scalar) -> Bool { kind == .sign(UInt8(ascii: sign)) }

  /// The most tokens of a text.
  static let most = 400

  /// Returns the tokens of a text, with `p.m.`, `o'clock`, number words and ordinals as one token each.
  static func tokens(_ bytes: [UInt8]) throws(Fault) -> [SpokenToken] { joined(try pieces(bytes)) }

  static let frames: [(start: Unicode.Scalar, end: Unicode.Scalar)] = [("(", ")"), ("<", ">"), ("[", "]")]

  /// Returns the tokens without enclosing signs and closing punctuation: `(tomorrow at 9)`, `5 pm:`, `<2026-11-27 Fri
  /// 18:00>` as in org-mode.
  static func withoutFrame(_ tokens: [SpokenToken]) -> [SpokenToken] {
    var tokens = tokens[...]
    while let last = tokens.last, last.isAdjacent, tokens.count > 1 {
      let before = tokens[tokens.endIndex - 2]
      let isEnd = last.isSign("!") || last.isSign(":") || last.isSign(";") || last.isSign("?")
      let isFrame = frames.contains { last.isSign($0.end) && tokens.first?.isSign($0.start) == true }
      // The full stop of "24.12." belongs to the date.
      let isStop = last.isSign(".") && (before.kind == .word || tokens.dropLast(2).last?.isSign(".") != true)
      guard isEnd || isFrame || isStop else { break }
      tokens = tokens.dropLast()
      if isFrame { tokens = tokens.dropFirst() }
    }
    return Array(tokens)
  }

  /// Returns the words, numbers and signs of a text separately.
  static func pieces(_ bytes: [UInt8]) throws(Fault) -> [SpokenToken] {
    var lexer = Lexer(bytes)
    lexer.isBare = true
    try lexer.start()
    var tokens: [SpokenToken] = []
    while lexer.token.kind != .end {
      try need(
        tokens.count < most, .outOfRange, at: lexer.token.range, "the text has more than \(most) words",
        expected: "a shorter one, like \"weekdays at 8:30\"")
      let token = lexer.token
      let kind: Kind =
        switch token.kind {
        case .word, .end: .word
        case .number: .number
        case .sign(let sign): .sign(sign)
        case .dots: .dots
        }
      tokens.append(
        SpokenToken(
          kind: kind, facts: (kind == .word ? SpokenFacts.of(bytes[token.range]) : nil) ?? SpokenFacts(),
          value: Int(clamping: min(token.value, 1_000_000_000)), range: token.range,
          isAdjacent: lexer.isAdjacent && !tokens.isEmpty, isDigits: kind == .number))
      try lexer.advance()
    }
    return tokens
  }

  /// Joins tokens that form one word.
  private static func joined(_ tokens: [SpokenToken]) -> [SpokenToken] {
    var result: [SpokenToken] = []
    result.reserveCapacity(tokens.count)
    var index = 0
    func facts(_ offset: Int) -> SpokenFacts {
      index + offset < tokens.count ? tokens[index + offset].facts : SpokenFacts()
    }
    func isAdjacent(_ offset: Int) -> Bool { index + offset < tokens.count && tokens[index + offset].isAdjacent }
    func isSign(_ sign: Unicode.Scalar, _ offset: Int) -> Bool {
      isAdjacent(offset) && tokens[index + offset].isSign(sign)
    }
    func append(_ kind: Kind, _ word: SpokenWord = .unknown, value: Int = 0, count: Int) {
      var token = tokens[index]
      token.kind = kind
      token.facts = SpokenFacts(word: word)
      token.value = value
      token.isDigits = false
      token.range = tokens[index].range.lowerBound..<tokens[index + count - 1].range.upperBound
      result.append(token)
      index += count
    }
    while index < tokens.count {
      let first = tokens[index]
      let (word, kinds) = (first.facts.word, first.facts.kinds)
      if first.kind == .number, isAdjacent(1), [.st, .nd, .rd, .th].contains(facts(1).word) {
        append(.ordinal, value: first.value, count: 2)
      } else if word == .p || word == .a, isSign(".", 1), facts(2).word == .m, isAdjacent(2) {
        append(.word, word == .p ? .pm : .am, count: isSign(".", 3) ? 4 : 3)
      } else if word == .o, isSign("'", 1), facts(2).word == .clock, isAdjacent(2) {
        append(.word, .oclock, count: 3)
      } else if word == .o, facts(1).word == .clock {
        append(.word, .oclock, count: 2)
      } else if word == .oclockSign {
        append(.word, .oclock, count: 1)
      } else if kinds.contains(.tens) {
        let hasDash = isSign("-", 1) && isAdjacent(2)
        let rest = facts(hasDash ? 2 : 1)
        let count = hasDash ? 3 : 2
        if rest.value < 10, rest.kinds.contains(.number) {
          append(.number, value: first.facts.value + rest.value, count: count)
        } else if rest.value < 10, rest.kinds.contains(.ordinal) {
          append(.ordinal, value: first.facts.value + rest.value, count: count)
        } else if hasDash, rest.word == .second {
          append(.ordinal, value: first.facts.value + 2, count: count)
        } else {
          append(.number, value: first.facts.value, count: 1)
        }
      } else if word == .one, facts(1).word == .hundred {
        append(.number, value: 100, count: 2)
      } else if kinds.contains(.number) {
        append(.number, word, value: first.facts.value, count: 1)
      } else if kinds.contains(.ordinal) {
        append(.ordinal, value: first.facts.value, count: 1)
      } else {
        result.append(first)
        index += 1
      }
    }
    return result
  }
}
