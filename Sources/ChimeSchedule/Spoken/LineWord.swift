/// A LineWord is one word of a line with its possible roles in a time, looked up once.
struct LineWord {
  /// The possible roles of a word in a time. Most words have several: `second` is a unit, and joins.
  struct Kinds: OptionSet, Sendable {
    let rawValue: UInt64

    /// Contains a space: the argument was quoted, and is a piece of the title or a whole time.
    static let quoted = Kinds(rawValue: 1 << 0)
    /// Means time wherever it occurs: `tomorrow`, `evenings`, `minutes`, and misspellings of these.
    static let alone = Kinds(rawValue: 1 << 1)
    static let joining = Kinds(rawValue: 1 << 2)
    static let unit = Kinds(rawValue: 1 << 3)
    /// Begins with a digit, or is a number word: `20`, `5pm`, `three`, `2nd`.
    static let number = Kinds(rawValue: 1 << 4)
    /// Has digits only.
    static let digits = Kinds(rawValue: 1 << 5)
    /// `2nd`
    static let ordinal = Kinds(rawValue: 1 << 6)
    /// `17:30`, `5pm`, `17h30`
    static let clock = Kinds(rawValue: 1 << 7)
    /// `24.12.`, `2027-03-10`, `7/12/2027`
    static let date = Kinds(rawValue: 1 << 8)
    static let year = Kinds(rawValue: 1 << 9)
    static let sign = Kinds(rawValue: 1 << 10)
    static let every = Kinds(rawValue: 1 << 11)
    /// Needs a time after it: `except`, `until`.
    static let asking = Kinds(rawValue: 1 << 12)
    /// `today`, `tomorrow`
    static let near = Kinds(rawValue: 1 << 13)
    /// Says by itself how often: `daily`.
    static let often = Kinds(rawValue: 1 << 14)
    static let weekday = Kinds(rawValue: 1 << 15)
    /// Means several days: `mondays`, `mon-fri`.
    static let weekdays = Kinds(rawValue: 1 << 16)
    static let month = Kinds(rawValue: 1 << 17)
    /// A time of day with a name: `noon`.
    static let named = Kinds(rawValue: 1 << 18)
    /// `am`, `p.m.`
    static let half = Kinds(rawValue: 1 << 19)
    /// Qualifies a time before it: `friday next`.
    static let behind = Kinds(rawValue: 1 << 20)
    /// Changes the meaning of a time after it: `before friday`.
    static let changing = Kinds(rawValue: 1 << 21)
    /// Needs an hour after it: `at`, `past`.
    static let hours = Kinds(rawValue: 1 << 22)
    /// Begins a duration: `in`, `for`.
    static let lengths = Kinds(rawValue: 1 << 23)
    /// Counts one: `a`, `next`.
    static let one = Kinds(rawValue: 1 << 24)
    /// Is incomplete alone: `at`, `the`. If it is left over before a time, something was cut off.
    static let cut = Kinds(rawValue: 1 << 25)
    /// Things with numbers as names: `chapter 7`.
    static let numbered = Kinds(rawValue: 1 << 33)
    /// Goes with a word for how often: `daily through`, `weekly on`.
    static let bounding = Kinds(rawValue: 1 << 32)
    /// Begins the name of a feast: `christmas`, `new`.
    static let feast = Kinds(rawValue: 1 << 34)
    /// Names of calendars may follow it: `except`.
    static let naming = Kinds(rawValue: 1 << 26)
    /// May occur within a time.
    static let within = Kinds(rawValue: 1 << 27)
    /// May begin a time.
    static let first = Kinds(rawValue: 1 << 28)
    /// Never ends a time.
    static let open = Kinds(rawValue: 1 << 29)
    /// A part of a day or of a clock time, not a day: `morning`.
    static let daytime = Kinds(rawValue: 1 << 30)
    /// Precedes a time, which then has its own start: `on friday`, `at 9`.
    static let opening = Kinds(rawValue: 1 << 31)

    static let time: Kinds = [.alone, .clock, .date]
    /// A month that is also a name or another word: `May`.
    static let alsoName = Kinds(rawValue: 1 << 35)

    /// Perhaps a day and a month, if the time names no day: `30.11`.
    static let perhapsDate = Kinds(rawValue: 1 << 37)
    /// Needs a number before it, or is another word: `3 times`, `the Times`.
    static let counting = Kinds(rawValue: 1 << 36)

    static let stretch: Kinds = [.joining, .unit, .alone, .sign, .number]
  }

  let text: String
  /// The word in English and lower case, without surrounding punctuation.
  let plain: String
  let kinds: Kinds

