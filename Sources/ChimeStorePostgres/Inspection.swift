public import ChimeCore
import ChimeRecords
import Glibc

/// What a look at a store's database and its server finds, whoever has the store open.
///
/// What the role may not see (it needs `pg_monitor` for what other roles do) is nil.
public struct DatabaseInspection: Sendable {
  /// As PostgreSQL numbers it: 150003 is 15.3.
  public var version = 0
  /// Of the whole database.
  public var bytes: Int64 = 0
  /// Servers that follow this one and are connected.
  public var standbys = 0
  /// How many of them a commit waits for; nil: it cannot be seen.
  public var synchronousStandbys: Int?
  /// Whether a commit waits for a standby at all (`synchronous_standby_names`, `synchronous_commit`).
  public var waitsForStandby = false
  /// How far the server's clock is ahead of ours, in milliseconds, to within half of what the question took.
  public var clockAhead: Int64 = 0
  /// How long the question took.
  public var roundTrip: Int64 = 0
  /// The transaction that has been open longest, in seconds, and whose it is.
  public var oldestTransaction: (seconds: Int64, holder: String)?
  /// Whether autovacuum is on, for the server and for the table of what is due.
  public var hasAutovacuum = true
  /// Rows of the table of what is due that nobody needs any more, and those that stand.
  public var deadRows: Int64 = 0
  public var liveRows: Int64 = 0
  /// Of this month and the next one, those that have not been made for what fires.
  public var missingMonths = 0
  /// About how many times that have come are in no month.
  public var timesOutside: Int64 = 0
  public var connections = 0
  /// What is left for roles that are nothing special.
  public var maxConnections = 0
}

extension PostgresStore {
  /// Looks at a store's database without taking it: also while a daemon has it.
  ///
  /// - Parameter limit: how long the server may take to let us in, and for each look, in milliseconds: somebody waits for it.
  /// - Throws: what `open` would throw of a database that cannot be reached, or is newer.
  public static func inspect(
    _ place: PostgresConfiguration, within limit: Int64 = 1_000
  ) throws(StoreFailure) -> DatabaseInspection {
    do {
      var place = place
      (place.connectTimeout, place.statementTimeout) = (limit, limit)
      let connection = try place.connect()
      let found = try Schema.version(of: connection)
      guard found <= Schema.current else { throw StoreFailure.newerSchema(found: found, known: Schema.current) }
      return try DatabaseInspection(connection, hasPartitions: found == Schema.current)
    } catch {
      throw error as? StoreFailure ?? .internalError("\(error)")
    }
  }
}

extension DatabaseInspection {
  fileprivate init(_ connection: Connection, hasPartitions: Bool) throws {
    try lookAtServer(connection)
    try lookAtClock(connection)
    // Of other roles' sessions nothing but their number is seen without pg_monitor.
    oldestTransaction = try connection.first(
      """
      SELECT extract(epoch FROM clock_timestamp() - xact_start)::bigint,
        'session ' || pid || ' of ' || coalesce(usename, '?') || CASE coalesce(application_name, '')
          WHEN '' THEN '' ELSE ', ' || application_name END
      FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
        AND backend_type = 'client backend'
      ORDER BY xact_start LIMIT 1
      """, row: { ($0.int64(0), $0.text(1)) })
    let rows = try connection.first(
      "SELECT n_dead_tup, n_live_tup FROM pg_stat_user_tables WHERE schemaname = 'chime' AND relname = 'due'",
      row: { ($0.int64(0), $0.int64(1)) })
    (deadRows, liveRows) = rows ?? (0, 0)
    // A database that no daemon of this version has begun with has none.
    guard hasPartitions else { return }
    let months = try connection.first(
      """
      SELECT count(*) FILTER (WHERE to_regclass('chime.occurrence_' || to_char(m, 'YYYY_MM')) IS NULL),
        coalesce((SELECT n_live_tup FROM pg_stat_user_tables
          WHERE schemaname = 'chime' AND relname = 'occurrence_rest'), 0)
      FROM generate_series(0, 1) n CROSS JOIN LATERAL (
        SELECT date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + n * interval '1 month') x (m)
      """, row: { ($0.int(0), $0.int64(1)) })
    (missingMonths, timesOutside) = months ?? (0, 0)
  }

  private mutating func lookAtServer(_ connection: Connection) throws {
    let found = try connection.first(
      """
      SELECT current_setting('server_version_num')::bigint, pg_database_size(current_database()),
        (SELECT count(*) FROM pg_stat_replication),
        (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
        (SELECT count(*) FROM pg_stat_replication WHERE sync_state IS NULL),
        current_setting('synchronous_standby_names') <> ''
          AND current_setting('synchronous_commit') NOT IN ('off', 'local'),
        current_setting('autovacuum')::boolean AND NOT EXISTS (
          SELECT FROM pg_class WHERE oid = to_regclass('chime.due') AND 'autovacuum_enabled=false' = ANY (reloptions)),
        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
        current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
      """, row: { row in (0..<9).map { row.int64($0) } })
    guard let found else { return }
    (version, bytes, standbys) = (Int(found[0]), found[1], Int(found[2]))
    synchronousStandbys = found[4] > 0 ? nil : Int(found[3])
    (waitsForStandby, hasAutovacuum) = (found[5] != 0, found[6] != 0)
    (connections, maxConnections) = (Int(found[7]), Int(found[8]))
  }

  /// The quickest of a few questions tells most.
  private mutating func lookAtClock(_ connection: Connection) throws {
    roundTrip = .max
    for _ in 0..<3 {
      let before = Self.clock()
      let there = try connection.first("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint") { $0.int64(0) }
      let after = Self.clock()
      guard let there, after - before < roundTrip else { continue }
      (roundTrip, clockAhead) = (after - before, there - (before + after) / 2)
    }
  }

  /// Milliseconds since the epoch.
  private static func clock() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
  }
}
