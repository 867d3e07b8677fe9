public import ChimeSchedule

/// A SleepCycle tracks the machine between waking and sleeping. It is a value: it takes events and returns orders.
///
///     awake → settling → asleep → awake
///
/// logind and the clock both report waking, in either order. The daemon acts on it once.
public struct SleepCycle: Hashable, Sendable {
  public enum Phase: Hashable, Sendable {
    /// Exits: settling.
    case awake
    /// The machine is about to sleep; the daemon finishes the work in flight. Exits: asleep, awake.
    case settling
    /// The daemon is ready for sleep, or the machine sleeps. Exits: awake.
    case asleep
  }

  public enum Event: Hashable, Sendable {
    /// logind announces sleep.
    case sleeps
    /// No work is in flight any more.
    case settled
    /// The time limit of the present phase has passed.
    case timeUp
    /// logind reports that the machine is awake, or does not sleep after all.
    case wakes
    /// The clock shows that the machine has slept.
    case slept(Milliseconds)
    /// The connection to logind is lost, so nobody will report waking.
    case lost
  }

  public enum Order: Hashable, Sendable {
    /// Begin nothing new, and finish the work in flight.
    case settle
    /// Release the inhibitor lock.
    case release
    /// Re-evaluate everything, and report that the machine is awake, after sleep of this length if that is known.
    case resume(slept: Milliseconds?)
    /// Continue silently.
    case goOn
    /// Take the inhibitor lock again.
    case inhibit
    /// Deliver `timeUp` after this time awake; nil cancels it.
    case wait(Milliseconds?)
  }

  public private(set) var phase = Phase.awake
  /// Whether the clock reported this waking before logind.
  private var isReportedByClock = false

  public init() {}

  /// The time for which work in flight may delay sleep; logind's own limit is 5 s (InhibitDelayMaxSec in
  /// logind.conf(5)).
  public static let patience = Milliseconds.seconds(2)
  /// The time awake after release of the lock from which no sleep is expected. Other programs may delay sleep for as
  /// long as logind allows.
  public static let failsafe = Milliseconds.minutes(2)

  public mutating func handle(_ event: Event) -> [Order] {
    switch (event, phase) {
    case (.sleeps, .awake):
      phase = .settling
      isReportedByClock = false
      return [.wait(Self.patience), .settle]
    case (.settled, .settling), (.timeUp, .settling):
      phase = .asleep
      return [.release, .wait(Self.failsafe)]
    case (.timeUp, .asleep), (.lost, .settling), (.lost, .asleep):
      phase = .awake
      return [.wait(nil), .goOn]
    case (.slept(let length), _):
      // If the clock reports sleep before `sleeps`, nobody announced that sleep.
      isReportedByClock = true
      return wake() + [.resume(slept: length)]
    case (.wakes, _) where isReportedByClock:
      isReportedByClock = false
      return [.inhibit]
    case (.wakes, _): return wake() + [.inhibit, .resume(slept: nil)]
    case (.sleeps, _), (.settled, _), (.timeUp, .awake), (.lost, .awake): return []
    }
  }

  private mutating func wake() -> [Order] {
    defer { phase = .awake }
    return phase == .awake ? [] : [.wait(nil)]
  }
}
