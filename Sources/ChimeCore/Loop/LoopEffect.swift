public import ChimeSchedule

// What a `LoopCore` asks of its shell, and what it reports.
extension LoopCore {
  /// An Effect is something that the shell does for the core, in the order of the list.
  public enum Effect {
    /// Arm the wall-clock timer of due times; nil disarms it. When it fires: `handle(.awake)`.
    case armDue(Instant?)
    /// Arm the timer of the outbox for this wall-clock time, measured on the monotonic clock; nil disarms it. When it
    /// fires: `handle(.awake)`.
    case armOutbox(Instant?)
    /// Arm the alarm that wakes the machine; nil disarms it.
    case armWake(Instant?)
    /// After this time: `retry()`.
    case armRetry(after: Milliseconds)
    /// After this time awake: `sleep(.timeUp)`; nil disarms the timer.
    case armSleep(after: Milliseconds?)
    /// After this time: `checkOtherDaemons`, on a store that several daemons use.
    case armOthers(after: Milliseconds)
    /// Delay the machine's sleep from now on.
    case inhibitSleep
    /// Let the machine sleep.
    case releaseSleep
    /// Begin an attempt.
    case send(OutboundMessage)
    /// Record an answer in a transaction. Report back with `committed`, or with `answerFailed`.
    case answer(OutboxTransaction.Answer)
    /// Run a transaction, and then its continuation.
    case run(StoreJob)
    /// Drop whole months before this edge from a shared store, and then call `prune`, or `pruningFailed`.
    case dropMonths(HistoryEdge?, begunAt: Instant)
    /// Tell whom it concerns.
    case report(Report)
  }

  /// A Report is news for the log, the watchers and the shell's own state.
  public enum Report {
    /// The store was read for the first time, or for the first time after it was replaced: prepare, and call `begin`.
    case started(Start)
    /// The store could not be read at the start.
    case startFailed(any Error)
    case fired(FireTransaction)
    case firedDegraded(DegradedMode.Work, isNowFull: Bool)
    /// An answer is buffered.
    case answeredDegraded(Occurrence, at: Instant)
    /// An answer cannot be taken in degraded mode.
    case answerRefused(OccurrenceID, AnswerRefused)
    /// A part of the buffer was recorded.
    case recorded(DegradedMode.Part, DegradedModeCommit)
    /// An outbox transaction has committed.
    case outcomes(OutboxTransaction, OutboxCommit)
    /// Endpoints were disabled: read them again, and call `adopt`.
    case endpointsChanged
    /// A transaction failed. `isNew` is whether the sentence was not reported since the store last worked.
    case storeFailed(String, StoreConsequence, isNew: Bool)
    case storeUnreadable(String, isNew: Bool)
    /// The store takes changes again; `recorded` times that fired in degraded mode were recorded.
    case storeWorks(recorded: Int)
    /// `tryStore` has ended.
    case storeTried
    /// Due times of an earlier run are computed anew, for this reason.
    case renewal(Inherited)
    /// The time could not be noted in the store.
    case clockNotNoted(any Error)
    /// This number of old times was removed from the history: remove what belongs to it elsewhere.
    case historyPruned(Int, begunAt: Instant)
    case historyNotPruned(any Error)
    /// Other daemons have recorded that these occurrences no longer wait for an answer.
    case answeredElsewhere(Set<OccurrenceID>)
    /// No attempt is in flight after `drain`.
    case drained
    /// The machine is about to sleep.
    case sleeps
    /// Firing was not possible for a time. Read zones and calendars again, and call `contextChanged`.
    case resumed(Resumption)
    /// All outcomes are recorded; `unrecorded` is the number of times that fired and could not be recorded, nil if the
    /// buffer is empty.
    case finished(unrecorded: Int?)
  }

  /// What the first read of the store found.
  public struct Start: Sendable {
    public var endpoints: [Endpoint]
    public var popups: String?
    public var trace: Downtime.Trace?
    var wakeups: NextWakeups
  }

  /// Why a daemon computes the due times of an earlier one anew.
  public enum Inherited: Hashable, Sendable {
    case clockWentBack
    /// The earlier daemon ended while it recomputed.
    case wasUnderWay
    /// These items of the context's text differ.
    case changed([String])
  }

  /// Why firing was not possible for a time.
  public enum Resumption: Hashable, Sendable {
    case slept(Milliseconds)
    case awake
    /// The daemon itself was stopped; nil if the time was too short to mention.
    case stopped(Milliseconds?)
  }

  /// What a failed transaction means for the user.
  public enum StoreConsequence: Hashable, Sendable {
    case remindersWait
    case deliveriesWait
    case resultsAreKept
    case resultsAreLost
    case answersAreKept
    /// Answers wait at the server to which they were sent.
    case answersWait
    case dueTimesMayBeOutdated
    case dueTimesNotRecomputed
    case changesAreRefused
  }
}

/// The changes of one commit, as far as they concern what the loop holds in memory.
public struct CommitChanges: Sendable {
  /// The reminders that it concerns.
  public var reminders: [ReminderID] = []
  /// The reminders whose definition has changed or is gone.
  public var changed: [ReminderID] = []
  public var removed: [ReminderID] = []
  public var pinged: [ReminderID] = []
  /// The occurrences that were closed, or snoozed until the given time.
  public var withdrawn: [OccurrenceID: Instant?] = [:]
  public var cancelled: Set<DeliveryID> = []
  /// The queues that a person made available.
  public var opened: [DeliveryQueue] = []
  /// Whether anything was changed, which proves that the store takes changes.
  public var changesAnything = true

  public init() {}
}
