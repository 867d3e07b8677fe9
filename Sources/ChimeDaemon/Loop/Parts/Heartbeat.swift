import ChimeSchedule

/// A Heartbeat decides whether an external monitor is told that this daemon can fire. It is a value; the loop passes in
/// the time and the signs.
struct Heartbeat: Sendable {
  /// The conditions that firing depends on.
  struct Signs: Sendable {
    /// The reason why the store takes no changes or does not answer; nil if it has just taken one.
    var storeProblem: String?
    /// The earliest due time.
    var nextDue: Instant?
    /// Whether a timer is armed for `nextDue` or its firing is in progress.
    var isAwaited = true
  }

  enum Step: Hashable, Sendable {
    case beat
    /// Report once why nothing can fire.
    case fail(String)
    case nothing
  }

  /// The reason why no heartbeat is sent; nil if all is well.
  private(set) var problem: String?
  /// The reason why the monitor did not accept the last heartbeat.
  private(set) var refusal: String?
  /// The time when the last heartbeat was accepted.
  private(set) var acceptedAt: Instant?
  private var needsFailure = false
  /// The due time that has not fired since the last check, and the time when that was first seen.
  private var stalled: (due: Instant, since: Instant)?

  /// The time for which the same due time may stay before firing counts as stalled. Many due times fire in batches, one
  /// after another.
  static let patience = Milliseconds.minutes(1)

  mutating func step(_ signs: Signs, at now: Instant) -> Step {
    let stall = stall(signs.nextDue, at: now)
    let found = signs.storeProblem ?? (signs.isAwaited ? stall : "no timer is set for the next due time")
    if found != nil, problem == nil { needsFailure = true }
    problem = found
    guard let found else {
      needsFailure = false
      return .beat
    }
    return needsFailure ? .fail(found) : .nothing
  }

  private mutating func stall(_ due: Instant?, at now: Instant) -> String? {
    guard let due, due <= now else {
      stalled = nil
      return nil
    }
    // After a step back of the clock the measurement restarts.
    guard let known = stalled, known.due == due, known.since <= now else {
      stalled = (due, now)
      return nil
    }
    return now - known.since >= Self.patience ? "due reminders do not fire" : nil
  }

  mutating func taken(_ step: Step, at now: Instant) {
    refusal = nil
    if step == .beat { acceptedAt = now } else { needsFailure = false }
  }

  mutating func refused(_ why: String) { refusal = why }

  /// The sentence for the user; nil if all is well.
  var sentence: String? {
    problem.map { "the heartbeat cannot be sent: \($0)" }
      ?? refusal.map { "the receiver does not accept the heartbeat: \($0)" }
  }
}
