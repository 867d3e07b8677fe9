import ChimeCore
import ChimeSchedule

extension SimulationPlan {
  /// The names of the endpoints in simulations.
  static let hooks = ["hook1", "hook2", "hook3"]

  /// Returns a random plan, the same for the same seed.
  public static func random(seed: UInt64, days: Int = 365) -> SimulationPlan {
    var generator = PlanGenerator(seed: seed, days: max(1, days))
    return generator.plan()
  }

  /// Returns a random plan for a machine, or for a fleet: one seed in four.
  public static func mixed(seed: UInt64, days: Int = 365) -> SimulationPlan {
    seed.isMultiple(of: 4) ? fleet(seed: seed) : random(seed: seed, days: days)
  }
}

/// Generates plans: reminders in every dialect, users who edit them, and events of the machine, often just when
/// something is due.
struct PlanGenerator {
  let seed: UInt64
  let days: Int
  var random: SeededGenerator
  private var texts: ScheduleTexts
  private(set) var actions: [PlannedAction] = []
  private(set) var start = Instant.earliest
  private var zone = "UTC"
  private var zones: SimulatedZones
  /// The reminders that exist, as far as predictable, to aim events at their times.
  var reminders: [(id: String, timetable: Timetable, from: Int64, until: Int64)] = []
  var count = 0
  /// The fields of reminders that edits keep: whether it is an expectation, and which reminder it follows or waits for.
  private var lasting: [String: [String: String]] = [:]
  /// The reminders that follow or wait for each one; they are removed before it.
  private var followers: [String: [String]] = [:]
  /// The offsets of the wall clock from elapsed time, with their start.
  private var skews: [(from: Int64, by: Int64)] = []

  init(seed: UInt64, days: Int) {
    self.seed = seed
    self.days = days
    random = SeededGenerator(seed: seed)
    texts = ScheduleTexts(random: SeededGenerator(seed: ~seed))
    zones = SimulatedZones(local: "UTC")
  }

  mutating func pick<Element>(_ list: [Element]) -> Element {
    list[Int.random(in: list.indices, using: &random)]
  }

  mutating func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
  mutating func chance(_ one: Int64) -> Bool { number(1...one) == 1 }

  /// Returns a random length; short ones are as frequent as long ones.
  mutating func length(_ range: ClosedRange<Int64>) -> Int64 {
    let (low, high) = (Double(range.lowerBound), Double(range.upperBound))
    var (from, to) = (low, high)
    // Halve the range on a logarithmic scale, repeatedly.
    for _ in 0..<12 {
      let middle = (from * to).squareRoot()
      if chance(2) { to = middle } else { from = middle }
    }
    let result = Int64(from)
    return result > 10_000 ? result / 1_000 * 1_000 : result
  }

  var span: Int64 { Int64(days) * 86_400_000 }

  mutating func plan() -> SimulationPlan {
    start = Instant(seconds: 1_704_067_200 + number(0...126_230_400))
    zone = pick(SimulatedZones.known).name
    zones.move(to: zone)
    // An unreachable endpoint is tried every five minutes; a day of that is enough.
    for name in SimulationPlan.hooks {
      put(number(1_000...(chance(6) ? 86_400_000 : 60_000)), .endpoint, name, 0, endpoint())
    }
    for (name, words) in [("t1", [:]), ("t2", ["usual": "2"])] where chance(2) {
      put(
        number(1_000...60_000), .track, name, number(0...5), chance(3) ? words.merging(["from": "240"]) { $1 } : words)
      track(name)
    }
    for _ in 0..<number(2...6) { add(at: number(1_000...3_600_000)) }
    for _ in 0..<number(0...6) * Int64(days) / 365 + 1 { add(at: number(0...span)) }
    if chance(2) { put(number(0...span), .history, "", 0, limits()) }
    // Plan the machine's events first: the users' actions depend on its clock.
    let events = number(10...60) * Int64(days) / 365 + 5
    if chance(3) { for _ in 0..<number(1...6) { step() } }
    for _ in 0..<number(0...4) { expect(at: chance(2) ? number(1_000...3_600_000) : number(0...span)) }
    for _ in 0..<number(0...4) { follow() }
    for _ in 0..<number(0...2) { crowd() }
    for _ in 0..<events { happen() }
    for _ in 0..<number(5...40) * Int64(days) / 365 + 3 { ask() }
    planMore()
    actions.sort { ($0.at, $0.text) < ($1.at, $1.text) }
    return SimulationPlan(seed: seed, start: start, days: days, zone: zone, actions: actions)
  }

