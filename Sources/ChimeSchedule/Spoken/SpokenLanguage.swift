/// A SpokenLanguage is a language for times besides English. The grammar is that of ``SpokenParser``: the words are
/// translated into English first, and give the same schedule.
public enum SpokenLanguage: Sendable, Hashable {
  case czech

  /// Returns the language of a tag such as `cs` or `cs-CZ`; `nil` for English and unsupported languages.
  public init?(tag: String) {
    guard tag.prefix(while: { $0 != "-" }) == "cs" else { return nil }
    self = .czech
  }

  /// An English is a text with its words of time translated.
  struct English {
    var text: String
    /// Whether the original can be in no other language.
    var isSure: Bool
    /// The ranges of the text, in bytes, with the ranges of the typed text that they translate.
    var places: [(text: Range<Int>, typed: Range<Int>)]

    /// Returns the typed range for a range of the English text.
    func typed(_ range: Range<Int>) -> Range<Int>? {
      let found = places.filter { $0.text.overlaps(range) || range.isEmpty && $0.text.upperBound == range.lowerBound }
      guard let first = found.first, let last = found.last else { return nil }
      return range.isEmpty
        ? last.typed.upperBound..<last.typed.upperBound : first.typed.lowerBound..<last.typed.upperBound
    }
  }

  /// Translates a text; `nil` if none of its words is of this language.
  func english(_ text: String) -> English? {
    guard text.utf8.count <= SpokenLanguage.longest, var reader = try? CzechReader(Array(text.utf8)) else {
      return nil
    }
    return reader.english()
  }

  /// The longest text, in bytes, that is translated.
  private static let longest = 1_024

  /// Returns the meaning of a word as one English word, or the word itself if it is not of this language.
  func gloss(_ word: String) -> String { CzechWords.gloss(CzechWords.folded(word)) ?? word }

  /// Returns whether a word that ``gloss(_:)`` does not know may occur within a time.
  func mayBeInTime(_ word: String) -> Bool {
    let folded = CzechWords.folded(word)
    return CzechWords.parts.contains(folded) || folded.hasSuffix("krat")
  }

  /// Returns the text with unknown words replaced by the most similar ones of this language.
  func respelt(_ text: String) -> String? {
    let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let respelt = words.map { word in
      let folded = CzechWords.folded(word)
      guard word.utf8.count >= 4, word.allSatisfy(\.isLetter), CzechWords.gloss(folded) == nil,
        !LineWord(word, language: nil).speaks
      else { return word }
      return Spelling.nearest(to: folded, among: CzechWords.long).flatMap { CzechWords.spellings[$0] } ?? word
    }
    return respelt == words ? nil : respelt.joined(separator: " ")
  }
}

