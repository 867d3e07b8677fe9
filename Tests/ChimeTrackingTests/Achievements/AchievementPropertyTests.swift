import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Compares every criterion with a recomputation from all entries, over random histories of logging, editing, removing,
/// collecting and passing days.
@Suite struct AchievementPropertyTests {
  static let criteria: [Criterion] = {
    let (water, prayer, weight, watches) = (
      AchievementFixture.water, AchievementFixture.prayer, AchievementFixture.weight, AchievementFixture.watches
    )
    var all: [Criterion] = [
      Criterion(.entries, tracker: water, target: 1), Criterion(.entries, tracker: water, target: 20),
      Criterion(.entries, target: 30), Criterion(.entriesInDay, tracker: water, target: 4),
      Criterion(.entriesInDay, target: 5),
      Criterion(.amountInEntry, tracker: water, amount: AchievementFixture.ml(740)),
      Criterion(.amountInEntry, tracker: weight, amount: AchievementFixture.kg(83)),
      Criterion(.shareOfGoal, tracker: water, target: 150), Criterion(.shareOfGoal, tracker: water, target: 260),
      Criterion(.goalMet, tracker: water), Criterion(.goalMet, tracker: weight), Criterion(.goalMet, tracker: watches),
      Criterion(.daysMet, tracker: water, target: 5), Criterion(.daysMet, target: 25),
      Criterion(.streak, tracker: water, target: 3), Criterion(.streak, tracker: water, target: 7),
      Criterion(.streak, tracker: prayer, target: 6), Criterion(.streak, tracker: water, target: 4, days: .weekdays),
      Criterion(.streak, tracker: prayer, target: 2, days: .weekends),
      Criterion(.streak, tracker: water, target: 3, days: .weekends),
      Criterion(.entryBefore, tracker: water, minute: 8 * 60),
      Criterion(.entryBefore, tracker: prayer, target: 5, minute: 8 * 60),
      Criterion(.entryBefore, target: 9, minute: 600),
      Criterion(.entryAfter, tracker: prayer, target: 6, minute: 22 * 60),
      Criterion(.entryAfter, tracker: water, target: 4, minute: 22 * 60),
      Criterion(.itemsOwned, tracker: watches, target: 4),
      Criterion(.itemsOwned, tracker: watches, target: 2, attribute: "brand", value: "B1"),
      Criterion(.itemsOwned, target: 3, attribute: "brand"), Criterion(.entriesForItem, tracker: watches, target: 6),
      Criterion(.entriesForItem, target: 12),
      Criterion(.distinctValues, tracker: watches, target: 3, attribute: "brand"),
      Criterion(.distinctValues, tracker: watches, target: 3, attribute: "brand", within: 5),
      Criterion(.distinctItems, tracker: watches, target: 4, within: 6),
      Criterion(.distinctItems, target: 5, within: 20), Criterion(.itemsInDay, tracker: watches, target: 3),
      Criterion(.evenRotation, tracker: watches, target: 80, within: 10, minimum: 3),
      Criterion(.evenRotation, tracker: watches, target: 95, within: 25, minimum: 4),
      Criterion(.firstItem, tracker: watches),
      Criterion(.firstEntry, tracker: weight), Criterion(.firstEntry), Criterion(.anniversary, tracker: water),
      Criterion(.anniversary, tracker: prayer, target: 2), Criterion(.level, target: 3), Criterion(.level, target: 9),
      Criterion(.level, target: 17), Criterion(.perfectWeek), Criterion(.perfectWeek, target: 2),
      Criterion(.perfectWeek, tracker: water), Criterion(.crossed, tracker: weight, amount: AchievementFixture.kg(80)),
      Criterion(.goalValue, tracker: weight), Criterion(.daysSinceStart, tracker: water, target: 100),
      Criterion(.entryOnDate, tracker: water, month: 2, day: 29), Criterion(.entryOnDate, target: 2, month: 3, day: 1),
      Criterion(.entryOnWeekday, tracker: prayer, target: 4, weekdays: .weekends),
      Criterion(.entryOnWeekday, target: 1, day: 13, weekdays: .friday), Criterion(.itemAnniversary, tracker: watches),
      Criterion(.itemAnniversary, target: 3), Criterion(.streakOfAny, target: 4), Criterion(.streakOfAny, target: 11),
      Criterion(.weekends, tracker: prayer, target: 2), Criterion(.weekends, tracker: water, target: 4),
      Criterion(.weekends, target: 3),
    ]
    all.sort { $0.target > $1.target }
    return all
  }()

