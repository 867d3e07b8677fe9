import ChimeSchedule

/// Where the machine is between waking and sleeping, as far as the daemon has heard: a value that is told what was
/// heard and says what to do.
///
///     awake → settling → asleep → awake
///
/// logind and the clock both tell of waking, in either order; it is acted on once.
struct SleepCycle: Hashable, Sendable {
  enum Phase: Hashable, Sendable {
    /// Exits: settling.
    case awake
    /// About to sleep, finishing what is under way. Exits: asleep, awake.
    case settling
    /// Ready to sleep, or asleep. Exits: awake.
    case asleep
  }

  enum Event: Hashable, Sendable {
    /// logind says that the machine is about to sleep.
    case sleeps
    /// Nothing is under way any more.
    case settled
    /// The time for the present phase is up.
    case timeUp
    /// logind says that the machine is awake, or does not sleep after all.
    case wakes
    /// The clock tells that the machine has slept.
    case slept
    /// Nobody is there any more to say when the machine wakes.
    case lost
  }

  enum Order: Hashable, Sendable {
    /// Begin nothing new, and finish what is under way.
    case settle
    /// Let go of the lock that keeps the machine awake.
    case release
    /// Look at everything again, and say that the machine is awake.
    case resume
    /// Go on as before, without a word.
    case goOn
    /// Take the lock again.
    case inhibit
    /// `timeUp` is to come after this much time awake; nil: not at all.
    case wait(Milliseconds?)
  }

  private(set) var phase = Phase.awake
  /// Whether the clock told of this waking before logind did.
  private var isTold = false

  /// How long what is under way may keep the machine awake; logind's own limit is 5 s (InhibitDelayMaxSec in
  /// logind.conf(5)).
  static let patience = Milliseconds.seconds(2)
  /// How long the machine may be awake after it was let go before that is taken for no sleep at all: others may keep it
  /// for as long as logind lets them.
  static let failsafe = Milliseconds.minutes(2)

  mutating func handle(_ event: Event) -> [Order] {
    switch (event, phase) {
    case (.sleeps, .awake):
      phase = .settling
      isTold = false
      return [.wait(Self.patience), .settle]
    case (.settled, .settling), (.timeUp, .settling):
      phase = .asleep
      return [.release, .wait(Self.failsafe)]
    case (.timeUp, .asleep), (.lost, .settling), (.lost, .asleep):
      phase = .awake
      return [.wait(nil), .goOn]
    case (.slept, _):
      // Before `sleeps` was heard, it is from a sleep that nobody announced.
      isTold = true
      return wake() + [.resume]
    case (.wakes, _) where isTold:
      isTold = false
      return [.inhibit]
    case (.wakes, _): return wake() + [.inhibit, .resume]
    case (.sleeps, _), (.settled, _), (.timeUp, .awake), (.lost, .awake): return []
    }
  }

  private mutating func wake() -> [Order] {
    defer { phase = .awake }
    return phase == .awake ? [] : [.wait(nil)]
  }
}
