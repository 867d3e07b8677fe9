import ChimeCore
import ChimeStorePostgres
import ChimeStoreSQLite
import Glibc

/// A StoreOpening opens the configured store.
struct StoreOpening {
  let configuration: Configuration
  /// The path of the file, for SQLite.
  let path: String
  /// The folder of the service manager's credentials; nil if there is none.
  let credentials: String?

  init(_ paths: RuntimePaths, _ configuration: Configuration) {
    self.configuration = configuration
    path = configuration.storePath.isEmpty ? paths.storePath : configuration.storePath
    credentials = paths.environment["CREDENTIALS_DIRECTORY"].flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// An open store.
  struct Opened {
    var store: any Store
    /// Takes snapshots; nil for a database, which has its own backup tools.
    var snapshotManager: (any SnapshotManager)?
    /// Whether the store's file and snapshots did not exist before.
    var isNew = false
  }

  /// Returns the store's name in `chime status`.
  ///
  /// - Throws: `.unavailable` if `connection` is malformed.
  func name() throws(StoreFailure) -> String {
    switch configuration.storeEngine {
    case .sqlite: path
    case .postgres: try place().summary
    }
  }

  /// Opens the store. `progress` receives messages about steps that take longer than usual.
  func open(progress: @escaping @Sendable (String) -> Void) throws(StoreFailure) -> Opened {
    switch configuration.storeEngine {
    case .sqlite:
      let wasThere = access(path, F_OK) == 0
      let store = try SQLiteStore.open(
        path: path, keepingSnapshots: configuration.snapshots, progress: progress)
      return Opened(store: store, snapshotManager: store, isNew: !wasThere && store.snapshots().isEmpty)
    case .postgres:
      // With several daemons, the database's clock decides what is due.
      return Opened(store: try PostgresStore.open(try place()) { SystemClock.follow($0) }, snapshotManager: nil)
    }
  }

  /// Inspects a database and its server without locking it.
  ///
  /// - Throws: `.unavailable` with the reason, or `.newerSchema`.
  func inspectDatabase() throws(StoreFailure) -> DatabaseInspection { try PostgresStore.inspect(place()) }

  /// Returns the configuration of the database that `connection` names.
  func place() throws(StoreFailure) -> PostgresConfiguration {
    try PostgresConfiguration(connection: configuration.storeConnection, passwordFile: try passwordFile())
  }

  private func passwordFile() throws(StoreFailure) -> String? {
    let file = configuration.storePasswordFile
    guard !file.isEmpty else { return nil }
    guard let path = Secrets.path(of: file, credentials: credentials) else {
      throw .unavailable(
        "passwordFile of [store] names the credential \(file), but the service manager provides none: name a file "
          + "by its absolute path, or start chimed as a service with LoadCredential=\(file):…")
    }
    return path
  }
}
