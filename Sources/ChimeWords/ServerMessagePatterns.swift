/// The sentences that others write in English, and what they are in the user's language.
///
/// A sentence is known by its shape: `%1 has no items` is any tracker's. Of several shapes that fit, the one with the
/// most words of its own is taken. What a shape leaves open is looked up too, unless it stands in quotes: titles and what
/// somebody typed stay as they are.
struct ServerMessagePatterns: Sendable {
  private let exact: [String: String]
  /// Those with the most words of their own first.
  private let shapes: [Shape]
  /// Where in `shapes` those with fewer than eight bytes of their own begin.
  private let weak: Int
  /// How the language quotes: `„%1“`.
  private let quotes: String

  /// Those of the user's catalog; none where English is spoken.
  static let current = ServerMessagePatterns(Catalogs.file.flatMap { MessageFile(path: $0) }?.texts ?? [])

  /// - Parameter texts: those of a catalog; the ones with the context `told` are taken.
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
  /// How deep a sentence within a sentence is looked for, and in how long a text.
  private static let deepest = 4
  private static let longest = 4_096

  /// The sentence in the user's language; nil where it is not known.
  ///
  /// - Parameter value: how a value that is no sentence is shown.
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
    // What has hardly a word of its own, such as `%1 or %2`, fits too much: it comes last, and is for names alone.
    return fitting(shapes[..<weak]) ?? afterQuotes(sentence, value, depth) ?? inClauses(sentence, value, depth)
      ?? fitting(shapes[weak...], onlyNames: true)
  }

  /// What a shape leaves open: a sentence again, or a value.
  private func inner(_ text: String, _ value: (String) -> String, _ depth: Int) -> String {
    if let whole = quoted(text) { return whole }
    let trimmed = text.drop { $0 == " " }
    return text.prefix(text.count - trimmed.count)
      + (translated(String(trimmed), value, depth + 1) ?? value(String(trimmed)))
  }

  /// A text in quotes, in those of the language; nil for another text.
  private func quoted(_ text: String) -> String? {
    guard let sign = text.first, sign == "\"" || sign == "'", let end = text.dropFirst().firstIndex(of: sign),
      end == text.index(before: text.endIndex)
    else { return nil }
    return quotes.replacing("%1", with: text.dropFirst().dropLast())
  }

  /// `"fo" is no day of a month`: what is quoted first, and then a sentence without a subject.
  private func afterQuotes(_ sentence: String, _ value: (String) -> String, _ depth: Int) -> String? {
    guard let sign = sentence.first, sign == "\"" || sign == "'",
      let end = sentence.dropFirst().firstIndex(of: sign), sentence[sentence.index(after: end)...].first == " ",
      let head = quoted(String(sentence[...end])),
      let rest = translated(String(sentence[end...].dropFirst(2)), value, depth + 1)
    else { return nil }
    return "\(head) \(rest)"
  }

  /// Several sentences that were put side by side: each that is known is translated.
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

  /// A text with places for values, as bytes between them.
  struct Shape: Sendable {
    /// Between the places, one more than those.
    private let pieces: [[UInt8]]
    /// The number of the value in each place, from 1.
    let holes: [Int]
    /// Of each place, whether it is in quotes.
    let isQuoted: [Bool]
    /// How many bytes are its own.
    let weight: Int
    private let said: String

    /// - Parameter text: with %1 to %9 for values and %% for a percent sign.
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

    /// The text where it has no places.
    var plain: String { String(decoding: pieces.joined(), as: UTF8.self) }

    /// What stands in the places, nothing perhaps, the first being the shortest that fits; nil for a sentence of another shape.
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

    /// Where a piece is found first.
    private static func place(of piece: [UInt8], in bytes: [UInt8], from: Int, to: Int) -> Int? {
      guard from + piece.count <= to else { return nil }
      return (from...(to - piece.count)).first { bytes[$0...].starts(with: piece) }
    }

    /// The translation with these values, which stand in the order of the places.
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
