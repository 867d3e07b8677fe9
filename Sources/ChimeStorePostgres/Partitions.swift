import ChimeCore
import ChimeRecords
import ChimeSchedule
import Glibc

/// Partitions manages the monthly partitions of occurrences and attempts: creates them ahead and drops them when the
/// history's edge has passed.
///
/// It has its own session, which nothing else waits for, and uses it on one queue. Only the step that detaches a month
/// blocks others. That step is one statement and waits at most `patience` for its locks, because later statements queue
/// behind it.
struct Partitions {
  let connection: Connection
  let place: PostgresConfiguration
  /// Whether the store is closing, so that no new step begins.
  let isStopping: () -> Bool

  /// The number of months after this one that are created ahead.
  static let ahead = 2
  /// The lock timeout of a step in milliseconds. It is shorter than PostgreSQL's deadlock_timeout (1 s).
  static let patience = 300
  /// The number of rows that one transaction examines.
  static let batch = 5_000

  /// An existing partition.
  struct Month {
    var start: Instant
    var end: Instant
    /// The approximate number of occurrences; negative if unknown.
    var rows: Int64
  }

  /// Lists the existing partitions.
  ///
  /// - Throws: `StoreFailure`
  func list() throws -> [Month] {
    try connection.all(
      """
      SELECT month_start(month), month_start((month + interval '1 month')::date), rows::bigint FROM months()
      ORDER BY month
      """
    ) { Month(start: $0.instant(0), end: $0.instant(1), rows: $0.int64(2)) }
  }

  // MARK: Creation

  /// Creates the missing partitions for this month and the next ones. Until then their rows are in the default partition.
  ///
  /// - Throws: `StoreFailure`; a failure stops nothing else from working.
  static func makeAhead(_ connection: Connection) throws {
    let missing = try connection.all(
      """
      SELECT month_start(m::date) FROM generate_series(0, $1) n
        CROSS JOIN LATERAL (
          SELECT date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + n * interval '1 month') x (m)
      WHERE to_regclass('chime.occurrence_' || to_char(m, 'YYYY_MM')) IS NULL
      """, Self.ahead
    ) { $0.instant(0) }
    if missing.isEmpty { return }
    let before = try connection.script("SELECT current_setting('lock_timeout')") ?? "0"
    try connection.script("SELECT set_config('lock_timeout', '\(patience)', false)")
    defer { _ = try? connection.script("SELECT set_config('lock_timeout', '\(before)', false)") }
    for month in missing { try connection.run("SELECT make_month(month_of($1))", month) }
  }

  // MARK: Dropping

  /// Creates months ahead, and drops expired ones. Returns the result and what is left to prune row by row.
  ///
  /// - Throws: `StoreFailure` if the session was lost.
  func work(_ edge: HistoryEdge?) throws -> PruneResult {
    var result = PruneResult(rest: edge)
    guard try connection.script("SELECT pg_try_advisory_lock(\(Schema.monthLock))::text") == "true" else {
      // Another daemon is doing this work, and pruning here would interfere.
      return PruneResult(rest: nil)
    }
    // The server releases a session's locks some time after its end, which may be after the next run begins.
    defer { _ = try? connection.script("SELECT pg_advisory_unlock(\(Schema.monthLock))") }
    if let failure = try failure({ try Self.makeAhead(connection) }) { result.problems.append(failure) }
    if let end = edge?.end, let edge {
      let now = try connection.first("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint") { $0.instant(0) }
      var left: [Month] = []
      for month in try list() where month.start < end {
        guard month.end <= end, let now, month.end <= now else {
          left.append(month)
          continue
        }
        if try mustTryAgain(toDrop: month, edge, &result) { left.append(month) }
      }
      result.rest = rest(of: edge, left)
      if result.months > 0 { try forgetNames() }
    }
    if let failure = try failure({ try analyze() }) { result.problems.append(failure) }
    return result
  }

