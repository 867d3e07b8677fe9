/// Finds words of time at the ends of what is left of a line.
struct TimeWords {
  let language: SpokenLanguage?

  /// How many words are looked at from an end.
  private static let most = 8

  /// Whether words that end a line say more of the time before them, and nothing else.
  func areBehind(_ words: [String]) -> Bool {
    (1...3).contains(words.count) && words.allSatisfy { SpokenWords.behind.contains(plain($0)) }
  }

  /// How many words at the beginning speak of time; 0 where the title begins.
  ///
  /// - Parameter afterNumber: whether a number stands right before them, which another number would go on with.
  func leading(_ words: [String], afterNumber: Bool) -> Int {
    var start = 0
    while start < min(words.count, TimeWords.most), !isQuoted(words[start]),
      isJoining(words[start]) || isUnit(words[start]) && !isAlone(words[start])
    {
      // "at 10 day": the number counts something.
      if afterNumber, start == 0, isUnit(words[start]) { return extended(words, 1) }
      start += 1
    }
    guard start < words.count, !isQuoted(words[start]) else { return 0 }
    // A number before words of time goes with them: "9 24.12.".
    if isDigit(words[start].utf8.first), parts(words, from: start + 1) > start + 1 {
      return extended(words, parts(words, from: start + 1))
    }
    // A number after a number may be its minutes, or another time.
    if isHour(words, at: start) { return extended(words, start + 1) }
    if afterNumber, start < 2, isDigit(words[start].utf8.first) { return start + 1 }
    let end = parts(words, from: start)
    if end > start { return extended(words, end) }
    // The words that join may belong to it: "in 3 days", "half past 8".
    for first in stride(from: start - 1, through: 0, by: -1) {
      let end = parts(words, from: first)
      if end > start { return extended(words, end) }
    }
    return isAlone(words[start]) ? extended(words, start + 1) : 0
  }

  /// How many words at the end speak of time; 0 where the title ends.
  ///
  /// - Parameter beforeTime: whether a time stands right behind them, which a word like `next` or `before` would change.
  func trailing(_ words: [String], beforeTime: Bool) -> Int {
    guard let last = words.last, !isQuoted(last) else { return 0 }
    // "at noon on": words that join stand behind words of time too.
    if words.count > 1, isJoining(last) {
      let before = trailing(Array(words.dropLast()), beforeTime: false)
      if before > 0 { return before + 1 }
    }
    var found = isAlone(last) || beforeTime && SpokenWords.changing.contains(plain(last)) ? 1 : 0
    for count in 1...min(words.count, TimeWords.most) {
      let start = words.count - count
      guard !isQuoted(words[start]) else { break }
      if parts(words, from: start) == words.count { found = count }
    }
    if isHour(words, at: words.count - 1) { found = max(found, 1) }
    guard found > 0 else { return 0 }
    while found < words.count, found < TimeWords.most, isJoining(words[words.count - found - 1]) { found += 1 }
    return found
  }

  /// Goes on over further words of time behind those that were found.
  private func extended(_ words: [String], _ count: Int) -> Int {
    var count = count
    while count < min(words.count, TimeWords.most), !isQuoted(words[count]) {
      let next = parts(words, from: count)
      if next > count {
        count = next
      } else if isAlone(words[count]) {
        count += 1
      } else if isJoining(words[count]), count + 1 < words.count,
        isAlone(words[count + 1]) || parts(words, from: count + 1) > count + 1
      {
        count += 1
      } else {
        break
      }
    }
    return count
  }

  /// Where the parts of a time end that begin at a word; the same place where there is none.
  private func parts(_ words: [String], from start: Int) -> Int {
    var best = start
    for end in stride(from: min(words.count, start + TimeWords.most), to: start, by: -1) {
      guard !words[start..<end].contains(where: isQuoted) else { continue }
      let text = words[start..<end].joined(separator: " ")
      if SpokenParser.isParts(text) || language?.english(text).map({ SpokenParser.isParts($0.text) }) == true {
        best = end
        break
      }
    }
    return best
  }

  private func isQuoted(_ word: String) -> Bool { word.contains(where: \.isWhitespace) }

  private func isJoining(_ word: String) -> Bool { SpokenWords.joining.contains(plain(word)) }

  /// Whether a word is written as a time, also as one that no clock shows: `25:00`, or `25` after `at`.
  private func isHour(_ words: [String], at index: Int) -> Bool {
    let word = Array(plain(words[index]).utf8)
    guard isDigit(word.first) else { return false }
    if word.contains(UInt8(ascii: ":")), word.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ":") }) { return true }
    if ["am", "pm", "p.m", "a.m"].contains(where: { word.suffix($0.utf8.count).elementsEqual($0.utf8) }) {
      return true
    }
    let hours: Set = ["at", "@", "by", "until", "till", "past"]
    return index > 0 && hours.contains(plain(words[index - 1]))
  }

  private func isUnit(_ word: String) -> Bool { SpokenWords.units.contains(plain(word)) }

  private func isAlone(_ word: String) -> Bool {
    let word = plain(word)
    return SpokenWords.alone.contains(word) || ["a.m", "p.m", "o'clock", "o’clock"].contains(word)
      || SpokenWords.misspelt(word) != nil
  }

  /// What a word speaks of, in English, without the signs around it.
  func plain(_ word: String) -> String {
    let signs: Set<Character> = [",", ".", "!", "?", ";", ":", "(", ")"]
    let bare = String(word.lowercased().drop { signs.contains($0) }.reversed().drop { signs.contains($0) }.reversed())
    return language?.gloss(bare) ?? bare
  }

  /// The English word of time that a misspelt one was meant to be.
  func misspelt(_ word: String) -> String? {
    plain(word) == word.lowercased() ? SpokenWords.misspelt(word.lowercased()) : nil
  }

  private func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } == true }
}

extension SpokenParser {
  /// Whether a text is made of parts of a time and nothing else, whatever they mean together.
  static func isParts(_ text: String) -> Bool {
    let anchor = Anchor(now: Instant(seconds: 1_700_000_000), surroundings: Surroundings(zone: .utc))
    guard var parser = try? SpokenParser(Array(text.utf8), anchor: anchor), !parser.tokens.isEmpty else { return false }
    do {
      return try parser.readsParts()
    } catch {
      // Words that can be meant in two ways are words of time all the same.
      return error.isMeaning
    }
  }
}