  mutating func put(
    _ at: Int64, _ verb: PlannedAction.Verb, _ subject: String = "", _ amount: Int64 = 0,
    _ words: [String: String] = [:]
  ) {
    guard at >= 0, at < span else { return }
    actions.append(PlannedAction(.milliseconds(at), verb, subject, amount, words))
  }

  private func wall(_ at: Int64) -> Instant {
    start + .milliseconds(at + skews.reduce(0) { $0 + ($1.from <= at ? $1.by : 0) })
  }

  /// Returns a random moment; half of the time just when something is due.
  mutating func moment() -> Int64 {
    let at = number(0...span)
    guard chance(2), !reminders.isEmpty else { return at }
    let reminder = pick(reminders)
    let after = number(reminder.from...max(reminder.from, reminder.until))
    guard let due = reminder.timetable.next(after: wall(after)) else { return at }
    let real = after + (due - wall(after)).rawValue + (chance(3) ? number(-5_000...5_000) : number(-3...40))
    return real < span ? real : at
  }

  // MARK: Reminders

  private mutating func add(at: Int64) {
    count += 1
    let id = "r\(count)"
    let words = definition()
    guard let lifetime = lifetime(words, at: at) else { return }
    put(at, .add, id, 0, words)
    let until = min(at + lifetime, span)
    reminders.append((id, timetable(words, at: at), at, until))
    // Remove frequent reminders early, so that they do not fill the whole run.
    if until < span { remove(until, id) }
  }

  mutating func remove(_ at: Int64, _ id: String) {
    for follower in followers[id] ?? [] { remove(at - 1_000, follower) }
    // No daemon may run at that time, so repeat the removal: a frequent reminder would go on for the whole run.
    for again: Int64 in [0, 3_600_000, 86_400_000, 260_000_000] { put(at + again, .remove, id) }
  }

  /// Plans entries of a tracker on a few days, and what is undone.
  private mutating func track(_ name: String) {
    for _ in 0..<number(1...4) {
      let day = number(0...span)
      for _ in 0..<number(1...8) { put(day + number(0...40_000_000), .log, name, number(1...3)) }
      if chance(2) { put(day + number(0...40_000_000), .undo) }
    }
  }

  // MARK: Expectations

  private mutating func expect(at: Int64) {
    count += 1
    let id = "r\(count)"
    var words = definition()
    if chance(2) { words["urgency"] = nil }
    let within = length(5...100_000)
    words["within"] = "\(within)"
    let every: Int64? = chance(3) ? length(10...20_000) : nil
    if let every { words["when"] = "every \(every)m after done" }
    words["tracker"] = nil
    guard let lifetime = lifetime(words, at: at) else { return }
    lasting[id] = ["within": "\(within)"]
    put(at, .add, id, 0, words)
    let timetable = timetable(words, at: at)
    var until = min(at + lifetime, span)
    // A clock step may make more times due than planned.
    if let every { until = min(until, at + every * 60_000 * 80) }
    reminders.append((id, timetable, at, until))
    if until < span { remove(until, id) }
    var (place, pings) = (at, 0)
    while place < until, pings < 60 {
      pings += 1
      if let every {
        place += every * 60_000 * number(1...12) / 10 + number(0...1_000)
        ping(id, at: place, within * 1_000)
      } else {
        guard let due = timetable.next(after: wall(place)) else { return }
        place += max(1, (due - wall(place)).rawValue)
        ping(id, at: place, within * 1_000)
      }
    }
  }

