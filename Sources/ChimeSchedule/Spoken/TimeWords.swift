/// Finds words of time at the ends of what is left of a line.
struct TimeWords {
  let language: SpokenLanguage?

  /// How many words are looked at from an end.
  private static let most = 8

  /// Whether words that end a line say more of the time before them, and nothing else.
  func areBehind(_ words: [String]) -> Bool {
    (1...3).contains(words.count) && words.allSatisfy { SpokenWords.behind.contains(plain($0)) }
  }

  /// Whether words that end a line are numbers, units and words that join them, and no title: `for the next 29`.
  func areRemains(_ words: [String]) -> Bool {
    !words.isEmpty
      && words.allSatisfy { !isQuoted($0) && (isUnit($0) || isJoining($0) || isNumber($0) || isSign($0)) }
  }

  /// The words that stand right beside a time and may be of one, if any of them always is: `jul tomorrow 8 2027`.
  ///
  /// - Parameter words: From the time on, in either direction.
  func stretch(_ words: [String]) -> Int {
    let found = words.prefix { word in
      !isQuoted(word) && (isJoining(word) || isUnit(word) || isAlone(word) || isSign(word) || isNumber(word))
    }
    // Numbers say what they count with the words beside them: "1 day", "at 14", "on the 2nd".
    let numbers = found.count(where: isNumber)
    let isTime = found.contains { word in
      isAlone(word) || isClock(word) || isOrdinal(word)
        || numbers > 0 && (isUnit(word) || ["at", "@", "in"].contains(plain(word)))
    }
    return isTime || numbers > 1 ? found.count : 0
  }

  /// The first word of a title that is a time or a day by itself, so that it stands there by no chance: `17:30`,
  /// `24.12.`, `every`, `tomorrow`, the month of `6 may`.
  ///
  /// - Parameter withDays: whether any day or month is one too, because the time beside the title names no day.
  /// - Parameter withTimes: whether the names of times are, because it says none.
  func firstInTitle(_ words: [String], withDays: Bool, withTimes: Bool) -> Int? {
    func isDay(_ index: Int) -> Bool {
      words.indices.contains(index) && !isQuoted(words[index]) && SpokenWords.weekday(plain(words[index])) != nil
    }
    return words.indices.first { index in
      guard !isQuoted(words[index]) else { return false }
      let word = plain(words[index])
      if isClock(words[index]) || isDate(words[index]) || SpokenWords.every.contains(word) { return true }
      if SpokenWords.asking.contains(word) || SpokenWords.today.union(SpokenWords.tomorrow).contains(word) {
        return true
      }
      if word == "everyday" || withTimes && SpokenWords.times[word] != nil { return true }
      let (before, after) = (
        index > 0 ? plain(words[index - 1]) : "", index + 1 < words.count ? plain(words[index + 1]) : ""
      )
      if isNumber(words[index]), ["at", "@"].contains(before) || ["am", "pm", "a.m", "p.m"].contains(after) {
        return true
      }
      if isOrdinal(words[index]), after == "of" { return true }
      if index > 1, isUnit(words[index]), isNumber(words[index - 1]) || before == "a" {
        return after == "from" || plain(words[index - 2]) == "in"
      }
      if withDays, SpokenWords.often.contains(word) || Keyword.monthNames[word] != nil { return true }
      if Keyword.monthNames[word] != nil {
        return [index - 1, index + 1].contains { words.indices.contains($0) && isNumber(words[$0]) }
      }
      guard let (_, isPlural) = SpokenWords.weekday(word) else {
        let ends = word.split(separator: "-")
        return ends.count == 2 && ends.allSatisfy { SpokenWords.weekday(String($0)) != nil }
      }
      let next = words.indices.contains(index + 1) ? words[index + 1] : ""
      let isListed = isDay(index + 1) || isSign(next) || ["to", "through", "and", "or"].contains(plain(next))
      return withDays || isPlural || isListed
    }
  }

  /// Whether a time names a day, or days.
  func namesDay(_ words: some Sequence<String>) -> Bool {
    let times: Set = [
      "am", "pm", "a.m", "p.m", "oclock", "o'clock", "o’clock", "morning", "afternoon", "evening", "night",
    ]
    return words.contains { word in
      let word = plain(word)
      if isDate(word) || SpokenWords.ordinals[word] != nil { return true }
      return (isAlone(word) || isUnit(word)) && !times.contains(word) && SpokenWords.times[word] == nil
    }
  }

  /// Whether a time says a time of day.
  func namesTime(_ words: some Sequence<String>) -> Bool {
    var last = ""
    for word in words {
      defer { last = plain(word) }
      if isClock(word) || SpokenWords.times[plain(word)] != nil || ["am", "pm", "a.m", "p.m"].contains(plain(word)) {
        return true
      }
      if isNumber(word), ["at", "@", "past", "by"].contains(last) { return true }
    }
    return false
  }

  /// Whether a word of a title behind a time may have parted it: `6:45 pm in one more day`.
  func countsTime(_ word: String) -> Bool { !isQuoted(word) && (isAlone(word) || isUnit(word)) }

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
    guard isNumber(words[index]) else { return false }
    if isClock(words[index]) { return true }
    let hours: Set = ["at", "@", "by", "until", "till", "past"]
    return index > 0 && hours.contains(plain(words[index - 1]))
  }

  /// `17:30`, `5pm`
  private func isClock(_ word: String) -> Bool {
    let word = Array(plain(word).utf8)
    guard isDigit(word.first) else { return false }
    if word.contains(UInt8(ascii: ":")), word.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: ":") }) { return true }
    return ["am", "pm", "p.m", "a.m"].contains { word.suffix($0.utf8.count).elementsEqual($0.utf8) }
      || word.count > 3 && word.count < 6 && word.suffix(3).first == UInt8(ascii: "h")
        && word.suffix(2).allSatisfy(isDigit)
  }

  func isYear(_ word: String) -> Bool { word.utf8.count == 4 && Int(word).map((1970...2059).contains) == true }

  /// `2nd`
  private func isOrdinal(_ word: String) -> Bool {
    isDigit(word.utf8.first) && ["st", "nd", "rd", "th"].contains(plain(word).suffix(2))
  }

  /// `24.12.`, `2027-03-10`, `7/12/2027`
  private func isDate(_ word: String) -> Bool {
    let signs = word.utf8.filter { [UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "-")].contains($0) }
    return signs.count == 2 && isDigit(word.utf8.first) && word.utf8.allSatisfy { isDigit($0) || signs.contains($0) }
  }

  func isNumber(_ word: String) -> Bool {
    isDigit(plain(word).utf8.first) || SpokenWords.numbers[plain(word)] != nil
      || SpokenWords.ordinals[plain(word)] != nil
  }

  private func isSign(_ word: String) -> Bool { ["@", "&", "-", "–", "..", ","].contains(word) }

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