/// CzechWords are the Czech words of time. Lookups ignore diacritics, which many people do not type.
enum CzechWords {
  /// English on the left; the forms of the Czech words and phrases on the right.
  private static let source = """
    every = každý | každá | každé | každou | každého | každém | každých
    daily = denně | každodenně
    weekly = týdně
    monthly = měsíčně
    yearly = ročně | každoročně
    quarterly = čtvrtletně
    every other day = obden | ob den
    every other week = ob týden
    once every = jednou za
    once = jednou
    twice = dvakrát
    times = krát
    today = dnes | dneska
    tomorrow = zítra | zejtra | zítřka | zítřek
    day after tomorrow = pozítří
    yesterday = včera
    morning = ráno | rána | dopoledne
    afternoon = odpoledne
    evening = večer | večera | večery
    night = noc | noci
    at night = v noci
    noon = poledne
    midnight = půlnoc | půlnoci
    at midnight = o půlnoci
    now = teď | nyní
    next = příští | příštího | příštím | následující
    this = tento | tuto | toto | tohoto | tomto | tenhle | tuhle
    last = poslední | posledního | posledním
    weekday = všední den | všedního dne | pracovní den | pracovního dne
    weekdays = všední dny | všední dni | všedních dnech | všedních dnů | pracovní dny | pracovních dnech
    on weekdays = ve všední dny | ve všední den | ve všedních dnech | v pracovní dny | v pracovní den | v pracovních dnech
    this weekend = o víkendu
    weekend = víkend | víkendu
    weekends = víkendy | víkendů | víkendech | o víkendech
    holidays = svátků | státních svátků
    except holidays = mimo svátky
    except = kromě | krom | vyjma | mimo | s výjimkou
    starting = počínaje
    for = po dobu
    or = nebo
    before = před
    sunrise = východ slunce | východu slunce | východem slunce
    sunset = západ slunce | západu slunce | západem slunce
    dawn = svítání | svítáním | rozbřesk | rozbřesku | rozbřeskem
    dusk = soumrak | soumraku | soumrakem
    at dawn = za svítání
    at dusk = za soumraku
    at = při
    second = sekunda | sekundu | vteřina | vteřinu
    seconds = sekundy | sekund | vteřiny | vteřin
    minute = minuta | minutu
    minutes = minuty | minut
    hour = hodina | hodinu
    hours = hodiny | hodin
    day = den | dne
    days = dny | dní | dnů
    week = týden | týdnu
    weeks = týdny | týdnů
    month = měsíc | měsíce | měsíci
    months = měsíců
    year = rok | roku
    years = roky | roků
    quarter = čtvrtletí
    30 minutes = půl hodiny | půlhodinu | půlhodina
    15 minutes = čtvrt hodiny | čtvrthodinu | čtvrthodina
    45 minutes = tři čtvrtě hodiny
    12 hours = půl dne
    6 months = půl roku
    and a half = a půl
    of month = v měsíci
    of every month = každého měsíce | v každém měsíci
    end of month = konec měsíce | konce měsíce | koncem měsíce | na konci měsíce
    end of week = konec týdne | konce týdne | koncem týdne | na konci týdne
    end of year = konec roku | konce roku | koncem roku | na konci roku
    end of = konec | konce | koncem | na konci
    christmas eve = štědrý | štědrý den | štědrého dne | štědrý večer
    on christmas eve = na štědrý den | na štědrý večer | o štědrém dni | o štědrém večeru
    christmas day = boží hod | božího hodu
    on christmas day = na boží hod
    boxing day = svatého štěpána
    on boxing day = na svatého štěpána
    new year's eve = silvestr | silvestra
    on new year's eve = na silvestra
    new year's day = nový rok | nového roku
    on new year's day = na nový rok
    valentine's day = svatého valentýna
    on valentine's day = na valentýna | na svatého valentýna
    monday = pondělí | pondělka | pondělku
    mondays = pondělky | pondělích
    tuesday = úterý | úterka | úterku
    tuesdays = úterky | úterých
    wednesday = středa | středu | středy | středě | středou
    wednesdays = středách | střed
    thursday = čtvrtek | čtvrtka | čtvrtku
    thursdays = čtvrtky | čtvrtcích
    friday = pátek | pátku | pátka
    fridays = pátky | pátcích
    saturday = sobota | sobotu | soboty | sobotě
    saturdays = sobot | sobotách
    sunday = neděle | neděli
    sundays = nedělích
    january = leden | ledna | lednu
    february = únor | února | únoru
    march = březen | března | březnu
    april = duben | dubna | dubnu
    may = květen | května | květnu
    june = červen | června | červnu
    july = červenec | července | červenci
    august = srpen | srpna | srpnu
    september = září
    october = říjen | října | říjnu
    november = listopad | listopadu
    december = prosinec | prosince | prosinci
    """

  private static let ones = [
    1: "jeden | jedna | jednu | jedno | jedné", 2: "dva | dvě", 3: "tři", 4: "čtyři", 5: "pět | pěti",
    6: "šest | šesti",
    7: "sedm | sedmi", 8: "osm | osmi", 9: "devět | devíti", 10: "deset | deseti", 11: "jedenáct | jedenácti",
    12: "dvanáct | dvanácti", 13: "třináct", 14: "čtrnáct", 15: "patnáct", 16: "šestnáct", 17: "sedmnáct",
    18: "osmnáct", 19: "devatenáct",
  ]
  private static let tens = [
    20: "dvacet", 30: "třicet", 40: "čtyřicet", 50: "padesát", 60: "šedesát", 70: "sedmdesát", 80: "osmdesát",
    90: "devadesát", 100: "sto",
  ]
  private static let stems = [
    4: "čtvrt", 5: "pát", 6: "šest", 7: "sedm", 8: "osm", 9: "devát", 10: "desát", 11: "jedenáct", 12: "dvanáct",
    13: "třináct", 14: "čtrnáct", 15: "patnáct", 16: "šestnáct", 17: "sedmnáct", 18: "osmnáct", 19: "devatenáct",
    20: "dvacát", 30: "třicát",
  ]

  /// Words that mean time only beside others.
  static let parts: Set<String> = {
    var parts: Set<String> = [
      "pul", "ctvrt", "ctvrte", "mezi", "let", "hod", "po", "st", "so", "ne", "ut", "ct", "pa", "a", "i", "na", "o",
      "s",
    ]
    for phrase in phrases.keys { parts.formUnion(phrase.split(separator: " ").map(String.init)) }
    return parts
  }()

  /// The English for Czech words and phrases, with a space between words.
  static let phrases: [String: String] = {
    var phrases: [String: String] = [:]
    for line in source.split(separator: "\n") {
      let sides = line.split(separator: "=").map { $0.trimming { $0 == " " } }
      for form in forms(sides[1]) { phrases[folded(form)] = String(sides[0]) }
    }
    return phrases
  }()

  /// The first words of phrases with several words.
  static let beginnings = Set(
    phrases.keys.filter { $0.contains(" ") }.map { phrase in String(phrase.prefix { $0 != " " }) })

