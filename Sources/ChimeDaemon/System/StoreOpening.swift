import ChimeCore
import ChimeStorePostgres
import ChimeStoreSQLite
import Glibc

/// The store that the configuration asks for.
struct StoreOpening {
  let configuration: Configuration
  /// Where the file is, of a store in one.
  let path: String
  /// Where the service manager puts credentials; nil when it gives none.
  let credentials: String?

  init(_ paths: RuntimePaths, _ configuration: Configuration) {
    self.configuration = configuration
    path = configuration.storePath.isEmpty ? paths.storePath : configuration.storePath
    credentials = paths.environment["CREDENTIALS_DIRECTORY"].flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// A store that is open.
  struct Opened {
    var store: any Store
    /// Who takes snapshots of it; nil: nobody does, since a database is saved by its own means.
    var snapshotManager: (any SnapshotManager)?
    /// Whether there was none before, on a machine that is not new.
    var isNew = false
  }

  /// How it is called in `chime status`.
  ///
  /// - Throws: `.unavailable` when `connection` cannot be read.
  func name() throws(StoreFailure) -> String {
    switch configuration.storeEngine {
    case .sqlite: path
    case .postgres: try place().summary
    }
  }

  /// - Parameter progress: told what is being done when it takes longer than usual.
  func open(progress: @escaping @Sendable (String) -> Void) throws(StoreFailure) -> Opened {
    switch configuration.storeEngine {
    case .sqlite:
      let wasThere = access(path, F_OK) == 0
      let store = try SQLiteStore.open(
        path: path, keepingSnapshots: configuration.snapshots, progress: progress)
      return Opened(store: store, snapshotManager: store, isNew: !wasThere && store.snapshots().isEmpty)
    case .postgres:
      // With several daemons one clock decides what is due.
      return Opened(store: try PostgresStore.open(try place()) { SystemClock.follow($0) }, snapshotManager: nil)
    }
  }

  /// Looks at a database and its server without taking it.
  ///
  /// - Throws: `.unavailable` with what is wrong, or `.newerSchema`.
  func inspectDatabase() throws(StoreFailure) -> DatabaseInspection { try PostgresStore.inspect(place()) }

  /// The database that `connection` names.
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
