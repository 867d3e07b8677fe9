import Foundation
import Testing

/// A fleet's guarantees while very many reminders fire: daemons killed, stopped and cut off, the primary lost,
/// everything restarted at once. About 80 s with four of these; `make fleet` runs each alone with 100,000.
@Suite(
  .proof(.storm), .serialized, .enabled(if: PostgresServer.whyMissing == nil, "\(PostgresServer.whyMissing ?? "")"),
  .enabled(if: Machine.has("cc"), "needs cc"))
struct FleetStormTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let size = environment["CHIME_TEST_REMINDERS"].flatMap { Int($0) } ?? 2_000
  /// The number of seconds over which all become due.
  private static let span = environment["CHIME_TEST_SPAN"].flatMap { Int($0) } ?? 40
  /// The faults of each run: all in sequence by default, else as requested ("kill freeze,restart").
  private static let fates: [[Storm.Fault]] =
    environment["CHIME_TEST_FAULTS"].flatMap { $0.isEmpty ? nil : $0 }?.split(separator: " ").map { faults in
      faults.split(separator: ",").compactMap { Storm.Fault(rawValue: String($0)) }
    } ?? [[.kill, .freeze, .promote, .restart]]

  @Test(.timeLimit(.minutes(30)), arguments: fates)
  func fleetUnderFaultsFiresAndDeliversEachReminderOnce(_ faults: [Storm.Fault]) async throws {
    try await Home.run { home in
      guard !faults.filter({ [.cut, .cuts, .chaos].contains($0) }).isEmpty else {
        return try await run(home, faults, nil)
      }
      try #require(Network.isPossible, "needs root and ip(8)")
      let network = try await Network.make(in: home)
      do { try await run(home, faults, network) } catch {
        await network.remove()
        throw error
      }
      await network.remove()
    }
  }

  private func run(_ home: Home, _ faults: [Storm.Fault], _ network: Network?) async throws {
    let span = max(Self.span, faults.map(\.span).max() ?? 0)
    let storm = try await Storm(home, size: Self.size, span: span, network)
    storm.log("— \(faults.map(\.rawValue).joined(separator: ", "))")
    try await storm.fill()
    for (place, fault) in faults.enumerated() {
      // Inject the first fault when some have fired, and each further one after the previous.
      try await storm.progress(place > 0 ? 0 : faults.count == 1 && fault.span == 40 ? 30 : 5)
      try await storm.suffer(fault)
    }
    try await storm.settle()
    try await storm.prove()
    // The guarantees hold for a rate on the smallest machine, and for one fault at a time.
    try await storm.tellCosts(isBounded: faults.count == 1 && Self.size / span <= 500)
  }
}
