import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

@Suite struct LevelTests {
  @Test(arguments: [
    (LevelCurve(base: 100, power: 1.5), [0, 100, 282, 519, 800]), (LevelCurve(base: 50, power: 1), [0, 50, 100, 150]),
    (LevelCurve(base: 10, power: 2), [0, 10, 40, 90, 160]), (LevelCurve(base: 16, power: 1.25), [0, 16, 38, 63]),
  ])
  func levelsBeginAtTheirThresholds(_ curve: LevelCurve, _ thresholds: [Int]) {
    #expect((1...thresholds.count).map(curve.threshold(of:)) == thresholds)
    for (index, threshold) in thresholds.enumerated() {
      #expect(curve.level(at: threshold) == index + 1)
      #expect(index == 0 || curve.level(at: threshold - 1) == index)
    }
  }

  @Test func exactPowersAreExact() {
    // 16 ^ 1.25 = 32, 4 ^ 1.5 = 8: a logarithm would give 31.999….
    #expect(LevelCurve(base: 1, power: 1.25).threshold(of: 17) == 32)
    #expect(LevelCurve(base: 100, power: 1.5).threshold(of: 5) == 800)
    #expect(LevelCurve(base: 1, power: 3.5).threshold(of: 10) == 2_187)
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func levelsRiseAndInvertTheThresholds(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let curve = LevelCurve(
      base: Int.random(in: 1...1_000_000, using: &random), power: Double.random(in: 1...4, using: &random))
    var last = -1
    for level in 1...LevelCurve.highestLevel {
      let threshold = curve.threshold(of: level)
      #expect(threshold > last)
      #expect(curve.level(at: threshold) == level)
      if level > 1 {
        #expect(curve.level(at: threshold - 1) == level - 1)
        #expect(curve.next(after: threshold - 1) == threshold)
      }
      last = threshold
    }
    #expect(curve.next(after: last) == nil)
    #expect(curve.level(at: .max) == LevelCurve.highestLevel)
    #expect(curve.level(at: .min) == 1)
  }

  @Test(arguments: [
    LevelCurve(base: 0, power: 1.5), LevelCurve(base: .max, power: 900), LevelCurve(base: -5, power: -.infinity),
    LevelCurve(base: 5, power: .nan),
  ])
  func curvesDoNotOverflow(_ curve: LevelCurve) {
    #expect(curve.threshold(of: 1) == 0)
    #expect(curve.threshold(of: .max) > curve.threshold(of: 2))
    #expect(curve.level(at: .max) == LevelCurve.highestLevel)
  }
}

@Suite struct QuoteTests {
  static func quote(_ number: Int, _ category: String = "wisdom") -> Quote {
    Quote(text: "q\(number)", language: "en", source: "s", category: category)
  }

  @Test(arguments: [1, 2, 3, 5, 7, 12, 30, 52, 97, 100, 365, 366, 400]) func everyQuotationIsShownBeforeOneRepeats(
    _ count: Int
  )
    throws
  {
    let quotes = (0..<count).map { Self.quote($0) }
    // Two months before a new year, so that the turn of the year is included.
    let start = try #require(CivilDate(year: 2027, month: 11, day: 3)).dayNumber
    for first in [0, 1, count / 2, 57] {
      let seen = try (0..<count).map { offset in
        try #require(Quote.ofTheDay(CivilDate(dayNumber: Int(start) + first + offset) ?? .earliest, among: quotes)).text
      }
      #expect(Set(seen).count == count)
      if count >= 12 {
        let numbers = seen.compactMap { Int($0.dropFirst()) }
        #expect(
          zip(numbers, numbers.dropFirst()).allSatisfy { abs($0 - $1) > 1 }, "\(count): neighbours on neighbouring days"
        )
      }
    }
  }

  @Test func categoryHasItsOwnQuotations() throws {
    let quotes = [Self.quote(1, "quran"), Self.quote(2, "hadith"), Self.quote(3, "quran")]
    let day = try #require(CivilDate("2026-07-01"))
    let those = (0..<6).compactMap { Quote.ofTheDay(day.plus($0), among: quotes, category: "quran")?.text }
    #expect(Set(those) == ["q1", "q3"] && those[0] != those[1] && those[0] == those[2])
    #expect(Quote.ofTheDay(day, among: quotes, category: "none") == nil)
    #expect(Quote.ofTheDay(day, among: []) == nil)
  }

