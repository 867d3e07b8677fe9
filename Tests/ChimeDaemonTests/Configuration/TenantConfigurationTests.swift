import Foundation
import Testing

@testable import ChimeDaemon

/// The configuration of tenants: valid values, and errors.
struct TenantConfigurationTests {
  private func apply(_ text: String) throws -> LoadedConfiguration { try ConfigurationTests.apply(text) }

  @Test func printedTenantTableReadsBack() throws {
    let text = """
      [tenants.acme-eu]
      users = ["billing", 1005]
      groups = ["acme", 0]
      reminders = 100000
      requestsPerSecond = 50
      deliveriesPerSecond = 20
      [tenants.zero]
      reminders = 0
      """
    let loaded = try apply(text)
    var acme = TenantDefinition(name: "acme-eu")
    acme.users = [.name("billing"), .number(1_005)]
    acme.groups = [.name("acme"), .number(0)]
    (acme.reminders, acme.requestsPerSecond, acme.deliveriesPerSecond) = (100_000, 50, 20)
    #expect(loaded.configuration.tenants == ["acme-eu": acme, "zero": TenantDefinition(name: "zero")])
    #expect(loaded.origins["tenants.acme-eu.reminders"] == "chimed.toml:4")
    #expect(try apply(loaded.text).configuration == loaded.configuration, "\(loaded.text)")
    #expect(loaded.text.contains("users = [\"billing\", 1005]"))
  }

  /// Another file changes the keys that it contains, and leaves the rest.
  @Test func filesMayEachDefineAPart() throws {
    var loaded = try apply("[tenants.acme]\nreminders = 5\nusers = [1]")
    try ConfigurationFiles.apply(
      Array("[tenants.acme]\nreminders = 7\n[tenants.other]".utf8), file: "10-more.toml", to: &loaded)
    #expect(loaded.configuration.tenants["acme"]?.reminders == 7)
    #expect(loaded.configuration.tenants["acme"]?.users == [.number(1)])
    #expect(loaded.configuration.tenants.keys.sorted() == ["acme", "other"])
  }

  @Test(arguments: [
    ("[tenants]\nacme = 1", "chimed.toml:2:1: tenants.acme must be a table, [tenants.acme]; found a whole number"),
    (
      "[tenants.Acme]",
      "chimed.toml:1:10: \"Acme\" is not a name for a tenant: use 1 to 64 small letters, digits, - or _, without a "
        + "sign at the start; at most 10000 tenants"
    ),
    ("[tenants.acme]\nuser = [1]", "chimed.toml:2:1: \"user\" is not a key of a tenant; did you mean users?"),
    (
      "[tenants.acme]\nreminders = -1",
      "chimed.toml:2:13: tenants.acme.reminders must be a whole number from 0 (no limit) to 1000000000; found -1"
    ),
    (
      "[tenants.acme]\nusers = [2147483648]",
      "chimed.toml:2:9: tenants.acme.users must be an array of users by name or number, such as [\"billing\", 1005], at "
        + "most 1000; found an array"
    ),
  ]) func refusesInvalidTenants(text: String, sentence: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try apply(text) }
    #expect(error?.description == sentence)
  }
}
