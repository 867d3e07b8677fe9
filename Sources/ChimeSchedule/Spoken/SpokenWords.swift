/// SpokenWords are the words of time that people use besides those of the written form.
enum SpokenWords {
  static let numbers: [String: Int] = [
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "hundred": 100,
  ]
  static let tens: [String: Int] = [
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
  ]
  /// `second` is a unit of time too, and remains a word.
  static let ordinals: [String: Int] = [
    "first": 1, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
  ]

  /// Months and years, besides the units of ``Keyword/units``.
  static let months: Set = ["month", "months", "mo", "mos"]
  static let years: Set = ["year", "years", "yr", "yrs"]
  static let fortnights: Set = ["fortnight", "fortnights"]

  /// The times of day with a name.
  static let times: [String: NamedTime] = [
    "noon": .noon, "midday": .noon, "midnight": .midnight, "lunchtime": .lunchtime, "lunch-time": .lunchtime,
    "teatime": .teatime, "eod": .endOfDay, "cob": .endOfDay,
  ]

  enum NamedTime {
    case noon, midnight, lunchtime, teatime, endOfDay

    func time(_ words: () -> WordTimes) -> CivilTime {
      switch self {
      case .noon: .noon
      case .midnight: .midnight
      case .lunchtime: words().lunchtime
      case .teatime: words().teatime
      case .endOfDay: words().endOfDay
      }
    }
  }

  /// A part of the day, with its default time.
  enum DayPart {
    case morning, afternoon, evening, night, tonight

    func time(_ words: WordTimes) -> CivilTime {
      switch self {
      case .morning: words.morning
      case .afternoon: words.afternoon
      case .evening: words.evening
      case .tonight: words.tonight
      case .night: words.night
      }
    }
  }

  static let parts: [String: DayPart] = [
    "morning": .morning, "mornings": .morning, "afternoon": .afternoon, "afternoons": .afternoon,
    "evening": .evening, "evenings": .evening, "night": .night, "nights": .night, "tonight": .tonight,
    "tonite": .tonight,
  ]

  static func weekday(_ word: String) -> (day: Weekday, plural: Bool)? {
    if word == "weds" { return (.wednesday, false) }
    guard case .weekday(let day, let plural) = Keyword.weekdayNames[word] else { return nil }
    return (day, plural)
  }

  /// The named days of each year.
  static let feasts: [String: (month: Int, day: Int)] = [
    "xmas": (12, 25), "xmas day": (12, 25), "xmas eve": (12, 24), "christmas": (12, 25), "christmas day": (12, 25),
    "christmas eve": (12, 24), "boxing day": (12, 26),
    "new year's eve": (12, 31), "new years eve": (12, 31),
    "new year's day": (1, 1), "new years day": (1, 1), "new year": (1, 1), "new years": (1, 1), "nye": (12, 31),
    "halloween": (10, 31), "valentine's day": (2, 14), "valentines day": (2, 14), "valentine's": (2, 14),
    "st patrick's day": (3, 17), "st. patrick's day": (3, 17),
  ]
  /// The first words of their names. For most words the lookup ends here.
  static let feastBeginnings = Set(
    feasts.keys.map { String($0.prefix { $0.isLetter || $0 == "’" }) }
      + feasts.keys.compactMap { name in
        name.split(separator: " ").first.map { String($0) }
      })
  /// Weekdays by their first letters, as in timetables.
  static let initials: [String: WeekdaySet] = [
    "mwf": [.monday, .wednesday, .friday], "tth": [.tuesday, .thursday], "tuth": [.tuesday, .thursday],
  ]
  static let initialLists: [(letters: [SpokenWord], days: WeekdaySet)] = [
    ([.m, .w, .f], [.monday, .wednesday, .friday]), ([.m, .w], [.monday, .wednesday]),
    ([.t, .th], [.tuesday, .thursday]), ([.tu, .th], [.tuesday, .thursday]),
  ]
  static let today: Set = ["today"]
  static let tomorrow: Set = ["tomorrow", "tmr", "tmrw", "tmw", "tomorow"]
  static let starting: Set = ["starting", "beginning", "from"]
  static let until: Set = ["until", "till", "til", "through", "thru", "to", "ending"]
  static let except: Set = ["except", "excluding", "excepting", "without", "skipping"]
  static let every: Set = ["every", "each", "ev"]

  /// Words that make a day of the month one of every month: `monthly on the 3rd`.
  static let monthWords: Set = ["month", "months", "monthly"]