  @Test func rightToLeftTextIsUnchanged() throws {
    // With vowel signs, a direction mark and a joiner, byte for byte.
    let text = "إِنَّ مَعَ الْعُسْرِ يُسْرًا\u{200F} ﴿٦﴾ \u{200D}"
    let quote = Quote(
      text: text, language: "ar",
      translation: LocalizedText(["en": "With hardship comes ease", "cs": "S obtíží je úleva"]),
      source: "Qur’an 94:6", category: "quran")
    let day = try #require(CivilDate("2026-07-01"))
    let found = try #require(Quote.ofTheDay(day, among: [quote]))
    let values = DayTextTests.values(quote: found, languages: ["cs"])
    #expect(Array(try #require(values["quote"]).utf8) == Array(text.utf8))
    #expect(values["quote.translation"] == "S obtíží je úleva")
    #expect(values["quote.source"] == "Qur’an 94:6")
  }
}

@Suite struct MoodTests {
  static func share(_ percent: Int?, met: Bool = false, counts: Bool = true, entry: Bool = true) -> MoodShare {
    MoodShare(counts: counts, isMet: met, percent: percent, hasEntry: entry)
  }

  static let cases: [([MoodShare], Mood)] = [
    ([], .noHabits),
    ([share(100, met: true, counts: false)], .noHabits),
    ([share(nil, entry: false), share(0, entry: false)], .notStarted),
    ([share(100, met: true), share(nil, entry: false), share(nil, entry: false)], .lightDay),
    ([share(100, met: true), share(nil, entry: false)], .productiveDay),
    ([share(49)], .lightDay), ([share(50)], .productiveDay), ([share(99)], .productiveDay),
    ([share(100, met: true), share(250, met: true)], .perfectDay),
    // One tracker's excess does not make up for another.
    ([share(400, met: true), share(nil, entry: false), share(nil, entry: false)], .lightDay),
    // A tracker that does not count today is ignored.
    ([share(100, met: true), share(0, counts: false, entry: false)], .perfectDay),
    // A weekly goal met on Monday.
    ([share(nil, met: true, entry: false), share(0, entry: false), share(0, entry: false)], .lightDay),
  ]

  @Test(arguments: cases) func moodFollowsCountedDays(_ shares: [MoodShare], _ mood: Mood) {
    #expect(Mood.of(shares) == mood)
  }
}

@Suite struct DayTextTests {
  static func values(
    water reached: Double = 1_750, quote: Quote? = nil, next: (achievement: Achievement, reached: Int)? = nil,
    mood: MoodText? = nil, languages: [String] = ["en"]
  ) -> [String: String] {
    let world = AchievementFixture([])
    let day = world.today(AchievementFixture.water)
    let entry = world.entry(AchievementFixture.water, at: world.now, quantity: AchievementFixture.ml(reached))
    var tracker = world.tracker(AchievementFixture.water)
    tracker.goal = Goal(.total(AchievementFixture.ml(2_500)))
    tracker.title = LocalizedText(["en": "Water", "cs": "Voda"])
    let totals = [ProgressAggregator(tracker).total(nil, adding: entry)]
    let progress = GoalProgress(
      tracker, on: day, summary: ProgressAggregator(tracker).summary(of: totals), totals: totals)
    let values = TextValues(tracker, progress, mood: mood, quote: quote, next: next, level: 4, languages: languages)
    let pairs = values.pairs(
      quantity: { quantity, unit, _ in "\(quantity.value(in: unit)) \(unit)" },
      number: { $0 >= 1_000 ? "\($0 / 1_000).\($0 % 1_000)" : String($0) })
    return Dictionary(uniqueKeysWithValues: pairs.map { ($0.name.rawValue, $0.value) })
  }

  @Test func placeholdersDescribeTheDay() {
    let achievement = Achievement(
      id: AchievementID(rawValue: "a"), title: LocalizedText(["en": "Consistent", "cs": "Vytrvalý"]),
      text: "Three days",
      criterion: Criterion(.streak, target: 1_003))
    let mood = MoodText(title: "Well", message: LocalizedText(["en": "On", "cs": "Dál"]), next: "Drink")
    let values = Self.values(next: (achievement, 2), mood: mood, languages: ["cs_CZ"])
    #expect(values["tracker"] == "Voda")
    #expect(values["reached"] == "1750.0 ml" && values["remaining"] == "750.0 ml" && values["goal"] == "2500.0 ml")
    #expect(values["percent"] == "70")
    #expect(values["streak"] == "0")
    #expect(values["mood.title"] == "Well" && values["mood.message"] == "Dál" && values["mood.next"] == "Drink")
    #expect(values["nextAchievement"] == "Vytrvalý" && values["nextAchievement.progress"] == "2/1.3")
    #expect(values["level"] == "4" && values["experience"] == "")
  }