  /// Runs an optional step with a short lock timeout, and returns the reason if it fails.
  ///
  /// - Throws: `StoreFailure` if the session was lost.
  private func failure(_ body: () throws -> Void) throws -> StoreFailure? {
    try connection.script("SELECT set_config('lock_timeout', '\(Self.patience)', false)")
    var found: StoreFailure?
    do {
      try body()
    } catch {
      guard !connection.isLost else { throw error }
      connection.rollBack()
      found = error as? StoreFailure ?? .internalError("\(error)")
    }
    try connection.script("SELECT set_config('lock_timeout', '\(place.lockTimeout)', false)")
    return found
  }

  /// Returns the edge for pruning row by row. A very large month waits by age until all of it can be dropped; the limit
  /// on the number of occurrences still applies at once.
  private func rest(of edge: HistoryEdge, _ left: [Month]) -> HistoryEdge {
    guard let month = left.first(where: { $0.rows >= place.wholePartitions }), let oldest = edge.oldest,
      oldest > month.start, edge.first.map({ $0 <= month.start }) ?? true
    else { return edge }
    return HistoryEdge(oldest: month.start, first: edge.first)
  }

  /// Drops an expired month, unless too many rows stay, so that it is pruned row by row. Returns whether the next run
  /// has to try again.
  private func mustTryAgain(toDrop month: Month, _ edge: HistoryEdge, _ result: inout PruneResult) throws -> Bool {
    // The first pass only counts, so that a month that is kept is not changed.
    guard let taken = try lookThrough(month, edge, upTo: place.mostStaying, taking: false) else { return isStopping() }
    if let failure = try failure({ try watch(month) }) {
      result.problems.append(failure)
      return true
    }
    guard try lookThrough(month, edge, upTo: .max, taking: true) != nil else { return true }
    var turn = 1
    while let failure = try failure({ try takeOut(month, edge) }) {
      guard turn < place.dropTurns, !isStopping() else {
        result.problems.append(failure)
        return true
      }
      turn += 1
      usleep(500_000)
    }
    result.months += 1
    result.count += taken
    return false
  }

  private func takeOut(_ month: Month, _ edge: HistoryEdge) throws {
    try connection.run("SELECT drop_month(month_of($1), $2, $3)", month.start, edge.oldest, edge.first)
  }

  /// Records all changes of a month from now on. Transactions that changed it before have ended when this returns.
  private func watch(_ month: Month) throws {
    let name = try connection.first("SELECT 'occurrence' || to_char(month_of($1), '_YYYY_MM')", month.start) {
      $0.text(0)
    }
    guard let name else { return }
    try connection.script(
      """
      CREATE OR REPLACE TRIGGER occurrence_touched AFTER INSERT OR UPDATE ON chime.\(name)
        FOR EACH ROW EXECUTE FUNCTION chime.occurrence_touched()
      """)
  }

  /// Examines all occurrences of a month in parts.
  ///
  /// - Parameter taking: whether to delete the deliveries of expired rows and record the remaining ones.
  /// - Returns: the number of expired rows; nil if more than `most` stay or the store is closing.
  private func lookThrough(
    _ month: Month, _ edge: HistoryEdge, upTo most: Int, taking: Bool
  ) throws -> Int? {
    var (taken, staying) = (0, 0)
    var place = (at: month.start, reminder: Int64(0))
    while true {
      if isStopping() { return nil }
      let part = try taking ? take(place, month, edge) : self.part(looked(place, month, edge))
      guard let part, part.rows > 0 else { return taken }
      staying += part.staying
      taken += part.rows - part.staying
      if staying > most { return nil }
      place = part.end
    }
  }

  private struct Part {
    var rows: Int
    var staying: Int
    var end: (at: Instant, reminder: Int64)

    init(_ row: Row) {
      (rows, staying, end) = (row.int(0), row.int(1), (row.instant(2), row.int64(3)))
    }
  }

