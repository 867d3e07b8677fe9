import ChimeControl

extension TrackerYear {
  /// The achievements of the packs: some unlocked, some in progress.
  static let allAchievements: [T.Achievement] = hydration + practice + watches

  private static func one(
    _ pack: String, _ id: String, _ english: String, _ text: String, _ czech: String, _ czechText: String,
    category: String? = nil, xp: Int = 0, _ reached: Int, of target: Int, on seconds: Int64? = nil
  ) -> T.Achievement {
    T.Achievement(
      pack: pack, id: id, title: ["en": english, "cs": czech], text: ["en": text, "cs": czechText], category: category,
      experience: xp, reached: min(reached, target), target: target,
      unlockedAt: reached >= target ? Samples.time(seconds ?? 1_760_000_000) : nil)
  }

  private static let hydration = [
    one(
      "hydration", "first_sip", "First Sip", "Log your first water intake", "První doušek",
      "Zaznamenejte svůj první příjem vody", 1, of: 1, on: 1_741_620_000),
    one(
      "hydration", "goal_reached", "Daily Champion", "Reach your daily goal for the first time", "Denní šampion",
      "Poprvé dosáhněte denního cíle", 1, of: 1, on: 1_741_900_000),
    one(
      "hydration", "streak_3", "Consistent", "Maintain a 3-day streak", "Vytrvalý", "Udržujte 3denní sérii", 3, of: 3,
      on: 1_743_000_000),
    one(
      "hydration", "streak_7", "Week Warrior", "Maintain a 7-day streak", "Týdenní bojovník", "Udržujte 7denní sérii",
      5, of: 7),
    one(
      "hydration", "streak_30", "Monthly Master", "Maintain a 30-day streak", "Měsíční mistr",
      "Udržujte 30denní sérii", 5, of: 30),
    one(
      "hydration", "early_bird", "Early Bird", "Log water before 8 AM", "Ranní ptáče", "Zaznamenejte vodu před 8:00", 1,
      of: 1, on: 1_741_700_000),
    one(
      "hydration", "night_owl", "Night Owl", "Log water after 10 PM", "Noční sova", "Zaznamenejte vodu po 22:00", 0,
      of: 1),
    one(
      "hydration", "big_gulp", "Big Gulp", "Log 500 ml or more in one entry", "Velký doušek",
      "Zaznamenejte 500 ml nebo více najednou", 1, of: 1, on: 1_742_000_000),
    one(
      "hydration", "overachiever", "Overachiever", "Reach 150% of your daily goal", "Přeborník",
      "Dosáhněte 150 % denního cíle", 138, of: 150),
    one(
      "hydration", "centurion", "Centurion", "Log 100 total water entries", "Centurion",
      "Zaznamenejte celkem 100 příjmů vody", 100, of: 100, on: 1_743_500_000),
  ]

  private static let practice = [
    one("adkhar", "first_step", "First Step", "1 practice", "První krok", "1 praxe", xp: 50, 1, of: 1),
    one("adkhar", "week_warrior", "Week Warrior", "A 7-day streak", "Bojovník", "7denní série", xp: 100, 7, of: 7),
    one("adkhar", "month_master", "Month Master", "A 30-day streak", "Mistr", "30denní série", xp: 500, 12, of: 30),
    one("adkhar", "rising_star", "Rising Star", "Level 5", "Vycházející hvězda", "Úroveň 5", xp: 200, 5, of: 5),
    one(
      "adkhar", "perfect_week", "Perfect Week", "All habits on 7 days running", "Dokonalý týden",
      "Vše 7 dní po sobě", xp: 300, 3, of: 7),
  ]

  /// Fifty achievements, ten in each of five categories.
  private static let watches: [T.Achievement] = [
    ("collection size", "Watches owned", "Vlastněných hodinek", 12),
    ("wearing frequency", "Wears logged", "Zaznamenaných nošení", 390),
    ("consistency", "Days in a row", "Dní po sobě", 24),
    ("diversity", "Different brands worn", "Různých značek", 9),
    ("special occasions", "Milestone days", "Výjimečných dnů", 3),
  ].enumerated().flatMap { group, kind in
    let (category, english, czech, reached) = kind
    let targets = group == 1 ? [1, 10, 25, 50, 100, 200, 300, 500, 750, 1_000] : [1, 2, 3, 5, 7, 10, 14, 20, 30, 50]
    return targets.enumerated().map { index, target in
      one(
        "watches", "w\(group)_\(index)", index == 6 ? "Keeper of the Long Rotation" : "\(english): \(target)",
        "\(english): \(target)", "\(czech): \(target)", "\(czech): \(target)", category: category, xp: 10 * (index + 1),
        reached, of: target, on: 1_745_000_000 + Int64(index) * 2_300_000 + Int64(group) * 90_000)
    }
  }
}
