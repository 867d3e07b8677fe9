// Async variants of calls that wait for other programs. Swift runs tests on as many threads as processors, so two
// blocked calls would stop all other tests.
extension PostgresServer {
  /// Creates a server like `init`.
  static func begin(
    settings: [String] = [], port: UInt16? = nil, following primary: PostgresServer? = nil
  ) async throws -> PostgresServer {
    try await blocking { try PostgresServer(settings: settings, port: port, following: primary) }
  }

  func start() async throws { try await blocking { try self.start() } }

  func waitForStandby() async throws { try await blocking { try self.waitForStandby() } }

  func promote() async throws { try await blocking { try self.promote() } }

  func lose() async throws { try await blocking { try self.lose() } }

  func kill() async throws { try await blocking { try self.kill() } }

  func makeDatabase(owner: String = "chime") async throws -> String {
    try await blocking { try self.makeDatabase(owner: owner) }
  }

  @discardableResult func sql(_ statement: String, on database: String) async throws -> String {
    try await blocking { try self.sql(statement, on: database) }
  }
}
