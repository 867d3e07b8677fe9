/// A SpokenWord is a word that the grammar of ``SpokenParser`` refers to by name.
enum SpokenWord: String, CaseIterable, Sendable {
  case a, about, after, alternate, am, an, and, annually, apart, around, `as`, at, bank, before, beginning, between
  case biannually, biennially, bimonthly, biweekly, biyearly, business, but, by, clock, close, coming, completed
  case completion, couple, daily, day, days, done, during, each, end, eom, eow, eoy, eve, every, everyday, except, f
  case finished, following, `for`, fortnightly, from, h, half, halfSign = "½", hence, holiday, holidays, hour, hourly
  case hours, hrs, hundred, `in`, last, later, lunch, m, midnight, min, mins, minutes, month, monthly, months
  case national, nd, next, nightly, noon, not, now, o, oclock, oclockSign = "o’clock", of, on, once, one, other
  case overmorrow, p, past, per, percent, pm, `public`, quarter, quarterly, quarters, rd, s, second, semiannually
  case semimonthly, semiweekly, single, st, start, state, t, tea, than, th, the, this, thrice, time, times, to, today
  case tomorrow, tonight, tonite, tu, twice, upcoming, w, week, weekday, weekdays, weekend, weekends, weekly, when
  case within, work, workday, workdays, working, x, year, yearly
  /// Any other word.
  case unknown = ""
}

/// SpokenFacts are the properties of a word for the grammar, looked up once.
struct SpokenFacts: Sendable {
  /// Words that the grammar treats as equal.
  struct Kinds: OptionSet, Sendable {
    let rawValue: UInt16

    static let every = Kinds(rawValue: 1 << 0)
    static let often = Kinds(rawValue: 1 << 1)
    static let months = Kinds(rawValue: 1 << 2)
    static let years = Kinds(rawValue: 1 << 3)
    static let fortnights = Kinds(rawValue: 1 << 4)
    static let until = Kinds(rawValue: 1 << 5)
    static let starting = Kinds(rawValue: 1 << 6)
    static let except = Kinds(rawValue: 1 << 7)
    static let today = Kinds(rawValue: 1 << 8)
    static let tomorrow = Kinds(rawValue: 1 << 9)
    static let done = Kinds(rawValue: 1 << 10)
    /// The name of a feast begins with it.
    static let feast = Kinds(rawValue: 1 << 11)
    static let number = Kinds(rawValue: 1 << 12)
    /// A number to which ones may be added: `twenty`.
    static let tens = Kinds(rawValue: 1 << 13)
    static let ordinal = Kinds(rawValue: 1 << 14)
  }

  var word = SpokenWord.unknown
  var kinds: Kinds = []
  var weekday: Weekday?
  var part: SpokenWords.DayPart?
  /// Whether the weekday or the part of the day is plural.
  var isPlural = false
  var unit: DurationUnit?
  var time: SpokenWords.NamedTime?
  /// The value of a month, a number word or an ordinal.
  var value = 0

  var isMonth: Bool { value > 0 && kinds.isDisjoint(with: [.number, .tens, .ordinal]) }
  /// Whether it is a unit of time: units, months, years.
  var isUnit: Bool { unit != nil || !kinds.isDisjoint(with: [.months, .years]) }

  /// Returns the facts of a word in any case.
  static func of(_ bytes: ArraySlice<UInt8>) -> SpokenFacts? {
    bytes.count <= Keyword.longest ? table[PackedWord(bytes)] : nil
  }

  private static let table: PackedTable<SpokenFacts> = {
    var facts: [String: SpokenFacts] = [:]
    func add(_ words: some Sequence<String>, _ kinds: Kinds) {
      for word in words { facts[word, default: SpokenFacts()].kinds.insert(kinds) }
    }
    func add(_ words: [String: Int], _ kinds: Kinds) {
      add(words.keys, kinds)
      for (word, value) in words { facts[word, default: SpokenFacts()].value = value }
    }
    for word in SpokenWord.allCases where word != .unknown { facts[word.rawValue, default: SpokenFacts()].word = word }
    add(SpokenWords.every, .every)
    add(SpokenWords.often, .often)
    add(SpokenWords.months, .months)
    add(SpokenWords.years, .years)
    add(SpokenWords.fortnights, .fortnights)
    add(SpokenWords.until, .until)
    add(SpokenWords.starting, .starting)
    add(SpokenWords.except, .except)
    add(SpokenWords.today, .today)
    add(SpokenWords.tomorrow, .tomorrow)
    add(["done", "completion", "completed", "finished"], .done)
    add(SpokenWords.feastBeginnings, .feast)
    add(SpokenWords.numbers, .number)
    add(SpokenWords.tens, .tens)
    add(SpokenWords.ordinals, .ordinal)
    add(Keyword.monthNames, [])
    for word in Array(Keyword.weekdayNames.keys) + ["weds"] {
      guard let (day, isPlural) = SpokenWords.weekday(word) else { continue }
      facts[word, default: SpokenFacts()].weekday = day
      facts[word, default: SpokenFacts()].isPlural = isPlural
    }
    for (word, part) in SpokenWords.parts {
      facts[word, default: SpokenFacts()].part = part
      facts[word, default: SpokenFacts()].isPlural = word.hasSuffix("s")
    }
    for (word, unit) in Keyword.units { facts[word, default: SpokenFacts()].unit = unit }
    for (word, time) in SpokenWords.times { facts[word, default: SpokenFacts()].time = time }
    return PackedTable(facts.filter { $0.key.utf8.count <= Keyword.longest })
  }()
}
