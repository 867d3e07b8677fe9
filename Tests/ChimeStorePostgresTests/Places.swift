@testable import ChimeStorePostgres

extension PostgresServer {
  /// Returns a configuration with timeouts that no busy machine reaches; tests of timeouts set their own.
  func place(_ database: String) throws -> PostgresConfiguration {
    var place = try PostgresConfiguration(connection: connection(database))
    (place.connectTimeout, place.statementTimeout) = (60_000, 600_000)
    (place.idleTimeout, place.claimTimeout) = (120_000, 120_000)
    return place
  }
}
