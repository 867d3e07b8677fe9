import ChimeDaemon
import ChimeSchedule
import ChimeTracking
import Testing

/// The bundled packs keep their promises.
@Suite struct ShippedPacksTests {
  static func pack(_ name: String) throws -> Pack {
    try #require(try ShippedPacks.pack(name), "there is no pack \(name)")
  }

  static func unit(_ symbol: String) throws -> Unit { try #require(Unit(symbol)) }
  static func amount(_ value: Double, _ symbol: String) throws -> Quantity {
    try #require(Quantity(value, try unit(symbol)))
  }

  @Test func fivePacksAreShipped() {
    #expect(ShippedPacks.names == ["hydration", "weight", "adkhar", "watches", "goal"])
  }

  @Test(arguments: ShippedPacks.names) func eachPackReadsWithoutFault(_ name: String) throws {
    let pack = try Self.pack(name)
    #expect(pack.id.rawValue == name)
    #expect(!pack.trackers.isEmpty)
    #expect(!pack.reminders.isEmpty)
    #expect(pack.trackers.allSatisfy { $0.pack == pack.id && $0.owner == 0 })
    let title = pack.title.texts
    #expect(Set(title.keys) == ["en", "cs"])
  }

  /// Returns all localized texts of a pack, with their places.
  static func texts(_ pack: Pack) -> [(place: String, text: LocalizedText)] {
    var all = [("title", pack.title), ("text", pack.text)]
    all += pack.trackers.flatMap { tracker in
      [("\(tracker.id) title", tracker.title)] + (tracker.verb.map { [("\(tracker.id) verb", $0)] } ?? [])
    }
    all += pack.reminders.flatMap { reminder in
      [("\(reminder.key) title", reminder.title)] + (reminder.body.map { [("\(reminder.key) body", $0)] } ?? [])
    }
    all += pack.achievements.flatMap { [("\($0.id) title", $0.title), ("\($0.id) text", $0.text)] }
    all += pack.categories.map { ($0.key, $0.value) }
    all += pack.moods.flatMap { mood, text in
      [("\(mood) title", text.title), ("\(mood) message", text.message), ("\(mood) next", text.next)]
    }
    all += pack.quotes.compactMap { quote in quote.translation.map { (quote.source, $0) } }
    return all
  }

  @Test(arguments: ShippedPacks.names) func everyTextIsInEnglishAndCzech(_ name: String) throws {
    let names: Set<String> = ["Centurion", "Adkhar"]
    for (place, text) in Self.texts(try Self.pack(name)) {
      let english = try #require(text.texts["en"], "\(place)")
      let czech = try #require(text.texts["cs"], "\(place)")
      #expect(english != czech || names.contains(english) || english.hasPrefix("{{"), "\(place): \(czech)")
      for one in [english, czech] {
        #expect(one == one.split(separator: " ").joined(separator: " "), "white space in \(place): \(one)")
        #expect(!one.contains("\""), "a straight quotation mark in \(place): \(one)")
        #expect(!one.contains("..."), "three dots in \(place): \(one)")
      }
      // A different number of placeholders means an incomplete translation.
      #expect(placeholders(english) == placeholders(czech), "\(place)")
    }
  }

  private func placeholders(_ text: String) -> [Substring] {
    text.split(separator: "{{", omittingEmptySubsequences: false).dropFirst().compactMap {
      $0.split(separator: "}}").first
    }.sorted()
  }

  @Test(arguments: ShippedPacks.names) func remindersCanBeScheduledWithAndWithoutALocation(_ name: String) throws {
    for reminder in try Self.pack(name).reminders {
      let when = reminder.whenWithoutPlace ?? reminder.when
      #expect(throws: Never.self, "\(when)") {
        try Schedule.parse(when, now: Instant(seconds: 1_800_000_000), in: ScheduleContext(zone: .utc))
      }
    }
  }

