import Foundation
import Testing

/// Faults at the edge of leases, and overlapping faults.
extension Storm {
  /// Durations around that of a lease, which is 6 s.
  private static let edges: [Duration] = [
    .seconds(5), .milliseconds(5_900), .seconds(6), .milliseconds(6_100), .seconds(7),
  ]
  /// The pause after each fault, in which its effects are measured.
  private static let rest = Duration.seconds(11)

  func stopInARow() async throws {
    for (place, edge) in Self.edges.enumerated() {
      let stopped = daemons[place % 4].process
      let begin = Self.now
      stopped.send(SIGSTOP)
      try await Task.sleep(for: edge)
      stopped.send(SIGCONT)
      over("a daemon is stopped for \(edge)", since: begin)
      try await Task.sleep(for: Self.rest)
    }
  }

  func cutInARow() async throws {
    guard let network else { throw HarnessFailure("no daemon has a network of its own") }
    for edge in Self.edges {
      let begin = Self.now
      try await network.pull(.database)
      try await Task.sleep(for: edge)
      try await network.plugIn(.database)
      over("a daemon is cut off for \(edge)", since: begin)
      try await Task.sleep(for: Self.rest)
    }
  }

  func freezeThePrimary() async throws {
    let (server, begin) = (primary, Self.now)
    try await blocking { try server.freeze(true) }
    try await Task.sleep(for: .seconds(15))
    try await blocking { try server.freeze(false) }
    over("the primary stands still", since: begin, hitsAll: true)
    try await Task.sleep(for: Self.rest)
  }

  // MARK: Chaos

  private enum ChaosFault {
    case kill, stop, cut, freeze, loss
    /// Whether it affects the server, without which no daemon starts.
    var isServers: Bool { self == .freeze || self == .loss }
  }

  /// A fault in progress, with its planned end.
  private struct OngoingFault {
    let blow: ChaosFault
    let daemon: Int?
    let end: ContinuousClock.Instant
  }

  /// Injects sixteen faults of 0.2 to 9 s: daemons killed, stopped and cut off, the primary stopped and killed. A
  /// daemon has one fault at a time.
  func chaos() async throws {
    let seed = ProcessInfo.processInfo.environment["CHIME_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
    log("chaos: CHIME_TEST_SEED=\(seed)")
    var dice = SeededGenerator(state: seed)
    let begin = Self.now
    var lasting: [OngoingFault] = []
    var blows: [ChaosFault] = [
      .kill, .kill, .kill, .kill, .stop, .stop, .stop, .stop, .cut, .cut, .cut, .freeze, .freeze, .loss, .loss, .loss,
    ]
    blows.shuffle(using: &dice)
    for number in 1...blows.count {
      let next = ContinuousClock.now + .milliseconds(.random(in: 200...7_000, using: &dice))
      try await end(&lasting, before: next)
      try await Task.sleep(until: next, clock: .continuous)
      let length = Duration.milliseconds(.random(in: 200...9_000, using: &dice))
      func free() -> [Int] { (0..<4).filter { one in !lasting.contains { $0.daemon == one } } }
      func isPossible(_ blow: ChaosFault) -> Bool {
        switch blow {
        case .kill, .stop: !free().isEmpty
        case .cut: free().contains(3)
        case .freeze, .loss: !lasting.contains { $0.blow.isServers }
        }
      }
      if !blows.contains(where: isPossible) { try await end(&lasting, before: nil) }
      let blow = blows.remove(at: blows.firstIndex(where: isPossible) ?? 0)
      let daemon = blow.isServers ? nil : blow == .cut ? 3 : free().randomElement(using: &dice)
      log("chaos: \(number). \(blow)\(daemon.map { " of daemon \($0)" } ?? "") for \(length)")
      lasting.append(OngoingFault(blow: blow, daemon: daemon, end: ContinuousClock.now + length))
      try await strike(blow, daemon)
    }
    try await end(&lasting, before: nil)
    over("sixteen faults", since: begin, hitsAll: true, isSingle: false)
    try await Task.sleep(for: Self.rest)
  }

  private func strike(_ blow: ChaosFault, _ daemon: Int?) async throws {
    let server = primary
    switch blow {
    case .kill: if let daemon { try await daemons[daemon].crash() }
    case .stop: if let daemon { daemons[daemon].process.send(SIGSTOP) }
    case .cut: try await network?.pull(.database)
    case .freeze: try await blocking { try server.freeze(true) }
    case .loss: try await blocking { try server.lose() }
    }
  }

  /// Ends the faults that are due before `next`; nil ends all.
  private func end(_ lasting: inout [OngoingFault], before next: ContinuousClock.Instant?) async throws {
    // A daemon cannot start without the server.
    func whenItCanEnd(_ one: OngoingFault) -> ContinuousClock.Instant {
      one.blow == .kill
        ? lasting.reduce(one.end) { $1.blow.isServers ? max($0, $1.end + .milliseconds(1)) : $0 } : one.end
    }
    while let first = lasting.indices.min(by: { whenItCanEnd(lasting[$0]) < whenItCanEnd(lasting[$1]) }) {
      let due = whenItCanEnd(lasting[first])
      if let next, due >= next { return }
      try await Task.sleep(until: due, clock: .continuous)
      let one = lasting.remove(at: first)
      let server = primary
      switch one.blow {
      case .kill: if let daemon = one.daemon { daemons[daemon] = try await start(daemon) }
      case .stop: if let daemon = one.daemon { daemons[daemon].process.send(SIGCONT) }
      case .cut: try await network?.plugIn(.database)
      case .freeze: try await blocking { try server.freeze(false) }
      case .loss: try await blocking { try server.start(within: 120) }
      }
    }
  }
}
