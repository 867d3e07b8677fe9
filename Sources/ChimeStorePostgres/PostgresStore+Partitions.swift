package import ChimeCore
import ChimeRecords
import Dispatch

extension PostgresStore {
  package func maintainPartitions(_ edge: HistoryEdge?) async throws -> PruneResult {
    try await withCheckedThrowingContinuation { caller in
      // The work may take minutes and nothing waits for it, so it has its own queue.
      DispatchQueue(label: "chime.store.partitions", qos: .utility).async {
        caller.resume(with: Result { try self.work(edge) })
      }
    }
  }

  package func partitionCounts() async throws -> (months: Int, unpartitionedRows: Int) {
    try await read { transaction in
      guard let connection = (transaction as? Transaction)?.connection else { return (0, 0) }
      let found = try connection.first(
        """
        SELECT (SELECT count(*) FROM months()), coalesce((SELECT n_live_tup FROM pg_stat_user_tables
          WHERE schemaname = 'chime' AND relname = 'occurrence_rest'), 0)
        """
      ) { ($0.int(0), $0.int(1)) }
      return found ?? (0, 0)
    }
  }

  private func work(_ edge: HistoryEdge?) throws -> PruneResult {
    let connection = try place.connect()
    try connection.name(for: membership.leases.current.node, place.member)
    try connection.script(
      """
      SET statement_timeout = 0; SET lock_timeout = \(place.lockTimeout);
      SELECT pg_advisory_lock_shared(\(Schema.daemonLock))
      """)
    guard try Schema.version(of: connection) == Schema.current else { return PruneResult(rest: edge) }
    return try Partitions(connection: connection, place: place) { self.isClosed }.work(edge)
  }
}
