public import ChimeCore
public import ChimeSchedule

/// What has been lived through.
public struct SimulationFigures: Sendable {
  public var lives = 0
  /// Time of the machine, sleep included.
  public var lived = Milliseconds.zero
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
  public var suspends = 0
  /// Sleeps that the alarm ended.
  public var wakings = 0
  /// Pings that were taken, how often it was told that a job is up again, and how often of a time down.
  public var pings = 0
  public var recoveries = 0
  public var downtimes = 0
  /// Due times that were worked off without the store.
  public var degradedFirings = 0
  /// Messages that were shown before they were recorded.
  public var fromMemory = 0
  /// The most claimed deliveries that were held in memory.
  public var mostHeld = 0
  /// Times that the audit at the end of each life has judged, and those of them about which it could not be certain.
  public var audited = 0
  public var uncertain = 0

  public init() {}

  mutating func add(world: Simulation) {
    lives += 1
    lived = lived + .milliseconds(world.real)
  }

  public static func += (left: inout SimulationFigures, right: SimulationFigures) {
    left.lives += right.lives
    left.lived = left.lived + right.lived
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