  static let achievements = criteria.enumerated().map { index, criterion in
    Achievement(
      id: AchievementID(rawValue: "a\(index)"), title: "a", text: "a", experience: index % 5 * 4, criterion: criterion)
  }

  /// A random history over `span` days, with `density` changes per day.
  struct History {
    var world = AchievementFixture(AchievementPropertyTests.achievements)
    var random: SeededGenerator
    var progress: [AchievementID: AchievementProgress] = [:]
    var experience = 0
    var everMet: Set<AchievementID> = []
    let density: Int
    let step: Int

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      (density, step) = [(9, 1), (4, 1), (2, 14), (6, 3)][Int(seed % 4)]
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func review() -> AchievementReview {
      AchievementReview(world.pack, trackers: world.trackers, now: world.now, zone: .utc)
    }

    mutating func judge(_ occasion: TrackingOccasion) throws -> AchievementOutcome {
      let outcome = try review().outcome(
        of: occasion, progress: Array(progress.values), experience: experience, facts: world)
      for one in outcome.changed {
        #expect(progress[one.achievement] != one)
        progress[one.achievement] = one
      }
      experience = outcome.experience
      return outcome
    }

    mutating func somewhere() -> Instant {
      let today = world.now.seconds / 86_400
      let back =
        chance(60)
        ? 0 : chance(70) ? Int64.random(in: 0...8, using: &random) : Int64.random(in: 0...400, using: &random)
      let day = max(today - back, Int64(AchievementFixture.start.dayNumber))
      let minute = Int64.random(in: 0..<48, using: &random) * 30
      return min(Instant(seconds: (day * 1_440 + minute) * 60), world.now)
    }

    mutating func entry() -> Entry? {
      guard let tracker = world.trackers.randomElement(using: &random) else { return nil }
      let at = somewhere()
      switch tracker.id {
      case AchievementFixture.water:
        return world.entry(
          tracker.id, at: at, quantity: AchievementFixture.ml(Double(Int.random(in: 1...15, using: &random) * 50)))
      case AchievementFixture.weight:
        return world.entry(
          tracker.id, at: at, quantity: AchievementFixture.kg(Double(Int.random(in: 148...170, using: &random)) / 2))
      case AchievementFixture.prayer: return world.entry(tracker.id, at: at)
      default:
        guard let item = world.items.keys.sorted().randomElement(using: &random) else { return nil }
        var at = at
        // Often on its anniversary.
        if chance(25), let since = world.items[item]?.since {
          let year = Int.random(in: since.year...max(since.year, world.today(tracker.id).year), using: &random)
          if let day = CivilDate(year: year, month: since.month, day: since.day), day >= AchievementFixture.start {
            at = min(AchievementFixture.instant(day, minute: 600), world.now)
          }
        }
        return world.entry(tracker.id, at: at, item: item)
      }
    }

    mutating func next() throws -> TrackingOccasion? {
      if chance(100 / density) {
        world.now = world.now + .days(Int64.random(in: 1...Int64(step), using: &random))
        return .day
      }
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<68:
        guard let entry = entry() else { return nil }
        return world.change(nil, to: entry)
      case 68..<78:
        guard let old = world.entries.values.sorted(by: { $0.id < $1.id }).randomElement(using: &random) else {
          return nil
        }
        var new = world.entry(
          old.tracker, at: chance(50) ? old.at : somewhere(), quantity: old.quantity, item: old.item)
        if chance(30), old.tracker == AchievementFixture.watches {
          new.item = world.items.keys.sorted().randomElement(using: &random)
        }
        if chance(50), let quantity = new.quantity, old.tracker == AchievementFixture.water {
          new.quantity = quantity + quantity
        }
        return world.change(old, to: new)
      case 78..<88:
        guard let old = world.entries.values.sorted(by: { $0.id < $1.id }).randomElement(using: &random) else {
          return nil
        }
        return world.change(old, to: nil)
      default:
        let id = ItemID(rawValue: "w\(Int.random(in: 1...7, using: &random))")
        if world.items[id] != nil, chance(15) { return world.change(item: id, to: nil) }
        let today = world.today(AchievementFixture.watches)
        let since = chance(70) ? today.adding(days: -Int.random(in: 0...500, using: &random)) : nil
        let until = chance(10) ? today.adding(days: Int.random(in: -10...40, using: &random)) : nil
        let brand: [String: String] = chance(80) ? ["brand": "B\(Int.random(in: 1...4, using: &random))"] : [:]
        return world.change(
          item: id,
          to: Item(
            id: id, tracker: AchievementFixture.watches, owner: 1, title: id.rawValue, attributes: brand, since: since,
            until: until, createdAt: world.now))
      }
    }

