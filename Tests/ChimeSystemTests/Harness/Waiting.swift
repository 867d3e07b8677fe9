import Foundation

/// A condition that did not come true in time, or an error around a test.
struct HarnessFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Polls `condition` until it returns a value, about every ten milliseconds, up to `limit`.
///
/// This is the only place in the system tests that waits: tests wait for conditions, not for lengths of time.
func eventually<Value>(
  _ what: @autoclosure () -> String, within limit: Duration = .seconds(20), every pause: Duration = .milliseconds(10),
  isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Value?
) async throws -> Value {
  let clock = ContinuousClock()
  let deadline = clock.now + limit * Sanitizer.slowness
  while true {
    if let value = try await condition() { return value }
    guard clock.now < deadline else { throw HarnessFailure("not within \(limit): \(what())") }
    try await Task.sleep(for: pause)
  }
}

/// Polls until `condition` holds.
func eventually(
  _ what: @autoclosure () -> String, within limit: Duration = .seconds(20), every pause: Duration = .milliseconds(10),
  isolation: isolated (any Actor)? = #isolation, holds condition: () async throws -> Bool
) async throws {
  try await eventually(what(), within: limit, every: pause) { try await condition() ? () : nil }
}

/// Runs blocking work on its own thread, so that other tests continue.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
  }
}

/// Limits the number of concurrent homes, because the machine may have only two processors. `CHIME_TEST_HOMES` has the
/// number (`homes` in the Makefile).
actor AsyncSemaphore {
  static let homes = AsyncSemaphore(ProcessInfo.processInfo.environment["CHIME_TEST_HOMES"].flatMap { Int($0) } ?? 4)

  private let places: Int
  private var free: Int
  private var queue: [CheckedContinuation<Void, Never>] = []
  /// The waiters for exclusive access, which precede the queue.
  private var exclusiveWaiters: [CheckedContinuation<Void, Never>] = []

  init(_ places: Int) {
    self.places = places
    free = places
  }

  /// - Parameter alone: whether to wait for exclusive access, for tests that change the whole machine.
  func enter(alone: Bool = false) async {
    if alone {
      if free == places { free = 0 } else { await withCheckedContinuation { exclusiveWaiters.append($0) } }
    } else if free > 0, exclusiveWaiters.isEmpty {
      free -= 1
    } else {
      await withCheckedContinuation { queue.append($0) }
    }
  }

  func leave(alone: Bool = false) {
    free += alone ? places : 1
    if !exclusiveWaiters.isEmpty {
      guard free == places else { return }
      free = 0
      exclusiveWaiters.removeFirst().resume()
      return
    }
    while free > 0, !queue.isEmpty {
      free -= 1
      queue.removeFirst().resume()
    }
  }
}

extension Child {
  /// The port that a stand-in server prints first, as `{"port": N}`, once it listens.
  var saidPort: Int {
    get async throws {
      try await eventually("the server says its port") {
        if let end { throw HarnessFailure("the server ended with \(end): \(errors)") }
        return try lines.first.map { try JSON(parsing: $0)["port"].int } ?? nil
      }
    }
  }
}
