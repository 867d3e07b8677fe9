/// MilestoneSteps are a measure's milestones on the way to its goal: each `step` from the first value on, and the goal.
///
/// Each is celebrated once, even if it is crossed again. After one was celebrated, none nearer to the first value is,
/// nor any within half a step of it, so that correcting the first value does not restart the way. Without a goal there
/// is no direction and so no milestone, nor is there one beyond the goal.
///
///     let steps = MilestoneSteps(first: kg(90), step: kg(2), goal: kg(80))
///     steps.crossed(by: kg(85.5), celebrated: [kg(88)])    // 86
public struct MilestoneSteps: Hashable, Sendable {
  public var first: Quantity
  /// The distance between milestones; nil for the goal only.
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

  /// The most milestones celebrated at once; of more, the farthest.
  public static let mostAtOnce = 20

  public init(first: Quantity, step: Quantity?, goal: Quantity?) {
    self.first = first
    self.step = step
    self.goal = goal
  }

  /// Creates the steps; nil if the tracker has no goal value or no entry yet.
  public init?(_ tracker: Tracker, _ summary: TrackerSummary) {
    guard tracker.kind == .measure, let goal = tracker.goalValue, let first = summary.firstValue else { return nil }
    self.init(first: first, step: tracker.milestoneStep, goal: goal)
  }

  /// Returns the uncelebrated milestones that a value crosses: the goal first, if reached, then the others in order.
  ///
  /// - Parameter celebrated: the values of existing milestones, in any order.
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
    // Steps 1, 2, 3 … short of the goal, up to the value, at least half a step beyond the last celebrated one.
    let last = min(reached, length - 1) / step
    var next = farthest / step + 1
    if farthest > 0, next * step - farthest < (step + 1) / 2 { next += 1 }
    if last >= next {
      next = max(next, last - Int64(Self.mostAtOnce) + 1)
      crossings += (next...last).map { Crossing(value: first + Quantity(grains: $0 * step * sign)) }
    }
    return crossings
  }

  /// Returns whether the values have reached a milestone's value.
  public func isPassed(_ value: Quantity, by summary: TrackerSummary) -> Bool {
    guard let goal, let least = summary.least, let most = summary.most else { return false }
    return goal < first ? least <= value : most >= value
  }
}
