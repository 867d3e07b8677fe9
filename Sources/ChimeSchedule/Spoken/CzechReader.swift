/// A CzechReader translates a Czech time into English words in the same order. Most words correspond one to one. The
/// others depend on their neighbors: `v 8` and `v pondělí`, `půl deváté`, `15.`.
struct CzechReader {
  private struct Piece {
    var token: SpokenToken
    /// The text in lower case; `folded` also without diacritics.
    var text: String
    var folded: String
  }

  private let pieces: [Piece]
  private var index = 0
  private var result = ""
  /// The English words so far.
  private var said: [String] = []
  private var places: [(text: Range<Int>, typed: Range<Int>)] = []
  /// Whether there are Czech words at all; `isSure`: and words that exist in Czech only.
  private var isCzech = false
  private var isSure = false
  /// Whether the next `do` ends a range that `od` began.
  private var isRun = false

  init(_ bytes: [UInt8]) throws(Fault) {
    pieces = try SpokenToken.pieces(bytes).map { token in
      let text = String(decoding: bytes[token.range], as: UTF8.self).lowercased()
      return Piece(token: token, text: text, folded: CzechWords.folded(text))
    }
  }

  /// - Returns: `nil` if no word is Czech.
  mutating func english() -> SpokenLanguage.English? {
    while index < pieces.count {
      if part() { continue }
      say(pieces[index].text, count: 1, isGlued: pieces[index].token.isAdjacent)
    }
    return isCzech ? SpokenLanguage.English(text: result, isSure: isSure, places: places) : nil
  }

  private mutating func part() -> Bool {
    if sun() || partOfHour() || abbreviation() || ordinal() || oclock() || phrase(atLeast: 2) || joining() {
      return true
    }
    return years() || phrase(atLeast: 1) || number()
  }

  // MARK: Lookahead

  private func word(_ ahead: Int = 0) -> String {
    let place = index + ahead
    return pieces.indices.contains(place) ? pieces[place].folded : ""
  }

  private func isDigits(_ ahead: Int) -> Bool {
    pieces.indices.contains(index + ahead) && pieces[index + ahead].token.kind == .number
  }

  /// Returns a number in digits or words.
  private func number(_ ahead: Int) -> Int? {
    isDigits(ahead) ? pieces[index + ahead].token.value : CzechWords.numbers[word(ahead)]
  }

  private func weekday(_ ahead: Int) -> String? {
    guard let english = CzechWords.phrases[word(ahead)], SpokenWords.weekday(english) != nil else { return nil }
    return english
  }

  private func isMonth(_ ahead: Int) -> Bool {
    CzechWords.phrases[word(ahead)].map { Keyword.monthNames[$0] != nil } == true
  }

  private func isUnit(_ ahead: Int) -> Bool {
    guard let english = CzechWords.phrases[word(ahead)] else { return false }
    return Keyword.units[english] != nil || SpokenWords.months.contains(english) || SpokenWords.years.contains(english)
  }

  /// Returns whether a unit without a number means one of it: `za hodinu`.
  private func isOne(_ ahead: Int) -> Bool {
    isUnit(ahead) && CzechWords.phrases[word(ahead)]?.hasSuffix("s") == false
  }

  private func isClock(_ ahead: Int) -> Bool {
    number(ahead) != nil || ["pul", "ctvrt", "poledne", "pulnoc"].contains(word(ahead))
  }

  /// Returns whether the next words mention a month, as after a position in a month: `v měsíci`, `každého měsíce`.
  private func speaksOfMonth(from ahead: Int) -> Bool {
    (ahead..<ahead + 5).contains { ["mesici", "mesice"].contains(word($0)) || isMonth($0) }
  }

  // MARK: Output

  private mutating func say(_ english: String, count: Int, isGlued: Bool = false) {
    if !result.isEmpty, !isGlued { result += " " }
    let start = result.utf8.count
    result += english
    let last = pieces[min(index + count, pieces.count) - 1].token
    places.append((start..<result.utf8.count, pieces[index].token.range.lowerBound..<last.range.upperBound))
    let words = english.split(separator: " ").map(String.init)
    said += words
    index += count
  }

  /// Writes the English for a Czech word.
  private mutating func put(_ english: String, _ count: Int = 1) {
    isCzech = true
    isSure = isSure || count > 1 || !CzechWords.weak.contains(word())
    say(english, count: count, isGlued: pieces[index].token.isAdjacent)
  }

  // MARK: Parts

  /// Translates a duration and an event of the sun: `hodinu před západem slunce`, `20 minut po východu slunce`.
  private mutating func sun() -> Bool {
    func isSun(_ ahead: Int) -> Bool {
      let (one, two) = (word(ahead), "\(word(ahead)) \(word(ahead + 1))")
      return [one, two].contains { CzechWords.phrases[$0].map { SolarWord.names.contains($0) } == true }
    }
    let sides = ["pred": "before", "po": "after"]
    if let side = sides[word()], isSun(1) {
      put(side)
    } else if isOne(0), number(-1) == nil, sides[word(1)] != nil, isSun(2) {
      put("1 \(CzechWords.phrases[word()] ?? "hour")")
    } else {
      return false
    }
    return true
  }

