import ChimeSchedule

// Later additions to plans. They draw from numbers of their own, so that the rest of a plan stays as it was for its seed.
extension PlanGenerator {
  mutating func planMore() {
    random = SeededGenerator(seed: seed &* 0xD6E8_FEB8_6659_FD93 ^ 0x5EED)
    if chance(3) { damage() }
    if chance(3) { for owner in 1...number(1...2) { live(["owner": "\(owner)"]) } }
    if chance(3) { runCommands() }
    if chance(3) { keepWeeks() }
    if chance(3) { applySets() }
    if chance(3) { backUp() }
  }

  /// Plans backups of what an owner has, restores of them, and what undoes those.
  private mutating func backUp() {
    let owner = chance(3) ? ["owner": "1"] : [:]
    for each in 1...number(1...2) {
      let made = moment()
      put(made, .backup, "b\(each)", 0, owner)
      for _ in 0..<number(1...3) {
        let at = chance(2) ? made + length(1_000...200_000_000) : max(made + 1_000, moment())
        put(at, .restore, "b\(each)", 0, owner)
        if chance(4) { put(at + number(-50...50), .crash, "", length(1_000...100_000)) }
        if chance(3) { put(at + length(100...10_000_000), .undo, "", 0, owner) }
        // A restore brings frequent reminders back.
        let gone = at + length(60_000...3_600_000)
        for reminder in reminders where reminder.until < gone && reminder.until < span { remove(gone, reminder.id) }
      }
    }
    if chance(2) { restoreWhatIsHeld() }
  }

  /// Plans a restore while quiet hours hold a reminder that has been changed since.
  private mutating func restoreWhatIsHeld() {
    let at = number(0...span)
    var words = ["when": "cron: */30 * * * *", "hours": "12:00-11:00", "handling": "hold"]
    let ids = put(1, words, at: at)
    put(at + 60_000, .backup, "b3")
    words["suspend"] = "all"
    for id in ids {
      put(at + 120_000, .edit, id, 0, words)
      put(at + length(1_800_000...80_000_000), .restore, "b3")
      remove(at + 90_000_000, id)
    }
  }

  /// Plans snapshots, and damage to the store after them.
  private mutating func damage() {
    let every = number(1...48) * 3_600_000
    let first = number(60_000...every)
    for at in stride(from: first, to: span, by: Int(every)).prefix(400) {
      // Not before the daemon has something to do, and often as something fires.
      put(chance(3) ? moment() : at, .snapshot)
    }
    for _ in 0..<number(1...3) {
      // Half of the time while messages are held.
      let due = chance(2) ? crowd() : nil
      if let due { put(due - number(1...60_000), .snapshot) }
      let at = due.map { $0 + length(10...10_000) } ?? moment()
      if chance(4) { put(at - number(0...2_000), .crash, "", length(1_000...100_000)) }
      if chance(4) { put(at - number(0...2_000), .store, pick(["write", "full", "slow"]), length(10...600_000)) }
      if chance(3) { put(at - length(1...60_000), .snapshot) }
      put(at, .damage, "", chance(4) ? number(1...2) : 0)
    }
  }

  // MARK: Other owners

  /// Plans what another owner has and does, with endpoints of the same names.
  private mutating func live(_ owner: [String: String]) {
    let hooks = Array(SimulationPlan.hooks.prefix(2))
    for hook in hooks { put(number(1_000...60_000), .endpoint, hook, 0, endpoint().merging(owner) { $1 }) }
    let tracks = chance(2)
    if tracks {
      put(number(1_000...60_000), .track, "t1", number(0...3), owner)
      for _ in 0..<number(1...6) {
        put(number(60_000...span), chance(3) ? .undo : .log, "t1", number(1...3), owner)
      }
    }
    for _ in 0..<number(1...3) {
      let at = number(60_000...3_600_000)
      var words = definition().merging(owner) { $1 }
      words["channels"] = pick(["hook1", "hook2", "hook1,hook2"])
      (words["joins"], words["tracker"]) = (nil, tracks && words["tracker"] != nil ? "t1" : nil)
      guard let lifetime = lifetime(words, at: at) else { continue }
      count += 1
      let id = "r\(count)"
      put(at, .add, id, 0, words)
      reminders.append((id, timetable(words, at: at), at, min(at + lifetime, span)))
      if at + lifetime < span { remove(at + lifetime, id) }
      for _ in 0..<number(1...4) {
        let verb = pick([PlannedAction.Verb.done, .dismiss, .snooze, .pause, .resume, .skip, .edit, .remove])
        let amount = verb == .skip ? number(1...3) : verb == .pause || verb == .snooze ? length(1_000...90_000_000) : 0
        put(moment(), verb, id, amount, verb == .edit ? words : [:])
      }
    }
    for _ in 0..<number(2...6) {
      let (at, hook) = (moment(), pick(hooks))
      switch number(0...5) {
      case 0:
        put(at, .forget, hook, 0, owner)
        put(at + length(1_000...20_000_000), .endpoint, hook, 0, owner)
      case 1:
        put(at, .disable, hook, 0, owner)
        put(at + length(10_000...100_000_000), .enable, hook, 0, owner)
      case 2: put(at, pick([.redeliver, .discard]), hook, 0, owner)
      case 3: flood(owner, hook)
      default:
        let mood = pick(ChannelBehavior.Kind.allCases.filter { $0 != .gone || chance(3) }).rawValue
        put(at, .channel, hook, length(1...14_000), owner.merging(["mood": mood]) { $1 })
        put(at + length(1_000...100_000_000), .channel, hook, 20, owner.merging(["mood": "well"]) { $1 })
      }
    }
    if chance(2) { share(owner, pick(hooks)) }
    if chance(2) { crash(owner) }
  }

