import ChimeSchedule

/// Whether whoever watches from outside is to be told that this daemon can fire. A value: the loop gives it the time and
/// what it sees.
struct Heartbeat: Sendable {
  /// What firing depends on.
  struct Signs: Sendable {
    /// Why the store takes no changes, or does not answer; nil: it has just taken one.
    var storeProblem: String?
    /// The earliest time to come.
    var nextDue: Instant?
    /// Whether a timer is armed for that, or it is being fired.
    var isAwaited = true
  }

  enum Step: Hashable, Sendable {
    case beat
    /// To say once why nothing could fire.
    case fail(String)
    case nothing
  }

  /// Why none is sent; nil: nothing is in the way.
  private(set) var problem: String?
  /// Why the last was not taken.
  private(set) var refusal: String?
  /// When the last was taken.
  private(set) var takenAt: Instant?
  private var owesFailure = false
  /// What was due when it was last looked at and has not fired since, and from when on.
  private var stalled: (due: Instant, since: Instant)?

  /// For how long the same time may be due before firing counts as stopped: what comes due is fired at once, many one batch
  /// after the other.
  static let patience = Milliseconds.minutes(1)

  mutating func step(_ signs: Signs, at now: Instant) -> Step {
    let stall = stall(signs.nextDue, at: now)
    let found = signs.storeProblem ?? (signs.isAwaited ? stall : "no timer is set for the next due time")
    if found != nil, problem == nil { owesFailure = true }
    problem = found
    guard let found else {
      owesFailure = false
      return .beat
    }
    return owesFailure ? .fail(found) : .nothing
  }

  private mutating func stall(_ due: Instant?, at now: Instant) -> String? {
    guard let due, due <= now else {
      stalled = nil
      return nil
    }
    // A clock that was set back begins anew.
    guard let known = stalled, known.due == due, known.since <= now else {
      stalled = (due, now)
      return nil
    }
    return now - known.since >= Self.patience ? "due reminders do not fire" : nil
  }

  mutating func taken(_ step: Step, at now: Instant) {
    refusal = nil
    if step == .beat { takenAt = now } else { owesFailure = false }
  }

  mutating func refused(_ why: String) { refusal = why }

  /// What a person should know.
  var sentence: String? {
    problem.map { "the heartbeat cannot be sent: \($0)" }
      ?? refusal.map { "the receiver does not accept the heartbeat: \($0)" }
  }
}
