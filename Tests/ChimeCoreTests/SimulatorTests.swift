import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Foundation
import Testing

/// Tests of the simulator, a few of its runs, and plans that once found errors. `make simulate` simulates a thousand years.
@Suite struct SimulatorTests {
  @Test(arguments: 1...ProofTier.amount(quick: 1, proof: 8) as ClosedRange<UInt64>)
  func yearOfARandomPlanHasNoFault(seed: UInt64) {
    let outcome = Simulation.run(SimulationPlan.random(seed: seed))
    #expect(outcome.fault == nil, "seed \(seed)")
    #expect(outcome.figures.simulated >= .days(365))
  }

  /// Three daemons on one database, with faults of members, of their network and of the database.
  @Test(arguments: 1...ProofTier.amount(quick: 3, proof: 60) as ClosedRange<UInt64>)
  func fleetOfARandomPlanHasNoFault(seed: UInt64) {
    let outcome = Simulation.run(.fleet(seed: seed))
    #expect(outcome.fault == nil, "seed \(seed)")
    #expect(outcome.figures.starts >= 3 && outcome.figures.fires > 0 && outcome.figures.audited > 0)
  }

  /// The same seed gives the same run, to the last line.
  @Test(arguments: [5, 8] as [UInt64])
  func sameSeedGivesTheSameRun(seed: UInt64) {
    let plan = SimulationPlan.mixed(seed: seed)
    #expect(plan == SimulationPlan.mixed(seed: seed))
    let runs = (0..<2).map { _ in Simulation.run(plan, diary: true) }
    #expect(runs[0].diary == runs[1].diary)
    #expect(runs[0].figures.steps == runs[1].figures.steps)
    #expect(runs[0].figures.fires > 0)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func planTextReadsBack(seed: UInt64) throws {
    let plan = SimulationPlan.mixed(seed: seed)
    #expect(try SimulationPlan(text: plan.text) == plan)
    #expect(plan.actions.count > 10)
  }

  @Test(arguments: ["5d", "0d 00:00:01.000", "0d 00:00:01.000 levitate r1", "xd 00:00:01.000 crash 1s", "0d 0:0 crash"])
  func invalidPlansAreRefused(line: String) {
    #expect(throws: SimulationPlan.Unreadable.self) { try SimulationPlan(text: "seed 1\n\(line)\n") }
  }

  /// Regression tests: the plans in `Tests/Simulation/plans`. Those in `long` take a quarter of a second and more each, and run
  /// in a proof.
  @Test(arguments: SimulatorTests.kept)
  func storedPlansHaveNoFault(file: String) throws {
    let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
    let outcome = Simulation.run(try SimulationPlan(text: text))
    #expect(outcome.fault == nil, "\(file)")
  }

  private static let folder = URL(filePath: Package.folder).appending(path: "Tests/Simulation/plans")

  private static let kept = ((try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? [])
    .filter { $0.hasSuffix(".txt") && (ProofTier.isProof || !$0.contains("/")) }.sorted()
}