  /// Plans that somebody removes an endpoint while another owner's messages to one of that name wait.
  private mutating func share(_ owner: [String: String], _ hook: String) {
    let (at, minutes) = (number(0...span), number(2...10))
    let due = (start.milliseconds + at + 999) / 1_000 * 1_000 - start.milliseconds + minutes * 60_000
    put(at, .endpoint, hook, 0, owner.merging(["concurrency": "1"]) { $1 })
    put(at, .channel, hook, length(100...2_000), owner.merging(["mood": "well"]) { $1 })
    put(at, .endpoint, hook)
    let before = put(8, owner.merging(["when": "every \(minutes)m 3 times", "channels": hook]) { $1 }, at: at)
    put(due + minutes * 60_000 + length(50...5_000), .forget, hook)
    put(due + minutes * 240_000, .endpoint, hook)
    for id in before { put(due + minutes * 240_000, .remove, id) }
  }

  /// Plans that reminders of two owners come while no daemon runs.
  private mutating func crash(_ owner: [String: String]) {
    let (at, minutes) = (number(0...span), number(2...60))
    let due = at + minutes * 60_000
    let words = ["when": "every \(minutes)m 2 times", "channels": "hook1", "downtime": "all"]
    let ids = put(1, words, at: at) + put(1, words.merging(owner) { $1 }, at: at)
    put(due - length(1_000...60_000), .crash, "", length(120_000...3_600_000))
    for id in ids { put(due + 7_200_000, .remove, id) }
  }

  /// Plans several reminders like this one.
  private mutating func put(_ number: Int, _ words: [String: String], at: Int64) -> [String] {
    (0..<number).map { _ in
      count += 1
      put(at, .add, "r\(count)", 0, words)
      return "r\(count)"
    }
  }

  /// Plans many messages at one moment to an endpoint that hangs or is slow.
  @discardableResult
  private mutating func flood(_ owner: [String: String], _ hook: String) -> Int64 {
    let (at, minutes) = (number(0...span), number(2...10))
    let due = (start.milliseconds + at + 999) / 1_000 * 1_000 - start.milliseconds + minutes * 60_000
    put(at, .channel, hook, length(500...14_000), owner.merging(["mood": pick(["hang", "well", "fail"])]) { $1 })
    for _ in 0..<number(10...30) {
      count += 1
      put(at, .add, "r\(count)", 0, owner.merging(["when": "every \(minutes)m 2 times", "channels": hook]) { $1 })
      put(due + minutes * 120_000, .remove, "r\(count)")
    }
    put(due + minutes * 120_000, .channel, hook, 20, owner.merging(["mood": "well"]) { $1 })
    return due
  }

  // MARK: Commands

  private mutating func runCommands() {
    for _ in 0..<number(1...4) {
      let at = number(1_000...span)
      var words = definition()
      words["channels"] = pick(["cmd1", "cmd2", "cmd1,desktop", "cmd1,cmd2", "cmd2,hook1"])
      (words["joins"], words["tracker"]) = (words["joins"].map { _ in "cmd1" }, nil)
      guard let lifetime = lifetime(words, at: at) else { continue }
      count += 1
      put(at, .add, "r\(count)", 0, words)
      reminders.append(("r\(count)", timetable(words, at: at), at, min(at + lifetime, span)))
      if at + lifetime < span { remove(at + lifetime, "r\(count)") }
    }
    // Several at one moment.
    let (at, minutes) = (number(0...span), number(2...20))
    for _ in 0..<number(3...8) {
      count += 1
      put(at, .add, "r\(count)", 0, ["when": "every \(minutes)m 3 times", "channels": pick(["cmd1", "cmd2"])])
      put(at + minutes * 240_000, .remove, "r\(count)")
    }
    put(at, .channel, "cmd1", length(10...3_000), ["mood": "well"])
    for _ in 0..<number(2...6) {
      let (from, command) = (moment(), pick(["cmd1", "cmd2"]))
      var words = ["mood": pick(["fail", "flaky", "hang", "omit", "unavailable"])]
      if chance(3) { words = ["mood": "well", "answer": pick(["done", "dismiss", "snooze"]), "after": "1"] }
      put(from, .channel, command, length(10...14_000), words)
      put(from + length(1_000...100_000_000), .channel, command, 20, ["mood": "well"])
    }
  }

