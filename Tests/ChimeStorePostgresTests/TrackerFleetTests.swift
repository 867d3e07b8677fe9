import ChimeCore
import ChimeSchedule
import ChimeTestKit
import ChimeTracking
import Foundation
import Testing

@testable import ChimeStorePostgres

/// Concurrent changes of one person's trackers through several daemons.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct TrackerFleetTests {
  private struct Zones: ZoneSource {
    var local: Zone { .utc }
    func zone(_ name: String) -> Zone? { nil }
  }

  private static let water = TrackerID(rawValue: "water")
  private static let now = Instant(seconds: 1_795_161_600)

  private func change(
    _ store: PostgresStore,
    _ body:
      @escaping @Sendable (TrackingOperations, inout SeededGenerator) throws
      -> TrackingOutcome
  ) async throws -> TrackingOutcome {
    try await store.write { transaction in
      var generator = SeededGenerator(seed: .random(in: 0...UInt64.max))
      return try body(
        TrackingOperations(in: transaction, owner: 1_000, ReminderContext(zones: Zones()), now: Self.now), &generator)
    }
  }

  /// An entry is read and written incremented: nobody changes it in between, through any daemon, and the day's total
  /// includes each change.
  @Test func concurrentChangesOfAnEntryAreAllKept() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let stores = try (0..<2).map { _ in try PostgresStore.open(try server.place(database)) }
    let tracker = Tracker(
      id: Self.water, owner: 1_000, title: LocalizedText(["en": "Water"]), kind: .amount, unit: Unit("ml"),
      startedOn: try #require(CivilDate("2026-01-01")), createdAt: Self.now - .days(90))
    _ = try await change(stores[0]) { try $0.put(tracker, using: &$1) }
    let logged = try await change(stores[0]) {
      try $0.log(EntryDraft(tracker: Self.water, quantity: .one), using: &$1)
    }
    let entry = try #require(logged.entry)
    try await withThrowingTaskGroup { group in
      for store in stores {
        group.addTask {
          for _ in 0..<30 {
            _ = try await change(store) { work, generator in
              try work.edit(entry.id, using: &generator) { entry in
                entry.quantity = Quantity(grains: (entry.quantity?.grains ?? 0) + Quantity.one.grains)
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let (quantity, total) = try await stores[1].read { transaction in
      (
        try transaction.entry(entry.id, owner: 1_000)?.quantity,
        try transaction.dayTotal(of: TrackerKey(owner: 1_000, id: Self.water), on: entry.day)?.total
      )
    }
    #expect(quantity == Quantity(grains: 61 * Quantity.one.grains))
    #expect(total == quantity)
    for store in stores { await store.close() }
  }
}