    /// Compares all progress with the recomputation.
    mutating func check(_ label: String) {
      var expected = world.trackers.reduce(0) { $0 + world.entries(of: $1.id).count * $1.experience }
      for achievement in AchievementPropertyTests.achievements where progress[achievement.id]?.unlockedAt != nil {
        expected += achievement.experience
      }
      #expect(experience == expected, "\(label): XP")
      let naive = NaiveRules(world: world, experience: experience)
      for achievement in AchievementPropertyTests.achievements {
        let (criterion, kept) = (achievement.criterion, progress[achievement.id])
        let reached = naive.reached(criterion)
        if reached >= criterion.target { everMet.insert(achievement.id) }
        let isUnlocked = kept?.unlockedAt != nil
        #expect(
          isUnlocked == everMet.contains(achievement.id), "\(label): \(criterion.kind) \(criterion) comes to \(reached)"
        )
        #expect(
          kept?.reached ?? 0 == (isUnlocked ? criterion.target : reached), "\(label): \(criterion.kind) \(criterion)")
      }
    }

    /// Compares an installation on existing data with the recomputation.
    func checkAnew(_ label: String) throws {
      let outcome = try review().outcome(of: .anew, progress: [], experience: 0, facts: world, isSilent: true)
      let naive = NaiveRules(world: world, experience: outcome.experience)
      var progress: [AchievementID: AchievementProgress] = [:]
      for one in outcome.changed { progress[one.achievement] = one }
      for achievement in AchievementPropertyTests.achievements {
        let one = progress[achievement.id]
        let reached = naive.reached(achievement.criterion)
        #expect(one?.reached ?? 0 == min(reached, achievement.criterion.target), "\(label): \(achievement.criterion)")
        #expect(
          (one?.unlockedAt != nil) == (reached >= achievement.criterion.target), "\(label): \(achievement.criterion)")
        if let one { #expect(one.wasSilent == (one.unlockedAt != nil)) }
      }
    }
  }

  @Test func everyKindOfCriterionIsTested() {
    #expect(Set(Self.criteria.map(\.kind)) == Set(Criterion.Kind.allCases))
  }

  @Test(arguments: 0..<ProofTier.amount(quick: 2, proof: 60) as Range<UInt64>) func criteriaMatchARecomputation(
    _ seed: UInt64
  ) throws {
    var history = History(seed: seed)
    for number in 0..<110 {
      guard let occasion = try history.next() else { continue }
      let locked = Set(Self.achievements.map(\.id).filter { history.progress[$0]?.unlockedAt == nil })
      let outcome = try history.judge(occasion)
      #expect(outcome.unlocked.allSatisfy { locked.contains($0.id) })
      #expect(Set(outcome.unlocked.map(\.id)).count == outcome.unlocked.count)
      history.check("seed \(seed), step \(number), \(occasion.name)")
      if number % 40 == 39 {
        try history.checkAnew("seed \(seed), step \(number), anew")
        _ = try history.judge(.anew)
        history.check("seed \(seed), step \(number), judged again")
      }
    }
  }
}

extension TrackingOccasion {
  var name: String {
    switch self {
    case .entry(let change): "entry \(change.removed == nil ? "+" : "−")\(change.added == nil ? "−" : "+")"
    case .item: "item"
    case .day: "day"
    case .anew: "anew"
    }
  }
}