  /// Plans what a job does at one of its times.
  private mutating func ping(_ id: String, at time: Int64, _ within: Int64) {
    func say(_ at: Int64, _ kind: String? = nil) { put(at, .ping, id, 0, kind.map { ["kind": $0] } ?? [:]) }
    switch number(0...16) {
    case 0...4: say(time + length(1...within))
    case 5: say(time - length(1...3_600_000))
    case 6: break
    case 7: say(time + within + length(1...within * 3))
    case 8: say(time + within + number(-40...40))
    case 9:
      let start = time + length(1...within)
      say(start, "started")
      if !chance(4) { say(start + length(1...within * 2), chance(5) ? "failed" : nil) }
    case 10, 11:
      let at = time + length(1...within)
      say(at, "failed")
      if chance(2) { say(at + length(1_000...within), "failed") }
      if chance(2) { say(at + within + number(0...60_000)) }
    case 12:
      let at = time + length(1...within)
      say(at)
      say(at + length(1...within))
    case 13: say(time + number(-5...20))
    case 14:
      let at = time + length(1...within)
      if chance(2) { put(at + number(-20...30), .crash, "", length(1...60_000)) }
      say(at)
    case 15:
      // The daemon is down when the time comes, or when the deadline ends.
      if chance(2) {
        put((chance(2) ? time : time + within) - length(1...50_000), .crash, "", length(1_000...100_000))
      }
      if chance(2) { say(time + length(1...within)) }
    default:
      say(time + length(1...within))
      if chance(3) { put(time + length(1...within), .step, "", (chance(2) ? 1 : -1) * length(2_000...3_600_000)) }
    }
  }

  // MARK: Dependent reminders

  /// Plans a reminder that follows another, or waits for it, and actions that complete the other.
  private mutating func follow() {
    guard !reminders.isEmpty else { return }
    let target = pick(reminders)
    guard target.from < target.until else { return }
    count += 1
    let id = "r\(count)"
    let at = chance(2) ? target.from + number(1...60_000) : number(target.from...target.until)
    var words = definition()
    words["tracker"] = nil
    var until = target.until
    if chance(2) {
      words["needs"] = target.id
      guard let lifetime = lifetime(words, at: at) else { return }
      until = min(until, at + lifetime)
      lasting[id] = ["needs": target.id]
    } else {
      let delay = chance(2) ? "" : "\(length(1...100_000))s "
      words["when"] = "\(delay)after \(chance(3) ? "missed" : "done") of \(target.id)"
      lasting[id] = ["when": words["when"] ?? ""]
    }
    put(at, .add, id, 0, words)
    for removal in actions where removal.verb == .remove && removal.subject == target.id && removal.at.rawValue > at {
      put(removal.at.rawValue - 1_000, .remove, id)
    }
    if until < target.until { put(until, .remove, id) }
    followers[target.id, default: []].append(id)
    reminders.append((id, timetable(words, at: at), at, until))
    for _ in 0..<number(2...12) {
      let after = number(target.from...target.until)
      guard let due = target.timetable.next(after: wall(after)) else { continue }
      put(after + (due - wall(after)).rawValue + number(0...60_000), .done, target.id)
    }
  }

  private func reminder(_ words: [String: String], at: Int64) -> Reminder? {
    var context = ReminderContext(zones: zones, place: Place(latitude: 50.1, longitude: 14.4))
    context.calendars = ["holidays": []]
    return try? Simulation.reminder(ReminderID(rawValue: "r"), words, context, now: wall(at))
  }

  func timetable(_ words: [String: String], at: Int64) -> Timetable {
    let context = ReminderContext(zones: zones, place: Place(latitude: 50.1, longitude: 14.4))
    guard let reminder = reminder(words, at: at) else { return context.scheduleContext(in: .utc).never }
    return context.timetable(of: reminder)
  }