  /// Translates `půl deváté` (8:30), `čtvrt na devět` (8:15), `tři čtvrtě na devět` (8:45) and `půl druhé hodiny` (90
  /// minutes).
  private mutating func partOfHour() -> Bool {
    func time(_ hour: Int?, _ minute: Int) -> String? {
      guard let hour, (1...24).contains(hour) else { return nil }
      return "\(hour == 1 ? 12 : hour - 1):\(minute)"
    }
    switch word() {
    case "pul":
      let hour = isDigits(1) || word(1) == "jedne" ? number(1) : CzechWords.ordinals[word(1)]
      if let hour, word(2) == "hodiny" {
        put("\(hour * 60 - 30) minutes", 3)
        return true
      }
      guard let time = time(hour, 30) else { return false }
      put(time, 2)
    case "ctvrt":
      guard word(1) == "na", let time = time(number(2), 15) else { return false }
      put(time, 3)
    case "tri":
      guard word(1) == "ctvrte", word(2) == "na", let time = time(number(3), 45) else { return false }
      put(time, 4)
    default: return false
    }
    return true
  }

  /// Translates `po-pá`, `út a čt`, `v po`. Alone, most of these abbreviations are other words.
  private mutating func abbreviation() -> Bool {
    guard let day = CzechWords.abbreviations[word()], !pieces[index].token.isAdjacent || isListSign(-1) else {
      return false
    }
    let hasMarks = pieces[index].text.utf8.count > 2
    func isDay(_ ahead: Int) -> Bool { CzechWords.abbreviations[word(ahead)] != nil }
    let isListed = isListSign(1) && isDay(2) || isListSign(-1) && isDay(-2)
    let isAsked = ["v", "ve", "kazdy", "kazde", "kazdou", "krome", "mimo"].contains(word(-1))
    guard hasMarks || isListed || isAsked else { return false }
    put(day)
    return true
  }

  /// Returns whether the word separates two days of a list or the ends of a range.
  private func isListSign(_ ahead: Int) -> Bool { [",", "-", "–", "..", "a", "az"].contains(word(ahead)) }

  /// Translates `první`, `druhou`, `15.`: a position in a month, or a step.
  private mutating func ordinal() -> Bool {
    let place: Int
    var count = 1
    if isDigits(0) {
      guard isPlace(0) else { return false }
      place = pieces[index].token.value
      count = 2
    } else if let value = CzechWords.ordinals[word()] {
      let ones = CzechWords.ordinals[word(1)] ?? 10
      let isSum = value >= 20 && ones < 10
      place = isSum ? value + ones : value
      count = isSum ? 2 : 1
    } else {
      return false
    }
    guard (1...31).contains(place) else { return false }
    guard said.last == "every", !speaksOfMonth(from: count), weekday(count) != nil || isUnit(count) else {
      put("\(place)\(CzechReader.ending(place))", count)
      return true
    }
    // "každé druhé úterý" is every other Tuesday. For a higher number the parser asks which is meant.
    put(place == 2 ? "other" : CzechReader.names[place] ?? "\(place)th", count)
    return true
  }

  private static func ending(_ number: Int) -> String {
    guard !(11...13).contains(number) else { return "th" }
    return [1: "st", 2: "nd", 3: "rd"][number % 10] ?? "th"
  }

  private static let names = Dictionary(
    uniqueKeysWithValues: SpokenWords.ordinals.filter { $0.value <= 12 }.map { ($0.value, $0.key) })

  /// Returns whether a number with a full stop is a position in a month, not the day of a date or the end of a sentence.
  private func isPlace(_ ahead: Int) -> Bool {
    let stop = index + ahead + 1
    guard isDigits(ahead), word(ahead + 1) == ".", pieces[stop].token.isAdjacent,
      stop + 1 >= pieces.count || !pieces[stop + 1].token.isAdjacent
    else { return false }
    switch word(ahead + 2) {
    case "den", "dne", "vsedni", "pracovni", "kazdeho", "mesice", "tyden", "mesic", "rok": return true
    case "a", ",", "i": return isPlace(ahead + 3)
    case "", "v", "ve":
      return ["mesici", "kazdem"].contains(word(ahead + 3))
        || pieces[..<(index + ahead)].contains { ["kazdeho", "mesic", "mesicne"].contains($0.folded) }
    default: return weekday(ahead + 2) != nil
    }
  }

  /// Translates "hodin": `v 8 hodin` is a time, `za 8 hodin` a duration.
  private mutating func oclock() -> Bool {
    guard ["hodin", "hodiny", "hodinu", "hod"].contains(word()), number(-1) != nil else { return false }
    var start = -1
    while start > -5, word(start - 1) == ":" || word(start - 1) == ".", isDigits(start - 2) { start -= 2 }
    let asked: Set = ["v", "ve", "do", "od", "okolo", "kolem", "mezi"]
    let isAsked = asked.contains(word(start - 1)) || word(start - 1) == "a" && number(start - 2) != nil
    let isAbbreviated = word() == "hod"
    let count = isAbbreviated && word(1) == "." && pieces[index + 1].token.isAdjacent ? 2 : 1
    if isAsked {
      put(start == -1 ? "oclock" : "", count)
    } else if isAbbreviated {
      put("hours", count)
    } else {
      return false
    }
    return true
  }

