import ChimeTestKit
import ChimeTracking
import Testing

@Suite struct MilestoneStepsTests {
  typealias Crossing = MilestoneSteps.Crossing
  static func kg(_ value: Double) -> Quantity { AchievementFixture.kg(value) }
  static let down = MilestoneSteps(first: kg(90), step: kg(2), goal: kg(83))

  @Test(
    arguments: [
      (90.5, [], []), (88.1, [], []), (88, [], [88]), (85.5, [], [88, 86]), (85.5, [88], [86]), (86, [88, 86], []),
      (83, [88, 86], [83, 84]), (80, [], [83, 88, 86, 84]), (80, [83, 84], []),
      // A relapse, and the same steps again.
      (87.9, [86, 88], []),
      // The first value was 90.4 when 88.4 was celebrated.
      (88, [88.4], []), (86, [88.4], [86]),
    ] as [(Double, [Double], [Double])])
  func stepsDownToAGoalAreCelebratedOnce(_ value: Double, _ celebrated: [Double], _ expected: [Double]) {
    let crossed = Self.down.crossed(by: Self.kg(value), celebrated: celebrated.map(Self.kg))
    #expect(crossed == expected.map { Crossing(value: Self.kg($0), isGoal: $0 == 83) })
  }

  @Test func stepsGoUpwardsAndWithoutAGoal() {
    let up = MilestoneSteps(first: Self.kg(50), step: Self.kg(5), goal: Self.kg(60))
    #expect(up.crossed(by: Self.kg(56), celebrated: []).map(\.value) == [Self.kg(55)])
    // A step at the goal is the goal, and counts once.
    #expect(up.crossed(by: Self.kg(66), celebrated: []).map(\.value) == [Self.kg(60), Self.kg(55)])
    #expect(up.crossed(by: Self.kg(40), celebrated: []).isEmpty)
    #expect(
      MilestoneSteps(first: Self.kg(50), step: Self.kg(5), goal: nil).crossed(by: Self.kg(70), celebrated: []).isEmpty)
    #expect(
      MilestoneSteps(first: Self.kg(50), step: nil, goal: Self.kg(60)).crossed(by: Self.kg(61), celebrated: []).count
        == 1)
    #expect(
      MilestoneSteps(first: Self.kg(50), step: Self.kg(1), goal: Self.kg(50)).crossed(by: Self.kg(40), celebrated: [])
        .isEmpty)
  }

  @Test func tinyStepIsBounded() {
    let steps = MilestoneSteps(first: Self.kg(90), step: Quantity(grains: 1), goal: Self.kg(60))
    let crossed = steps.crossed(by: Self.kg(61), celebrated: [])
    #expect(crossed.count == MilestoneSteps.mostAtOnce)
    #expect(crossed.last?.value == Self.kg(61))
    #expect(steps.crossed(by: Self.kg(61), celebrated: crossed.map(\.value)).isEmpty)
  }

  /// Never twice, in order, and every step passed, whatever the course.
  @Test(arguments: 0..<60 as Range<UInt64>) func everyStepIsCelebratedOnceInOrder(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func grams(_ range: ClosedRange<Int>) -> Quantity {
      Self.kg(Double(Int.random(in: range, using: &random)) / 1_000)
    }
    let first = grams(60_000...100_000)
    let goal = grams(60_000...100_000)
    let step = grams(500...7_000)
    let steps = MilestoneSteps(first: first, step: step, goal: goal)
    let isDown = goal < first
    func isPast(_ value: Quantity, _ mark: Quantity) -> Bool { isDown ? value <= mark : value >= mark }
    // All steps, one after the other.
    var marks: [Quantity] = []
    var mark = first
    while true {
      mark = isDown ? mark - step : mark + step
      if goal == first || isPast(mark, goal) { break }
      marks.append(mark)
    }
    var celebrated: [Quantity] = []
    var farthest = first
    for _ in 0..<60 {
      let value = grams(55_000...105_000)
      let crossed = steps.crossed(by: value, celebrated: celebrated.shuffled(using: &random))
      let before = farthest
      if isPast(value, farthest) { farthest = value }
      var expected = marks.filter { isPast(farthest, $0) && !isPast(before, $0) }
      let isThere = goal != first && isPast(farthest, goal) && !isPast(before, goal)
      if isThere { expected.insert(goal, at: 0) }
      if expected.count <= MilestoneSteps.mostAtOnce { #expect(crossed.map(\.value) == expected) }
      #expect(crossed.first?.isGoal ?? false == isThere)
      #expect(crossed.allSatisfy { !celebrated.contains($0.value) })
      celebrated += crossed.map(\.value)
    }
    #expect(Set(celebrated).count == celebrated.count)
  }
}
