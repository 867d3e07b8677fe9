/// ServerMessagePatterns translate English sentences of the daemon and other modules into the user's language.
///
/// They recognize a sentence by its shape: `%1 has no items` matches any tracker. If several shapes match, the one with
/// the most literal text wins. Values are translated too, unless they are quoted: titles and user input stay unchanged.
struct ServerMessagePatterns: Sendable {
  private let exact: [String: String]
  /// The shapes with the most literal text first.
  private let shapes: [Shape]
  /// The index of the first shape with fewer than eight literal bytes.
  private let weak: Int
  /// The quotation marks of the language: `„%1“`.
  private let quotes: String

  /// The patterns of the user's catalog; empty for English.
  static let current = ServerMessagePatterns(Catalogs.file.flatMap { MessageFile(path: $0) }?.texts ?? [])

  /// - Parameter texts: The texts of a catalog. Those with the context `told` are used.
  init(_ texts: [(key: String, translation: String)]) {
    var exact: [String: String] = [:]
    var shapes: [Shape] = []
    var quotes = "\"%1\""
    for (key, said) in texts where key.hasPrefix(Self.context) && !said.isEmpty {
      let text = String(key.dropFirst(Self.context.count))
      if text == "\"%1\"" {
        quotes = said
        continue
      }
      let shape = Shape(text, said)
      if shape.holes.isEmpty { exact[shape.plain] = shape.filled([]) } else { shapes.append(shape) }
    }
    self.exact = exact
    self.quotes = quotes
    self.shapes = shapes.sorted { ($0.weight, $1.plain) > ($1.weight, $0.plain) }
    weak = self.shapes.firstIndex { $0.weight < 8 } ?? self.shapes.endIndex
  }

  private static let context = "told\u{4}"
  /// The most levels of nested sentences, and the longest text in bytes, to translate.
  private static let deepest = 4
  private static let longest = 4_096

  /// Returns the sentence in the user's language; `nil` if it is unknown.
  ///
  /// - Parameter value: Formats a value that is not a sentence.
  func translated(_ sentence: String, value: (String) -> String = { $0 }) -> String? {
    guard !exact.isEmpty || !shapes.isEmpty, sentence.utf8.count <= Self.longest else { return nil }
    return translated(sentence, value, 0)
  }

  private func translated(_ sentence: String, _ value: (String) -> String, _ depth: Int) -> String? {
    guard depth <= Self.deepest else { return nil }
    if let whole = exact[sentence] { return whole }
    guard sentence.contains(" ") else { return nil }
    let bytes = Array(sentence.utf8)
    func fitting(_ shapes: ArraySlice<Shape>, onlyNames: Bool = false) -> String? {
      for shape in shapes {
        guard let values = shape.values(in: bytes) else { continue }
        if onlyNames, shape.weight < 5, values.contains(where: { $0.replacing(", ", with: "").contains(" ") }) {
          continue
        }
        return shape.filled(zip(values, shape.isQuoted).map { $1 ? $0 : inner($0, value, depth) })
      }
      return nil
    }
    // A shape with little literal text, such as `%1 or %2`, matches too much. It comes last, and only for names.
    return fitting(shapes[..<weak]) ?? afterQuotes(sentence, value, depth) ?? inClauses(sentence, value, depth)
      ?? fitting(shapes[weak...], onlyNames: true)
  }

  /// Returns the translation of a value of a shape: a nested sentence, or a formatted value.
  private func inner(_ text: String, _ value: (String) -> String, _ depth: Int) -> String {
    if let whole = quoted(text) { return whole }
    let trimmed = text.drop { $0 == " " }
    return text.prefix(text.count - trimmed.count)
      + (translated(String(trimmed), value, depth + 1) ?? value(String(trimmed)))
  }

  /// Returns a quoted text with the language's quotation marks; `nil` for other text.
  private func quoted(_ text: String) -> String? {
    guard let sign = text.first, sign == "\"" || sign == "'", let end = text.dropFirst().firstIndex(of: sign),
      end == text.index(before: text.endIndex)
    else { return nil }
    return quotes.replacing("%1", with: text.dropFirst().dropLast())
  }

