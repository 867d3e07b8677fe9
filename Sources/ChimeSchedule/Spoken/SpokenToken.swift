/// One word, number or sign of a text as people say it.
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
  /// In lower case.
  var text: String
  var value = 0
  var range: Range<Int>
  /// Whether it follows the one before without a space.
  var isAdjacent: Bool

  /// Whether a number is written in digits, and not as a word.
  var isDigits: Bool { kind == .number && text.utf8.first.map { (0x30...0x39).contains($0) } == true }

  func isSign(_ sign: Unicode.Scalar) -> Bool { kind == .sign(UInt8(ascii: sign)) }

  /// No line has more of them that are one schedule.
  static let most = 400

  /// The tokens of a text, with `p.m.`, `o'clock`, number words and ordinals as one token each.
  static func tokens(_ bytes: [UInt8]) throws(Fault) -> [SpokenToken] { joined(try pieces(bytes)) }

  /// Without the signs in which a time is put, and those with which its sentence ends: `(tomorrow at 9)`, `5 pm:`.
  static func withoutFrame(_ tokens: [SpokenToken]) -> [SpokenToken] {
    var tokens = tokens[...]
    while let last = tokens.last, last.isAdjacent, tokens.count > 1 {
      let before = tokens[tokens.endIndex - 2]
      let isEnd = last.isSign("!") || last.isSign(":") || last.isSign(";") || last.isSign("?")
      let isFrame = last.isSign(")") && tokens.first?.isSign("(") == true
      // The full stop of "24.12." is the date's.
      let isStop = last.isSign(".") && (before.kind == .word || tokens.dropLast(2).last?.isSign(".") != true)
      guard isEnd || isFrame || isStop else { break }
      tokens = tokens.dropLast()
      if isFrame { tokens = tokens.dropFirst() }
    }
    return Array(tokens)
  }

  /// The words, numbers and signs of a text, as they stand.
  static func pieces(_ bytes: [UInt8]) throws(Fault) -> [SpokenToken] {
    var lexer = Lexer(bytes)
    lexer.isBare = true
    try lexer.start()
    var tokens: [SpokenToken] = []
    while lexer.token.kind != .end {
      guard tokens.count < most else {
        throw Fault(
          code: .outOfRange, range: lexer.token.range, problem: "the text has more than \(most) words",
          expected: "a shorter one, like \"weekdays at 8:30\"")
      }
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
          kind: kind, text: lexer.lowered(token.range),
          value: Int(clamping: min(token.value, 1_000_000_000)), range: token.range,
          isAdjacent: lexer.isAdjacent && !tokens.isEmpty))
      try lexer.advance()
    }
    return tokens
  }

  /// Whether a number word, `a.m.`, `p.m.` or `o'clock` begins with that letter.
  private static func isBeginning(_ letter: UInt8) -> Bool {
    switch letter {
    case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "f"), UInt8(ascii: "h"), UInt8(ascii: "n"),
      UInt8(ascii: "o"), UInt8(ascii: "p"), UInt8(ascii: "s"), UInt8(ascii: "t"):
      true
    default: false
    }
  }

  /// Puts together what is one word in several tokens.
  private static func joined(_ tokens: [SpokenToken]) -> [SpokenToken] {
    var result: [SpokenToken] = []
    var index = 0
    func token(_ offset: Int) -> SpokenToken? { index + offset < tokens.count ? tokens[index + offset] : nil }
    func follows(_ offset: Int, _ text: String) -> Bool {
      token(offset).map { $0.isAdjacent && $0.text == text } == true
    }
    func append(_ kind: Kind, _ text: String, _ value: Int, count: Int) {
      result.append(
        SpokenToken(
          kind: kind, text: text, value: value,
          range: tokens[index].range.lowerBound..<tokens[index + count - 1].range.upperBound,
          isAdjacent: tokens[index].isAdjacent))
      index += count
    }
    while index < tokens.count {
      let first = tokens[index]
      // Most words are none of these, and their first letter tells.
      guard first.kind == .number || first.text.utf8.first.map(isBeginning) == true else {
        append(first.kind, first.text, first.value, count: 1)
        continue
      }
      if first.text == "p" || first.text == "a", follows(1, "."), follows(2, "m") {
        append(.word, first.text + "m", 0, count: follows(3, ".") ? 4 : 3)
      } else if first.text == "o", follows(1, "'"), follows(2, "clock") {
        append(.word, "oclock", 0, count: 3)
      } else if first.text == "o", token(1)?.text == "clock" {
        append(.word, "oclock", 0, count: 2)
      } else if first.text == "o’clock" {
        append(.word, "oclock", 0, count: 1)
      } else if first.kind == .number, let suffix = token(1), suffix.isAdjacent,
        ["st", "nd", "rd", "th"].contains(suffix.text)
      {
        append(.ordinal, first.text + suffix.text, first.value, count: 2)
      } else if let tens = SpokenWords.tens[first.text] {
        let hasDash = token(1)?.isSign("-") == true && token(1)?.isAdjacent == true && token(2)?.isAdjacent == true
        let rest = token(hasDash ? 2 : 1)?.text ?? ""
        let count = hasDash ? 3 : 2
        if let ones = SpokenWords.numbers[rest], ones < 10 {
          append(.number, first.text + rest, tens + ones, count: count)
        } else if let ones = SpokenWords.ordinals[rest] ?? (hasDash && rest == "second" ? 2 : nil), ones < 10 {
          append(.ordinal, first.text + rest, tens + ones, count: count)
        } else {
          append(.number, first.text, tens, count: 1)
        }
      } else if first.text == "one", token(1)?.text == "hundred" {
        append(.number, "onehundred", 100, count: 2)
      } else if let number = SpokenWords.numbers[first.text] {
        append(.number, first.text, number, count: 1)
      } else if let ordinal = SpokenWords.ordinals[first.text] {
        append(.ordinal, first.text, ordinal, count: 1)
      } else {
        append(first.kind, first.text, first.value, count: 1)
      }
    }
    return result
  }
}
