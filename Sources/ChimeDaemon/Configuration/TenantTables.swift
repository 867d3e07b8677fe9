import ChimeControl
import ChimeCore

/// A tenant in the configuration: who may act for it, and its limits.
package struct TenantDefinition: Hashable, Sendable {
  /// A user or group as written.
  package enum Member: Hashable, Sendable {
    case name(String)
    case number(UInt32)
  }

  package var name: String
  package var users: [Member] = []
  package var groups: [Member] = []
  /// The maximum number of reminders with a due time; nil for no limit.
  package var reminders: Int?
  /// The maximum number of requests per second for each daemon; nil for no limit.
  package var requestsPerSecond: Int?
  /// The maximum number of deliveries begun per second by all daemons together; nil for no limit.
  package var deliveriesPerSecond: Int?

  package init(name: String) { self.name = name }
}

extension ConfigurationFiles {
  static let tenants = "tenants"
  private static let mostTenants = 10_000

  /// Adopts one entry below `tenants`, whose tables are named after the tenants. `elements` are the entries of an array.
  static func applyTenant(
    _ entry: TOMLEntry, elements: [TOMLEntry], file: String, to loaded: inout LoadedConfiguration
  ) throws(ConfigurationError) {
    let parts = entry.path.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    let (name, table) = (parts[1], "\(tenants).\(parts[1])")
    guard Tenant.isName(name), loaded.configuration.tenants.count < mostTenants else {
      throw entry.refusal(
        file,
        "\(TOMLText.quoted(String(name.prefix(80)))) is not a name for a tenant: use 1 to 64 small letters, digits, "
          + "- or _, without a sign at the start; at most \(mostTenants) tenants", atKey: true)
    }
    if parts.count == 2, entry.value != .table {
      throw entry.refusal(file, "\(table) must be a table, [\(table)]; found \(entry.value.kind)", atKey: true)
    }
    var tenant = loaded.configuration.tenants[name] ?? TenantDefinition(name: name)
    if parts.count == 2 {
      loaded.origins[table] = loaded.origins[table] ?? "\(file):\(entry.line)"
    } else {
      try set(parts[2], of: TOMLKey<TenantDefinition>.all, entry, elements, file: file, in: &tenant) {
        "\($0) is not a key of a tenant; \($1)"
      }
      loaded.origins[entry.path] = "\(file):\(entry.line)"
    }
    loaded.configuration.tenants[name] = tenant
  }
}

extension LoadedConfiguration {
  /// The tenants' tables as TOML, each value with its origin.
  var tenantTables: [String] {
    configuration.tenants.values.sorted { $0.name < $1.name }.flatMap { tenant in
      lines("\(ConfigurationFiles.tenants).\(tenant.name)", TOMLKey<TenantDefinition>.all, of: tenant)
    }
  }
}

/// The keys of a tenant's table, below `tenants.NAME`.
extension TOMLKey<TenantDefinition> {
  static let all: [Self] = [
    members("users", "users by name or number, such as [\"billing\", 1005]", \.users),
    members("groups", "groups by name or number, such as [\"acme\"]", \.groups),
    rate("reminders", \.reminders), rate("requestsPerSecond", \.requestsPerSecond),
    rate("deliveriesPerSecond", \.deliveriesPerSecond),
  ]

  private static func members(_ path: String, _ what: String, _ place: any Spot<[TenantDefinition.Member]>) -> Self {
    Self(
      path, place, "an array of \(what), at most 1000",
      read: { value in
        let members = value.elements { value -> TenantDefinition.Member? in
          switch value {
          case .string(let name) where (1...256).contains(name.utf8.count) && !name.utf8.contains(0): .name(name)
          case .integer(let number): UInt32(exactly: number).flatMap { Tenant.isTenant($0) ? nil : .number($0) }
          default: nil
          }
        }
        return members.flatMap { $0.count <= 1_000 ? $0 : nil }
      },
      write: { members in
        let texts = members.map { member in
          switch member {
          case .name(let name): TOMLText.quoted(name)
          case .number(let number): String(number)
          }
        }
        return "[" + texts.joined(separator: ", ") + "]"
      })
  }

  private static func rate(_ path: String, _ place: any Spot<Int?>) -> Self {
    .limit(path, place, "a whole number from 0 (no limit) to 1000000000", 1_000_000_000)
  }
}
