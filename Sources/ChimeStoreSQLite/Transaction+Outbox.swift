import ChimeCore
import ChimeRecords
import ChimeSchedule

extension Transaction {
  func claimDeliveries(queue: DeliveryQueue, now: Instant, visibleAgain: Instant, limit: Int) throws
    -> [OutboundMessage]
  {
    try requireWriting()
    guard limit > 0, let queueRow = try queueRow(of: queue) else { return [] }
    return try claimable(in: queueRow, now: now, limit: limit).compactMap { key in
      try connection.run("UPDATE delivery SET visible_at = ? WHERE key = ?", visibleAgain, key)
      return try connection.first(Self.selectMessage, key) { try $0.outboundMessage(reader) }
    }
  }

  func acknowledge(_ id: DeliveryID, attempt: Attempt?, state: Delivery.State) throws {
    try requireWriting()
    let found = try connection.first(
      "SELECT key, state, started_at, scheduled_at, reminder, event FROM delivery WHERE id = ?", id
    ) { $0.triedDelivery() }
    guard let found else { throw StoreFailure.internalError("there is no delivery \(id) to acknowledge") }
    try settle(found, attempt, state)
  }

  func release(_ ids: [DeliveryID], now: Instant) throws {
    try requireWriting()
    for id in ids {
      // A claimed delivery was due. If its own time lies ahead, the clock was set back.
      try connection.run(
        """
        UPDATE delivery SET state = iif(coalesce(state_at, created_at) > ?2, 1, state),
          state_at = iif(coalesce(state_at, created_at) > ?2, ?2, state_at),
          visible_at = min(coalesce(state_at, created_at), ?2)
        WHERE id = ?1 AND state <= 1
        """, id, now)
    }
  }

  func releaseClaims() throws {
    try requireWriting()
    // A claimed delivery is invisible for longer than its own state requires.
    try connection.run(
      """
      UPDATE delivery SET visible_at = coalesce(state_at, created_at)
      WHERE state <= 1 AND visible_at > coalesce(state_at, created_at)
      """)
  }

  func releaseFormerClaims() throws { try requireWriting() }

  func settled(among ids: [DeliveryID]) throws -> Set<DeliveryID> {
    try Set(
      ids.filter { id in
        try connection.first("SELECT state FROM delivery WHERE id = ?1", id) {
          $0.int64(0) > DeliveryCode.waiting.rawValue
        } ?? true
      })
  }
}
