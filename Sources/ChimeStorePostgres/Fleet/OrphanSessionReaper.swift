import ChimeCore
import ChimeRecords

/// The OrphanSessionReaper ends the sessions of lost daemons.
enum OrphanSessionReaper {
  /// Ends the sessions of daemons whose lease has expired. Rows that such a daemon has locked are blocked for all
  /// others. No server timeout ends a session that is stuck while the server sends to it.
  ///
  /// A daemon that is renewing its lease is skipped, because the renewal locks its row. Sessions that it opened since
  /// are spared for the time of a lease.
  ///
  /// - Parameters:
  ///   - patience: for how long the lease must have expired, in milliseconds.
  ///   - lease: milliseconds.
  /// - Returns: `.endedSessions` for each daemon that had any.
  /// - Throws: `StoreFailure`, also if this role may not end the sessions.
  static func end(
    _ connection: Connection, after patience: Int64 = 0, lease: Int64 = LeaseRenewal.lease
  ) throws -> [FleetEvent] {
    try connection.all(
      """
      WITH c AS (SELECT clock_timestamp() AS now), s AS MATERIALIZED (
        SELECT pid, backend_start, substring(application_name FROM '^chimed ([0-9]{1,18}),')::bigint AS node
        FROM pg_stat_activity
        WHERE datname = current_database() AND usename = session_user AND pid <> pg_backend_pid()),
      lost AS MATERIALIZED (
        SELECT n.id, n.name, n.process, n.expires_at FROM node n
        WHERE n.expires_at + $2 <= (SELECT extract(epoch FROM now) * 1000 FROM c) AND n.id IN (SELECT s.node FROM s)
        FOR UPDATE SKIP LOCKED),
      ended AS MATERIALIZED (
        SELECT lost.id, lost.name, lost.process, pg_terminate_backend(s.pid) AS terminated
        FROM c, lost JOIN s ON s.node = lost.id
        WHERE s.backend_start < greatest(to_timestamp(lost.expires_at / 1000.0), c.now - $1 * interval '1 ms'))
      SELECT name, process, count(*) FROM ended WHERE terminated GROUP BY id, name, process ORDER BY id
      """, lease, patience
    ) { .endedSessions($0.int(2), ofProcess: $0.int64(1), on: $0.text(0)) }
  }
}
