import Foundation
import Testing

/// The grammar of phrases, read from `docs/schedules.md`. It generates random texts, and recognizes texts.
struct Grammar: Sendable {
  indirect enum Part: Sendable {
    case word(String)
    /// A number within bounds; with a width, one of so many digits.
    case number(ClosedRange<Int>, width: Int)
    case name
    case rule(String)
    case sequence([Part])
    case choice([Part])
    case optional(Part)
    case repeated(Part)
  }

  var rules: [String: Part] = [:]
  /// The rules whose parts stand together without white space.
  var words: Set<String> = []

  static let phrases: Result<Grammar, any Error> = Result {
    let file = URL(filePath: Package.folder).appending(path: "docs/schedules.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    let section = text.components(separatedBy: "\n## Phrases\n").last?.components(separatedBy: "\n## ").first ?? ""
    let blocks = section.components(separatedBy: "```ebnf\n").dropFirst().map {
      $0.components(separatedBy: "```").first ?? ""
    }
    var grammar = Grammar()
    for (index, block) in blocks.enumerated() {
      var reader = Reader(tokens: Reader.tokens(block))
      let rules = try reader.rules()
      grammar.rules.merge(rules) { first, _ in first }
      if index == 1 { grammar.words = Set(rules.keys) }
    }
    return grammar
  }

  struct Unreadable: Error { var text: String }

  /// Parses ISO 14977 notation without its commas.
  private struct Reader {
    var tokens: [String]
    var position = 0

    static func tokens(_ text: String) -> [String] {
      var tokens: [String] = []
      var rest = Substring(text)
      while let first = rest.first {
        if first.isWhitespace {
          rest.removeFirst()
        } else if first == "\"" || first == "?" {
          let body = rest.dropFirst().prefix { $0 != first }
          tokens.append("\(first)\(body)")
          rest = rest.dropFirst(body.count + 2)
        } else if first.isLetter {
          let word = rest.prefix { $0.isLetter || $0 == "-" }
          tokens.append(String(word))
          rest = rest.dropFirst(word.count)
        } else {
          tokens.append(String(rest.removeFirst()))
        }
      }
      return tokens
    }

    var next: String? { position < tokens.count ? tokens[position] : nil }

    mutating func take(_ token: String) throws {
      guard next == token else { throw Unreadable(text: "\(token) before \(next ?? "the end")") }
      position += 1
    }

    mutating func rules() throws -> [String: Part] {
      var rules: [String: Part] = [:]
      while let name = next {
        position += 1
        try take("=")
        rules[name] = try choice()
        try take(";")
      }
      return rules
    }

    mutating func choice() throws -> Part {
      var parts = [try sequence()]
      while next == "|" {
        position += 1
        parts.append(try sequence())
      }
      return parts.count == 1 ? parts[0] : .choice(parts)
    }

    mutating func sequence() throws -> Part {
      var parts: [Part] = []
      while let token = next, !["|", ")", "]", "}", ";"].contains(token) {
        position += 1
        switch token.first {
        case "(":
          parts.append(try choice())
          try take(")")
        case "[":
          parts.append(.optional(try choice()))
          try take("]")
        case "{":
          parts.append(.repeated(try choice()))
          try take("}")
        case "\"": parts.append(.word(String(token.dropFirst())))
        case "?":
          let fields = token.dropFirst().split(separator: " ")
          if fields.count == 3, fields[1] == "to", let low = Int(fields[0]), let high = Int(fields[2]) {
            let isPadded = fields[0].count == fields[2].count
            parts.append(.number(low...high, width: isPadded ? fields[0].count : 0))
          } else {
            parts.append(.name)
          }
        default: parts.append(.rule(token))
        }
      }
      return .sequence(parts)
    }
  }
}

extension Grammar {
  static let names = ["holidays", "work-2026", "friday-closings"]

  /// Returns a random text of a rule.
  func text(of rule: String, _ generator: inout SeededGenerator) throws -> String {
    var text = ""
    try write(.rule(rule), isWord: false, into: &text, &generator)
    return text
  }