  @Test(arguments: ShippedPacks.names) func everyCriterionCanBeEvaluated(_ name: String) throws {
    let pack = try Self.pack(name)
    for achievement in pack.achievements {
      #expect(achievement.criterion.faults(among: pack.trackers, hasLevels: pack.levels != nil).isEmpty)
      if let category = achievement.category { #expect(pack.categories[category] != nil) }
    }
  }

  // MARK: Hydration

  /// One watch logged twice counts once.
  @Test func wardrobeChangeNeedsTwoWatches() throws {
    let change = try Self.pack("watches").achievements.first { $0.id.rawValue == "wardrobe_change" }
    #expect(change?.criterion == Criterion(.itemsInDay, tracker: change?.criterion.tracker, target: 2))
  }

  @Test func weightHasBounds() throws {
    let weight = try #require(try Self.pack("weight").trackers.first)
    let bounds = try #require(weight.bounds)
    for (value, isTaken) in [(-1.0, false), (0, false), (8.24, false), (20, true), (82.4, true), (9_999, false)] {
      #expect(bounds.contains(try Self.amount(value, "kg")) == isTaken, "\(value)")
    }
    #expect(weight.fieldBounds?["body-fat"]?.contains(try Self.amount(118.5, "%")) == false)
    #expect(weight.fieldBounds?["body-fat"]?.contains(try Self.amount(18.5, "%")) == true)
    let usual = try Self.amount(82.4, "kg")
    #expect(!bounds.isFar(try Self.amount(79, "kg"), from: usual, days: 1))
    #expect(bounds.isFar(try Self.amount(28.4, "kg"), from: usual, days: 7))
    #expect(bounds.isFar(try Self.amount(72, "kg"), from: usual, days: -7))
    #expect(!bounds.isFar(try Self.amount(72, "kg"), from: usual, days: 8), "each week may bring as much again")
  }

  @Test func hydrationHasItsSettings() throws {
    let pack = try Self.pack("hydration")
    let water = try #require(pack.trackers.first)
    #expect(pack.trackers.count == 1)
    #expect(water.kind == .amount && water.unit?.symbol == "ml")
    #expect(water.goal == Goal(.total(try Self.amount(2_500, "ml"))))
    #expect(try water.presets == [100, 150, 200, 250, 330, 500].map { try Self.amount($0, "ml") })
    #expect(try water.usual == Self.amount(250, "ml"))
    #expect(
      try pack.choices[water.id]
        == Pack.Choice(
          least: Self.amount(500, "ml"), most: Self.amount(5_000, "ml"), step: Self.amount(250, "ml"),
          presets: [2_000, 2_500, 3_000].map { try Self.amount($0, "ml") }))
    let drink = try #require(pack.reminders.first)
    #expect(drink.when.hasPrefix("every 90m") && drink.quietWhenDone && drink.followsEntries)
    #expect(drink.logs == nil, "what is chosen as usual")
  }

  struct Listed: Sendable {
    let id, english, englishText, czech, czechText: String
    let criterion: Criterion
  }

  static let hydration: [Listed] = [
    Listed(
      id: "first_sip", english: "First Sip", englishText: "Log your first water intake", czech: "První doušek",
      czechText: "Zaznamenejte svůj první příjem vody", criterion: Criterion(.entries)),
    Listed(
      id: "goal_reached", english: "Daily Champion", englishText: "Reach your daily goal for the first time",
      czech: "Denní šampion", czechText: "Poprvé dosáhněte denního cíle", criterion: Criterion(.goalMet)),
    Listed(
      id: "streak_3", english: "Consistent", englishText: "Maintain a 3-day streak", czech: "Vytrvalý",
      czechText: "Udržujte 3denní sérii", criterion: Criterion(.streak, target: 3)),
    Listed(
      id: "streak_7", english: "Week Warrior", englishText: "Maintain a 7-day streak", czech: "Týdenní bojovník",
      czechText: "Udržujte 7denní sérii", criterion: Criterion(.streak, target: 7)),
    Listed(
      id: "streak_30", english: "Monthly Master", englishText: "Maintain a 30-day streak", czech: "Měsíční mistr",
      czechText: "Udržujte 30denní sérii", criterion: Criterion(.streak, target: 30)),
    Listed(
      id: "early_bird", english: "Early Bird", englishText: "Log water before 8 AM", czech: "Ranní ptáče",
      czechText: "Zaznamenejte vodu před 8:00", criterion: Criterion(.entryBefore, minute: 480)),
    Listed(
      id: "night_owl", english: "Night Owl", englishText: "Log water after 10 PM", czech: "Noční sova",
      czechText: "Zaznamenejte vodu po 22:00", criterion: Criterion(.entryAfter, minute: 1_320)),
    Listed(
      id: "big_gulp", english: "Big Gulp", englishText: "Log 500 ml or more in one entry", czech: "Velký doušek",
      czechText: "Zaznamenejte 500 ml nebo více najednou",
      criterion: Criterion(.amountInEntry, amount: Quantity(grains: 8_000_000_000))),
    Listed(
      id: "overachiever", english: "Overachiever", englishText: "Reach 150% of your daily goal", czech: "Přeborník",
      czechText: "Dosáhněte 150 % denního cíle", criterion: Criterion(.shareOfGoal, target: 150)),
    Listed(
      id: "centurion", english: "Centurion", englishText: "Log 100 total water entries", czech: "Centurion",
      czechText: "Zaznamenejte celkem 100 příjmů vody", criterion: Criterion(.entries, target: 100)),
  ]

  @Test func hydrationHasItsTenAchievements() throws {
    let found = try Self.pack("hydration").achievements
    #expect(found.map(\.id.rawValue) == Self.hydration.map(\.id))
    for (achievement, listed) in zip(found, Self.hydration) {
      #expect(achievement.title.texts == ["en": listed.english, "cs": listed.czech])
      #expect(achievement.text.texts == ["en": listed.englishText, "cs": listed.czechText])
      var criterion = achievement.criterion
      criterion.tracker = nil
      #expect(criterion == listed.criterion, "\(listed.id)")
    }
  }

  // MARK: The other packs

