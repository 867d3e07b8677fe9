import ChimeSchedule

// Later additions to plans. They draw from numbers of their own, so that the rest of a plan stays as it was for its seed.
extension PlanGenerator {
  mutating func planMore() {
    random = SeededGenerator(seed: seed &* 0xD6E8_FEB8_6659_FD93 ^ 0x5EED)
    if chance(3) { damage() }
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
}
