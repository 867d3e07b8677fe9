import Testing

@testable import ChimeSchedule

/// Spoken times in Czech mean the same as their English counterparts. Now is Monday 2026-11-23 08:15 in Prague.
@Suite struct CzechTests {
  static func scheduleContext() throws -> ScheduleContext {
    var scheduleContext = try SpokenTests.scheduleContext()
    scheduleContext.language = .czech
    scheduleContext.place = Place(latitude: 50, longitude: 14)
    return scheduleContext
  }

  static func englishScheduleContext() throws -> ScheduleContext {
    var scheduleContext = try scheduleContext()
    scheduleContext.language = nil
    return scheduleContext
  }

  static let table: [(czech: String, english: String)] = [
    ("každý všední den v 9", "every weekday at 9"), ("zítra v 8", "tomorrow at 8"),
    ("za 25 minut", "in 25 minutes"), ("každé druhé úterý v 19", "every other tuesday at 19"),
    ("poslední pátek v měsíci v 16:00", "last friday of month at 16:00"),
    ("od 8 do 22 každých 90 minut", "every 90 minutes from 8 to 22"),
    ("v úterý a ve čtvrtek", "tuesday and thursday"), ("dnes v 18", "today at 18"),
    ("na Štědrý den v 17", "christmas eve at 17"), ("na Nový rok v poledne", "new year's day at noon"),
    ("na Silvestra ve 23:45", "new year's eve at 23:45"), ("každý Štědrý den v 16", "every dec 24 at 16"),
    ("o Štědrém dni ráno", "christmas eve morning"), ("na Boží hod v 10", "christmas day at 10"),
    ("dnes večer", "this evening"), ("dneska odpoledne", "today afternoon"), ("zítra ráno", "tomorrow morning"),
    ("zítra odpoledne ve 3", "tomorrow at 15:00"), ("zítra večer v 8", "tomorrow at 20:00"),
    ("pozítří v 10", "day after tomorrow at 10"), ("v pátek", "friday"), ("v pátek v 16:30", "friday at 16:30"),
    ("ve středu ve 14", "wednesday at 14"), ("v neděli večer", "sunday evening"), ("v poledne", "at noon"),
    ("o půlnoci", "at midnight"), ("zítra v poledne", "tomorrow at noon"), ("v osm", "at eight"),
    ("v 9 hodin", "at 9 oclock"), ("zítra v 17 hodin", "tomorrow at 17:00"), ("ve 20:30 hod.", "at 20:30"),
    ("zítra v 8.30", "tomorrow at 8:30"), ("zítra v půl deváté", "tomorrow at 8:30"),
    ("zítra v půl jedné odpoledne", "tomorrow at 12:30"), ("zítra ve čtvrt na deset", "tomorrow at 9:15"),
    ("zítra ve tři čtvrtě na devět", "tomorrow at 8:45"), ("v půl deváté večer", "at 20:30"),
    ("za hodinu", "in 1 hour"), ("za 2 hodiny", "in 2 hours"), ("za pět minut", "in 5 minutes"),
    ("za půl hodiny", "in 30 minutes"), ("za hodinu a půl", "in 1 hour and a half"),
    ("za půl druhé hodiny", "in 90 minutes"), ("za dvě a půl hodiny", "in 150 minutes"),
    ("za čtvrt hodiny", "in 15 minutes"), ("za půlhodinu", "in 30 minutes"),
    ("za třicet sekund", "in 30 seconds"), ("za pětadvacet minut", "in 25 minutes"),
    ("za dvacet pět minut", "in 25 minutes"), ("za 3 dny", "in 3 days"), ("za 3 dny v 9", "in 3 days at 9"),
    ("za týden", "in 1 week"), ("za dva týdny", "in 2 weeks"), ("za 14 dní", "in 14 days"),
    ("za měsíc", "in 1 month"), ("za půl roku", "in 6 months"), ("za rok", "in 1 year"), ("za 5 let", "in 5 years"),
    ("za 20min", "in 20min"), ("za 1 den", "in 1 day"), ("za 2 měsíce v 9", "in 2 months at 9"),
    ("každý den", "every day"), ("každý den v 7:30", "every day at 7:30"), ("denně v 9 a 21", "daily at 9 and 21"),
    ("denně v 9 a ve 21", "daily at 9 and 21"), ("v 8 a ve 20 hodin každý den", "daily at 8 and 20"),
    ("každé ráno", "every morning"), ("každý večer v 8", "every evening at 8"), ("každou noc", "every night"),
    ("každé pondělí", "every monday"), ("každou středu v 18", "every wednesday at 18"),
    ("každý čtvrtek ráno", "every thursday morning"), ("každou sobotu a neděli v 10", "every sat and sun at 10"),
    ("každé pondělí, středu a pátek v 7", "every mon, wed and fri at 7"),
    ("pondělí až pátek v 9", "monday to friday at 9"), ("od pondělí do pátku v 9", "monday to friday at 9"),
    ("po-pá v 8:30", "mon-fri at 8:30"), ("út,čt v 17", "tue,thu at 17"), ("út a čt v 17", "tue and thu at 17"),
    ("každé po a st v 18", "every mon and wed at 18"), ("v pondělky v 9", "mondays at 9"),
    ("ve středy v 9", "wednesdays at 9"), ("v soboty", "saturdays"), ("ve všední dny v 7", "weekdays at 7"),
    ("v pracovní dny", "weekdays"), ("všední dny v 6:45", "weekdays at 6:45"),
    ("o víkendu", "this weekend"), ("o víkendech v 10", "weekends at 10"), ("každý víkend v 10", "every weekend at 10"),
    ("každou hodinu", "every hour"), ("každé 2 hodiny", "every 2 hours"), ("každých 20 minut", "every 20 minutes"),
    ("každých pět minut", "every 5 minutes"), ("každou půlhodinu", "every 30 minutes"),
    ("každé tři hodiny od 8 do 20", "every 3 hours from 8 to 20"),
    ("každých 45 minut mezi 9 a 17 ve všední dny", "every 45 minutes between 9 and 17 on weekdays"),
    ("každých 20 minut od 9 do 5", "every 20 minutes from 9 to 5"),
    ("od 8:00 do 22:00 každých 90 minut", "every 90 minutes from 8:00 to 22:00"),
    ("každý druhý den v 8", "every other day at 8"), ("obden v 8", "every other day at 8"),
    ("každé 3 dny", "every 3 days"), ("každý třetí den", "every third day"), ("každý 3. den", "every third day"),
    ("každý týden", "every week"), ("týdně v pondělí v 9", "weekly on monday at 9"),
    ("každé 2 týdny", "every 2 weeks"), ("každé dva týdny v pondělí v 9", "every 2 weeks on monday at 9"),
    ("každý druhý týden v pátek", "every other week on friday"),
    ("každou druhou sobotu v 10", "every other saturday at 10"),
    ("jednou týdně v neděli", "once weekly on sunday"), ("jednou za 3 dny v 9", "once every 3 days at 9"),
    ("jednou za dva týdny v úterý", "once every 2 weeks on tuesday"), ("každý měsíc", "every month"),
    ("měsíčně 15.", "monthly on the 15th"), ("každého 15. v 9", "every 15th at 9"),
    ("každého 1. a 15. v 9", "every 1st and 15th at 9"), ("1. každého měsíce", "1st of every month"),
    ("15. v měsíci v 10", "15th of month at 10"), ("každý měsíc 15. v 8", "every month on the 15th at 8"),
    ("první pondělí v měsíci v 9", "1st monday of month at 9"), ("1. pondělí v měsíci v 9", "1st monday of month at 9"),
    ("každé druhé úterý v měsíci v 19", "every 2nd tuesday of month at 19"),
    ("každý poslední pátek v měsíci", "every last friday of month"),
    ("poslední den v měsíci v 18", "last day of month at 18"),
    ("poslední pracovní den v měsíci", "last workday of month"),
    ("druhý čtvrtek každého měsíce", "2nd thursday of every month"),
    ("každý druhý měsíc", "every other month"), ("každé 3 měsíce", "every 3 months"), ("čtvrtletně", "quarterly"),
    ("každý rok", "every year"), ("každý rok 24. prosince v 18", "every year on dec 24 at 18"),
    ("každoročně 1. května", "yearly on may 1"), ("24. prosince", "dec 24"), ("24. prosince v 18", "dec 24 at 18"),
    ("24. prosince 2027 v 9:15", "dec 24 2027 at 9:15"), ("1. ledna ráno", "jan 1 morning"),
    ("v pátek 27. listopadu v 10", "fri 27 nov at 10"), ("24.12. v 9", "24.12. at 9"),
    ("24. 12. 2026 v 9", "24.12.2026 at 9"),
    ("dvacátého čtvrtého prosince", "dec 24"), ("dne 3. března 2027", "march 3 2027"),
    ("na konci měsíce", "end of month"), ("konec měsíce v 16", "end of month at 16"), ("koncem roku", "end of year"),
    ("příští týden v úterý", "next week on tuesday"), ("tento pátek", "this friday"),
    ("tuto sobotu v 9", "this saturday at 9"),
    ("tento víkend", "this weekend"), ("na pátek v 9", "friday at 9"), ("na zítra", "tomorrow"),
    ("každý den v 9 kromě střed", "daily at 9 except wednesdays"),
    ("denně v 9 kromě sobot a nedělí", "daily at 9 except weekends"),
    ("každý den v 9 kromě střed a sobot", "daily at 9 except wednesdays and saturdays"),
    ("každý den v 9 kromě každé středy", "daily at 9 except wednesdays"),
    ("denně v 9 kromě víkendů", "daily at 9 except weekends"),
    ("každý všední den v 9 kromě svátků", "weekdays at 9 except holidays"),
    ("ve všední dny v 9 mimo svátky", "weekdays at 9 except holidays"),
    ("při západu slunce", "sunset"), ("každý den při východu slunce", "sunrise"),
    ("půl hodiny před západem slunce", "sunset - 30m"), ("hodinu po východu slunce", "sunrise + 1h"),
    ("20 minut po západu slunce", "sunset + 20m"), ("každou sobotu při západu slunce", "sunset on sat"),
    ("za svítání", "dawn"), ("za soumraku každý den", "dusk"),
    ("hodinu před soumrakem o víkendech", "dusk - 1h on weekends"),
    ("denně v 9 kromě května", "daily at 9 except may"),
    ("denně v 9 do 30. prosince", "daily at 9 until dec 30"), ("denně v 8 po dobu 8 týdnů", "daily at 8 for 8 weeks"),
    ("každý den v 8 po 2 týdny", "daily at 8 for 2 weeks"), ("denně v 8 5krát", "daily at 8 5 times"),
    ("denně v 8 od zítřka do pátku", "daily at 8 from tomorrow to friday"),
    ("každé pondělí v 9 od 1. ledna", "every monday at 9 from jan 1"),
    ("počínaje zítra denně v 9", "starting tomorrow daily at 9"),
    ("17h30", "17h30"), ("tomorrow at 9", "tomorrow at 9"), ("weekdays at 8:30", "weekdays at 8:30"),
    ("kazdy vsedni den v 9", "every weekday at 9"), ("ZÍTRA V 8", "tomorrow at 8"),
  ]

