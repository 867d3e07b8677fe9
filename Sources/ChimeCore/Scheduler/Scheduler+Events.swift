public import ChimeSchedule

// What an `Scheduler` is told, and what it answers.
extension Scheduler {
  public enum Event: Sendable {
    /// A transaction has committed, and this is what the store looks like since.
    case wakeups(NextWakeups)
    /// A timer fired, the clock was set, the zone changed, the machine woke: look again.
    case awake
    /// The clock was set back by so much: look again, and what was waited for by that clock is over as soon as before.
    case clockWentBack(by: Milliseconds)
    /// The machine is about to sleep: what is held goes back, and until `.woke` nothing begins.
    case sleeping
    /// The machine has woken, or does not sleep after all.
    case woke
    /// How queues are worked off from now on. What was known of `renewed` ones is forgotten: they are others now.
    case policies(DeliveryQueuePolicies, renewed: Set<DeliveryQueue>)
    /// The way of a queue that was shut is open again.
    case opened(DeliveryQueue)
    /// What the store looks like, read without a change: other daemons may have changed it. Nothing is known from it about
    /// whether the store takes changes. To be numbered with `latestWakeups` as it was before the reading.
    case looked(NextWakeups)
    /// The firing transaction has committed. `isEmpty`: there was nothing to be had, so what is due is with other daemons.
    case fired(claimed: [Claim], NextWakeups, isEmpty: Bool = false)
    /// The firing transaction failed; nothing was changed.
    case firingFailed
    /// A transaction that was to claim for these queues has committed.
    case claimed(Set<DeliveryQueue>, [Claim], NextWakeups)
    /// A transaction that was to claim for these queues failed; nothing was changed.
    case claimFailed(Set<DeliveryQueue>)
    /// What a queue owes cannot be read, for a reason that trying again at once would not mend.
    case unreadable(DeliveryQueue)
    /// Attempts are over; their outcomes are on their way to the store.
    case ended([Ending])
    /// Claimed deliveries that have not begun are not to be sent any more: they have been cancelled.
    case dropped([Claim])
    /// The store can be read as far as is known, and takes no change. Said before the failure of what was tried.
    case refused
    /// Something is known that the store does not have (`DegradedMode`).
    case kept
    /// An answer is known that the store does not have: something may come again at another time than it says.
    case keptAnswer
    /// What was due has been fired without the store: what is to be shown of it, and when the next is due; nil: nothing
    /// more is, or there is no room for it. `wake`: when the machine is to be woken. `kept`: whether the store is owed
    /// something now.
    case stoodIn([Claim], next: Instant?, wake: Instant? = nil, kept: Bool)
    /// Not even reading is possible. `wake`: when the machine is to be woken for what is known without the store.
    case standInFailed(wake: Instant? = nil)
    /// A part of what was kept has committed; `rest` says whether there is more.
    case recorded(rest: Bool, NextWakeups)
    case recordFailed
  }

  /// What came of one attempt.
  public struct Ending: Hashable, Sendable {
    public var queue: DeliveryQueue
    public var outcome: DeliveryQueueOutcome

    public init(_ queue: DeliveryQueue, _ outcome: DeliveryQueueOutcome) {
      self.queue = queue
      self.outcome = outcome
    }
  }

  public enum Effect: Hashable, Sendable {
    /// Arm the wall-clock timer for this time; nil disarms it.
    case armDue(Instant?)
    /// Arm the outbox's timer: the wall-clock time at which a delivery may be tried, to be waited for on the
    /// monotonic clock. Nil disarms it.
    case armOutbox(Instant?)
    /// Arm the timer that wakes the machine for this time; nil disarms it.
    case armWake(Instant?)
    /// Run one firing transaction for at most `limit` due times, claiming at once what its queues have room for.
    case fire(limit: Int, capacity: Capacity)
    /// Claim at most `limit` deliveries of a queue.
    case claim(DeliveryQueue, limit: Int)
    /// Begin an attempt at a delivery that has been claimed.
    case send(Claim)
    /// Give a claimed delivery back: it is not begun.
    case release(Claim)
    /// Fire at most `limit` due times without the store, to the desktop.
    case fireDegraded(limit: Int)
    /// Run one transaction that records what is kept.
    case record
  }
}
