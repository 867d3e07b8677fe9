import ChimeCore
import ChimeSchedule
import ChimeTestKit
import Dispatch
import Glibc
import Synchronization

/// Simulates days and years of machines, from seeds.
///
///     chime-simulate --seeds 1000 --from 1 --days 365
///     chime-simulate --seed 7         one run, with its events
///     chime-simulate --plan FILE      a saved plan
///     chime-simulate --judge audit    ignore what the audit does not find
///     chime-simulate --kind fleet     only daemons that share a store; machine: only daemons that do not
struct Simulate {
  private var options: [String: String] = [:]

  struct Usage: Error, CustomStringConvertible {
    var description: String
  }

  private static let known: Set = [
    "seeds", "from", "days", "seed", "plan", "workers", "faults", "tries", "judge", "kind",
  ]

  init(_ arguments: [String]) throws {
    var words = arguments[...]
    while let word = words.popFirst() {
      let name = String(word.drop { $0 == "-" })
      guard word.hasPrefix("--"), Self.known.contains(name), let value = words.popFirst() else {
        throw Usage(
          description: "\(word): give \(Self.known.sorted().map { "--\($0)" }.joined(separator: ", ")) with a value")
      }
      options[name] = value
    }
  }

  private func number(_ name: String, _ usual: UInt64) throws -> UInt64 {
    guard let text = options[name] else { return usual }
    guard let number = UInt64(text) else { throw Usage(description: "--\(name) \(text): give a number") }
    return number
  }

  /// Returns the plan of a seed.
  private func plan(_ seed: UInt64, days: Int) throws -> SimulationPlan {
    switch options["kind"] {
    case nil: try judged(.mixed(seed: seed, days: days))
    case "machine": try judged(.random(seed: seed, days: days))
    case "fleet": try judged(.fleet(seed: seed))
    case let other?: throw Usage(description: "--kind \(other): give machine or fleet")
    }
  }

  /// Returns the plan with the selected checkers.
  private func judged(_ plan: SimulationPlan) throws -> SimulationPlan {
    var plan = plan
    switch options["judge"] {
    case nil: break
    case "audit": plan.isJudgedByAuditAlone = true
    case let other?: throw Usage(description: "--judge \(other): give audit")
    }
    return plan
  }

  static func say(_ text: String, to descriptor: Int32 = 1) {
    var bytes = Array("\(text)\n".utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// - Returns: whether no fault was found.
  func run() throws -> Bool {
    let days = Int(try number("days", 365))
    if let path = options["plan"] { return tell(try judged(SimulationPlan(text: try Self.read(path)))) }
    if options["seed"] != nil { return tell(try plan(number("seed", 1), days: days)) }
    return try runMany(days: days)
  }

  private static func read(_ path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw Usage(description: "\(path) cannot be read") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Runs one plan and reports on it.
  private func tell(_ plan: SimulationPlan) -> Bool {
    Self.say(plan.text)
    let outcome = Simulation.run(plan, diary: true)
    Self.say("\(outcome.diary.joined(separator: "\n"))\n")
    Self.say(outcome.fault.map { "FAULT: \($0)" } ?? "nothing was wrong")
    return outcome.fault == nil
  }

  private struct State {
    var next: UInt64
    var figures = SimulationFigures()
    var failed: [(seed: UInt64, fault: String)] = []
  }

  private func runMany(days: Int) throws -> Bool {
    let (first, count) = (try number("from", 1), try number("seeds", 1_000))
    let most = Int(try number("faults", 1))
    let workers = Int(try number("workers", UInt64(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))))
    // Validate here once instead of in each worker.
    _ = try plan(first, days: days)
    let state = Mutex(State(next: first))
    let begin = DispatchTime.now()
    DispatchQueue.concurrentPerform(iterations: workers) { _ in
      while true {
        let seed = state.withLock { state -> UInt64? in
          guard state.next &- first < count, state.failed.count < most else { return nil }
          defer { state.next &+= 1 }
          return state.next
        }
        guard let seed else { return }
        guard let plan = try? plan(seed, days: days) else { return }
        let outcome = Simulation.run(plan)
        state.withLock { state in
          state.figures += outcome.figures
          if let fault = outcome.fault {
            state.failed.append((seed, fault))
            if count > 1_000 { Self.say("seed \(seed): \(fault)") }
          }
          if state.figures.runs.isMultiple(of: 1_000), count > 1_000 { Self.say("\(state.figures.runs) runs") }
        }
      }
    }
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds) / 1e9
    let end = state.withLock { $0 }
    report(end.figures, from: first, seconds: seconds)
    for (seed, fault) in end.failed.sorted(by: { $0.seed < $1.seed }) {
      try explain(seed, fault, days: days)
    }
    return end.failed.isEmpty
  }

  private func report(_ figures: SimulationFigures, from first: UInt64, seconds: Double) {
    func show(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
    let years = Double(figures.simulated.rawValue) / 31_536_000_000
    let misses = figures.misses.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.rawValue)" }
    Self.say(
      """
      \(figures.runs) runs from seed \(first), \(show(years)) years in \(show(seconds)) s: \(show(years / seconds)) years a second
      \(figures.steps) steps, \(figures.commits) commits, \(figures.storeErrors) store errors, \(figures.attempts) attempts
      \(figures.fires) fires, \(figures.repeats) repeats; missed: \(misses.joined(separator: ", "))
      \(figures.starts) starts, \(figures.crashes) crashes, \(figures.clockSteps) clock steps, \(figures.suspends) suspends, \(figures.wakings) ended by the alarm, \(figures.restorations) stores restored, \(figures.restores) backups restored
      \(figures.pings) pings, \(figures.recoveries) jobs up again, \(figures.downtimes) reports of downtime
      \(figures.degradedFirings) firings in degraded mode, \(figures.fromMemory) messages shown before their record
      \(figures.requests) requests, \(figures.refusals) of them refused; at most \(figures.mostHeld) deliveries held
      audited: \(figures.audited) times, each with its record except \(figures.uncertain) uncertain ones
      """)
  }

  /// Reduces the plan of a seed, and prints how to run it again.
  private func explain(_ seed: UInt64, _ fault: String, days: Int) throws {
    Self.say("\nseed \(seed): \(fault)")
    let plan = try plan(seed, days: days)
    var shrinker = PlanShrinker(tries: Int(try number("tries", 600)))
    let small = shrinker.shrink(plan)
    let outcome = Simulation.run(small, diary: true)
    Self.say(
      """
      \(plan.actions.count) actions, shrunken to \(small.actions.count): \(outcome.fault ?? "")
      To repeat it: chime-simulate --seed \(seed) --days \(days)\(options["kind"].map { " --kind \($0)" } ?? "")
      The shrunken plan, for a file of chime-simulate --plan FILE:

      \(small.text)
      What happens in it:
      \(outcome.diary.suffix(60).map { "  \($0)" }.joined(separator: "\n"))
      """)
  }
}
