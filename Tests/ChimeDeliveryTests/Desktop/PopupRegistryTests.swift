import ChimeCore
import ChimeSchedule
import Testing

@testable import ChimeDelivery

/// Which runs of notify-send replace which popups.
@Suite struct PopupRegistryTests {
  /// Returns the runs started, each with the number that it replaces.
  func started(_ orders: [PopupRegistry.Order]) -> [String] {
    orders.compactMap { order in
      if case .start(let run, _, let replacing, _) = order { "\(run) for \(replacing ?? 0)" } else { nil }
    }
  }

  @Test func summaryReplacesItselfAfterItsProgramHasEnded() throws {
    var registry = PopupRegistry()
    func summary(_ number: UInt64) -> PopupRequest {
      PopupRequest(.summary(PopupSummary(number: number, titles: ["a", "b"]))) { _ in }
    }
    #expect(started(registry.admit(summary(1), limit: 8)) == ["1 for 0"])
    let reports = registry.handle(.output(Array("5\n".utf8)), of: 1, limit: 8).filter(\.isReport)
    #expect(reports.count == 1)
    _ = registry.handle(.ended(.status(0)), of: 1, limit: 8)
    #expect(started(registry.admit(summary(1), limit: 8)) == ["2 for 5"])
    // A run that never got a number, and another summary.
    _ = registry.handle(.ended(.status(1)), of: 2, limit: 8)
    #expect(started(registry.admit(summary(1), limit: 8)) == ["3 for 0"])
    #expect(started(registry.admit(summary(2), limit: 8)) == ["4 for 0"])
  }

  @Test func popupWithoutItsProgramIsGone() throws {
    var registry = PopupRegistry()
    let first = PopupRequest(.occurrence(try message())) { _ in }
    #expect(started(registry.admit(first, limit: 8)) == ["1 for 0"])
    _ = registry.handle(.output(Array("5\n".utf8)), of: 1, limit: 8)
    _ = registry.handle(.ended(.status(0)), of: 1, limit: 8)
    #expect(started(registry.admit(PopupRequest(.occurrence(try message(round: 2))) { _ in }, limit: 8)) == ["2 for 0"])
  }
}