  @Test func missingValuesAreEmpty() {
    let values = Self.values()
    #expect(Set(values.keys) == Set(TextValues.Name.allCases.map(\.rawValue)))
    #expect(values["quote"] == "" && values["mood.title"] == "" && values["nextAchievement"] == "")
  }
}

@Suite struct NextAchievementTests {
  static func achievement(_ id: String, _ criterion: Criterion, xp: Int = 0) -> Achievement {
    Achievement(id: AchievementID(rawValue: id), title: "t", text: "t", experience: xp, criterion: criterion)
  }
  static let pack = PackID(rawValue: "p")
  static func progress(_ reached: [String: Int], unlocked: Set<String> = []) -> [AchievementProgress] {
    reached.map {
      AchievementProgress(
        pack: pack, achievement: AchievementID(rawValue: $0.key), reached: $0.value,
        unlockedAt: unlocked.contains($0.key) ? Instant(seconds: 5) : nil)
    }
  }
  // A Wednesday.
  let day = CivilDate(year: 2026, month: 7, day: 15) ?? .earliest

  /// Orders by what is left, regardless of its share of the target.
  @Test func achievementWithTheLeastRemainingIsNext() {
    func next(_ all: [Achievement], _ reached: [String: Int]) -> String? {
      Achievement.next(among: all, progress: Self.progress(reached), on: day)?.achievement.id.rawValue
    }
    let rising = Self.achievement("rising", Criterion(.entries, target: 5), xp: 50)
    let first = Self.achievement("first", Criterion(.entries))
    #expect(next([rising, first], ["rising": 1]) == "first", "one is less than four")
    let hundred = Self.achievement("hundred", Criterion(.entries, target: 100))
    let three = Self.achievement("three", Criterion(.streak, target: 3))
    #expect(next([hundred, three], ["hundred": 90, "three": 1]) == "three")
    #expect(next([hundred, three], ["hundred": 99, "three": 1]) == "hundred")
    let over = Self.achievement("over", Criterion(.shareOfGoal, target: 150))
    let met = Self.achievement("met", Criterion(.goalMet))
    #expect(next([over, met], ["over": 92]) == "met", "a goal is met before it is exceeded")
    let goal = Self.achievement("goal", Criterion(.goalValue))
    #expect(next([goal, hundred], ["hundred": 80]) == "hundred", "a weight to be reached is not one entry away")
    #expect(next([Self.achievement("level", Criterion(.level, target: 3)), three], ["level": 2]) == "three")
  }

  @Test func achievementWithTheGreatestShareIsNext() {
    let all = [
      Self.achievement("seven", Criterion(.streak, target: 7)),
      Self.achievement("three", Criterion(.streak, target: 3)),
      Self.achievement("done", Criterion(.firstEntry)),
    ]
    let progress = Self.progress(["seven": 2, "three": 2, "done": 1], unlocked: ["done"])
    let next = Achievement.next(among: all, progress: progress, on: day)
    #expect(next?.achievement.id.rawValue == "three" && next?.reached == 2)
  }

  @Test func firstOfEqualAchievementsIsNext() {
    let all = [
      Self.achievement("a", Criterion(.entries, target: 10), xp: 5),
      Self.achievement("b", Criterion(.daysMet, target: 15), xp: 50),
      Self.achievement("c", Criterion(.daysMet, target: 10), xp: 50),
    ]
    #expect(
      Achievement.next(among: all, progress: Self.progress(["a": 5, "b": 10, "c": 5]), on: day)?.achievement.id.rawValue
        == "a")
  }

  @Test func achievementsByTimeAloneComeLast() {
    let all = [
      Self.achievement("year", Criterion(.daysSinceStart, target: 365)),
      Self.achievement("friday", Criterion(.entryOnWeekday, target: 4, weekdays: .friday)),
      Self.achievement("early", Criterion(.entryBefore, target: 4, minute: 480)),
      Self.achievement("many", Criterion(.entries, target: 1_000)),
    ]
    let progress = Self.progress(["year": 364, "friday": 3, "early": 2, "many": 1])
    func next(_ day: CivilDate, _ minute: Int?) -> String? {
      Achievement.next(among: all, progress: progress, on: day, minute: minute)?.achievement.id.rawValue
    }
    #expect(next(day, 900) == "many")
    #expect(next(day, 479) == "early")
    #expect(next(day.plus(2), 900) == "friday")
    #expect(Achievement.next(among: [all[0], all[1]], progress: progress, on: day)?.achievement.id.rawValue == "year")
    #expect(Achievement.next(among: [], progress: [], on: day) == nil)
  }
}
