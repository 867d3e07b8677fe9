import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Testing

/// Perfect weeks while days are completed and undone one by one.
@Suite struct PerfectWeekTests {
  static let achievements = (1...5).map { target in
    Achievement(
      id: AchievementID(rawValue: "weeks-\(target)"), title: "w", text: "w",
      criterion: Criterion(.perfectWeek, tracker: target == 5 ? AchievementFixture.water : nil, target: target))
  }

  @Test(arguments: 0..<ProofTier.amount(quick: 2, proof: 60) as Range<UInt64>) func runsMatchARecomputation(
    _ seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    var world = AchievementFixture(Self.achievements)
    world.now = AchievementFixture.instant(AchievementFixture.start.plus(45), minute: 1_200)
    var progress: [AchievementID: AchievementProgress] = [:]
    for number in 0..<260 {
      let tracker =
        [AchievementFixture.water, AchievementFixture.prayer].randomElement(using: &random) ?? AchievementFixture.water
      let day = AchievementFixture.start.plus(Int.random(in: 0...45, using: &random))
      let there = world.entries(of: tracker).first { $0.day == day }
      let occasion: TrackingOccasion
      if let there, Int.random(in: 0..<10, using: &random) < 3 {
        // Removed, or moved to another day.
        let other = AchievementFixture.start.plus(Int.random(in: 0...45, using: &random))
        let moved = world.entry(
          tracker, at: AchievementFixture.instant(other, minute: 700), quantity: there.quantity)
        occasion = world.change(there, to: Bool.random(using: &random) ? moved : nil)
      } else if there == nil {
        let entry = world.entry(
          tracker, at: AchievementFixture.instant(day, minute: 700),
          quantity: tracker == AchievementFixture.water ? AchievementFixture.ml(1_000) : nil)
        occasion = world.change(nil, to: entry)
      } else {
        continue
      }
      let review = AchievementReview(world.pack, trackers: world.trackers, now: world.now, zone: .utc)
      let outcome = try review.outcome(of: occasion, progress: Array(progress.values), experience: 0, facts: world)
      for one in outcome.changed { progress[one.achievement] = one }
      let naive = NaiveRules(world: world, experience: 0)
      for achievement in Self.achievements where progress[achievement.id]?.unlockedAt == nil {
        let reached = naive.reached(achievement.criterion)
        #expect(reached < achievement.criterion.target, "seed \(seed), step \(number), \(achievement.id)")
        #expect(progress[achievement.id]?.reached ?? 0 == reached, "seed \(seed), step \(number), \(achievement.id)")
      }
    }
  }

  /// Fourteen days are two weeks, with a Sunday and a pause in between on which nothing was due.
  @Test func daysWithoutADueTrackerAreSkipped() throws {
    var world = AchievementFixture(Self.achievements)
    world.pack.achievements = [
      Achievement(
        id: AchievementID(rawValue: "p"), title: "p", text: "p",
        criterion: Criterion(.perfectWeek, tracker: AchievementFixture.prayer, target: 3))
    ]
    world.now = AchievementFixture.instant(AchievementFixture.start.plus(45), minute: 1_200)
    for offset in 0..<24 {
      _ = world.change(
        nil,
        to: world.entry(
          AchievementFixture.prayer, at: AchievementFixture.instant(AchievementFixture.start.plus(offset), minute: 700))
      )
    }
    // Of 24 days three are Sundays, three more are in the pause, and one is skipped.
    let outcome = try AchievementReview(world.pack, trackers: world.trackers, now: world.now, zone: .utc)
      .outcome(of: .anew, progress: [], experience: 0, facts: world)
    #expect(outcome.changed.map(\.reached) == [2])
  }
}