  @Test(arguments: table) func czechMeansTheSameAsEnglish(_ czech: String, _ english: String) throws {
    let scheduleContext = try Self.scheduleContext()
    let expected = try Schedule.parse(english, now: SpokenTests.monday, in: try Self.englishScheduleContext())
    let schedule = try Schedule.parse(czech, now: SpokenTests.monday, in: scheduleContext)
    #expect(schedule == expected, "\"\(czech)\" is read as \"\(SpokenLanguage.czech.english(czech)?.text ?? czech)\"")
    #expect(schedule.countsFrom == expected.countsFrom)
    // The daemon gets English.
    let written = Schedule.written(czech, now: SpokenTests.monday, in: scheduleContext)
    #expect(try Schedule.parse(written, now: SpokenTests.monday, in: try Self.englishScheduleContext()) == expected)
  }

  /// Users may omit diacritics, and some systems decompose them.
  @Test(arguments: table) func diacriticsMayBeLeftOut(_ czech: String, _ english: String) throws {
    let scheduleContext = try Self.scheduleContext()
    let expected = try Schedule.parse(czech, now: SpokenTests.monday, in: scheduleContext)
    // Two letters are distinguished from other words only by their diacritics.
    let plain = CzechWords.folded(czech)
    #expect(try Schedule.parse(plain, now: SpokenTests.monday, in: scheduleContext) == expected)
    let apart = czech.replacing("í", with: "i\u{301}").replacing("ý", with: "y\u{301}").replacing("ř", with: "r\u{30C}")
    #expect(try Schedule.parse(apart, now: SpokenTests.monday, in: scheduleContext) == expected)
  }

