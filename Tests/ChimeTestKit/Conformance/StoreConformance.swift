public import ChimeCore
import Dispatch

/// The requirements on every store engine, as cases that any test runner can call.
///
/// An engine passes when each case, run on a fresh database, returns without throwing.
///
///     @Test(arguments: StoreConformance.cases) func conforms(_ testCase: StoreConformance.Case) async throws {
///       try await testCase.check { try SQLiteStore.open(path: path) }
///     }
public enum StoreConformance {
  public struct Case: Sendable, CustomStringConvertible {
    public let name: String
    let body: @Sendable (Subject) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (Subject) async throws -> Void) {
      self.name = name
      self.body = body
    }

    public var description: String { name }

    /// - Parameter open: opens the engine on the same database at each call. The database is empty at first; each store
    ///   is closed before the next opens.
    /// - Throws: `ConformanceFailure`, or the engine's error.
    public func check(open: @escaping @Sendable () async throws -> any Store) async throws {
      let subject = Subject(store: try await open(), open: open)
      do {
        try await body(subject)
      } catch {
        await subject.store.close()
        throw error
      }
      await subject.store.close()
    }
  }

  public static let cases =
    definitionCases + listingCases + firingCases + batchCases + insertingCases + deferralAndRepeatCases
    + occurrenceCases
    + outboxCases
    + queueCases + historyCases + versionCases + expectationCases + otherCases + wakeCases + tenantCases
    + chainCases + trackerCases + entryCases + changeCases + transactionCases

  /// Checks an engine with a separate reader for long reads: other calls do not wait for it, and it sees one snapshot.
  public static func checkReadingApart(_ store: any Store) async throws {
    try await store.write { try $0.setNote("n", "before") }
    let others = DispatchSemaphore(value: 0)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    async let seen = store.readApart { transaction in
      let first = try transaction.note("n")
      begin.finish()
      // Long enough for any machine; an engine that blocks others waits that long, and fails.
      let isOver = others.wait(timeout: .now() + 60) == .success
      return (isOver, first, try transaction.note("n"))
    }
    for await () in begun {}
    try await store.write { try $0.setNote("n", "after") }
    let note = try await store.read { try $0.note("n") }
    others.signal()
    let (isOver, first, second) = try await seen
    try expect(isOver, "the others waited for it")
    try expect(note, is: "after", "what another reader sees meanwhile")
    try expect([first, second], is: ["before", "before"], "the snapshot")
  }

  /// The engine under test.
  ///
  /// `@unchecked Sendable`: only one case uses it, and replaces the store only between two of its own awaits.
  final class Subject: @unchecked Sendable {
    private(set) var store: any Store
    private let open: @Sendable () async throws -> any Store

    init(store: any Store, open: @escaping @Sendable () async throws -> any Store) {
      self.store = store
      self.open = open
    }

    func reopen() async throws {
      await store.close()
      store = try await open()
    }

    func write<Result: Sendable>(
      _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
    ) async throws -> Result { try await store.write(body) }

    func read<Result: Sendable>(
      _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
    ) async throws -> Result { try await store.read(body) }
  }
}

/// A violation of the store contract.
public struct ConformanceFailure: Error, CustomStringConvertible {
  public let description: String
}

func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
  if !condition { throw ConformanceFailure(description: sentence()) }
}

func expect<Value: Equatable>(_ found: Value, is wanted: Value, _ what: @autoclosure () -> String) throws {
  if found != wanted { throw ConformanceFailure(description: "\(what()): expected \(wanted), found \(found)") }
}

func expect(_ wanted: StoreFailure, from body: () async throws -> Void) async throws {
  do {
    try await body()
  } catch let failure as StoreFailure {
    return try expect(failure, is: wanted, "the failure")
  }
  throw ConformanceFailure(description: "expected \(wanted), but nothing was thrown")
}
