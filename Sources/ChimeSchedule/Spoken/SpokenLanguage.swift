/// A language besides English in which times are said. The grammar is the one of ``SpokenParser``: what is said is put into
/// English words first, and the schedule that comes of it is the same.
public enum SpokenLanguage: Sendable, Hashable {
  case czech

  /// The language of a tag such as `cs` or `cs-CZ`; `nil` for English, and for all whose words are not known.
  public init?(tag: String) {
    guard tag.prefix(while: { $0 != "-" }) == "cs" else { return nil }
    self = .czech
  }

  /// A text with its words of time in English.
  struct English {
    var text: String
    /// Whether it can be in no other language.
    var isSure: Bool
    /// Which bytes of it stand for which of the text that was typed.
    var places: [(text: Range<Int>, typed: Range<Int>)]

    /// The bytes that were typed for some of these.
    func typed(_ range: Range<Int>) -> Range<Int>? {
      let found = places.filter { $0.text.overlaps(range) || range.isEmpty && $0.text.upperBound == range.lowerBound }
      guard let first = found.first, let last = found.last else { return nil }
      return range.isEmpty
        ? last.typed.upperBound..<last.typed.upperBound : first.typed.lowerBound..<last.typed.upperBound
    }
  }

  /// `nil` where none of the words is of this language.
  func english(_ text: String) -> English? {
    guard text.utf8.count <= SpokenLanguage.longest, var reader = try? CzechReader(Array(text.utf8)) else {
      return nil
    }
    return reader.english()
  }

  /// Nobody says a time in more bytes.
  private static let longest = 1_024

  /// What a word speaks of, as one English word; the word itself where it is none of this language.
  func gloss(_ word: String) -> String { CzechWords.gloss(CzechWords.folded(word)) ?? word }

  /// Whether a word, as ``gloss(_:)`` has left it, may stand within a time.
  func mayBeInTime(_ word: String) -> Bool {
    let folded = CzechWords.folded(word)
    return CzechWords.parts.contains(folded) || folded.hasSuffix("krat")
  }

  /// The text with each word that neither language has in the place of the nearest one of this language.
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

/// The Czech words of time. They are looked up without their diacritics, which many people do not type.
enum CzechWords {
  /// English on the left; the forms of the Czech words, and phrases, on the right.
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

  /// Words that speak of time only beside others.
  static let parts: Set<String> = {
    var parts: Set<String> = [
      "pul", "ctvrt", "ctvrte", "mezi", "let", "hod", "po", "st", "so", "ne", "ut", "ct", "pa", "a", "i", "na", "o",
      "s",
    ]
    for phrase in phrases.keys { parts.formUnion(phrase.split(separator: " ").map(String.init)) }
    return parts
  }()

  /// English words by the Czech ones, which may be several words with a space between.
  static let phrases: [String: String] = {
    var phrases: [String: String] = [:]
    for line in source.split(separator: "\n") {
      let sides = line.split(separator: "=").map { $0.trimming { $0 == " " } }
      for form in forms(sides[1]) { phrases[folded(form)] = String(sides[0]) }
    }
    return phrases
  }()

  /// What the phrases of several words begin with.
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

  /// Days of the week in two letters. Four of them are words of their own too.
  static let abbreviations = [
    "po": "mon", "ut": "tue", "st": "wed", "ct": "thu", "pa": "fri", "so": "sat", "ne": "sun",
  ]

  /// What joins the parts of a time, and titles as well.
  private static let joining = [
    "v": "at", "ve": "at", "na": "for", "do": "to", "od": "from", "za": "in", "a": "and", "az": "to",
  ]

  /// Words of a time that are no sign that a text is Czech, because other texts have them.
  static let weak: Set = ["a", "i", "v", "do", "na", "po", "so", "st", "ne"]

  /// The word of a time that was meant, written as Czech is, by the word without diacritics.
  static let spellings: [String: String] = {
    var spellings: [String: String] = [:]
    for line in source.split(separator: "\n") {
      for form in forms(line.split(separator: "=")[1]) where !form.contains(" ") { spellings[folded(form)] = form }
    }
    return spellings
  }()
  /// Words that are long enough to be told when they are misspelt; of `každý`, the form that most words want.
  static let long = spellings.keys.filter { $0.utf8.count >= 5 && $0 != "kazda" && $0 != "kazde" }.sorted()

  private static func forms(_ text: some StringProtocol) -> [String] {
    text.split(separator: "|").map { String($0.trimming { $0 == " " }) }
  }

  /// What one word speaks of, as one English word.
  static func gloss(_ folded: String) -> String? {
    if let joining = joining[folded] { return joining }
    if let english = phrases[folded] {
      // Any name of a feast in one word: it is asked for no more than that it is one.
      if SpokenWords.feasts[english] != nil { return "christmas" }
      let words = english.split(separator: " ").map(String.init)
      // A unit speaks of time with a number only, in the plural too: a title may begin with it.
      if words.count == 1, let unit = units[words[0]] { return unit }
      return words.first { SpokenWords.alone.contains($0) } ?? words.last
    }
    if let number = numbers[folded] { return "\(number)" }
    // What names a day and is no part of a time: "sobotní nákup v 9" is no more of today than a feast is.
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

  /// In lower case and without diacritics.
  static func folded(_ text: String) -> String {
    let text = text.lowercased()
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      // Combining marks stand behind the letters of text from some other systems.
      guard !(0x300...0x36F).contains(scalar.value) else { continue }
      result.append(scalar.value < plain.count ? plain[Int(scalar.value)] : scalar)
    }
    return String(result)
  }

  /// The letter without its mark for each scalar of the alphabets with them.
  private static let plain: [Unicode.Scalar] = {
    var plain = (0..<0x180).map { Unicode.Scalar(UInt32($0)) ?? " " }
    for (marked, letter) in zip("áčďéěíňóřšťúůýž".unicodeScalars, "acdeeinorstuuyz".unicodeScalars) {
      plain[Int(marked.value)] = letter
    }
    return plain
  }()
}

extension StringProtocol {
  /// Without the characters at both ends for which that is true.
  fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> SubSequence {
    let head = drop(while: isTrimmed)
    return head[..<(head.lastIndex { !isTrimmed($0) }.map { head.index(after: $0) } ?? head.startIndex)]
  }
}
