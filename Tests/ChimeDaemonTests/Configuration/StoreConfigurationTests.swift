import Testing

@testable import ChimeDaemon

struct StoreConfigurationTests {
  private func fault(_ toml: String) -> String? {
    var loaded = LoadedConfiguration()
    do {
      try ConfigurationFiles.apply(Array(toml.utf8), file: "chimed.toml", to: &loaded)
      try ConfigurationFiles.checkWhole(loaded)
      return nil
    } catch {
      return error.description
    }
  }

  @Test(arguments: [
    "dbname=chime password=hunter2", "password = 'hunter2' dbname=chime", "dbname=chime sslpassword=hunter2",
    "postgresql://ann:hunter2@db.example/chime", "postgres://db.example/chime?password=hunter2",
  ])
  func passwordInTheConnectionIsRefusedAndNotRepeated(connection: String) throws {
    let said = try #require(fault("[store]\nengine = \"postgres\"\nconnection = \"\(connection)\""))
    #expect(said.contains("chimed.toml:3") && said.contains("store.passwordFile"), "\(said)")
    #expect(!said.contains("hunter2"))
  }

  @Test(arguments: [
    "host=db.example dbname=chime user=chime sslmode=verify-full", "dbname=chime passfile=/etc/chime/pgpass",
    "postgresql://ann@db.example/chime", "host=password dbname=chime",
  ])
  func connectionWithoutAPasswordIsAccepted(connection: String) {
    #expect(fault("[store]\nengine = \"postgres\"\nconnection = \"\(connection)\"") == nil)
  }

  @Test func postgresEngineWithoutAConnectionIsRefused() {
    #expect(fault("[store]\nengine = \"postgres\"")?.contains("needs store.connection") == true)
  }
}