  /// Words that say by themselves how often.
  static let often: Set = [
    "daily", "everyday", "nightly", "weekly", "fortnightly", "monthly", "yearly", "annually", "quarterly", "hourly",
    "biweekly", "bimonthly", "biannually", "biennially", "biyearly", "semiweekly", "semimonthly", "semiannually",
    "weekdays", "workdays", "weekends", "weekday", "workday", "weekend",
  ]

  /// Words that always mean time. If they are left over in a line, they never become part of a title. Abbreviations are
  /// included, because `sat` and `may` are first of all days and months.
  static let alone: Set<String> = {
    var words: Set<String> = [
      "today", "tomorrow", "tmr", "tmrw", "tmw", "tomorow", "yesterday", "tonight", "tonite", "weds", "overmorrow",
      "morning",
      "mornings",
      "afternoon", "afternoons", "evening", "evenings", "night", "nights", "am", "pm", "oclock", "every", "each",
      "everyday", "except", "excluding", "until", "till", "starting", "fortnight", "fortnights", "eom", "eow", "eoy",
      "hrs", "mins", "secs", "minutes", "seconds", "hours", "days", "weeks", "months", "years", "quarterly",
      "sunrise", "sunset", "sunup", "sundown", "dawn", "dusk", "twice", "once",
    ]
    words.formUnion(often)
    words.formUnion(initials.keys)
    words.formUnion(initialLists.map { $0.letters.map(\.rawValue).joined(separator: "/") })
    words.formUnion(times.keys)
    words.formUnion(Keyword.weekdayNames.keys)
    words.formUnion(Keyword.monthNames.keys)
    return words
  }()
  /// Returns the word of time that a misspelled one meant; `nil` if it may be another word. Short words, and words with
  /// another first letter, are too often words of their own.
  static func misspelt(_ word: String) -> String? {
    guard word.utf8.count >= 4, let first = word.utf8.first, let near = long[first], !alone.contains(word),
      !joining.contains(word)
    else { return nil }
    let letters = Spelling.letters(of: word.utf8)
    // Two changes replace two letters, so they affect four bits.
    let candidates = near.filter { ($0.letters ^ letters).nonzeroBitCount <= 4 }
    return candidates.isEmpty ? nil : Spelling.nearest(to: word, among: candidates.map(\.word))
  }

  /// The words long enough to correct when misspelled, by their first letter.
  private static let long: [UInt8: [(word: String, letters: UInt32)]] = {
    let words = [
      "tomorrow", "tonight", "today", "every", "daily", "weekly", "monthly", "yearly", "hourly", "weekdays", "weekday",
      "weekend", "weekends", "morning", "evening", "afternoon", "midnight", "minutes", "hours", "weeks", "months",
      "until", "except", "starting", "fortnight",
    ]
    let names = (Array(Keyword.weekdayNames.keys) + Keyword.monthNames.keys).filter { $0.utf8.count >= 5 }
    return Dictionary(grouping: (words + names).map { ($0, Spelling.letters(of: $0.utf8)) }) { $0.0.utf8.first ?? 0 }
  }()