  private mutating func joining() -> Bool {
    switch word() {
    case "v", "ve":
      if isClock(1) && !isPlace(1) || word(1) == "tri" && word(2) == "ctvrte" {
        put("at")
      } else {
        let isDay = weekday(1) != nil || CzechWords.ordinals[word(1)] != nil || isPlace(1)
        put(isDay || ["kazdy", "kazde", "kazdou"].contains(word(1)) ? "on" : "in")
      }
    case "a", "i":
      if ["v", "ve"].contains(word(1)), weekday(2) != nil || CzechWords.abbreviations[word(2)] != nil {
        put("and", 2)
      } else {
        put("and")
      }
    case "za": put(isOne(1) ? "in 1" : "in")
    case "od":
      let end = (1...6).first { word($0) == "do" }
      isRun = end != nil
      // "od pondělí do pátku" is a range of days, not a start and an end.
      guard weekday(1) != nil, end == 2 else {
        put("from")
        break
      }
      isCzech = true
      index += 1
    case "do", "az":
      let count = word() == "az" && word(1) == "do" ? 2 : 1
      let isEnd = word() == "az" && count == 1
      put(isRun || isEnd ? "to" : "until", count)
      isRun = false
    case "mezi": put("between")
    case "na":
      if number(1) != nil, isUnit(2) {
        put("for")
      } else if isOne(1) {
        put("for 1")
      } else if weekday(1) != nil {
        put("on")
      } else if ["dnes", "dneska", "zitra", "zejtra", "pozitri", "pristi", "tento", "tuto"].contains(word(1)) {
        index += 1
      } else {
        return false
      }
    case "po":
      guard number(1) != nil, isUnit(2) else { return false }
      put("for")
    case "dne":
      guard isDigits(1) else { return false }
      put("on")
    default: return false
    }
    return true
  }

  /// Translates `let`. It also means "flight", unless a number precedes it.
  private mutating func years() -> Bool {
    guard word() == "let", number(-1) != nil else { return false }
    put("years")
    return true
  }

  private mutating func number() -> Bool {
    guard !isDigits(0), let number = CzechWords.numbers[word()] else {
      // "pětkrát"
      guard word().hasSuffix("krat"), let count = CzechWords.numbers[String(word().dropLast(4))] else { return false }
      put("\(count) times")
      return true
    }
    let ones = number >= 20 && number < 100 ? CzechWords.numbers[word(1)] : nil
    guard let ones, ones < 10 else {
      put(CzechReader.inWords(number))
      return true
    }
    put(CzechReader.inWords(number + ones), 2)
    return true
  }

  /// Returns a number in words. Words keep the ambiguity: `at nine`, like `at 9`, may be morning or evening, but `09` is not.
  private static func inWords(_ number: Int) -> String {
    if let word = SpokenWords.numbers.first(where: { $0.value == number && number < 20 })?.key { return word }
    if number == 100 { return "one hundred" }
    let ten = SpokenWords.tens.first { $0.value == number / 10 * 10 }?.key ?? ""
    let one = SpokenWords.numbers.first { $0.value == number % 10 && number % 10 > 0 }?.key
    return one.map { "\(ten)-\($0)" } ?? ten
  }

  /// Translates the longest known sequence of words.
  private mutating func phrase(atLeast shortest: Int) -> Bool {
    let longest = CzechWords.beginnings.contains(word()) ? 3 : 1
    for count in stride(from: longest, through: shortest, by: -1) where index + count <= pieces.count {
      let run = pieces[index..<index + count]
      guard run.dropFirst().allSatisfy({ !$0.token.isAdjacent }) else { continue }
      let text = run.map(\.folded).joined(separator: " ")
      guard var english = CzechWords.phrases[text] else { continue }
      // With a following "půl", "a půl" would become a half of its own.
      if count == 2, text == "a pul", weekday(2) != nil || CzechWords.ordinals[word(2)] != nil { continue }
      if count == 1, let day = weekday(0), !day.hasSuffix("s"), isPlural { english = day + "s" }
      put(english, count)
      return true
    }
    return false
  }

  /// Whether a weekday is plural: `ve středy` means all Wednesdays, `do středy` one. The plural "kromě pátků" differs
  /// from one Friday only in its diacritics. In a list, a plural day makes the next one plural.
  private var isPlural: Bool {
    let typed = pieces[index].text
    if typed.hasSuffix("ků") || typed == "nedělí" { return true }
    let isListed = said.last == "and" && said.dropLast().last.flatMap { SpokenWords.weekday($0)?.plural } == true
    return isListed || ["v", "ve"].contains(word(-1)) && ["stredy", "soboty", "nedele"].contains(word())
  }
}
