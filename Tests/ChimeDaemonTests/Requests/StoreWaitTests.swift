import ChimeCore
import Testing

@testable import ChimeDaemon

/// Requests whose wait for the store is aborted.
struct StoreWaitTests {
  private let executor = DispatchExecutor(label: "io.chime.test")
  private let silence = StoreFailure.unavailable("it does not answer")

  /// A change that has not started never runs.
  @Test func abortedChangeThatHasNotStartedNeverRuns() async throws {
    let stranded = StrandedCalls()
    let wait = StoreWait(stranded)
    wait.begin()
    #expect(wait.time == nil)
    let (answers, end) = AsyncStream<Void>.makeStream()
    let (begun, started) = AsyncStream<Void>.makeStream()
    let call = Task {
      try await wait.call(on: executor) {
        started.finish()
        for await _ in answers {}
        try wait.beginChange()
      }
    }
    for await _ in begun {}
    guard case .tellsItself = wait.giveUp(silence) else {
      Issue.record("nothing had begun")
      return
    }
    await #expect(throws: silence) { try await call.value }
    end.finish()
    #expect(throws: silence) { try wait.beginChange() }
    await #expect(throws: silence) { try await wait.call(on: executor) {} }
  }

  /// A change that has started is awaited.
  @Test func abortedChangeThatHasStartedIsAwaited() async throws {
    let wait = StoreWait(StrandedCalls())
    let (answers, end) = AsyncStream<Void>.makeStream()
    let (begun, started) = AsyncStream<Void>.makeStream()
    let call = Task {
      try await wait.call(on: executor) {
        try wait.beginChange()
        started.finish()
        for await _ in answers {}
        return 7
      }
    }
    for await _ in begun {}
    guard case .unknown = wait.giveUp(silence) else {
      Issue.record("it had begun")
      return
    }
    end.finish()
    #expect(try await call.value == 7)
  }
}