  /// Words that mean time only together with one that does: `next week`, `half past`, `in the`.
  static let joining: Set<String> = [
    "on", "in", "at", "by", "the", "this", "next", "coming", "following", "last", "of", "for", "from", "to", "a", "an",
    "and", "or", "after", "before", "half", "quarter", "past", "other", "about", "around", "between", "when", "within",
    "end", "now", "single", "second", "but", "not", "through", "also", "then", "only",
  ]
  /// Words that may occur within a time and mean no time by themselves.
  static let within: Set<String> = [
    "p", "a", "p.m", "a.m", "o'clock", "o’clock", "o", "clock", "close", "business", "working", "work", "done",
    "completion", "completed", "finished", "apart", "quarters", "couple", "few", "hence", "later", "during", "per",
    "from", "alternate", "thrice", "as", "start", "ending", "times", "x", "on",
    "is", "day", "excepting", "skipping", "couple", "lunch", "tea", "during", "christmas", "boxing", "new",
    "nye", "year's", "years", "halloween", "valentine's", "valentines", "patrick's", "st.", "t", "z", "utc", "gmt",
    "st", "nd", "rd", "th", "th.", "counting", "eve", "public", "bank", "national", "state", "holiday", "holidays",
  ]
  /// "in a week's time"
  static let possessives = Set(
    ["minute", "hour", "day", "week", "fortnight", "month", "year"].flatMap { ["\($0)'s", "\($0)s'", "\($0)s"] })
  /// Verbs with "in" that form no time: `weigh in tomorrow`.
  static let withIn: Set = [
    "weigh", "check", "log", "sign", "turn", "hand", "clock", "call", "plug", "fill", "tune", "drop", "pop", "move",
    "bring", "cash", "dial", "settle", "step", "stay", "sleep",
  ]
  /// Pairs of words that make a time beside them too vague for a schedule.
  static let vague: Set<[String]> = [
    ["first", "thing"], ["last", "thing"], ["any", "time"], ["some", "time"], ["no", "later"], ["not", "later"],
  ]
  /// Months that are also names or other words, if capitalized.
  static let alsoNames: Set<String> = ["may", "march", "april", "june", "august", "jan"]
  /// Short forms of tomorrow and today that are also names or other words.
  static let perhapsDays = ["tom": "tomorrow", "tod": "today"]
  static let inTimes = within.union(changing).union(behind).union(units).union(possessives)
  /// Words that names of calendars may follow.
  static let namesFollow: Set<String> = except.union(["but", "apart"])
  /// Words that qualify a time before them at the end of a line: `friday next`, `at 5 sharp`.
  static let behind: Set<String> = [
    "next", "last", "coming", "following", "upcoming", "previous", "after", "before", "past", "early", "late", "sharp",
    "prompt", "ish", "noonish", "week",
  ]
  /// Words besides ``every`` that need a time after them.
  static let asking: Set<String> = ["except", "excluding", "until", "till", "starting"]
  /// Words that change the meaning of a time after them.
  static let changing: Set<String> = [
    "later", "sometime", "next", "last", "this", "coming", "following", "upcoming", "previous", "past", "other",
    "alternate", "half",
    "quarter", "before", "after", "until", "by", "not", "no", "never", "around", "about", "within", "between", "since",
    "through", "to", "from", "or", "except", "only", "early", "late", "mid", "end", "beginning", "of", "first",
    "second",
    "third", "fourth", "fifth", "and", "in", "for",
  ]
  /// Units in the singular, and parts of days, that form a time with a number or a word before them.
  static let units: Set<String> = {
    var words = Set(Keyword.units.keys).union(months).union(years).union(fortnights)
    words.formUnion(["quarter", "time", "times", "weekend", "workday", "weekday", "business", "working"])
    return words
  }()

  /// Words that need an hour after them.
  static let hours: Set<String> = ["at", "@", "by", "until", "till", "past"]
  /// Words that begin a duration.
  static let lengths: Set<String> = ["in", "within", "for", "after"]
  /// Words that count one of the unit after them.
  static let one: Set<String> = [
    "a", "an", "one", "half", "next", "this", "last", "following", "coming", "upcoming", "other",
  ]
  /// Words that are incomplete alone. If one is left over before a time, something was cut off.
  static let cut: Set<String> = ["at", "@", "&", "the", "a", "an"]
  /// Words beside which a word for how often is not part of a title: `daily through`.
  static let bounding: Set<String> = [
    "at", "@", "on", "from", "to", "through", "thru", "until", "till", "til", "starting", "beginning", "except",
    "excluding", "but", "for",
  ]
  /// Words that never end a time.
  static let open: Set<String> = [
    "on", "in", "at", "@", "by", "the", "this", "of", "for", "from", "to", "a", "an", "and", "or", "after", "before",
    "past", "about", "around", "between", "within", "but", "not", "through", "thru", "every", "each", "until", "till",
    "til", "except", "excluding", "starting", "&", "-",
  ]
  /// Words for times within a day, which name no day.
  static let daytimes: Set<String> = [
    "am", "pm", "a.m", "p.m", "oclock", "o'clock", "o’clock", "morning", "afternoon", "evening", "night",
  ]

  /// Things with numbers as names, so that the number after them is not an hour.
  static let numbered: Set<String> = [
    "chapter", "part", "page", "episode", "season", "lesson", "exercise", "unit", "room", "gate", "platform", "bus",
    "tram", "line", "train", "flight", "highway", "level", "phase", "step", "version", "volume", "issue", "ticket",
    "number", "no", "nr", "pr", "mr", "order", "invoice", "bug", "case", "act", "route", "area", "windows", "apartment",
    "flat", "floor", "bay", "seat", "table", "door", "track", "question", "task",
    "kapitola", "kapitolu", "strana", "stranu", "lekce", "lekci", "linka", "číslo",
  ]
}
