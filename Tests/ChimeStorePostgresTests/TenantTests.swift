import ChimeCore
import ChimeRecords
import ChimeSchedule
import ChimeStoreSQLite
import Foundation
import Testing

@testable import ChimeStorePostgres

/// Tenants of several daemons on one database.
@Suite(.enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"))
struct TenantTests {
  private struct Full: Error {}

  private static func reminder(_ id: String, of tenant: UInt32) throws -> Reminder {
    Reminder(
      id: ReminderID(rawValue: id), owner: tenant, title: id, schedule: try Schedule(canonical: "daily at 08:00"),
      createdAt: .earliest)
  }

  /// Many concurrent requests through two daemons, for several tenants in turn, so that the groups of both contain
  /// several: each tenant ends exactly at its limit, and there is no deadlock.
  @Test func reminderLimitIsExactAcrossDaemons() async throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let stores = [
      try PostgresStore.open(try server.place(database)), try PostgresStore.open(try server.place(database)),
    ]
    let tenants = try await stores[0].write { transaction in
      try ["a", "b", "c"].map { try transaction.enrol(tenant: $0).number }
    }
    let limit = 25
    let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<240 {
        let (store, tenant) = (stores[number % 2], tenants[number / 2 % 3])
        group.addTask {
          do {
            try await store.write { transaction in
              try transaction.upsert(try Self.reminder("r\(number)", of: tenant), next: Instant(seconds: 4_000_000_000))
              if try transaction.reminderCount(of: tenant) > limit { throw Full() }
            }
            return false
          } catch is Full { return true }
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(refused == 240 - 3 * limit)
    for tenant in tenants {
      let (counted, listed) = try await stores[1].read { transaction in
        (
          try transaction.reminderCount(of: tenant),
          try transaction.reminders(ReminderFilter(owner: tenant), page: Page(limit: 1_000)).count
        )
      }
      #expect(counted == limit)
      #expect(listed == limit)
    }
    for store in stores { await store.close() }
  }

  /// Counters and usage move with the store, and continue there.
  @Test func tenantUsageMovesWithTheStore() async throws {
    let server = try PostgresServer.shared.get()
    let folder = RunFolder.url.appendingPathComponent("chime-tenants-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (there, back) = (folder.path + "/a.db", folder.path + "/b.db")
    let first = try SQLiteStore.open(path: there)
    let tenants = try await first.write { transaction in
      let tenants = try ["x", "y"].map { try transaction.enrol(tenant: $0) }
      for id in ["one", "two", "gone"] {
        try transaction.upsert(try Self.reminder(id, of: tenants[1].number), next: Instant(seconds: 4_000_000_000))
      }
      try transaction.remove(ReminderID(rawValue: "gone"), now: .earliest)
      return tenants
    }
    await first.close()
    let place = try server.place(try server.makeDatabase())
    try SQLiteSource(path: there).move(into: try PostgresTarget(place)) { _ in }
    try PostgresSource(place).move(into: try SQLiteTarget(path: back)) { _ in }
    for store in [try PostgresStore.open(place), try SQLiteStore.open(path: back)] as [any Store] {
      let (known, made, count) = try await store.write { transaction in
        let known = try transaction.tenants()
        try transaction.upsert(
          try Self.reminder("three", of: tenants[1].number), next: Instant(seconds: 4_000_000_000))
        return (known, try transaction.enrol(tenant: "z"), try transaction.reminderCount(of: tenants[1].number))
      }
      #expect(known == tenants)
      #expect(!tenants.map(\.number).contains(made.number))
      #expect(count == 3)
      await store.close()
    }
  }
}
