import ChimeControl
import ChimeWords

/// The trend of a measure, and whether it leads toward the goal.
struct MeasureTrend {
  typealias T = TrackersInterface

  enum Heading { case towards, away, neither }

  /// The change of the average per week.
  var rate: Double
  var direction: T.GoalProgress.Direction
  var heading: Heading

  /// - Parameters:
  ///   - direction: nil derives it from the rate. A rate that rounds to zero is steady.
  ///   - value: the latest value, which determines the direction of the goal.
  init(_ rate: Double, _ direction: T.GoalProgress.Direction? = nil, value: Double?, of tracker: T.Tracker) {
    let shown = [0.05, 0.05, 0.005, 0.000_5][min(max(tracker.decimals, 1), 3)]
    self.rate = rate
    self.direction = rate.magnitude < shown ? .steady : direction ?? (rate > 0 ? .up : .down)
    guard let goal = tracker.goal?.value, let value, value != goal, self.direction != .steady else {
      heading = .neither
      return
    }
    heading = (goal < value) == (self.direction == .down) ? .towards : .away
  }

  init?(_ progress: T.GoalProgress) {
    guard progress.tracker.kind == .measure, let rate = progress.weeklyRate else { return nil }
    self.init(rate, progress.direction, value: progress.value, of: progress.tracker)
    if progress.isGoalValueReached { heading = .neither }
  }

  init?(_ statistics: T.Statistics) {
    guard statistics.tracker.kind == .measure, let rate = statistics.weeklyRate else { return nil }
    self.init(rate, statistics.direction, value: statistics.last?.value, of: statistics.tracker)
  }

  var arrow: String {
    switch direction {
    case .up: "↗"
    case .down: "↘"
    case .steady: "→"
    }
  }

  /// Green toward the goal, red away from it; the arrow shows the direction without color.
  var tone: Style.Tone {
    switch heading {
    case .towards: .good
    case .away: .bad
    case .neither: .plain
    }
  }

  /// Returns `↘ 0.7 a week`; the arrow replaces the sign.
  func text(_ words: TrackerWords, _ tracker: T.Tracker) -> String {
    let number = LocalizedFormat.number(rate.magnitude, decimals: max(1, tracker.decimals))
    return "\(arrow) " + localized("%1 a week", number)
  }

  /// Returns `towards the goal`; nil without a goal or without movement.
  var about: String? {
    switch heading {
    case .towards: localized("towards the goal")
    case .away: localized("away from the goal")
    case .neither: nil
    }
  }
}

extension TrackerWords {
  /// Returns the command that logs an entry: `chime log goal`, `chime log weight 80kg`, `chime log watches …`. For an
  /// additional measure, it includes the main value.
  func logging(_ tracker: Tracker, _ field: String? = nil) -> String {
    if let field { return "\(logging(tracker)) --field \(field)=…" }
    if tracker.hasItems { return "chime log \(tracker.id) …" }
    let asksForAmount = tracker.kind == .measure || tracker.kind == .amount && tracker.usual == nil
    guard asksForAmount else { return "chime log \(tracker.id)" }
    return "chime log \(tracker.id) " + (Log.knownValue(tracker) == nil ? "…" : Log.example(tracker))
  }

  /// Returns the forecast of the goal: `80.0 kg on 2026-07-02`; nil without one.
  func outlook(_ progress: GoalProgress) -> String? {
    guard let day = progress.goalOn, let goal = goal(progress.tracker) else { return nil }
    return localized("%1 on %2", goal, date(day))
  }

  /// Returns each additional measure with its name: `body-fat 18.5 %`.
  func fields(_ values: [String: Double], _ tracker: Tracker) -> [String] {
    values.sorted { $0.key < $1.key }.map { name, value in
      [TerminalSanitizer.line(name), Self.shortest(value), tracker.fields[name].map { TerminalSanitizer.line($0) }]
        .compactMap { $0 }.joined(separator: " ")
    }
  }
}