  /// Cardinal numbers to 100: `dvacet` and `pětadvacet`; `dvacet pět` is two words.
  static let numbers: [String: Int] = {
    var numbers: [String: Int] = [:]
    for (number, words) in ones { for word in forms(words) { numbers[folded(word)] = number } }
    for (ten, word) in tens {
      numbers[folded(word)] = ten
      guard ten < 100 else { continue }
      for (number, words) in ones where number < 10 {
        for one in forms(words) + (number == 1 ? ["jedn"] : []) { numbers[folded("\(one)a\(word)")] = ten + number }
      }
    }
    return numbers
  }()

  /// Ordinal numbers in the singular: `první`, `druhou`, `třetího`, `dvacátého`.
  static let ordinals: [String: Int] = {
    var ordinals: [String: Int] = [:]
    for ending in ["", "ho", "m"] {
      ordinals[folded("první" + ending)] = 1
      ordinals[folded("třetí" + ending)] = 3
    }
    for ending in ["ý", "á", "é", "ou", "ého", "ém"] {
      ordinals[folded("druh" + ending)] = 2
      for (number, stem) in stems { ordinals[folded(stem + ending)] = number }
    }
    return ordinals
  }()

  /// Weekdays in two letters. Four of them are also other words.
  static let abbreviations = [
    "po": "mon", "ut": "tue", "st": "wed", "ct": "thu", "pa": "fri", "so": "sat", "ne": "sun",
  ]

  /// Words that join the parts of a time, and occur in titles as well.
  private static let joining = [
    "v": "at", "ve": "at", "na": "for", "do": "to", "od": "from", "za": "in", "a": "and", "az": "to",
  ]

  /// Words of a time that do not show that a text is Czech, because other languages have them.
  static let weak: Set = ["a", "i", "v", "do", "na", "po", "so", "st", "ne"]

  /// The correct spelling of each word, by the word without diacritics.
  static let spellings: [String: String] = {
    var spellings: [String: String] = [:]
    for line in source.split(separator: "\n") {
      for form in forms(line.split(separator: "=")[1]) where !form.contains(" ") { spellings[folded(form)] = form }
    }
    return spellings
  }()
  /// Words long enough to correct when misspelled; of `každý`, only the most common form.
  static let long = spellings.keys.filter { $0.utf8.count >= 5 && $0 != "kazda" && $0 != "kazde" }.sorted()

  private static func forms(_ text: some StringProtocol) -> [String] {
    text.split(separator: "|").map { String($0.trimming { $0 == " " }) }
  }

  /// Returns the meaning of one word as one English word.
  static func gloss(_ folded: String) -> String? {
    if let joining = joining[folded] { return joining }
    if let english = phrases[folded] {
      // One feast stands for all: the caller asks only whether it is one.
      if SpokenWords.feasts[english] != nil { return "christmas" }
      let words = english.split(separator: " ").map(String.init)
      // A unit, even in the plural, means time only with a number, because a title may begin with it.
      if words.count == 1, let unit = units[words[0]] { return unit }
      return words.first { SpokenWords.alone.contains($0) } ?? words.last
    }
    if let number = numbers[folded] { return "\(number)" }
    // Adjectives of days are no part of a time: "sobotní nákup v 9" means today no more than a feast does.
    if ofDays.contains(where: { folded.hasPrefix($0) && folded.utf8.count <= $0.utf8.count + 3 }) { return "christmas" }
    return ordinals[folded].map { "\($0)th" }
  }

  private static let ofDays = [
    "vanoc", "zitrejs", "pondeln", "utern", "stredecn", "ctvrtecn", "patecn", "sobotn", "nedeln",
  ]

  private static let units = [
    "seconds": "sec", "second": "sec", "minutes": "minute", "hours": "hour", "days": "day", "weeks": "week",
    "months": "month", "years": "year",
  ]

  /// Returns the text in lower case and without diacritics.
  static func folded(_ text: String) -> String {
    let text = text.lowercased()
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      // Text from some other systems has combining marks after the letters.
      guard !(0x300...0x36F).contains(scalar.value) else { continue }
      result.append(scalar.value < plain.count ? plain[Int(scalar.value)] : scalar)
    }
    return String(result)
  }

  /// The letter without its mark, by scalar value.
  private static let plain: [Unicode.Scalar] = {
    var plain = (0..<0x180).map { Unicode.Scalar(UInt32($0)) ?? " " }
    for (marked, letter) in zip("áčďéěíňóřšťúůýž".unicodeScalars, "acdeeinorstuuyz".unicodeScalars) {
      plain[Int(marked.value)] = letter
    }
    return plain
  }()
}

extension StringProtocol {
  /// Returns the text without the matching characters at both ends.
  fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> SubSequence {
    let head = drop(while: isTrimmed)
    return head[..<(head.lastIndex { !isTrimmed($0) }.map { head.index(after: $0) } ?? head.startIndex)]
  }
}
