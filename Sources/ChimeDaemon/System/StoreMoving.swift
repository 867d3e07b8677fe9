import ChimeControl
import ChimeCore
import ChimeRecords
import ChimeStorePostgres
import ChimeStoreSQLite
import Glibc

/// A StoreMoving moves a store from the configured file to the configured database or back. No daemon may use either.
struct StoreMoving {
  let opening: StoreOpening
  /// The path of the configuration file, for messages.
  let configuration: String
  let engine: Configuration.StoreEngine
  let isDry: Bool
  /// Receives the progress, a few times a second.
  let tell: (MoveLine) -> Void

  /// Moves the store.
  ///
  /// - Throws: `StoreFailure`; the target is then unchanged.
  func run() throws -> MoveLine.Result {
    let start = Self.clock()
    guard !opening.configuration.storeConnection.isEmpty else {
      throw StoreFailure.unavailable(
        "the configuration does not name the database: write connection into [store] of \(configuration), such as "
          + "\"host=db.example dbname=chime user=chime\"")
    }
    let (database, file) = (try opening.place(), opening.path)
    let source: any StoreSource = engine == .postgres ? try SQLiteSource(path: file) : try PostgresSource(database)
    let target: any StoreTarget = engine == .postgres ? try PostgresTarget(database) : try SQLiteTarget(path: file)
    let counts = try source.counts()
    if !isDry {
      let total = 2 * counts.reduce(0) { $0 + $1.rows }
      var toldAt = start
      try source.move(into: target) { done in
        let now = Self.clock()
        guard now - toldAt >= 200 else { return }
        toldAt = now
        tell(MoveLine(progress: MoveLine.Progress(done: done, total: total)))
      }
    }
    let names = (file: file, database: database.summary)
    return MoveLine.Result(
      source: engine == .postgres ? names.file : names.database,
      target: engine == .postgres ? names.database : names.file, dryRun: isDry, took: Int(Self.clock() - start),
      configuration: configuration, tables: counts.map { MoveLine.Table(name: $0.table, rows: $0.rows) })
  }

  private static func clock() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
  }
}
