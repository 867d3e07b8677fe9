import ChimeCore
import ChimeSchedule

/// A Simulation runs a plan on a machine in virtual time: clocks, zones, disk, users, and the daemon.
///
/// The daemon is the real `LoopCore` with the real transactions; `SimulatedDaemon` is its shell. An `InvariantChecker`
/// checks each step.
///
///     let outcome = Simulation.run(SimulationPlan.random(seed: 7))
///     if let fault = outcome.fault { print(fault, outcome.diary.joined(separator: "
/// ")) }
public final class Simulation {
  let plan: SimulationPlan
  /// CLOCK_REALTIME.
  private(set) var wall: Instant
  /// CLOCK_MONOTONIC, in milliseconds.
  private(set) var mono: Int64 = 0
  /// CLOCK_BOOTTIME, in milliseconds.
  private(set) var real: Int64 = 0
  var queue = EventQueue()
  let store = SimulatedStore()
  lazy var checker = InvariantChecker(self)
  var loop: SimulatedDaemon?
  /// The zone files on disk.
  var zones: SimulatedZones
  var zoneRelease = 0
  var quiet = QuietDefaults()
  /// How much history the configuration keeps.
  var historyLimits = HistoryLimits(age: .days(400), count: 100_000)
  /// The snapshots of the store, the newest last.
  var snapshots: [Snapshot] = []
  /// The backups of owners, by owner and name.
  var backups: [String: [BackupRecord]] = [:]
  /// The backup that the current transaction restores, or the part of it that the transaction adds to the history.
  var restored: [BackupRecord] = []
  /// The reminders that an owner has after the current restore, or its undo.
  var replacement: [Reminder] = []
  /// Whether the current undo reverts a restore.
  var undoesRestore = false
  /// The reminders that each restore has replaced. The detail of its change is the place here.
  var replaced: [[Reminder]] = []
  /// Whether the daemon knows of the last restoration.
  var isRestorationTold = true
  var behaviors: [DeliveryQueue: ChannelBehavior] = [:]
  /// Whose request the current transaction carries out.
  var asking: UInt32?
  /// The number of events that the daemon does not know yet.
  var untold = 0
  /// For how long the daemon was suspended (SIGSTOP) in all, in milliseconds.
  private(set) var stalled: Int64 = 0
  var isHealed = false
  public internal(set) var figures = SimulationFigures()
  private(set) var fault: String?
  private var diary: [String] = []
  private let keepsDiary: Bool
  private var salt: UInt64 = 0
  private var saltedAt: Int64 = -1
  private var position = 0

  /// The result of a simulation run.
  public struct Outcome: Sendable {
    /// The first violation; nil if there is none.
    public var fault: String?
    public var figures: SimulationFigures
    /// The events, a line each; empty unless requested.
    public var diary: [String]
  }

  public static func run(_ plan: SimulationPlan, diary: Bool = false) -> Outcome {
    if plan.members > 1 { return FleetSimulation.run(plan, diary: diary) }
    var world = Simulation(plan, keepsDiary: diary)
    world.runEvents()
    if !isKnownUniquelyReferenced(&world) { world.fail("something keeps the simulation after its end") }
    return Outcome(fault: world.fault, figures: world.figures, diary: world.diary)
  }

  private init(_ plan: SimulationPlan, keepsDiary: Bool) {
    self.plan = plan
    self.keepsDiary = keepsDiary
    wall = plan.start
    zones = SimulatedZones(local: plan.zone)
  }

  // MARK: Time

  private func runEvents() {
    let end = Milliseconds.days(Int64(plan.days)).rawValue
    boot()
    while fault == nil, step(until: end, actions: true) {}
    // All faults end; pending work must be completed now.
    heal()
    while fault == nil, step(until: (healedAt ?? real) + Milliseconds.days(4).rawValue, actions: false) {}
    if fault == nil { checker.checkEnd() }
    figures.add(world: self)
    loop?.die()
    loop = nil
    // What is still to come holds the simulation, which holds the queue: it would never be freed.
    queue = EventQueue()
  }

  /// When all faults ended, in milliseconds of CLOCK_BOOTTIME. Later sleep shifts it, because nothing can be delivered
  /// in sleep.
  private var healedAt: Int64?

