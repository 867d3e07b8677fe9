import ChimeCore
public import ChimeSchedule

/// A SimulationPlan lists all external events of a simulated machine. It can be printed, saved, minimized and replayed.
///
///     let plan = SimulationPlan.random(seed: 7)
///     let outcome = Simulation.run(plan)
///     print(plan.text)
public struct SimulationPlan: Hashable, Sendable {
  /// The seed for everything that the plan leaves open: durations of commits and messages, and ids.
  public var seed: UInt64
  /// The initial time of the machine's clock.
  public var start: Instant
  public var days: Int
  /// The number of daemons on one store; 1 for a machine with a store of its own.
  public var members = 1
  /// The machine's initial zone.
  public var zone: String
  public var actions: [PlannedAction]
  /// Whether only the product's own audit at the end judges the run. Not part of the text.
  public var isJudgedByAuditAlone = false

  public init(seed: UInt64, start: Instant, days: Int, zone: String, actions: [PlannedAction]) {
    self.seed = seed
    self.start = start
    self.days = days
    self.zone = zone
    self.actions = actions
  }
}

/// An event with its time.
public struct PlannedAction: Hashable, Sendable {
  /// The elapsed time since the start, sleep included.
  public var at: Milliseconds
  public var verb: Verb
  /// The affected reminder, channel or store.
  public var subject: String
  /// A length, a size or a number, depending on the verb.
  public var amount: Int64
  /// The fields of a reminder, or the behavior of a channel.
  public var words: [String: String]

  public enum Verb: String, Hashable, Sendable, CaseIterable {
    // Clients.
    case add, edit, remove, pause, resume, skip, done, dismiss, snooze, fire, ping
    case track, log, undo, backup, restore
    case endpoint, forget, enable, disable, redeliver, discard, quiet
    // The machine.
    case channel, step, suspend, stop, zone, tzdata, store, history, snapshot, damage
    // The daemon.
    case crash, restart
    // Daemons of a fleet: the network to the database is cut, the machine is lost.
    case cut, lose
  }

  public init(
    _ at: Milliseconds, _ verb: Verb, _ subject: String = "", _ amount: Int64 = 0, _ words: [String: String] = [:]
  ) {
    self.at = at
    self.verb = verb
    self.subject = subject
    self.amount = amount
    self.words = words
  }

  /// The kind of a ping, from the word `kind`.
  var ping: Ping.Kind { words["kind"].flatMap(Ping.Kind.init) ?? .succeeded }
}