  /// Translates a quotation followed by a sentence without a subject: `"fo" is no day of a month`.
  private func afterQuotes(_ sentence: String, _ value: (String) -> String, _ depth: Int) -> String? {
    guard let sign = sentence.first, sign == "\"" || sign == "'",
      let end = sentence.dropFirst().firstIndex(of: sign), sentence[sentence.index(after: end)...].first == " ",
      let head = quoted(String(sentence[...end])),
      let rest = translated(String(sentence[end...].dropFirst(2)), value, depth + 1)
    else { return nil }
    return "\(head) \(rest)"
  }

  /// Translates the known parts of several sentences side by side.
  private func inClauses(_ sentence: String, _ value: (String) -> String, _ depth: Int) -> String? {
    for sign in ["; ", ": ", " (", ", "] {
      let parts = sentence.split(separator: sign, omittingEmptySubsequences: false).map(String.init)
      guard parts.count > 1 else { continue }
      let said = parts.map { part in
        let tail = part.hasSuffix(")") && sign == " (" ? ")" : ""
        return translated(String(part.dropLast(tail.count)), value, depth + 1).map { $0 + tail }
      }
      guard said.contains(where: { $0 != nil }) else { continue }
      return zip(said, parts).map { $0 ?? $1 }.joined(separator: sign)
    }
    return nil
  }

  /// A Shape is a text with placeholders for values, split into the bytes between them.
  struct Shape: Sendable {
    /// The pieces between the placeholders, one more than these.
    private let pieces: [[UInt8]]
    /// The number of the value of each placeholder, from 1.
    let holes: [Int]
    /// Whether each placeholder is in quotes.
    let isQuoted: [Bool]
    /// The number of literal bytes.
    let weight: Int
    private let said: String

    /// - Parameter text: The text with %1 to %9 for values and %% for a percent sign.
    init(_ text: String, _ said: String) {
      var pieces: [[UInt8]] = [[]]
      var holes: [Int] = []
      var isMark = false
      for byte in text.utf8 {
        if isMark {
          isMark = false
          if (0x31...0x39).contains(byte) {
            holes.append(Int(byte - 0x30))
            pieces.append([])
            continue
          }
          pieces[pieces.count - 1].append(UInt8(ascii: "%"))
          if byte == UInt8(ascii: "%") { continue }
        } else if byte == UInt8(ascii: "%") {
          isMark = true
          continue
        }
        pieces[pieces.count - 1].append(byte)
      }
      (self.pieces, self.holes, self.said) = (pieces, holes, said)
      weight = pieces.reduce(0) { $0 + $1.count }
      isQuoted = zip(pieces, pieces.dropFirst()).map { before, after in
        guard let sign = before.last, sign == after.first else { return false }
        return sign == UInt8(ascii: "\"") || sign == UInt8(ascii: "'")
      }
    }

    /// The text without its placeholders.
    var plain: String { String(decoding: pieces.joined(), as: UTF8.self) }

    /// Returns the values of a sentence with this shape, each the shortest that fits; `nil` for another shape.
    func values(in bytes: [UInt8]) -> [String]? {
      guard let first = pieces.first, let last = pieces.last, bytes.starts(with: first),
        bytes.count >= weight, bytes[(bytes.count - last.count)...].elementsEqual(last)
      else { return nil }
      var found: [String] = []
      var start = first.count
      for piece in pieces[1...].dropLast() {
        guard let place = Self.place(of: piece, in: bytes, from: start, to: bytes.count - last.count) else {
          return nil
        }
        found.append(String(decoding: bytes[start..<place], as: UTF8.self))
        start = place + piece.count
      }
      guard start <= bytes.count - last.count else { return nil }
      return found + [String(decoding: bytes[start..<bytes.count - last.count], as: UTF8.self)]
    }

    /// Returns the first position of a piece.
    private static func place(of piece: [UInt8], in bytes: [UInt8], from: Int, to: Int) -> Int? {
      guard from + piece.count <= to else { return nil }
      return (from...(to - piece.count)).first { bytes[$0...].starts(with: piece) }
    }

    /// Returns the translation with values in the order of the placeholders.
    func filled(_ values: [String]) -> String {
      var byNumber: [String] = []
      for (hole, text) in zip(holes, values) {
        while byNumber.count < hole { byNumber.append("") }
        byNumber[hole - 1] = text
      }
      return Words.filled(said, byNumber, percents: true)
    }
  }
}