  @Test func czechIsRefusedInAnEnglishLocale() throws {
    let scheduleContext = try SpokenTests.scheduleContext()
    #expect(throws: ScheduleError.self) {
      try Schedule.parse("zítra v 8", now: SpokenTests.monday, in: scheduleContext)
    }
  }

  static let lines: [(line: String, title: String, canonical: String)] = [
    ("add Zavolat mámě zítra v 17", "Zavolat mámě", "at 2026-11-24 17:00"),
    ("add zítra v 17 zavolat mámě", "zavolat mámě", "at 2026-11-24 17:00"),
    ("add Čaj za 5 minut", "Čaj", "at 2026-11-23T07:20:00Z"),
    ("add Vynést koš každé úterý večer", "Vynést koš", "every tue at 19:00"),
    ("add Zavolat do práce v pátek v 9", "Zavolat do práce", "at 2026-11-27 09:00"),
    ("add Do práce v 8", "Do práce", "at 2026-11-24 08:00"),
    ("add Let do Londýna 24. prosince v 6:30", "Let do Londýna", "at 2026-12-24 06:30"),
    ("add Koupit 2 lístky zítra v 10", "Koupit 2 lístky", "at 2026-11-24 10:00"),
    ("add oběd s Evou v pátek ve 12:30 u nádraží", "oběd s Evou u nádraží", "at 2026-11-27 12:30"),
    ("add 'Pít vodu' od 8 do 22 každých 90 minut", "Pít vodu", "every 90m from 08:00 to 22:00"),
    ("at zítra v 9 Zubař", "Zubař", "at 2026-11-24 09:00"), ("in 25 minut Čaj", "Čaj", "at 2026-11-23T07:40:00Z"),
    ("add Call mum tomorrow at 5pm", "Call mum", "at 2026-11-24 17:00"),
  ]

  @Test(arguments: lines) func titlesAreSeparatedFromTimes(_ line: String, _ title: String, _ canonical: String) throws
  {
    let read = try ScheduleLineTests.read(line, language: .czech).get()
    #expect(read.title == title)
    #expect(read.schedule.canonical == canonical)
    #expect(
      try Schedule.parse(read.text, now: SpokenTests.monday, in: try SpokenTests.scheduleContext()) == read.schedule)
  }

  /// Leftover time words do not become part of the title, in Czech either.
  @Test(arguments: [
    "add Zubař v 9 příští", "add Úkol zítra v 8 každý", "add Schůzka v 9 před středou", "add Úkol v 8 nebo v 9",
    "add Léky dvakrát denně",
  ])
  func leftOverWordsAreRefused(_ line: String) throws {
    guard case .failure = try ScheduleLineTests.read(line, language: .czech) else {
      Issue.record("\(line) was taken")
      return
    }
  }

  @Test(arguments: [
    ("každí den v 9", "každý den v 9"), ("zýtra v 8", "zítra v 8"), ("kazdy pondeli v 9", nil),
    ("v pondelli v 9", "v pondělí v 9"),
  ])
  func misspelledWordGetsASuggestion(_ text: String, _ suggestion: String?) throws {
    let scheduleContext = try Self.scheduleContext()
    guard let suggestion else {
      _ = try Schedule.parse(text, now: SpokenTests.monday, in: scheduleContext)
      return
    }
    let error = #expect(throws: ScheduleError.self) {
      try Schedule.parse(text, now: SpokenTests.monday, in: scheduleContext)
    }
    #expect(error?.suggestion == suggestion)
  }

  /// An ambiguous single Wednesday is a question, as in English.
  @Test func loneExcludedDayIsAmbiguous() throws {
    let error = #expect(throws: ScheduleError.self) {
      try Schedule.parse("každý den v 9 kromě středy", now: SpokenTests.monday, in: Self.scheduleContext())
    }
    #expect(error?.choices == ["every day at 9 except wednesdays", "every day at 9 except 2026-11-25"])
  }

  /// An error quotes the typed text and its position, not the English translation.
  @Test(arguments: [
    ("zítra v 8 kočka", "zítra v 8 kočka: \"kočka\"", 11), ("každý den v 25", "každý den v 25: ", 13),
    ("každý den v 9 kromě středy", "každý den v 9 kromě středy: \"středy\" is ambiguous", 21),
  ])
  func errorQuotesTheTypedText(_ text: String, _ beginning: String, _ column: Int) throws {
    let error = #expect(throws: ScheduleError.self) {
      try Schedule.parse(text, now: SpokenTests.monday, in: Self.scheduleContext())
    }
    #expect(error?.text == text)
    #expect(error?.message.hasPrefix(beginning) == true, "\(error?.message ?? "")")
    #expect(error?.column == column, "\(error?.message ?? "")")
  }

  /// Arbitrary text is parsed or rejected, never a crash.
  @Test func anyTextIsParsedOrRefused() throws {
    let scheduleContext = try Self.scheduleContext()
    var random = SeededGenerator(seed: 21)
    let words =
      CzechWords.phrases.keys.sorted() + ["8", "15", ".", ",", ":", "a", "v", "do", "od", "po", "za", "půl", "é"]
    for _ in 0..<ProofTier.amount(quick: 600, proof: 20_000) {
      let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
        .joined(separator: Bool.random(using: &random) ? " " : "")
      guard let schedule = try? Schedule.parse(text, now: SpokenTests.monday, in: scheduleContext) else { continue }
      let written = Schedule.written(text, now: SpokenTests.monday, in: scheduleContext)
      #expect(try Schedule.parse(written, now: SpokenTests.monday, in: try Self.englishScheduleContext()) == schedule)
    }
  }
}
