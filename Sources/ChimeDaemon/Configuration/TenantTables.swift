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
    func refusal(_ message: String, isKey: Bool = true) -> ConfigurationError {
      ConfigurationError(
        file: file, line: isKey ? entry.keyLine : entry.line, column: isKey ? entry.keyColumn : entry.column,
        message: message)
    }
    guard Tenant.isName(name), loaded.configuration.tenants.count < mostTenants else {
      throw refusal(
        "\(TOMLText.quoted(String(name.prefix(80)))) is not a name for a tenant: use 1 to 64 small letters, digits, "
          + "- or _, without a sign at the start; at most \(mostTenants) tenants")
    }
    if parts.count == 2, entry.value != .table {
      throw refusal("\(table) must be a table, [\(table)]; found \(entry.value.kind)")
    }
    var tenant = loaded.configuration.tenants[name] ?? TenantDefinition(name: name)
    if parts.count == 2 {
      loaded.origins[table] = loaded.origins[table] ?? "\(file):\(entry.line)"
    } else {
      guard let key = TenantKey.all.first(where: { $0.path == parts[2] }) else {
        let keys = TenantKey.all.map(\.path)
        let hint =
          SpellingSuggestions.to(parts[2], among: keys).first.map { "did you mean \($0)?" }
          ?? "it takes \(keys.joined(separator: ", "))"
        throw refusal("\(TOMLText.quoted(String(parts[2].prefix(80)))) is not a key of a tenant; \(hint)")
      }
      let value: ConfigurationValue = entry.value == .array ? .array(elements.map(\.value)) : .scalar(entry.value)
      guard key.set(&tenant, value) else {
        throw refusal("\(entry.path) must be \(key.expected); found \(shown(value))", isKey: false)
      }
      loaded.origins[entry.path] = "\(file):\(entry.line)"
    }
    loaded.configuration.tenants[name] = tenant
  }
}

extension LoadedConfiguration {
  /// The tenants' tables as TOML, each value with its origin.
  var tenantTables: [String] {
    configuration.tenants.values.sorted { $0.name < $1.name }.flatMap { tenant -> [String] in
      let table = "\(ConfigurationFiles.tenants).\(tenant.name)"
      let keys = TenantKey.all.compactMap { key in key.show(tenant).map { (key.path, $0) } }
      return ["", "[\(table)]"] + keys.map { line("\($0) = \($1)", from: "\(table).\($0)") }
    }
  }
}

/// A TenantKey is one key of a tenant's table, with its parser and formatter.
struct TenantKey: Sendable {
  /// The path below `tenants.NAME`.
  let path: String
  /// The valid values, for error messages.
  let expected: String
  /// Sets the value. Returns false for an invalid value.
  let set: @Sendable (inout TenantDefinition, ConfigurationValue) -> Bool
  /// Returns the value as TOML; nil if it is not set.
  let show: @Sendable (TenantDefinition) -> String?

  static let all: [TenantKey] = [
    members("users", "users by name or number, such as [\"billing\", 1005]", \.users),
    members("groups", "groups by name or number, such as [\"acme\"]", \.groups),
    number("reminders", \.reminders), number("requestsPerSecond", \.requestsPerSecond),
    number("deliveriesPerSecond", \.deliveriesPerSecond),
  ]

  private typealias Spot<Value> = WritableKeyPath<TenantDefinition, Value> & Sendable

  private static func members(
    _ path: String, _ what: String, _ place: any Spot<[TenantDefinition.Member]>
  ) -> TenantKey {
    TenantKey(
      path: path, expected: "an array of \(what), at most 1000",
      set: { tenant, value in
        guard case .array(let values) = value, values.count <= 1_000 else { return false }
        let members = values.compactMap { value -> TenantDefinition.Member? in
          switch value {
          case .string(let name) where (1...256).contains(name.utf8.count) && !name.utf8.contains(0): .name(name)
          case .integer(let number): UInt32(exactly: number).flatMap { Tenant.isTenant($0) ? nil : .number($0) }
          default: nil
          }
        }
        guard members.count == values.count else { return false }
        tenant[keyPath: place] = members
        return true
      },
      show: { tenant in
        let members = tenant[keyPath: place].map { member in
          switch member {
          case .name(let name): TOMLText.quoted(name)
          case .number(let number): String(number)
          }
        }
        return "[" + members.joined(separator: ", ") + "]"
      })
  }

  /// A limit; 0 means none.
  private static func number(_ path: String, _ place: any Spot<Int?>) -> TenantKey {
    TenantKey(
      path: path, expected: "a whole number from 0 (no limit) to \(mostNumber)",
      set: { tenant, value in
        guard case .scalar(.integer(let number)) = value, (0...mostNumber).contains(number) else { return false }
        tenant[keyPath: place] = number == 0 ? nil : Int(number)
        return true
      }, show: { String($0[keyPath: place] ?? 0) })
  }

  private static let mostNumber: Int64 = 1_000_000_000
}
