import ChimeCore
import ChimeStoreSQLite
import ChimeTestKit
import Testing

@Suite struct ConformanceTests {
  @Test(arguments: StoreConformance.cases) func sqliteConforms(_ testCase: StoreConformance.Case) async throws {
    let folder = try Folder()
    let path = folder.path + "/chime.db"
    try await testCase.check { try SQLiteStore.open(path: path) }
  }

  @Test func longReadBlocksNoOtherCall() async throws {
    let folder = try Folder()
    let store = try SQLiteStore.open(path: folder.path + "/chime.db")
    try await StoreConformance.checkReadingApart(store)
    await store.close()
  }

  /// The model with which engines are compared must fulfill the same contract.
  @Test(arguments: StoreConformance.cases) func memoryModelConforms(_ testCase: StoreConformance.Case) async throws {
    let latest = Latest()
    try await testCase.check { await latest.open() }
  }

  private actor Latest {
    private var store: MemoryStore?

    func open() async -> MemoryStore {
      let next = if let store { await MemoryStore(continuing: store) } else { MemoryStore() }
      store = next
      return next
    }
  }
}

@Suite struct ComparisonTests {
  /// If the store and the simple model of the contract disagree, one of them is wrong.
  @Test(arguments: 1...ProofTier.amount(quick: 1, proof: 20) as ClosedRange<UInt64>) func sqliteAndMemoryModelAgree(
    seed: UInt64
  ) async throws {
    let folder = try Folder()
    let store = try SQLiteStore.open(path: folder.path + "/chime.db")
    try await StoreComparison(seed: seed, steps: 500).run(store, MemoryStore())
    await store.close()
  }
}
