public import ChimeSchedule

/// A Renewal tracks the recomputation of due times: what is in flight, what the store refused, and what its note says.
public struct Renewal: Sendable {
  /// Reasons that the store refused, to be retried.
  public private(set) var pending: Set<Recompute> = []
  private var underWay = 0
  /// When the first change happened that some due times do not reflect yet; nil if all are up to date.
  private var since: Instant?
  /// Whether the machine's zone was among the changes. It may have changed back since.
  private var zoneChanged = false

  /// The name of the note that records what the due times were computed with.
  private static let noteName = "context"
  /// The note's prefix while due times were computed with different contexts; the time follows. The next daemon cannot
  /// know which ones are stale, even if everything looks as noted before.
  private static let changing = "changing "

  public init() {}

  /// Starts a recomputation, and returns its reasons: the given ones and those that the store refused before.
  public mutating func begin(_ reasons: Set<Recompute>, now: Instant) -> Set<Recompute> {
    let all = reasons.union(pending)
    guard !all.isEmpty else { return [] }
    pending = []
    begin(now: now)
    zoneChanged = zoneChanged || all.contains(.localZone)
    return all
  }

  /// Starts to recompute the due times of some reminders that missed a change.
  public mutating func begin(now: Instant) {
    underWay += 1
    since = since ?? now
  }

  public mutating func end() { underWay -= 1 }

  /// Keeps reasons that the store refused, for the next recomputation.
  public mutating func owe(_ reasons: Set<Recompute>, now: Instant) {
    pending.formUnion(reasons)
    since = since ?? now
  }

  /// Notes that the store's note covers all due times.
  public mutating func noted() { if isDone { (since, zoneChanged) = (nil, false) } }

  private var isDone: Bool { pending.isEmpty && underWay == 0 }

  /// Returns the store's note.
  public static func known(in transaction: any StoreTransaction) throws -> String? { try transaction.note(noteName) }

  /// Resumes the recomputation of a previous daemon that ended in the middle of it.
  ///
  /// - Parameter known: the store's note.
  /// - Returns: whether there was one to resume.
  public mutating func goOn(from known: String) -> Bool {
    guard known.hasPrefix(Self.changing) else { return false }
    if let time = Int64(known.dropFirst(Self.changing.count)) { since = Instant(milliseconds: time) }
    return true
  }

  /// Notes, in a transaction that writes due times, that not all are computed alike; does nothing if all are.
  ///
  /// - Parameter isOutdated: whether the written times are based on an outdated context.
  public func mark(_ transaction: any StoreTransaction, isOutdated: Bool = false, now: Instant) throws {
    guard isOutdated || !isDone else { return }
    try transaction.setNote(Self.noteName, "\(Self.changing)\((since ?? now).milliseconds)")
  }

  /// Notes what the due times were computed with. While others are in flight or refused, the last one writes that note.
  public func note(_ fingerprint: String, in transaction: any StoreTransaction, now: Instant) throws {
    guard isDone else { return try mark(transaction, now: now) }
    try transaction.setNote(Self.noteName, fingerprint)
    try ScheduleContextLog.keep(fingerprint, since: since ?? now, again: zoneChanged, in: transaction, now: now)
  }
}
