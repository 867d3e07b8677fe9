package import ChimeCore

extension SQLTransaction {
  package func tenants() throws -> [Tenant] {
    try connection.all("SELECT name, number FROM tenant ORDER BY name") { row in
      Tenant(name: row.text(0), number: row.uint32(1))
    }
  }

  package func enrol(tenant name: String) throws -> Tenant {
    try requireWriting()
    let known = try connection.first("SELECT name, number FROM tenant WHERE name = $1", name) {
      Tenant(name: $0.text(0), number: $0.uint32(1))
    }
    if let known { return known }
    // Another daemon may have created it meanwhile, or be creating it.
    let made = try connection.first(Self.enrolTenant, name) { Tenant(name: $0.text(0), number: $0.uint32(1)) }
    guard let made else { throw StoreFailure.internalError("tenant \(name) was not created") }
    return made
  }

  package func reminderCount(of tenant: UInt32) throws -> Int {
    if !isReadOnly { try willCount(tenant: tenant) }
    let (rows, count) =
      try connection.first(
        "SELECT count(*), CAST(coalesce(sum(delta), 0) AS BIGINT) FROM tenant_count WHERE tenant = $1", tenant
      ) { ($0.int(0), $0.int(1)) } ?? (0, 0)
    if !isReadOnly, rows > Self.countedApart {
      try connection.run("DELETE FROM tenant_count WHERE tenant = $1", tenant)
      try connection.run("INSERT INTO tenant_count (tenant, delta) VALUES ($1, $2)", tenant, count)
    }
    return count
  }

  /// The number of a tenant's rows from which they are merged into one. Rows of concurrent transactions are invisible and stay.
  private static var countedApart: Int { 64 }
}
