// Parses schedules that count from another reminder.
extension Chain {
  /// Parses `30m after done of backup` and the spoken forms: `after "backup" is done`, `po splnění „Zálohy“`.
  ///
  /// - Returns: `nil` if the text is not of this kind.
  /// - Throws: ``Fault`` if it is of this kind but lacks a name or has an impossible delay.
  static func read(_ bytes: [UInt8], _ context: ParseContext?) throws(Fault) -> Chain? {
    let isCzech = context?.scheduleContext.language == .czech
    // Nearly all texts are of another kind. A test on bytes rules them out cheaply.
    guard bytes.count <= longestText, mayBeChain(bytes, isCzech: isCzech) else { return nil }
    let words = words(of: bytes)
    for (place, word) in words.prefix(mostWordsBefore).enumerated() {
      let text = lowered(bytes[word])
      let head: (event: Event, name: Range<Int>)?
      if text == "after" {
        head = english(bytes, words[(place + 1)...])
      } else if isCzech, text == "po" {
        head = czech(bytes, words[(place + 1)...])
      } else {
        continue
      }
      guard let head, let delay = delay(bytes[..<word.lowerBound], context) else { return nil }
      guard delays.contains(delay), delay.rawValue % 1_000 == 0 else {
        throw Fault(
          code: .outOfRange, range: 0..<word.lowerBound,
          problem: "a reminder can follow another by at most 366 days",
          expected: "whole seconds, up to 366d"
        ).ofMeaning()
      }
      return Chain(head.event, of: try name(bytes, head.name), delay: delay)
    }
    return nil
  }

  /// The length of a delay, "after" and the longest name, with a margin.
  private static let longestText = 2_048
  private static let mostWordsBefore = 12

  private static func mayBeChain(_ bytes: [UInt8], isCzech: Bool) -> Bool {
    func has(_ word: StaticString) -> Bool {
      word.withUTF8Buffer { word in
        bytes.count >= word.count
          && (0...(bytes.count - word.count)).contains { start in
            word.indices.allSatisfy { bytes[start + $0] | 0x20 == word[$0] }
          }
      }
    }
    return has("after ") || isCzech && has("po ")
  }

  private static func words(of bytes: [UInt8]) -> [Range<Int>] {
    var words: [Range<Int>] = []
    var start: Int?
    for index in bytes.indices {
      let isSpace = bytes[index] == 0x20 || (0x09...0x0D).contains(bytes[index])
      if isSpace, let begin = start {
        words.append(begin..<index)
        start = nil
      } else if !isSpace, start == nil {
        start = index
      }
    }
    if let start { words.append(start..<bytes.count) }
    return words
  }

  private static func lowered(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self).lowercased()
  }

  private static func event(_ word: String) -> Event? {
    switch word {
    case "done", "completion": .done
    case "missed", "missing": .missed
    default: nil
    }
  }

  /// Reads the words after "after": `done of NAME`, or `NAME is done`.
  private static func english(
    _ bytes: [UInt8], _ words: ArraySlice<Range<Int>>
  ) -> (event: Event, name: Range<Int>)? {
    guard let first = words.first, let last = words.last else { return nil }
    if words.count > 1, let event = event(lowered(bytes[first])),
      lowered(bytes[words[words.startIndex + 1]]) == "of"
    {
      return (event, words[words.startIndex + 1].upperBound..<last.upperBound)
    }
    guard words.count > 2, let event = event(lowered(bytes[last])),
      ["is", "was"].contains(lowered(bytes[words[words.endIndex - 2]]))
    else { return nil }
    return (event, first.lowerBound..<words[words.endIndex - 3].upperBound)
  }

  /// Reads the words after "po": `splnění NAME`, `zmeškání NAME`.
  private static func czech(_ bytes: [UInt8], _ words: ArraySlice<Range<Int>>) -> (event: Event, name: Range<Int>)? {
    guard let first = words.first, let last = words.last else { return nil }
    switch CzechWords.folded(String(decoding: bytes[first], as: UTF8.self)) {
    case "splneni", "dokonceni": return (.done, first.upperBound..<last.upperBound)
    case "zmeskani": return (.missed, first.upperBound..<last.upperBound)
    default: return nil
    }
  }

  /// Reads the duration before "after"; `nil` if it is not one.
  private static func delay(_ bytes: ArraySlice<UInt8>, _ context: ParseContext?) -> Milliseconds? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains(where: { !$0.isWhitespace }) else { return .zero }
    if let length = length(text) { return length }
    return context?.scheduleContext.language?.english(text).flatMap { length($0.text) }
  }

  private static func length(_ text: String) -> Milliseconds? {
    do {
      var lexer = Lexer(text)
      lexer.isQuiet = true
      try lexer.start()
      let length = try lexer.duration(article: true)
      return lexer.token.kind == .end ? length : nil
    } catch {
      return nil
    }
  }

  /// Returns the name without the quotation marks around it.
  private static func name(_ bytes: [UInt8], _ range: Range<Int>) throws(Fault) -> String {
    var name = String(decoding: bytes[range], as: UTF8.self).trimmingSpaces
    for (open, close) in [("\"", "\""), ("'", "'"), ("“", "”"), ("„", "“"), ("»", "«"), ("«", "»")]
    where name.count > 1 && name.hasPrefix(open) && name.hasSuffix(close) {
      name = String(name.dropFirst().dropLast()).trimmingSpaces
      break
    }
    guard !name.isEmpty else {
      throw Fault(
        range: range.upperBound..<range.upperBound, problem: "the other reminder is missing",
        expected: "its id or its title, as in \"after done of backup\""
      ).ofMeaning()
    }
    guard name.utf8.count <= longestName,
      !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw Fault(
        range: range, problem: "that is not the name of a reminder", expected: "its id or its title"
      ).ofMeaning()
    }
    return name
  }
}

extension String {
  fileprivate var trimmingSpaces: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(self[first...last])
  }
}