  /// Returns how long the reminder may exist; nil if its schedule is invalid.
  func lifetime(_ words: [String: String], at: Int64) -> Int64? {
    guard reminder(words, at: at) != nil else { return nil }
    var times = 0
    let from = wall(at)
    for time in timetable(words, at: at).occurrences(after: from) {
      times += 1
      if time - from > .days(90) { break }
      let most = words["nag"] == nil ? 120 : 30
      if times == most { return (time - from).rawValue }
    }
    return span
  }

  mutating func definition() -> [String: String] {
    var words = ["when": texts.next()]
    if chance(3) { words["zone"] = pick(SimulatedZones.known).name }
    if chance(8) { words["gap"] = pick(GapRule.allCases).rawValue }
    if chance(8) { words["fold"] = pick(FoldRule.allCases).rawValue }
    if chance(6) { words["urgency"] = pick(Urgency.allCases).rawValue }
    if chance(2) { words["suspend"] = pick(CatchUpRule.allCases).rawValue }
    if chance(2) { words["downtime"] = pick(CatchUpRule.allCases).rawValue }
    if chance(4) { words["grace"] = "\(length(1...10_000_000))" }
    if chance(4) { words["jitter"] = "\(length(1...86_400))" }
    if chance(2) {
      var channels = pick([["desktop"], ["hook1"], ["desktop", "hook1"], ["hook2"], ["hook1", "hook2"]])
      if chance(6) { channels.append("hook3") }
      words["channels"] = channels.joined(separator: ",")
    }
    if chance(5) {
      words["nag"] = "\(length(10...86_400))x\(number(1...6))"
      if chance(2) { words["joins"] = pick(SimulationPlan.hooks) }
    }
    if chance(5) { words["hours"] = hours() }
    if chance(6) { words["handling"] = pick(QuietRule.Handling.allCases).rawValue }
    if chance(5) { words["wake"] = "yes" }
    if chance(4), words["when"]?.contains("after done") == false {
      words["tracker"] = pick(["t1", "t2"])
      if !chance(3) { words["silent"] = "yes" }
      if chance(4) { words["logs"] = "no" }
    }
    return words
  }

  private mutating func hours() -> String {
    pick([
      "22:00-07:00", "00:00-06:30", "23:00-02:30", "mon-fri 21:00-08:00;sat,sun 23:00-10:00", "12:00-14:00",
      "02:15-02:45", "12:00-11:00",
    ])
  }

  private mutating func limits() -> [String: String] {
    var words = ["age": "\(length(1...1_000))", "count": "\(length(1...500))"]
    if chance(2) { words[pick(["age", "count"])] = nil }
    return words
  }

  mutating func endpoint() -> [String: String] {
    var words: [String: String] = [:]
    if chance(4) { words["order"] = "yes" }
    if chance(4) { words["concurrency"] = "\(number(1...3))" }
    if chance(5) { words["rate"] = "\(number(1...5))" }
    return words
  }

  // MARK: People

  private mutating func ask() {
    guard !reminders.isEmpty else { return }
    let at = moment()
    let id = pick(reminders).id
    switch number(0...21) {
    case 0, 1:
      var words = definition().merging(lasting[id] ?? [:]) { $1 }
      if lasting[id] != nil { words["tracker"] = nil }
      guard let lifetime = lifetime(words, at: at) else { return }
      put(at, .edit, id, 0, words)
      if at + lifetime < span { remove(at + lifetime, id) }
    case 2: remove(at, id)
    case 3, 4:
      put(at, .pause, id, chance(4) ? 0 : length(60_000...2_000_000_000))
      put(at + length(1_000...2_000_000_000), .resume, id)
    case 5, 6: put(at, .skip, id, number(1...4))
    case 7...9: put(at + number(0...60_000), .done, id)
    case 10: put(at + number(0...60_000), .dismiss, id)
    case 11...13: put(at + number(0...60_000), .snooze, id, length(1_000...3_000_000_000))
    case 14: put(at, .fire, id)
    case 15: put(at, .endpoint, pick(SimulationPlan.hooks), 0, endpoint())
    case 16:
      let hook = pick(SimulationPlan.hooks)
      put(at, .disable, hook)
      put(at + length(10_000...1_000_000_000), .enable, hook)
    case 17:
      let hook = pick(SimulationPlan.hooks)
      put(at, .forget, hook)
      put(at + length(1_000...20_000_000), .endpoint, hook, 0, endpoint())
    case 18: put(at, .redeliver, pick(SimulationPlan.hooks))
    case 19: put(at, .discard, pick(SimulationPlan.hooks + ["desktop"]))
    case 20: put(at, .history, "", 0, limits())
    default: put(at, .quiet, "", 0, chance(4) ? [:] : ["hours": hours(), "handling": pick(["hold", "drop"])])
    }
  }

