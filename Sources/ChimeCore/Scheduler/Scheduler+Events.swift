public import ChimeSchedule

// The events that a `Scheduler` handles, and the effects that it returns.
extension Scheduler {
  public enum Event: Sendable {
    /// A transaction has committed, with the store's next wake-ups since.
    case wakeups(NextWakeups)
    /// A timer fired, the clock was set, the zone changed or the machine woke: evaluate again.
    case awake
    /// The clock was set back by this much: evaluate again, and shorten waits on that clock accordingly.
    case clockWentBack(by: Milliseconds)
    /// The machine is about to sleep: held claims are released, and nothing begins until `.woke`.
    case sleeping
    /// The machine has woken, or does not sleep after all.
    case woke
    /// New policies. The scheduler forgets the failures of `renewed` queues, because their endpoints are different now.
    case policies(DeliveryQueuePolicies, renewed: Set<DeliveryQueue>)
    /// A queue that was unavailable, or that rests, may be available again.
    case opened(DeliveryQueue)
    /// The store's wake-ups, read without a change, because other daemons may have changed them. This says nothing
    /// about whether the store takes writes. Number it with the value that `latestWakeups` had before the read.
    case looked(NextWakeups)
    /// The firing transaction committed. `isEmpty`: it could claim nothing, because other daemons hold what is due.
    case fired(claimed: [Claim], NextWakeups, isEmpty: Bool = false)
    /// The firing transaction failed and changed nothing.
    case firingFailed
    /// A transaction that claims for these queues committed.
    case claimed(Set<DeliveryQueue>, [Claim], NextWakeups)
    /// A transaction that claims for these queues failed and changed nothing.
    case claimFailed(Set<DeliveryQueue>)
    /// The deliveries of a queue cannot be read, for a reason that an immediate retry would not fix.
    case unreadable(DeliveryQueue)
    /// Attempts have ended; their outcomes are on their way to the store.
    case ended([Ending])
    /// Claimed deliveries that have not begun were canceled and must not be sent.
    case dropped([Claim])
    /// The store refuses writes but can be read, as far as is known. Send this before the event of the failed transaction.
    case refused
    /// Something is buffered that the store does not have (`DegradedMode`).
    case buffered
    /// An answer is buffered that the store does not have; it may change when the occurrence repeats.
    case keptAnswer
    /// Due times have fired in degraded mode: the claims to show, and when the next time is due; nil if none is, or if
    /// the buffer is full. `wake`: when to wake the machine. `isBuffered`: whether something is now buffered for the store.
    case firedDegraded([Claim], next: Instant?, wake: Instant? = nil, isBuffered: Bool)
    /// The store cannot even be read. `wake`: when to wake the machine for the times that are known without the store.
    case degradedFiringFailed(wake: Instant? = nil)
    /// A part of the buffer has committed; `rest` says whether more is left.
    case recorded(rest: Bool, NextWakeups)
    case recordFailed
  }

  /// An Ending is the outcome of one attempt, with its queue.
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
    /// Arm the outbox timer for this wall-clock time, measured on the monotonic clock; nil disarms it.
    case armOutbox(Instant?)
    /// Arm the timer that wakes the machine for this time; nil disarms it.
    case armWake(Instant?)
    /// Run one firing transaction for at most `limit` due times, which also claims as many deliveries as `capacity` permits.
    case fire(limit: Int, capacity: Capacity)
    /// Claim at most `limit` deliveries of a queue.
    case claim(DeliveryQueue, limit: Int)
    /// Begin an attempt for a claimed delivery.
    case send(Claim)
    /// Release a claimed delivery without beginning it.
    case release(Claim)
    /// Fire at most `limit` due times in degraded mode, to the desktop only.
    case fireDegraded(limit: Int)
    /// Run one transaction that records buffered results.
    case record
  }
}
