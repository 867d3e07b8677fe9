import CPowerVFS
import ChimeCore
import ChimeTestKit
import Synchronization

@testable import ChimeStoreSQLite

/// A random game of changes on a store with power cuts, and the expected result.
///
/// The game is played once without a fault to record the content after each step in `model`. Whatever is left after a
/// cut must equal the model after the last acknowledged step, or after the one in progress.
final class PowerTrial {
  /// Ways to break a store; the tests must detect each.
  enum Mutation: String, CaseIterable, Sendable {
    case none, synchronousOff, synchronousNormal, repliesBeforeCommit
  }

  let seed: UInt64
  let steps: Int
  let mutation: Mutation
  /// The content's hash after each step; `model[0]` is that of an empty store.
  private(set) var model: [UInt64] = []
  /// The number of changes in the log at each step's acknowledgment.
  private let acknowledgements = Acknowledgements()

  let disk: PowerDisk
  private let game: StoreComparison
  private let folder: Folder
  /// The folder where the remains are examined.
  private let ruins: Folder
  private let quiet: PowerDisk

  init(seed: UInt64, steps: Int, mutation: Mutation = .none) throws {
    (self.seed, self.steps, self.mutation) = (seed, steps, mutation)
    game = StoreComparison(seed: seed, steps: steps)
    (folder, ruins) = (try Folder(), try Folder())
    (disk, quiet) = (try PowerDisk(), try PowerDisk())
  }

  func open(_ folder: Folder, through disk: PowerDisk) throws(StoreFailure) -> SQLiteStore {
    let (seed, mutation) = (seed, mutation)
    return try SQLiteStore.open(path: folder.path + "/chime.db") {
      $0.fileLayer = disk.name
      $0.adjust = { connection in
        // The log is checkpointed every few steps, and truncated in every other game.
        try connection.script("PRAGMA wal_autocheckpoint = 12")
        if seed.isMultiple(of: 2) { try connection.script("PRAGMA journal_size_limit = 0") }
        switch mutation {
        case .synchronousOff: try connection.script("PRAGMA synchronous = OFF")
        case .synchronousNormal: try connection.script("PRAGMA synchronous = NORMAL")
        case .none, .repliesBeforeCommit: break
        }
      }
    }
  }

  /// Makes one move. Returns `nil` if the store failed, and its answer otherwise.
  func move(_ step: Int, on store: any Store) async throws -> String? {
    do {
      return try await game.move(step, on: store)
    } catch StoreFailure.unavailable {
      return nil
    } catch let failure as StoreFailure where failure.isAnswer {
      return "\(failure)"
    }
  }

  /// Plays the game once without a fault, reopening the store in the middle, and logs it.
  func play() async throws {
    try disk.begin(folder)
    let path = folder.path + "/chime.db"
    var store = try open(folder, through: disk)
    model = [Contents(of: path, through: disk).fingerprint]
    for step in 0..<steps {
      if step == steps / 2 {
        await store.close()
        store = try open(folder, through: disk)
      }
      let note: @Sendable () -> Void = { [disk, acknowledgements] in acknowledgements.add(disk.changes) }
      if mutation == .repliesBeforeCommit {
        _ = try await move(step, on: EarlyReplyStore(store: store, replied: note))
      } else {
        _ = try await move(step, on: store)
        note()
      }
      model.append(Contents(of: path, through: disk).fingerprint)
    }
    await store.close()
  }

  /// Returns the number of steps acknowledged before this change.
  func acknowledged(before change: Int) -> Int { acknowledgements.count(before: change) }

  /// Cuts the power and examines what is left.
  ///
  /// - Parameter seen: contents found correct, with the number of acknowledged steps.
  /// - Returns: the problem; nil if there is none.
  func loss(at cut: PowerCut, seen: inout Set<[UInt64]>) async throws -> String? {
    let count = acknowledged(before: cut.change)
    let hash = try disk.leave(cut, in: ruins)
    if !seen.insert([hash, UInt64(count)]).inserted { return nil }
    guard let problem = try await problem(in: ruins, through: quiet, acknowledged: count).problem else { return nil }
    let before = (max(0, cut.change - 6)..<cut.change).map { "  " + disk.describe($0) }
    return "game \(seed), power cut \(cut): \(problem); the last changes were\n\(before.joined(separator: "\n"))"
  }

  /// Opens what is left, compares it with the model, and closes it.
  func problem(
    in folder: Folder, through disk: PowerDisk, acknowledged count: Int
  ) async throws -> (problem: String?, reached: Int) {
    let store: SQLiteStore
    do {
      store = try open(folder, through: disk)
    } catch {
      return ("it cannot be opened: \(error)", count)
    }
    let found = Contents(of: folder.path + "/chime.db", through: disk)
    await store.close()
    if found.verdict != "ok" { return ("the file is damaged: \(found.verdict)", count) }
    if found.fingerprint == model[count] { return (nil, count) }
    if count < steps, found.fingerprint == model[count + 1] { return (nil, count + 1) }
    let other = model.firstIndex(of: found.fingerprint).map { "it is as after step \($0)" }
    return ("of \(count) acknowledged steps not all is there as it was: \(other ?? "part of a step is there")", count)
  }
}

/// When each step was acknowledged; a broken store that replies too early does so on its own queue.
private final class Acknowledgements: Sendable {
  private let changes = Mutex<[Int]>([])

  func add(_ change: Int) { changes.withLock { $0.append(change) } }
  func count(before change: Int) -> Int { changes.withLock { $0.count { $0 <= change } } }
}

extension StoreFailure {
  /// Whether the store works and has refused the change.
  fileprivate var isAnswer: Bool {
    switch self {
    case .idTaken, .internalError: true
    case .unavailable, .newerSchema, .corrupt, .held, .takenOver, .readOnly, .closed: false
    }
  }
}

/// A store that replies before it has committed.
private struct EarlyReplyStore: Store {
  let store: SQLiteStore
  let replied: @Sendable () -> Void

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result {
    try await store.write { transaction in
      defer { replied() }
      return try body(transaction)
    }
  }

  func read<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
  ) async throws -> Result { try await store.read(body) }

  func close() async { await store.close() }
}