  private func heal() {
    healedAt = real
    isHealed = true
    for queue in behaviors.keys { checker.tenants.channelChanges(queue) }
    behaviors = [:]
    (store.fault, store.isDamaged) = (nil, false)
    if loop == nil { boot() }
    checker.healed(at: mono)
    repairEndpoints()
  }

  /// Returns an action with those of its set that follow it at the same time: a client applies them together.
  private func set(of action: PlannedAction) -> [PlannedAction] {
    guard let set = action.words["set"] else { return [action] }
    return Array(plan.actions[position...].prefix { $0.at == action.at && $0.words["set"] == set })
  }

  /// Runs the next event. Returns whether more events come before `end`.
  private func step(until end: Int64, actions: Bool) -> Bool {
    var wait = end - real
    var next: (() -> Void)?
    if actions, position < plan.actions.count {
      let action = plan.actions[position]
      if action.at.rawValue - real <= wait {
        wait = action.at.rawValue - real
        next = { [self] in
          let actions = set(of: action)
          position += actions.count
          for action in actions { note { action.text } }
          if actions.count == 1 { perform(action) } else { ask(actions) }
        }
      }
    }
    if let first = queue.first, first - mono < wait || (next == nil && first - mono <= wait) {
      wait = first - mono
      next = { [self] in queue.take()?() }
    }
    if let loop, let due = loop.dueTimerAt, (due - wall).rawValue < wait {
      wait = (due - wall).rawValue
      next = { loop.dueTimerFired() }
    }
    if let loop, let at = loop.outboxAt, at - mono < wait {
      wait = at - mono
      next = { loop.outboxTimerFired() }
    }
    advance(max(0, wait))
    guard let next else { return false }
    next()
    figures.steps += 1
    checker.check()
    return true
  }

  private func advance(_ milliseconds: Int64) {
    wall = wall + .milliseconds(milliseconds)
    mono += milliseconds
    real += milliseconds
    loop?.clockReaches(wall)
  }

  /// Sleeps: CLOCK_MONOTONIC stands still.
  func sleep(_ length: Milliseconds) {
    wall = wall + length
    real += length.rawValue
    loop?.clockReaches(wall)
    healedAt = healedAt.map { $0 + length.rawValue }
    checker.permitDelays(for: 0)
  }

  /// Lets time pass while the daemon is suspended (SIGSTOP).
  func stall(_ length: Milliseconds) {
    stalled += length.rawValue
    advance(length.rawValue)
    loop?.wasStopped(for: length)
    checker.daemonWasStopped()
  }

  func setClock(_ by: Milliseconds) {
    wall = wall + by
    loop?.clockReaches(wall)
  }

  func later(_ milliseconds: Int64, _ body: @escaping () -> Void) { queue.put(mono + max(0, milliseconds), body) }

  // MARK: Randomness

  /// Returns a number that depends only on the seed and the moment, so that removing an action from a plan changes
  /// nothing else.
  func chance(_ range: ClosedRange<Int64>) -> Int64 {
    let span = UInt64(range.upperBound - range.lowerBound) + 1
    return range.lowerBound + Int64(bits() % span)
  }

  func bits() -> UInt64 {
    if saltedAt != real { (salt, saltedAt) = (0, real) }
    salt &+= 1
    var generator = SeededGenerator(seed: plan.seed &* 0x9E37_79B9 ^ UInt64(real) &* 0xC2B2_AE3D ^ salt << 48)
    return generator.next()
  }

  // MARK: Reporting

  var storyIsSound: Bool { fault == nil }

  /// - Parameter always: also in a run that only the final audit judges.
  func fail(_ text: @autoclosure () -> String, always: Bool = false) {
    guard fault == nil, always || !plan.isJudgedByAuditAlone else { return }
    let clock = "\(RFC3339.format(wall, in: .utc)), \(PlannedAction(.milliseconds(real), .crash).text.dropLast(6))"
    fault = "\(text()) (the clock says \(clock) after the start)"
    note { "FAULT: \(fault ?? "")" }
  }

  func note(_ text: () -> String) {
    guard keepsDiary else { return }
    diary.append("\(RFC3339.format(wall, in: .utc)) +\(wall.milliseconds % 1_000) ms: \(text())")
  }
}
