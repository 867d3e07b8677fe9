import ChimeStorePostgres

extension PostgresServer {
  func place(_ database: String) throws -> PostgresPlace { try PostgresPlace(connection: connection(database)) }
}
