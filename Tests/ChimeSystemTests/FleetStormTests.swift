import Foundation
import Testing

/// The promises of a fleet while very many reminders fire: daemons killed, stopped and cut off, the primary lost, everything
/// restarted at once. About 80 s with four of these; `make fleet` lives through each by itself, with 100,000.
@Suite(
  .proof(.storm), .serialized, .enabled(if: PostgresServer.uptime == nil, "\(PostgresServer.uptime ?? "")"),
  .enabled(if: Machine.has("cc"), "needs cc"))
struct FleetStormTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let size = environment["CHIME_TEST_REMINDERS"].flatMap { Int($0) } ?? 2_000
  /// Seconds in which all fall due.
  private static let span = environment["CHIME_TEST_SPAN"].flatMap { Int($0) } ?? 40
  /// What befalls each fleet: all of it, one after another, unless it was asked for otherwise ("kill freeze,restart").
  private static let fates: [[Storm.Fault]] =
    environment["CHIME_TEST_FAULTS"].flatMap { $0.isEmpty ? nil : $0 }?.split(separator: " ").map { fate in
      fate.split(separator: ",").compactMap { Storm.Fault(rawValue: String($0)) }
    } ?? [[.kill, .freeze, .promote, .restart]]

  @Test(.timeLimit(.minutes(30)), arguments: fates)
  func whateverBefallsItEachFiresOnceAndArrives(_ fate: [Storm.Fault]) async throws {
    try await Home.live { home in
      guard !fate.filter({ [.cut, .cuts, .chaos].contains($0) }).isEmpty else { return try await live(home, fate, nil) }
      try #require(Network.isPossible, "needs root and ip(8)")
      let network = try await Network.make(in: home)
      do { try await live(home, fate, network) } catch {
        await network.remove()
        throw error
      }
      await network.remove()
    }
  }

  private func live(_ home: Home, _ fate: [Storm.Fault], _ network: Network?) async throws {
    let span = max(Self.span, fate.map(\.span).max() ?? 0)
    let storm = try await Storm(home, size: Self.size, span: span, network)
    storm.tell("— \(fate.map(\.rawValue).joined(separator: ", "))")
    try await storm.fill()
    for (place, fault) in fate.enumerated() {
      // The first when a fair part has fired, each further one when the last is over and something has fired since.
      try await storm.progress(place > 0 ? 0 : fate.count == 1 && fault.span == 40 ? 30 : 5)
      try await storm.suffer(fault)
    }
    try await storm.settle()
    try await storm.prove()
    // What is promised is promised of so many a second on the smallest machine, and of one fault at a time.
    try await storm.tellCosts(isBounded: fate.count == 1 && Self.size / span <= 500)
  }
}
