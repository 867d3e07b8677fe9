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
    func known() throws -> Tenant? {
      try connection.first("SELECT name, number FROM tenant WHERE name = ?", name) { row in
        Tenant(name: row.text(0), number: row.uint32(1))
      }
    }
    if let tenant = try known() { return tenant }
    try connection.run(
      "INSERT INTO tenant (number, name) SELECT coalesce(max(number) + 1, ?), ? FROM tenant",
      Int64(Tenant.firstNumber), name)
    guard let made = try known() else { throw StoreFailure.internalError("no tenant \(name) was made") }
    return made
  }

  func reminderCount(of tenant: UInt32) throws -> Int {
    let (rows, count) =
      try connection.first("SELECT count(*), coalesce(sum(delta), 0) FROM tenant_count WHERE tenant = ?", tenant) {
        ($0.int(0), $0.int(1))
      } ?? (0, 0)
    if !isReadOnly, rows > Self.countedApart {
      try connection.run("DELETE FROM tenant_count WHERE tenant = ?", tenant)
      try connection.run("INSERT INTO tenant_count (tenant, delta) VALUES (?, ?)", tenant, count)
    }
    return count
  }

  /// How many rows of a tenant's are added up before one is made of them.
  private static var countedApart: Int { 64 }
}