  @Test func weightUsesKilogramsOrPounds() throws {
    let pack = try Self.pack("weight")
    let weight = try #require(pack.trackers.first)
    #expect(weight.kind == .measure && weight.unit?.symbol == "kg" && weight.decimals == 1)
    #expect(weight.fields == ["body-fat": try Self.unit("%")])
    let steps = try #require(pack.milestoneSteps[weight.id])
    #expect(steps.map(\.unit.symbol) == ["kg", "lb"])
    #expect(try steps[0].steps == [2, 5, 7].map { try Self.amount($0, "kg") })
    #expect(try steps[1].steps == [5, 10, 15].map { try Self.amount($0, "lb") })
    #expect(weight.milestoneStep == steps[0].steps[0])
    #expect(weight.goal == nil && pack.choices[weight.id] != nil)
  }

  @Test func adkharHasThreeSlotsFiveMoodsAndItsAchievements() throws {
    let pack = try Self.pack("adkhar")
    #expect(pack.trackers.map(\.timeOfDay) == [.morning, .anytime, .evening])
    #expect(pack.trackers.allSatisfy { $0.kind == .check })
    #expect(Set(pack.moods.keys) == Set(Mood.allCases))
    #expect(pack.levels != nil)
    let solar = pack.reminders.filter { $0.whenWithoutPlace != nil }
    #expect(solar.map(\.tracker.rawValue) == ["morning", "evening"])
    #expect(
      pack.achievements.map { "\($0.title.texts["en"] ?? "") \($0.experience)" } == [
        "First Step 50", "Week Warrior 100", "Month Master 500", "Rising Star 200", "Perfect Week 300",
      ])
    #expect(
      pack.achievements.map(\.criterion) == [
        Criterion(.entries), Criterion(.streakOfAny, target: 7), Criterion(.streakOfAny, target: 30),
        Criterion(.level, target: 5), Criterion(.perfectWeek),
      ])
  }

  @Test func quotationsHaveTheirSourceAndExactText() throws {
    let quotes = try Self.pack("adkhar").quotes
    #expect(quotes.count >= 60)
    #expect(Set(quotes.map(\.text)).count == quotes.count)
    #expect(Set(quotes.map(\.category)) == ["quran", "hadith", "wisdom"])
    for quote in quotes {
      #expect(quote.language == "ar")
      switch quote.category {
      case "quran": #expect(quote.source.wholeMatch(of: /Quran \d{1,3}:\d{1,3}(, part)?/) != nil, "\(quote.source)")
      case "hadith": #expect(quote.source.wholeMatch(of: /Sahih (al-Bukhari|Muslim) \d+/) != nil, "\(quote.source)")
      default: #expect(!quote.source.isEmpty)
      }
      let scalars = quote.text.unicodeScalars
      #expect(!scalars.contains { $0.properties.isBidiControl })
      #expect(scalars.allSatisfy { (0x0600...0x06FF).contains($0.value) || $0 == " " }, "\(quote.text)")
      // Printed with vowel signs: about as many as letters.
      let marks = scalars.count { (0x064B...0x0652).contains($0.value) }
      #expect(Double(marks) > Double(scalars.count) / 4, "\(quote.text)")
      // No word begins with a combining mark.
      #expect(
        !quote.text.split(separator: " ").contains { word in
          (0x064B...0x0652).contains(word.unicodeScalars.first?.value ?? 0)
        })
    }
  }

  @Test func watchesHaveFiftyAchievementsTenInEachCategory() throws {
    let pack = try Self.pack("watches")
    #expect(pack.trackers.first?.hasItems == true)
    #expect(pack.achievements.count == 50)
    var counts: [String: Int] = [:]
    for achievement in pack.achievements { counts[achievement.category ?? "", default: 0] += 1 }
    #expect(counts == ["size": 10, "wearing": 10, "consistency": 10, "diversity": 10, "occasions": 10])
    #expect(Set(pack.achievements.map(\.criterion)).count == 50, "no two ask for the same")
    #expect(Set(pack.achievements.map(\.title)).count == 50)
    #expect(Set(pack.achievements.map(\.text)).count == 50)
    #expect(pack.achievements.allSatisfy { $0.experience > 0 })
    // Every criterion that fits a collection of checks. Items of a day are counted once each, and a pack with one
    // tracker has no streak over several.
    let unfit: Set<Criterion.Kind> = [
      .entriesInDay, .streakOfAny, .amountInEntry, .shareOfGoal, .goalMet, .crossed, .goalValue,
    ]
    #expect(Set(pack.achievements.map(\.criterion.kind)) == Set(Criterion.Kind.allCases).subtracting(unfit))
    #expect(
      ["Collection size", "Wearing frequency", "Consistency", "Diversity", "Special occasions"]
        .allSatisfy { title in pack.categories.values.contains { $0.texts["en"] == title } })
  }

  @Test func goalIsOneCheckWithAnOptionalReminder() throws {
    let pack = try Self.pack("goal")
    #expect(pack.trackers.map(\.kind) == [.check])
    #expect(pack.reminders.map(\.isOptional) == [true])
  }
}