  private func write(_ part: Part, isWord: Bool, into text: inout String, _ generator: inout SeededGenerator) throws {
    func append(_ word: String, _ generator: inout SeededGenerator) {
      if !isWord, !text.isEmpty {
        // A digit and a letter may touch: "8am", "90m".
        let mayTouch =
          text.last?.isNumber == true && word.first?.isLetter == true && !Grammar.names.contains { text.hasSuffix($0) }
        let isSign = word.first?.isLetter != true && word.first?.isNumber != true
        switch Int.random(in: 0..<8, using: &generator) {
        case 0 where mayTouch || isSign && word != "-": break
        case 1: text += "  "
        default: text += " "
        }
      }
      text += Int.random(in: 0..<12, using: &generator) == 0 && !isWord ? word.uppercased() : word
    }
    switch part {
    case .word(let word): append(word, &generator)
    case .number(let range, let width):
      // Most years are near the present, so that most texts have future times.
      let isYear = range == 1_970...9_999 && Int.random(in: 0..<8, using: &generator) > 0
      let isSmall = range.upperBound == 9_999 && Bool.random(using: &generator)
      let value = Int.random(
        in: isYear ? 2_026...2_030 : isSmall && !isYear && width == 0 ? 1...12 : range, using: &generator)
      let digits = String(value)
      append(String(repeating: "0", count: max(0, width - digits.count)) + digits, &generator)
    case .name: append(Grammar.names.randomElement(using: &generator) ?? "", &generator)
    case .rule(let name):
      guard let rule = rules[name] else { throw Unreadable(text: "no rule \(name)") }
      guard !isWord, words.contains(name) else { return try write(rule, isWord: isWord, into: &text, &generator) }
      var word = ""
      try write(rule, isWord: true, into: &word, &generator)
      append(word, &generator)
      if name == "name" { text = String(text.dropLast(word.count)) + word }
    case .sequence(let parts):
      for part in parts { try write(part, isWord: isWord, into: &text, &generator) }
    case .choice(let parts):
      guard let part = parts.randomElement(using: &generator) else { return }
      try write(part, isWord: isWord, into: &text, &generator)
    case .optional(let part):
      if Int.random(in: 0..<3, using: &generator) == 0 { try write(part, isWord: isWord, into: &text, &generator) }
    case .repeated(let part):
      while Int.random(in: 0..<4, using: &generator) == 0 {
        try write(part, isWord: isWord, into: &text, &generator)
      }
    }
  }

  /// Returns whether a rule generates a text.
  func makes(_ text: String, from rule: String) throws -> Bool {
    var matcher = Matcher(grammar: self, text: Array(text.lowercased().replacingOccurrences(of: "–", with: "-")))
    let ends = try matcher.ends(of: .rule(rule), from: 0, isWord: false)
    return ends.contains { matcher.skip($0) == matcher.text.count }
  }

  private struct Matcher {
    let grammar: Grammar
    let text: [Character]
    var known: [String: Set<Int>] = [:]

    init(grammar: Grammar, text: [Character]) {
      self.grammar = grammar
      self.text = text
    }

    func skip(_ position: Int) -> Int {
      var position = position
      while position < text.count, text[position].isWhitespace { position += 1 }
      return position
    }

    mutating func ends(of part: Part, from start: Int, isWord: Bool) throws -> Set<Int> {
      switch part {
      case .word(let word):
        let begin = isWord ? start : skip(start)
        let letters = Array(word.lowercased())
        let end = begin + letters.count
        guard end <= text.count, Array(text[begin..<end]) == letters else { return [] }
        // A word must end where its letters end.
        let isCut = end < text.count && text[end].isLetter && letters.last?.isLetter == true && word != "T"
        return isCut ? [] : [end]
      case .number(let range, let width):
        let begin = isWord ? start : skip(start)
        let digits = text[begin...].prefix { $0.isNumber }
        guard let value = Int(String(digits)), range.contains(value), width == 0 || digits.count == width else {
          return []
        }
        return [begin + digits.count]
      case .name:
        let name = text[start...].prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        return name.first?.isLetter == true ? [start + name.count] : []
      case .rule(let name):
        guard let rule = grammar.rules[name] else { throw Unreadable(text: "no rule \(name)") }
        let isWordHere = isWord || grammar.words.contains(name)
        let begin = !isWord && isWordHere ? skip(start) : start
        let key = "\(name) \(begin) \(isWord)"
        if let known = known[key] { return known }
        let found = try ends(of: rule, from: begin, isWord: isWordHere)
        known[key] = found
        return found
      case .sequence(let parts):
        var places: Set<Int> = [start]
        for part in parts {
          var next: Set<Int> = []
          for place in places { next.formUnion(try ends(of: part, from: place, isWord: isWord)) }
          places = next
        }
        return places
      case .choice(let parts):
        var places: Set<Int> = []
        for part in parts { places.formUnion(try ends(of: part, from: start, isWord: isWord)) }
        return places
      case .optional(let part): return try ends(of: part, from: start, isWord: isWord).union([start])
      case .repeated(let part):
        var places: Set<Int> = [start]
        var fresh = places
        while !fresh.isEmpty {
          var next: Set<Int> = []
          for place in fresh { next.formUnion(try ends(of: part, from: place, isWord: isWord)) }
          fresh = next.subtracting(places)
          places.formUnion(next)
        }
        return places
      }
    }
  }
}
