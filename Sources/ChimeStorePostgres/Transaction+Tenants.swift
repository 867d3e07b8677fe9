import ChimeCore
import ChimeRecords

extension Transaction {
  func tenants() throws -> [Tenant] {
    try connection.all("SELECT name, number FROM tenant ORDER BY name") { row in
      Tenant(name: row.text(0), number: row.uint32(1))
    }
  }

  func enrol(tenant name: String) throws -> Tenant {
    try requireWriting()
    let known = try connection.first("SELECT name, number FROM tenant WHERE name = $1", name) { row in
      Tenant(name: row.text(0), number: row.uint32(1))
    }
    if let known { return known }
    // Another daemon may have made it since, or be about to.
    let made = try connection.first(
      """
      INSERT INTO tenant (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name
      RETURNING name, number
      """, name
    ) { row in
      Tenant(name: row.text(0), number: row.uint32(1))
    }
    guard let made else { throw StoreFailure.internalError("PostgreSQL made no tenant \(name)") }
    return made
  }

  func reminderCount(of tenant: UInt32) throws -> Int {
    if !isReadOnly { try hold(tenant: tenant) }
    let (rows, count) =
      try connection.first(
        "SELECT count(*), coalesce(sum(delta), 0)::bigint FROM tenant_count WHERE tenant = $1", tenant
      ) { ($0.int(0), $0.int(1)) } ?? (0, 0)
    if !isReadOnly, rows > Self.countedApart {
      try connection.run("DELETE FROM tenant_count WHERE tenant = $1", tenant)
      try connection.run("INSERT INTO tenant_count (tenant, delta) VALUES ($1, $2)", tenant, count)
    }
    return count
  }

  /// How the lanes of each owner that has some lie with the daemons.
  func shares(of owners: [UInt32]) throws -> [UInt32: LaneShares] {
    let node = holdings.current.node
    let found = try connection.all(
      """
      SELECT l.owner, s.node, count(*)
      FROM lane l LEFT JOIN shard_lease s ON s.shard = l.shard
      WHERE l.owner = ANY (CAST($1 AS bigint[]))
        AND (EXISTS (SELECT 1 FROM endpoint e WHERE e.owner = l.owner AND e.channel = l.channel)
          OR EXISTS (SELECT 1 FROM delivery d WHERE d.lane = l.key AND d.state <= 1))
      GROUP BY l.owner, s.node ORDER BY l.owner, s.node
      """, owners.map(Int.init).list
    ) { (owner: $0.uint32(0), node: $0.isNull(1) ? nil : $0.int64(1), count: $0.int(2)) }
    return Dictionary(grouping: found, by: \.owner).mapValues { rows in
      LaneShares(counts: rows.map(\.count), own: rows.firstIndex { $0.node != nil && $0.node == node })
    }
  }

  /// How many rows of a tenant's are added up before one is made of them. Rows of transactions that are under way are
  /// not seen, and stay.
  private static var countedApart: Int { 64 }

  /// Has the tenant's number of reminders to itself until the commit. A transaction has one tenant's at most: two daemons
  /// whose groups hold several in different orders would wait for each other.
  private func hold(tenant: UInt32) throws {
    if heldTenant == tenant { return }
    if heldTenant != nil {
      wantsAnotherTenant = true
      throw StoreFailure.unavailable("another tenant is being counted: try again")
    }
    _ = try connection.first("SELECT number FROM tenant WHERE number = $1 FOR UPDATE", tenant) { $0.int64(0) }
    heldTenant = tenant
  }
}