  init(_ text: String, language: SpokenLanguage?) {
    self.text = text
    var bytes = ContiguousArray(text.utf8)
    guard !bytes.contains(where: { $0 <= 0x20 }), !bytes.isEmpty else {
      (plain, kinds) = (text, [.quoted, .within, .first])
      return
    }
    let isASCII = bytes.allSatisfy { $0 < 0x80 }
    if !isASCII { bytes = ContiguousArray(text.lowercased().utf8) }
    let begin = bytes.firstIndex { !LineWord.isAround($0) } ?? bytes.count
    let end = (bytes.lastIndex { !LineWord.isAround($0) } ?? -1) + 1
    var bare = ""
    if begin < end {
      for index in begin..<end where (0x41...0x5A).contains(bytes[index]) { bytes[index] |= 0x20 }
      bare = String(decoding: bytes[begin..<end], as: UTF8.self)
    }
    plain = language?.gloss(bare) ?? bare
    var kinds = SpokenWords.kinds(of: plain.utf8) ?? []
    let isForeign = !kinds.contains(.first) && language?.mayBeInTime(bare) == true
    if isForeign { kinds.formUnion([.within, .first]) }
    let letters = plain.utf8.first.map { (0x61...0x7A).contains($0) || $0 >= 0x80 } ?? false
    if begin >= end {
      kinds.formUnion([.sign, .within, .first])
    } else if !letters {
      kinds.formUnion(LineWord.figures(plain, bytes))
    } else if kinds.isEmpty {
      kinds.formUnion(LineWord.compound(plain, bare, language))
      if kinds.isEmpty, plain == bare, SpokenWords.misspelt(plain) != nil { kinds = [.alone] }
      if bytes.contains(where: { [UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "*")].contains($0) }) {
        kinds.formUnion([.within])
        if bytes.contains(UInt8(ascii: ":")) { kinds.insert(.first) }
      }
    }
    self.kinds = kinds
  }

  func has(_ kinds: Kinds) -> Bool { !self.kinds.isDisjoint(with: kinds) }

  /// Whether it may be part of a time.
  var speaks: Bool { has(.number) || has(.first) && !has([.sign, .quoted]) }

  /// Whether it names a day, or days.
  var namesDay: Bool { has(.date) || has(.ordinal) || has([.alone, .unit]) && !has([.daytime, .named]) }

  var isPluralUnit: Bool { has(.unit) && plain.utf8.last == UInt8(ascii: "s") && plain.utf8.count > 2 }

  /// Whether it may be an hour of the clock, without a word that says so.
  var isHour: Bool { has(.digits) && plain.utf8.count <= 2 && Int(plain).map { $0 <= 24 } == true || has(.clock) }

  /// Whether it is a time in four digits, not a year: `1730`.
  var isHourAndMinute: Bool {
    guard has(.digits), !has(.year), plain.utf8.count == 4, let value = Int(plain) else { return false }
    return value / 100 < 24 && value % 100 < 60
  }

  /// Whether it is a plural that a number before it may count.
  var isPlural: Bool {
    !has(.quoted) && text == plain && plain.utf8.last == UInt8(ascii: "s") && !plain.hasSuffix("ss")
  }

  /// The English word of time that a misspelled word meant.
  var misspelt: String? {
    kinds.contains(.alone) && SpokenWords.kinds(of: plain.utf8) == nil ? SpokenWords.misspelt(plain) : nil
  }

  private static func isAround(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?"), UInt8(ascii: ";"),
      UInt8(ascii: ":"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"),
      UInt8(ascii: "<"), UInt8(ascii: ">"):
      true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } == true }

  /// Returns the roles of a word that begins with no letter.
  private static func figures(_ plain: String, _ whole: ContiguousArray<UInt8>) -> Kinds {
    var kinds: Kinds = [.within, .first]
    let bytes = ContiguousArray(plain.utf8)
    guard isDigit(bytes.first) else {
      // "~10:00"
      if bytes.first == UInt8(ascii: "~"), isDigit(bytes.dropFirst().first) { return kinds.union([.number, .clock]) }
      let isSign = !bytes.contains { isDigit($0) || (0x61...0x7A).contains($0) || $0 >= 0x80 }
      return isSign ? kinds.union(.sign) : kinds
    }
    kinds.insert(.number)
    let digits = bytes.prefix { isDigit($0) }.count
    if digits == bytes.count {
      kinds.insert(.digits)
      if digits == 4, (1970...2059).contains(Int(plain) ?? 0) { kinds.insert(.year) }
    }
    let tail = String(decoding: bytes[digits...], as: UTF8.self)
    // No month has an 80th.
    if ["st", "nd", "rd", "th"].contains(tail), Int(plain.prefix(digits)).map({ $0 <= 31 }) == true {
      kinds.insert(.ordinal)
    }
    let colon = UInt8(ascii: ":")
    // "17:30" and "10:00-11:00", but not "1:1"
    let isPair = bytes.lastIndex(of: colon).map { bytes.count - $0 < 3 } == true
    let isTimed =
      bytes.contains(colon) && !isPair
      && bytes.allSatisfy { $0 == colon || $0 == UInt8(ascii: "-") || isDigit($0) } || tail == "ish"
    // "2moro"
    if SpokenWords.shortened.contains(plain) { kinds.insert(.alone) }
    let halves = ["am", "pm", "a.m", "p.m", "p", "a"]
    let ending = bytes.drop { !(0x61...0x7A).contains($0) }
    if isTimed || halves.contains(String(decoding: ending, as: UTF8.self)) { kinds.insert(.clock) }
    if tail.utf8.count == 3, tail.utf8.first == UInt8(ascii: "h"), tail.utf8.dropFirst().allSatisfy({ isDigit($0) }) {
      kinds.insert(.clock)
    }
    // "12/24"
    if tail.utf8.first == 0x2F, let first = Int(plain.prefix(digits)), let second = Int(tail.dropFirst()),
      (1...31).contains(first), (1...31).contains(second)
    {
      kinds.insert(.alone)
    }
    // "30.11"; "3.2" is a version.
    if tail.utf8.first == 0x2E, tail.utf8.count == 3, let month = Int(tail.dropFirst()), (1...12).contains(month),
      Int(plain.prefix(digits)).map({ (1...31).contains($0) }) == true
    {
      kinds.insert(.perhapsDate)
    }
    // ".", "/" and "-"
    let signs: [UInt8] = [0x2E, 0x2F, 0x2D]
    // "4.2.1" is not a date.
    let year = bytes.reversed().prefix { isDigit($0) }.count
    if whole.count(where: { signs.contains($0) }) == 2, bytes.allSatisfy({ isDigit($0) || signs.contains($0) }),
      digits > 2 || year != 1 || whole.count(where: { signs.contains($0) }) > bytes.count(where: { signs.contains($0) })
    {
      kinds.insert(.date)
    }
    return kinds
  }

  /// Returns the roles of a word whose first piece is a word of time: `mon-fri`, `noon/6pm`, `sat,sun`.
  private static func compound(_ plain: String, _ bare: String, _ language: SpokenLanguage?) -> Kinds {
    guard plain.utf8.contains(where: { $0 < 0x30 || $0 == 0x40 }) else { return [] }
    let pieces = plain.utf8.split { [0x2C, 0x2D, 0x2E, 0x21, 0x2F, 0x26, 0x40, 0x2B].contains($0) }
    guard pieces.count > 1, let first = pieces.first else { return [] }
    func kinds(_ piece: Substring.UTF8View) -> Kinds {
      let word = String(Substring(piece))
      if language?.mayBeInTime(word) == true { return [.within, .first] }
      return SpokenWords.kinds(of: (language?.gloss(word) ?? word).utf8) ?? []
    }
    let begins = kinds(first)
    guard !begins.isEmpty else { return [] }
    if pieces.allSatisfy({ kinds($0).contains(.weekday) }) { return [.alone, .weekday, .weekdays, .within, .first] }
    // "second-hand" begins with a word of time but is not one.
    return begins.intersection([.within, .first])
  }
}

