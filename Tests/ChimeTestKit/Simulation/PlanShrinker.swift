import ChimeSchedule

/// Minimizes a failing plan by trying what it can do without (delta debugging: Zeller and Hildebrandt, "Simplifying and
/// Isolating Failure-Inducing Input", 2002).
///
///     var shrinker = PlanShrinker(tries: 400)
///     let small = shrinker.shrink(plan)
public struct PlanShrinker {
  /// The number of runs that may still be tried.
  public private(set) var tries: Int

  public init(tries: Int = 600) { self.tries = tries }

  private mutating func fails(_ plan: SimulationPlan) -> Bool {
    guard tries > 0 else { return false }
    tries -= 1
    return Simulation.run(plan).fault != nil
  }

  public mutating func shrink(_ plan: SimulationPlan) -> SimulationPlan {
    var plan = withoutActions(shortened(plan))
    plan = withPlainWords(plan)
    return withoutActions(shortened(plan))
  }

  /// Shortens the plan to end soon after the last relevant action.
  private mutating func shortened(_ plan: SimulationPlan) -> SimulationPlan {
    var (low, best) = (1, plan)
    while low < best.days {
      var shorter = best
      shorter.days = (low + best.days) / 2
      shorter.actions.removeAll { $0.at >= .days(Int64(shorter.days)) }
      if fails(shorter) { best = shorter } else { low = shorter.days + 1 }
    }
    return best
  }

  private mutating func withoutActions(_ plan: SimulationPlan) -> SimulationPlan {
    var plan = plan
    var size = max(1, plan.actions.count / 2)
    while true {
      var start = 0
      var isSmaller = false
      while start < plan.actions.count {
        var smaller = plan
        smaller.actions.removeSubrange(start..<min(start + size, plan.actions.count))
        if fails(smaller) {
          plan = smaller
          isSmaller = true
        } else {
          start += size
        }
      }
      if size == 1, !isSmaller { return plan }
      size = max(1, size / 2)
      if tries == 0 { return plan }
    }
  }

  /// Removes the irrelevant words of reminders and channels.
  private mutating func withPlainWords(_ plan: SimulationPlan) -> SimulationPlan {
    var plan = plan
    for position in plan.actions.indices {
      for key in plan.actions[position].words.keys.sorted() where key != "when" && key != "mood" {
        var plainer = plan
        plainer.actions[position].words[key] = nil
        if fails(plainer) { plan = plainer }
      }
    }
    return plan
  }
}
