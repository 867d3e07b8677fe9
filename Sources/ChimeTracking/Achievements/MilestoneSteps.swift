/// The milestones of a measure on its way to a goal: each `step` from the first value on, and the goal itself.
///
/// Each is celebrated once, also when it is crossed again. Once one was celebrated, nothing nearer to the first value is, nor
/// what lies within half a step of it, so that a first value that is corrected does not make the way anew. Without a goal
/// there is no direction, and so no milestone; nor is there beyond the goal.
///
///     let steps = MilestoneSteps(first: kg(90), step: kg(2), goal: kg(80))
///     steps.crossed(by: kg(85.5), celebrated: [kg(88)])    // 86
public struct MilestoneSteps: Hashable, Sendable {
  public var first: Quantity
  /// Nil: the goal alone.
  public var step: Quantity?
  public var goal: Quantity?

  public struct Crossing: Hashable, Sendable {
    public var value: Quantity
    public var isGoal: Bool

    public init(value: Quantity, isGoal: Bool = false) {
      self.value = value
      self.isGoal = isGoal
    }
  }

  /// No more are celebrated at once; of more the farthest are.
  public static let mostAtOnce = 20

  public init(first: Quantity, step: Quantity?, goal: Quantity?) {
    self.first = first
    self.step = step
    self.goal = goal
  }

  /// Nil when the tracker has no goal of a value, or no entry yet.
  public init?(_ tracker: Tracker, _ summary: TrackerSummary) {
    guard tracker.kind == .measure, let goal = tracker.goalValue, let first = summary.firstValue else { return nil }
    self.init(first: first, step: tracker.milestoneStep, goal: goal)
  }

  /// What a value crosses, and was not celebrated: the goal first, when it is reached, then the others in the order in which
  /// they are passed on the way.
  ///
  /// - Parameter celebrated: the values of the milestones that there are, in any order.
  public func crossed(by value: Quantity, celebrated: some Sequence<Quantity>) -> [Crossing] {
    guard let goal, goal != first else { return [] }
    let sign: Int64 = goal > first ? 1 : -1
    func way(_ to: Quantity) -> Int64 { ((to - first).grains).multipliedReportingOverflow(by: sign).partialValue }
    let (length, reached) = (way(goal), way(value))
    let past = celebrated.map(way).filter { $0 > 0 }
    var crossings: [Crossing] = []
    if reached >= length, !past.contains(length) { crossings.append(Crossing(value: goal, isGoal: true)) }
    guard let step = step?.grains, step > 0 else { return crossings }
    let farthest = past.max() ?? 0
    // Steps 1, 2, 3 … that lie short of the goal, up to the value, and half a step beyond what was celebrated.
    let last = min(reached, length - 1) / step
    var next = farthest / step + 1
    if farthest > 0, next * step - farthest < (step + 1) / 2 { next += 1 }
    if last >= next {
      next = max(next, last - Int64(Self.mostAtOnce) + 1)
      crossings += (next...last).map { Crossing(value: first + Quantity(grains: $0 * step * sign)) }
    }
    return crossings
  }

  /// Whether the values have come to a milestone's, or beyond it.
  public func isPassed(_ value: Quantity, by summary: TrackerSummary) -> Bool {
    guard let goal, let least = summary.least, let most = summary.most else { return false }
    return goal < first ? least <= value : most >= value
  }
}