  /// Returns a query for the next occurrences of a month and whether each stays, as `looked`.
  private func looked(_ place: (at: Instant, reminder: Int64), _ month: Month, _ edge: HistoryEdge) -> ComposedQuery {
    ComposedQuery(
      """
      WITH looked AS MATERIALIZED (
        SELECT o.scheduled_at, o.reminder, NOT is_taken(o.scheduled_at, o.state, o.ended_at, ?, ?)
          OR EXISTS (SELECT 1 FROM delivery d
            WHERE d.scheduled_at = o.scheduled_at AND d.reminder = o.reminder AND d.state <= 1)
          OR EXISTS (SELECT 1 FROM due x WHERE x.reminder = o.reminder AND x.snooze_of = o.scheduled_at) AS stays
        FROM occurrence o
        WHERE o.scheduled_at >= ? AND (o.scheduled_at, o.reminder) > (?, ?) AND o.scheduled_at < ?
        ORDER BY o.scheduled_at, o.reminder LIMIT ?)
      """, edge.oldest, edge.first, place.at, place.at, place.reminder, month.end, Self.batch)
  }

  private func part(_ looked: ComposedQuery) throws -> Part? {
    var query = looked
    query.append(
      """
      SELECT count(*), count(*) FILTER (WHERE stays),
        (array_agg(scheduled_at ORDER BY scheduled_at DESC, reminder DESC))[1],
        (array_agg(reminder ORDER BY scheduled_at DESC, reminder DESC))[1]
      FROM looked
      """)
    return try connection.all(query, row: Part.init).first
  }

  private func take(_ place: (at: Instant, reminder: Int64), _ month: Month, _ edge: HistoryEdge) throws -> Part? {
    try connection.transaction {
      var query = looked(place, month, edge)
      query.append(
        """
        , gone AS (
          DELETE FROM delivery d USING looked l
          WHERE NOT l.stays AND d.scheduled_at = l.scheduled_at AND d.reminder = l.reminder AND d.state > 1),
        kept AS (
          INSERT INTO staying SELECT scheduled_at, reminder FROM looked WHERE stays ON CONFLICT DO NOTHING)
        """)
      let part = try part(query)
      if let part, part.rows > 0 {
        // A delivery that was sent again meanwhile was not deleted above, so its occurrence stays.
        try connection.run(
          """
          INSERT INTO staying
          SELECT DISTINCT d.scheduled_at, d.reminder FROM delivery d
          WHERE (d.scheduled_at, d.reminder) > ($1, $2) AND (d.scheduled_at, d.reminder) <= ($3, $4)
          ON CONFLICT DO NOTHING
          """, place.at, place.reminder, part.end.at, part.end.reminder)
      }
      return part
    }
  }

  // MARK: After dropping

  /// Deletes the names of removed reminders whose last occurrence was dropped.
  private func forgetNames() throws {
    var place: Int64 = 0
    while !isStopping() {
      let next = try connection.first(
        """
        WITH looked AS MATERIALIZED (SELECT key FROM reminder_name WHERE key > $1 ORDER BY key LIMIT $2),
        gone AS (
          DELETE FROM reminder_name a USING looked l
          WHERE a.key = l.key AND NOT EXISTS (SELECT 1 FROM reminder r WHERE r.key = a.key)
            AND NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.state <= 2 AND o.reminder = a.key)
            AND NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.state > 2 AND o.reminder = a.key))
        SELECT max(key) FROM looked
        """, place, Self.batch
      ) { $0.isNull(0) ? nil : $0.int64(0) }
      guard case .some(.some(let key)) = next else { return }
      place = key
    }
  }

  /// Analyzes the partitioned tables. Autovacuum analyzes each partition but never the parent, whose statistics the planner uses.
  private func analyze() throws {
    let isStale = try connection.first(
      """
      SELECT count(*) < 2 FROM pg_stat_user_tables
      WHERE schemaname = 'chime' AND relname IN ('occurrence', 'attempt') AND last_analyze > now() - interval '1 day'
      """
    ) { $0.int64(0) != 0 }
    if isStale == true { try connection.script("ANALYZE chime.occurrence, chime.attempt") }
  }
}
