import ChimeCore
import ChimeTracking

/// TrackingNotices turns a change of trackers into effects: events, popups to take down, notices that have fired.
enum TrackingNotices {
  /// - Parameter what: the words of the event; nil: they describe the logged entry.
  static func of(_ outcome: TrackingOutcome, owner: UInt32, saying what: String? = nil) -> [PostCommitEffect] {
    var effects: [PostCommitEffect] = []
    func tell(_ kind: DaemonEvent.Kind, _ message: String) {
      var daemonEvent = DaemonEvent(kind: kind, owner: owner, title: title(outcome.tracker), message: message)
      daemonEvent.tracker = outcome.tracker?.id
      effects.append(.event(daemonEvent))
    }
    if let what {
      tell(.logged, what)
    } else if let tracker = outcome.tracker, let entry = outcome.entry, outcome.change != nil {
      tell(.logged, "\(tracker.id): \(tracker.subject(of: entry))\(outcome.removed > 0 ? " removed" : "")")
    }
    if outcome.goalMet, let tracker = outcome.tracker { tell(.goal, "\(tracker.id): goal met") }
    if outcome.limit != nil, let tracker = outcome.tracker, let progress = outcome.progress {
      let amounts = PlainWording().limitAmounts(tracker, progress)
      tell(.limit, "\(tracker.id): \(amounts.reached) of \(amounts.of)")
    }
    if let level = outcome.stock, let tracker = outcome.tracker {
      tell(.stock, "\(tracker.id): \(PlainWording().amount(level.left, of: tracker)) left")
    }
    for unlock in outcome.unlocked where !unlock.isSilent {
      tell(.unlocked, "\(unlock.pack): \(unlock.achievement.title.text(in: ["en"])) (\(unlock.achievement.id))")
    }
    for level in outcome.levels { tell(.level, "\(level.pack): level \(level.level), \(level.experience) XP") }
    for milestone in outcome.milestones where milestone.value != nil {
      tell(.milestone, "\(milestone.tracker): \(milestone.title)")
    }
    for occurrence in outcome.closed {
      if occurrence.state == .done {
        effects.append(.occurrence(.done, occurrence, "\"\(occurrence.title)\" done"))
      }
      effects.append(.withdraw(occurrence.id))
    }
    for notice in outcome.notices {
      effects.append(.occurrence(.fired, notice, "\"\(notice.title)\" fired"))
    }
    return effects
  }

  private static func title(_ tracker: Tracker?) -> String? { tracker?.title.text(in: ["en"]) }
}
