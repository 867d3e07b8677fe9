import ChimeCore
import ChimeStorePostgres
import ChimeTestKit
import Testing

/// The conformance suite of every store, with a real server.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"), .serialized)
struct ConformanceTests {
  @Test(arguments: StoreConformance.cases) func postgresConforms(_ testCase: StoreConformance.Case) async throws {
    let server = try PostgresServer.shared.get()
    let place = try server.place(try server.wipedDatabase())
    try await testCase.check { try PostgresStore.open(place) }
  }

  @Test func longReadBlocksNoOtherCall() async throws {
    let server = try PostgresServer.shared.get()
    let store = try PostgresStore.open(try server.place(try server.makeDatabase()))
    try await StoreConformance.checkReadingApart(store)
    await store.close()
  }

  /// If the store and the simple model of the contract disagree, one of them is wrong.
  @Test(arguments: 1...ProofTier.amount(quick: 1, proof: 20) as ClosedRange<UInt64>) func postgresAndMemoryModelAgree(
    seed: UInt64
  ) async throws {
    let server = try PostgresServer.shared.get()
    let store = try PostgresStore.open(try server.place(try server.makeDatabase()))
    try await StoreComparison(seed: seed, steps: 500).run(store, MemoryStore())
    await store.close()
  }
}
