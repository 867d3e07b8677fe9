public import ChimeCore
public import ChimeSchedule

/// Statistics of simulation runs.
public struct SimulationFigures: Sendable {
  public var runs = 0
  /// The simulated time, sleep included.
  public var simulated = Milliseconds.zero
  public var steps = 0
  public var fires = 0
  public var repeats = 0
  public var misses: [MissReason: Int] = [:]
  public var attempts = 0
  public var commits = 0
  public var storeErrors = 0
  public var requests = 0
  public var refusals = 0
  public var starts = 0
  public var crashes = 0
  public var clockSteps = 0
  /// Stores that were damaged and restored.
  public var restorations = 0
  /// Backups that were restored.
  public var restores = 0
  public var suspends = 0
  /// Sleeps that the alarm ended.
  public var wakings = 0
  /// The numbers of accepted pings, recovery notices, and downtime notices.
  public var pings = 0
  public var recoveries = 0
  public var downtimes = 0
  /// Firings in degraded mode.
  public var degradedFirings = 0
  /// Messages shown before they were recorded.
  public var fromMemory = 0
  /// The most claimed deliveries held in memory.
  public var mostHeld = 0
  /// The times that the final audit judged, and those about which it was uncertain.
  public var audited = 0
  public var uncertain = 0

  public init() {}

  mutating func add(world: Simulation) {
    runs += 1
    simulated = simulated + .milliseconds(world.real)
  }

  public static func += (left: inout SimulationFigures, right: SimulationFigures) {
    left.runs += right.runs
    left.simulated = left.simulated + right.simulated
    left.steps += right.steps
    left.fires += right.fires
    left.repeats += right.repeats
    left.misses.merge(right.misses, uniquingKeysWith: +)
    left.attempts += right.attempts
    left.commits += right.commits
    left.storeErrors += right.storeErrors
    left.requests += right.requests
    left.refusals += right.refusals
    left.starts += right.starts
    left.crashes += right.crashes
    left.clockSteps += right.clockSteps
    left.restorations += right.restorations
    left.restores += right.restores
    left.suspends += right.suspends
    left.wakings += right.wakings
    left.pings += right.pings
    left.recoveries += right.recoveries
    left.downtimes += right.downtimes
    left.degradedFirings += right.degradedFirings
    left.fromMemory += right.fromMemory
    left.mostHeld = max(left.mostHeld, right.mostHeld)
    left.audited += right.audited
    left.uncertain += right.uncertain
  }
}
