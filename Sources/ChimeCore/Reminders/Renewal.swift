public import ChimeSchedule

/// Due times that are computed anew: what is under way, what the store refused, and what the store notes of it.
public struct Renewal: Sendable {
  /// What the store refused, to be made up for.
  public private(set) var owed: Set<Recompute> = []
  private var underWay = 0
  /// When the first of what not all due times are computed with changed; nil: all are.
  private var since: Instant?
  /// Whether the machine's zone was among it. It may have come back since.
  private var zoneChanged = false

  /// Under this name the store keeps what the due times in it were computed with.
  private static let noteName = "surroundings"
  /// What it keeps instead while not all are: a daemon after this one could not know with what each was computed, although
  /// it finds things as they were noted before. The time follows.
  private static let changing = "changing "

  public init() {}

  /// - Returns: what to compute due times anew for: these reasons, and those that the store could not take before.
  public mutating func begin(_ reasons: Set<Recompute>, now: Instant) -> Set<Recompute> {
    let all = reasons.union(owed)
    guard !all.isEmpty else { return [] }
    owed = []
    begin(now: now)
    zoneChanged = zoneChanged || all.contains(.localZone)
    return all
  }

  /// Begins to compute some reminders' due times anew that missed a change.
  public mutating func begin(now: Instant) {
    underWay += 1
    since = since ?? now
  }

  public mutating func end() { underWay -= 1 }

  /// They are made up for by the next that begins.
  public mutating func owe(_ reasons: Set<Recompute>, now: Instant) {
    owed.formUnion(reasons)
    since = since ?? now
  }

  /// The store has the note of what all were computed with.
  public mutating func noted() { if isDone { (since, zoneChanged) = (nil, false) } }

  private var isDone: Bool { owed.isEmpty && underWay == 0 }

  /// What the store keeps.
  public static func known(in transaction: any StoreTransaction) throws -> String? { try transaction.note(noteName) }

  /// A daemon before this one ended in the midst of it: what it had begun is still to be done.
  ///
  /// - Parameter known: what the store keeps.
  /// - Returns: whether it did.
  public mutating func goOn(from known: String) -> Bool {
    guard known.hasPrefix(Self.changing) else { return false }
    if let time = Int64(known.dropFirst(Self.changing.count)) { since = Instant(milliseconds: time) }
    return true
  }

  /// Notes along with due times that not all are computed alike; nothing if all are.
  ///
  /// - Parameter isOutdated: whether these are computed with what is no more.
  public func mark(_ transaction: any StoreTransaction, isOutdated: Bool = false, now: Instant) throws {
    guard isOutdated || !isDone else { return }
    try transaction.setNote(Self.noteName, "\(Self.changing)\((since ?? now).milliseconds)")
  }

  /// Notes with what due times have been computed. Others may be under way, or owed: the last of them notes what all were
  /// computed with.
  public func note(_ fingerprint: String, in transaction: any StoreTransaction, now: Instant) throws {
    guard isDone else { return try mark(transaction, now: now) }
    try transaction.setNote(Self.noteName, fingerprint)
    try ScheduleContextLog.keep(fingerprint, since: since ?? now, again: zoneChanged, in: transaction, now: now)
  }
}
