import ChimeCore
public import ChimeSchedule

/// All that happens to a simulated machine from outside, as a list that can be read, kept as a text, shortened and lived
/// through again.
///
///     let plan = SimulationPlan.random(seed: 7)
///     let life = Simulation.run(plan)
///     print(plan.text)
public struct SimulationPlan: Hashable, Sendable {
  /// Decides what the plan leaves open: how long commits and messages take, and ids.
  public var seed: UInt64
  /// When the machine's clock begins.
  public var start: Instant
  public var days: Int
  /// The machine's zone at first.
  public var zone: String
  public var actions: [PlannedAction]
  /// Whether nothing is wrong but what the product's own audit finds in the end. Not part of the text.
  public var isJudgedByAuditAlone = false

  public init(seed: UInt64, start: Instant, days: Int, zone: String, actions: [PlannedAction]) {
    self.seed = seed
    self.start = start
    self.days = days
    self.zone = zone
    self.actions = actions
  }
}

/// One thing that happens, and when.
public struct PlannedAction: Hashable, Sendable {
  /// Real time since the start, sleep included.
  public var at: Milliseconds
  public var verb: Verb
  /// Which reminder, channel or store it happens to.
  public var subject: String
  /// A length, a size or a number, by the verb.
  public var amount: Int64
  /// What an added or edited reminder is like, or how a channel behaves.
  public var words: [String: String]

  public enum Verb: String, Hashable, Sendable, CaseIterable {
    // Clients.
    case add, edit, remove, pause, resume, skip, done, dismiss, snooze, fire, ping
    case endpoint, forget, enable, disable, redeliver, discard, quiet
    // The world.
    case channel, step, suspend, stop, zone, tzdata, store
    // The daemon.
    case crash, restart
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

  /// What a ping says; `kind` of its words.
  var ping: Ping.Kind { words["kind"].flatMap(Ping.Kind.init) ?? .succeeded }
}