  // MARK: The world

  /// Plans reminders that come at one moment, to an endpoint that takes one message at a time, and what happens meanwhile.
  ///
  /// - Returns: when they are due for the second time, when more of them are claimed ahead.
  @discardableResult
  mutating func crowd() -> Int64 {
    let (at, minutes, hook) = (number(0...span), number(2...20), pick(SimulationPlan.hooks))
    let due = (start.milliseconds + at + 999) / 1_000 * 1_000 - start.milliseconds + minutes * 60_000
    put(at, .endpoint, hook, 0, chance(3) ? ["order": "yes"] : ["concurrency": "1"])
    // Quick enough that several are claimed ahead, slow enough that they wait.
    put(at, .channel, hook, length(100...3_000), ["mood": "well"])
    for _ in 0..<number(4...10) {
      count += 1
      put(
        at, .add, "r\(count)", 0,
        ["when": "every \(minutes)m 2 times", "channels": chance(3) ? "\(hook),desktop" : hook])
      if chance(2) {
        let verb = pick([PlannedAction.Verb.done, .dismiss, .snooze, .remove, .pause])
        put(due + length(50...10_000), verb, "r\(count)", verb == .snooze ? length(1_000...600_000) : 0)
      }
      put(due + minutes * 120_000, .remove, "r\(count)")
    }
    switch number(0...5) {
    case 0: put(due + length(50...5_000), .suspend, "", length(2_000...900_000))
    case 1: put(due + number(-25...5), .zone, pick(SimulatedZones.known).name)
    case 2: put(due + number(-25...5), .quiet, "", 0, ["hours": hours(), "handling": pick(["hold", "drop"])])
    case 3: put(due + length(50...5_000), .restart, "", length(1...60_000))
    case 4:
      put(
        due + length(50...5_000), .channel, hook, length(1_000...14_000),
        ["mood": pick(["hang", "fail", "unavailable"])])
    default: break
    }
    put(due + minutes * 120_000, .channel, hook, 20, ["mood": "well"])
    put(due + minutes * 120_000, .endpoint, hook, 0, endpoint())
    return due + minutes * 60_000
  }

  private mutating func step() {
    let at = moment()
    let size =
      switch number(0...9) {
      case 0...3: length(2_000...90_000)
      case 4...6: length(90_000...86_400_000)
      case 7, 8: length(86_400_000...2_600_000_000)
      default: length(2_600_000_000...94_608_000_000)
      }
    let by = chance(2) ? size : -size
    skews.append((at, by))
    put(at, .step, "", by)
    // A wrong clock is usually corrected.
    guard size > 86_400_000 || chance(2) else { return }
    let back = at + length(10...(chance(2) ? 60_000 : 86_400_000))
    skews.append((back, -by))
    put(back, .step, "", -by)
  }