  // MARK: Sets

  /// Plans sets of reminders that are applied, changed and applied again, and at last removed.
  private mutating func applySets() {
    for number in 1...number(1...3) {
      let (set, begin) = (["set": "s\(number)"], moment())
      var members: [(id: String, words: [String: String])] = []
      for _ in 0..<self.number(2...5) {
        var words = definition()
        if let other = members.last, chance(4) { words["when"] = "after done of \(other.id)" }
        if let other = members.last, chance(4) { words["needs"] = other.id }
        guard isRare(words, at: begin) else { continue }
        count += 1
        members.append(("r\(count)", words.merging(set) { $1 }))
      }
      for member in members { put(begin, .add, member.id, 0, member.words) }
      for _ in 0..<self.number(1...6) {
        let at = begin + length(1...span)
        for member in members {
          switch self.number(0...5) {
          case 0: put(at, .remove, member.id, 0, set)
          case 1, 2: put(at, .edit, member.id, 0, member.words.merging(["grace": "\(length(1...10_000_000))"]) { $1 })
          case 3:
            let words = definition()
            if isRare(words, at: at) { put(at, .edit, member.id, 0, words.merging(set) { $1 }) }
          case 4: put(at, .add, member.id, 0, member.words)
          default: break
          }
        }
        if !members.isEmpty { put(at + length(1...60_000), .done, pick(members).id) }
      }
      for member in members.reversed() { remove(begin + span / 2, member.id) }
    }
  }

  /// Returns whether a reminder may go on for the whole run.
  private func isRare(_ words: [String: String], at: Int64) -> Bool {
    words["when"]?.contains("after done") == true || lifetime(words, at: at) == span
  }

  // MARK: Trackers

  /// Plans trackers whose goals are of a week, with reminders that log to them as they follow others.
  private mutating func keepWeeks() {
    for (name, words) in [("t3", ["per": "week"]), ("t4", ["per": "week", "usual": "2"])] {
      put(number(1_000...60_000), .track, name, number(1...6), words)
      for _ in 0..<number(2...10) { put(moment() + number(0...60_000), .log, name, number(1...3)) }
      if chance(3) { put(number(0...span), .undo) }
      for _ in 0..<number(1...2) {
        let at = number(60_000...3_600_000)
        var words = definition()
        words["tracker"] = name
        if !chance(4) { words["silent"] = "yes" }
        if chance(3), words["when"]?.contains("after done") == false {
          // It counts from an end of another, and logs by itself.
          let (target, event) = (pick(reminders), pick(["done", "missed"]))
          guard target.from < target.until else { continue }
          words["when"] = "\(chance(2) ? "" : "\(length(1...100_000))s ")after \(event) of \(target.id)"
          follow(target.id, words, from: max(at, target.from + 1_000))
          continue
        }
        guard words["when"]?.contains("after done") == false, let lifetime = lifetime(words, at: at) else { continue }
        count += 1
        let id = "r\(count)"
        put(at, .add, id, 0, words)
        reminders.append((id, timetable(words, at: at), at, min(at + lifetime, span)))
        if at + lifetime < span { remove(at + lifetime, id) }
        if chance(2) { follow(id, ["when": "after done of \(id)", "tracker": pick(["t3", "t4"])], from: at + 1_000) }
        for _ in 0..<number(1...4) { put(moment() + number(0...60_000), .done, id) }
      }
    }
  }

  /// Plans a reminder that counts from the ends of another, until that one is removed.
  private mutating func follow(_ target: String, _ words: [String: String], from at: Int64) {
    count += 1
    let id = "r\(count)"
    put(at, .add, id, 0, words)
    for removal in actions where removal.verb == .remove && removal.subject == target && removal.at.rawValue > at {
      put(removal.at.rawValue - 1_000, .remove, id)
    }
    for _ in 0..<number(2...6) { put(moment() + number(0...60_000), .done, chance(2) ? id : target) }
  }
}
