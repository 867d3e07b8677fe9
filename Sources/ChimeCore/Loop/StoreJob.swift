public import ChimeSchedule

/// A StoreJob is one transaction that a `LoopCore` asks for, as a value that a shell can take to the store's thread.
///
///     let next = job.writes ? try await store.write { try job.run(in: $0, &setting) } : …
///     core.run(at: clock.now, next)
public struct StoreJob: Sendable {
  /// What the transaction is for.
  public enum Kind: Sendable {
    case read
    case start
    case fire
    case outbox([Outcome])
    case record(DegradedMode.Part)
    case recomputeDueTimes
    case reevaluateHeld
    /// Retries the waiting deliveries of queues, or releases claims that others left in them.
    case wake
    case note
    /// Removes old history.
    case history
  }

  /// A Setting is what a transaction needs besides the store.
  public struct Setting {
    public var now: Instant
    public var random: any RandomNumberGenerator
    /// Reads the store's next wake-ups and numbers them in the order of transactions.
    public var readWakeups: (any StoreTransaction) throws -> NextWakeups
    /// Called after each recorded piece of a `DegradedMode`.
    public var didRecord: (DegradedModeCommit.Piece, DegradedModeCommit) -> Void = { _, _ in }

    public init(
      now: Instant, random: any RandomNumberGenerator,
      readWakeups: @escaping (any StoreTransaction) throws -> NextWakeups
    ) {
      self.now = now
      self.random = random
      self.readWakeups = readWakeups
    }
  }

  /// What the core does with the result.
  public typealias Continuation = @Sendable (inout LoopCore) -> Void

  public let kind: Kind
  /// The context and the uptime that the transaction uses.
  public let context: ReminderContext
  public let uptime: Uptime
  private let body: @Sendable (any StoreTransaction, inout Setting) throws -> Continuation
  private let failure: @Sendable (inout LoopCore, any Error) -> Void

  init(
    _ kind: Kind, _ context: ReminderContext, _ uptime: Uptime,
    _ body: @escaping @Sendable (any StoreTransaction, inout Setting) throws -> Continuation,
    failed failure: @escaping @Sendable (inout LoopCore, any Error) -> Void
  ) {
    self.kind = kind
    self.context = context
    self.uptime = uptime
    self.body = body
    self.failure = failure
  }

  /// Whether it needs a transaction that may write.
  public var writes: Bool { if case .read = kind { false } else { true } }

  /// Runs the job in `transaction`.
  ///
  /// - Returns: what to run on the core once the transaction has committed.
  /// - Throws: errors of the transaction, which then must not be committed; pass them to `failed`.
  public func run(in transaction: any StoreTransaction, _ setting: inout Setting) throws -> Continuation {
    try body(transaction, &setting)
  }

  /// Returns what to run on the core after `error`.
  public func failed(_ error: any Error) -> Continuation {
    { [failure] core in failure(&core, error) }
  }
}
