import ChimeCore
import ChimeSchedule

extension SimulationPlan {
  /// The endpoints of fleets. Their queues belong to several daemons.
  static let fleetHooks = (1...8).map { "hook\($0)" }
  /// Those that always take their messages, as soon as they come.
  static let steadyHooks = Set(fleetHooks.prefix(5))

  /// Returns a random plan for three daemons, the same for the same seed.
  public static func fleet(seed: UInt64) -> SimulationPlan {
    var generator = FleetPlanGenerator(seed: seed)
    return generator.plan()
  }
}

/// Generates plans for three daemons on one database: reminders that come due together, people who answer, and faults of
/// members, of their network and of the database, often just when something is due.
struct FleetPlanGenerator {
  let seed: UInt64
  private var random: SeededGenerator
  private var actions: [PlannedAction] = []
  /// The times at which something is due, in milliseconds from the start.
  private var due: [Int64] = []
  private var span: Int64 = 0
  private var start = Instant.earliest

  init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed &* 0x2545_F491_4F6C_DD1D)
  }

  private mutating func pick<Element>(_ list: [Element]) -> Element {
    list[Int.random(in: list.indices, using: &random)]
  }

  private mutating func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
  private mutating func chance(_ one: Int64) -> Bool { number(1...one) == 1 }

  /// Returns a random length; short ones are as frequent as long ones.
  private mutating func length(_ range: ClosedRange<Int64>) -> Int64 {
    var (from, to) = (Double(range.lowerBound), Double(range.upperBound))
    for _ in 0..<12 {
      let middle = (from * to).squareRoot()
      if chance(2) { to = middle } else { from = middle }
    }
    return Int64(from)
  }

  private mutating func put(
    _ at: Int64, _ verb: PlannedAction.Verb, _ subject: String, _ amount: Int64 = 0, _ words: [String: String] = [:]
  ) {
    actions.append(PlannedAction(.milliseconds(max(0, at)), verb, subject, amount, words))
  }

  mutating func plan() -> SimulationPlan {
    // A few whole minutes, so that times of several reminders coincide.
    start = Instant(seconds: 1_704_067_200 + number(0...2_000_000) * 60)
    span = number(5...30) * 60_000
    for hook in SimulationPlan.fleetHooks { put(2_000 + number(0...500), .endpoint, hook, 0, endpoint(hook)) }
    for count in 1...number(3...8) { add("r\(count)") }
    for group in 1...number(1...4) { crowd("c\(group)") }
    for _ in 0..<number(2...14) { fault() }
    for _ in 0..<number(0...4) { moody() }
    actions.sort { ($0.at, $0.text) < ($1.at, $1.text) }
    var plan = SimulationPlan(seed: seed, start: start, days: 1, zone: "UTC", actions: actions)
    plan.members = 3
    return plan
  }

  private mutating func endpoint(_ hook: String) -> [String: String] {
    if SimulationPlan.steadyHooks.contains(hook) || chance(2) { return [:] }
    return chance(2) ? ["order": "yes"] : ["concurrency": "1"]
  }

  private mutating func add(_ id: String) {
    let at = chance(2) ? number(5_000...30_000) : number(5_000...span / 2)
    let minutes = pick([1, 1, 1, 2, 3, 5])
    let times = number(1...12)
    var words = ["when": "every \(minutes)m \(times) times"]
    var channels = [pick(SimulationPlan.fleetHooks)]
    while chance(2), channels.count < 4 {
      let more = pick(SimulationPlan.fleetHooks)
      if !channels.contains(more) { channels.append(more) }
    }
    words["channels"] = channels.joined(separator: ",")
    if chance(4) { words["nag"] = "\(length(5...40))x\(number(1...3))" }
    put(at, .add, id, 0, words)
    // Its times, as far as predictable.
    let zones = SimulatedZones(local: "UTC")
    let context = ReminderContext(zones: zones)
    let now = start + .milliseconds(at)
    guard let reminder = try? Simulation.reminder(ReminderID(rawValue: id), words, context, now: now) else { return }
    for time in context.timetable(of: reminder).occurrences(after: now).prefix(Int(times)) {
      let at = (time - start).rawValue
      due.append(at)
      if chance(5) {
        let verb = pick([PlannedAction.Verb.done, .done, .dismiss, .snooze])
        put(at + length(20...20_000), verb, id, verb == .snooze ? length(1_000...60_000) : 0)
      }
      if chance(30) { put(at + length(20...20_000), .remove, id) }
    }
  }

  /// Plans reminders that come at one moment, to endpoints that take their time, and what happens meanwhile.
  private mutating func crowd(_ name: String) {
    let at = number(5_000...span)
    let minutes = number(1...2)
    let hooks = SimulationPlan.fleetHooks.filter { !SimulationPlan.steadyHooks.contains($0) }
    for hook in hooks where chance(2) { put(at, .channel, hook, length(200...4_000), ["mood": "well"]) }
    for count in 1...number(3...9) {
      let channels = chance(3) ? [pick(SimulationPlan.fleetHooks)] : chance(2) ? hooks : [pick(hooks)]
      let words = ["when": "every \(minutes)m \(number(1...2)) times", "channels": channels.joined(separator: ",")]
      put(at, .add, "\(name)n\(count)", 0, words)
      if chance(4) { put(at + minutes * 60_000 + length(50...10_000), pick([.done, .dismiss]), "\(name)n\(count)") }
    }
    let time = at + minutes * 60_000
    due.append(time)
    // A daemon that stands still just as it claims.
    if chance(2) { put(time + number(0...25), .stop, "m\(number(1...3))", length(6_500...20_000)) }
    for _ in 0..<number(0...2) {
      let member = "m\(number(1...3))"
      let verb = pick([PlannedAction.Verb.stop, .stop, .cut, .cut, .crash, .lose, .restart])
      put(time + length(1...8_000), verb, member, length(500...20_000))
    }
  }

  /// Returns a random moment; often one at which something is due.
  private mutating func moment() -> Int64 {
    guard !due.isEmpty, !chance(4) else { return number(5_000...span) }
    return pick(due) + (chance(3) ? number(-7_000...2_000) : number(-5...60))
  }

  private mutating func fault() {
    let at = moment()
    let member = "m\(number(1...3))"
    switch number(0...19) {
    case 0...3: put(at, .crash, member, length(100...30_000))
    case 4, 5: put(at, .lose, member, length(1_000...30_000))
    case 6...10: put(at, .stop, member, length(20...30_000))
    case 11...14: put(at, .cut, member, length(20...40_000))
    case 15, 16: put(at, .restart, member, length(100...10_000))
    case 17: put(at, .store, "restart", length(200...20_000))
    case 18: put(at, .store, "promote", length(500...30_000))
    default:
      // Two at a time.
      put(at, .stop, member, length(3_000...20_000))
      put(at + length(1...5_000), pick([.crash, .cut, .stop]), "m\(number(1...3))", length(1_000...20_000))
    }
  }

  private mutating func moody() {
    let hook = pick(SimulationPlan.fleetHooks.filter { !SimulationPlan.steadyHooks.contains($0) })
    let at = moment()
    put(at, .channel, hook, length(20...3_000), ["mood": pick(["hang", "fail", "flaky", "busy"])])
    put(at + length(1_000...120_000), .channel, hook, 20, ["mood": "well"])
  }
}