extension SpokenWords {
  /// Words for days that no schedule accepts. They are not part of a title either.
  static let shortened: Set<String> = ["2day", "2moro", "2morro", "2morrow", "2mrw", "2nite", "2night"]
  private static let unread = ["nxt", "mid-day", "penultimate", "nineish", "tenish", "noonish"]

  /// Returns the possible roles of a word in a time.
  static func kinds(of word: String.UTF8View) -> LineWord.Kinds? {
    word.count <= Keyword.longest ? kinds[PackedWord(word)] : nil
  }

  private static let kinds: PackedTable<LineWord.Kinds> = {
    var kinds: [String: LineWord.Kinds] = [:]
    func add(_ words: some Sequence<String>, _ kind: LineWord.Kinds) {
      for word in words { kinds[word, default: []].insert(kind) }
    }
    add(alone, .alone)
    add(["a.m", "p.m", "o'clock", "o’clock"], .alone)
    add(unread, .alone)
    add(joining, .joining)
    add(units, .unit)
    add(numbers.keys, .number)
    add(tens.keys, .number)
    add(ordinals.keys, .number)
    add(every, .every)
    add(["everyday"], .every)
    add(asking, .asking)
    add(today.union(tomorrow), .near)
    add(often, .often)
    add(times.keys, .named)
    add(Keyword.monthNames.keys, .month)
    for (word, keyword) in Keyword.weekdayNames {
      guard case .weekday(_, let plural) = keyword else { continue }
      add([word], plural ? [.weekday, .weekdays] : .weekday)
    }
    add(["am", "pm", "a.m", "p.m"], .half)
    add(behind, .behind)
    add(changing, .changing)
    add(hours, .hours)
    add(lengths, .lengths)
    add(one, .one)
    add(cut, .cut)
    add(bounding, .bounding)
    add(numbered, .numbered)
    add(["on", "at", "@", "in", "by"], .opening)
    add(namesFollow, .naming)
    add(open, .open)
    add(feastBeginnings, [.feast, .within])
    add(daytimes, .daytime)
    add(alsoNames, .alsoName)
    add(["time", "times"], .counting)
    add(["–", "—"], .sign)
    // A word that begins a schedule, or means time, may also occur within one.
    let speaking = kinds.filter {
      !$0.value.isDisjoint(with: [.alone, .joining, .unit, .number, .every])
    }.keys
    let keywords = Keyword.all.union(SolarWord.table.keys)
    add(Set(speaking).union(keywords), [.first, .within])
    add(inTimes, .within)
    add(["close"], .first)
    return PackedTable(kinds)
  }()
}
