package import ChimeCore
import ChimeRecords
import Glibc

/// A DatabaseInspection describes a store's database and server, whether or not a daemon uses it.
///
/// Values that the role may not see are nil; it needs `pg_monitor` to see other roles' activity.
package struct DatabaseInspection: Sendable {
  /// The version number as PostgreSQL counts: 150003 is 15.3.
  package var version = 0
  /// The size of the whole database.
  package var bytes: Int64 = 0
  /// The number of connected standby servers.
  package var standbys = 0
  /// The number of standbys that a commit may wait for; nil if it is not visible.
  package var synchronousStandbys: Int?
  /// Whether a commit waits for a standby at all (`synchronous_standby_names`, `synchronous_commit`).
  package var waitsForStandby = false
  /// The lead of the server's clock over the local one in milliseconds, accurate to half of `roundTrip`.
  package var clockAhead: Int64 = 0
  /// The duration of the clock query in milliseconds.
  package var roundTrip: Int64 = 0
  /// The age of the oldest open transaction in seconds, and its session.
  package var oldestTransaction: (seconds: Int64, holder: String)?
  /// Whether autovacuum is on, for the server and the table `due`.
  package var hasAutovacuum = true
  /// The numbers of dead and live rows in the table `due`.
  package var deadRows: Int64 = 0
  package var liveRows: Int64 = 0
  /// The number of missing partitions among this month and the next.
  package var missingPartitions = 0
  /// The approximate number of occurrences outside all monthly partitions.
  package var unpartitionedRows: Int64 = 0
  package var connections = 0
  /// The connection limit for ordinary roles.
  package var maxConnections = 0
}

extension PostgresStore {
  /// Inspects a store's database without locking it, also while a daemon uses it.
  ///
  /// - Parameter limit: the timeout for connecting and for each query, in milliseconds; a person waits for the result.
  /// - Throws: the failures of `open` for an unreachable or newer database.
  package static func inspect(
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
    // Without pg_monitor, sessions of other roles show only their process id.
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
    // Before the first start of this version there are no partitions.
    guard hasPartitions else { return }
    let months = try connection.first(
      """
      SELECT count(*) FILTER (WHERE to_regclass('chime.occurrence_' || to_char(m, 'YYYY_MM')) IS NULL),
        coalesce((SELECT n_live_tup FROM pg_stat_user_tables
          WHERE schemaname = 'chime' AND relname = 'occurrence_rest'), 0)
      FROM generate_series(0, 1) n CROSS JOIN LATERAL (
        SELECT date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + n * interval '1 month') x (m)
      """, row: { ($0.int(0), $0.int64(1)) })
    (missingPartitions, unpartitionedRows) = months ?? (0, 0)
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

  /// Measures the clock difference with the fastest of three queries.
  private mutating func lookAtClock(_ connection: Connection) throws {
    roundTrip = .max
    for _ in 0..<3 {
      let before = nanoseconds(CLOCK_REALTIME) / 1_000_000
      let there = try connection.first("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint") { $0.int64(0) }
      let after = nanoseconds(CLOCK_REALTIME) / 1_000_000
      guard let there, after - before < roundTrip else { continue }
      (roundTrip, clockAhead) = (after - before, there - (before + after) / 2)
    }
  }
}
