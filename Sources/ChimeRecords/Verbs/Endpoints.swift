package import ChimeCore
package import ChimeSchedule

extension SQLTransaction {
  package func put(_ endpoint: Endpoint) throws {
    try requireWriting()
    outboxHasChanged()
    endpointsHaveChanged()
    try connection.run(
      """
      INSERT INTO endpoint (owner, channel, url, created_at, disabled, disabled_at, failing_since, settings)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (owner, channel) DO UPDATE SET
        url = excluded.url, created_at = excluded.created_at, disabled = excluded.disabled,
        disabled_at = excluded.disabled_at, failing_since = excluded.failing_since, settings = excluded.settings
      """, endpoint.queue.owner, endpoint.queue.channel.rawValue, endpoint.url, endpoint.createdAt,
      endpoint.disabled?.reason, endpoint.disabled?.at, endpoint.failingSince, try reader.text(endpoint.settings))
    try setOrdered(endpoint.settings.inOrder ?? false, endpoint.queue)
    // The daemon that holds the queue reads the endpoint's answers, so the queue must exist before the first message.
    if endpoint.answersAddress != nil { _ = try findOrMakeQueue(endpoint.queue) }
  }

  private func setOrdered(_ isOrdered: Bool, _ queue: DeliveryQueue) throws {
    let known = try standing(of: queue)
    guard isOrdered != (known?.isOrdered ?? false) else { return }
    let key = try known?.key ?? findOrMakeQueue(queue).key
    let code = isOrdered ? 1 : 0
    try connection.run("UPDATE delivery_queue SET ordered = $1 WHERE key = $2", code, key)
    try connection.run("UPDATE delivery SET in_order = $1 WHERE queue = $2 AND state <= 1", code, key)
  }

  package func removeEndpoint(_ queue: DeliveryQueue, now: Instant) throws -> Bool {
    try requireWriting()
    try connection.run(
      "DELETE FROM endpoint WHERE owner = $1 AND channel = $2", queue.owner, queue.channel.rawValue)
    guard connection.changes > 0 else { return false }
    outboxHasChanged()
    endpointsHaveChanged()
    try setOrdered(false, queue)
    if let queueKey = try key(of: queue) {
      try connection.run(
        "UPDATE delivery SET state = 4, state_at = $1 WHERE queue = $2 AND state <= 1", now, queueKey)
    }
    return true
  }

  package func endpoints(owner: UInt32?) throws -> [Endpoint] {
    try connection.all(
      """
      SELECT owner, channel, url, created_at, disabled, disabled_at, failing_since, settings FROM endpoint
      WHERE $1 IS NULL OR owner = $1
      ORDER BY channel, owner
      """, owner
    ) { try $0.endpoint(reader) }
  }

  package func endpoint(_ queue: DeliveryQueue) throws -> Endpoint? {
    try connection.first(
      """
      SELECT owner, channel, url, created_at, disabled, disabled_at, failing_since, settings FROM endpoint
      WHERE owner = $1 AND channel = $2
      """, queue.owner, queue.channel.rawValue
    ) { try $0.endpoint(reader) }
  }
}