  private mutating func happen() {
    let at = moment()
    switch number(0...22) {
    case 0...3: put(at - (chance(2) ? number(0...1_000) : 0), .suspend, "", length(2_000...900_000_000))
    case 4: put(at, .suspend, "", length(10...60_000), ["instead": pick(["wakes", "lost", "nothing"])])
    case 5: put(at, .stop, "", length(100...90_000_000))
    case 6...8: put(at, .crash, "", length(1...200_000_000))
    case 9, 10: put(at, .restart, "", length(1...20_000_000))
    case 11, 12:
      let kind = pick(SimulatedStore.Fault.Kind.allCases)
      put(at - number(0...2_000), .store, kind.rawValue, length(10...7_200_000))
    case 13...16:
      let name = pick(SimulationPlan.hooks + ["desktop"])
      var words = ["mood": pick(ChannelBehavior.Kind.allCases).rawValue]
      if words["mood"] == "gone", !chance(3) { words["mood"] = "hang" }
      if chance(3) {
        words = ["mood": "well", "answer": pick(["done", "dismiss", "snooze"]), "after": "\(length(1...600_000))"]
      }
      let takes = words["mood"] == "busy" ? length(1_000...100_000_000) : length(1...14_000)
      put(at, .channel, name, takes, words)
      // The channel usually recovers soon, sometimes never. A desktop without a session is polled every half minute, so
      // an hour is enough. A user who snoozes everything would soon fill the run.
      if words["mood"] == "shut" || words["answer"] == "snooze" {
        put(at + length(1_000...7_200_000), .channel, name, 20, ["mood": "well"])
      } else if !chance(5) {
        put(at + length(1_000...800_000_000), .channel, name, 20, ["mood": "well"])
      }
    case 17: put(at, .zone, pick(SimulatedZones.known).name)
    case 18: put(at, .tzdata, pick(SimulatedZones.known).name, 0, ["rule": pick(SimulatedZones.replacements)])
    case 19: if chance(4) { step() } else { put(at, .crash, "", length(1...5_000)) }
    default: refuse(from: at - number(0...2_000))
    }
  }

  /// Plans a period in which the store accepts no writes, with other events in it.
  private mutating func refuse(from at: Int64) {
    let span = length(10_000...7_200_000)
    // Make many times due in that period.
    if chance(2) {
      count += 1
      var words = definition()
      words["when"] = "every \(number(1...20))m \(number(20...150)) times"
      put(at - number(1...600_000), .add, "r\(count)", 0, words)
      put(at + span + number(1...600_000), .remove, "r\(count)")
      for _ in 0..<number(0...3) {
        let verb = pick([PlannedAction.Verb.done, .dismiss, .snooze, .edit, .pause, .skip])
        let amount = verb == .skip ? number(1...3) : length(1_000...600_000)
        put(at + number(0...span), verb, "r\(count)", verb == .edit ? 0 : amount, verb == .edit ? words : [:])
      }
    }
    put(at, .store, pick(["write", "write", "full", "refused"]), span)
    for _ in 0..<number(0...4) {
      let inside = at + number(0...span)
      switch number(0...9) {
      case 0: put(inside, .crash, "", length(1...600_000))
      case 1: put(inside, .restart, "", length(1...60_000))
      case 2, 3: put(inside, .suspend, "", length(2_000...20_000_000))
      case 4: put(inside, .step, "", pick([-1, 1]) * length(2_000...7_200_000))
      case 5: put(inside, .zone, pick(SimulatedZones.known).name)
      case 6:
        // The store works, or becomes unreadable, for a moment.
        put(inside, .store, pick(["gone", "slow"]), length(10...20_000))
      case 7:
        guard !reminders.isEmpty else { continue }
        put(inside, pick([.done, .dismiss, .pause, .snooze]), pick(reminders).id, length(1_000...3_600_000))
      default:
        let words = ["mood": "well", "answer": pick(["done", "dismiss", "snooze"]), "after": "\(length(1...60_000))"]
        put(
          inside, .channel, "desktop", length(1...14_000),
          chance(3) ? ["mood": pick(["shut", "hang", "flaky"])] : words)
        put(inside + length(1_000...7_200_000), .channel, "desktop", 20, ["mood": "well"])
      }
    }
  }
}

extension ScheduleContext {
  /// A timetable without times.
  fileprivate var never: Timetable {
    guard let past = try? Schedule(canonical: "at 1970-01-01T00:00:00Z") else { preconditionFailure("a fixed text") }
    return past.timetable(in: .utc)
  }
}
