@testable import ChimeStorePostgres

extension PostgresServer {
  /// With limits that no busy machine comes near: tests of what happens at a limit set their own.
  func place(_ database: String) throws -> PostgresConfiguration {
    var place = try PostgresConfiguration(connection: connection(database))
    (place.connectTimeout, place.statementTimeout) = (60_000, 600_000)
    (place.idleTimeout, place.claimTimeout) = (120_000, 120_000)
    return place
  }
}
