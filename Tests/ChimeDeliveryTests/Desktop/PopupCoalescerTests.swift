import ChimeCore
import ChimeSchedule
import Synchronization
import Testing

@testable import ChimeDelivery

/// Waiting messages are shown as a few popups, and none is lost.
@Suite struct PopupCoalescerTests {
  let now = scheduled + .hours(1)

  /// Returns a message that has waited for an hour.
  func waiting(
    _ id: String, _ urgency: Urgency = .normal, minutes: Int64 = 0, round: Int = 1, attempts: Int = 1
  ) throws -> PopupCoalescer.Held {
    var sample = try message("title \(id)", id: id, round: round) { $0.urgency = urgency }
    let occurrence = OccurrenceID(reminder: sample.occurrence.id.reminder, scheduledAt: scheduled + .minutes(minutes))
    sample.occurrence = Occurrence(
      id: occurrence, title: sample.occurrence.title, owner: 1_000, state: .fired, rounds: round)
    sample.delivery = Delivery(
      id: sample.delivery.id, occurrence: occurrence, queue: sample.delivery.queue, round: round, attempts: attempts,
      createdAt: scheduled)
    return PopupCoalescer.Held(message: sample) { _ in }
  }

  /// Abbreviated orders: `r1` shown, `r1+1` with another round, `sum 1: r4 r5`.
  func short(_ orders: [PopupCoalescer.Order]) -> [String] {
    orders.map { order in
      switch order {
      case .show(let held, let others):
        held.message.delivery.occurrence.reminder.rawValue + (others.isEmpty ? "" : "+\(others.count)")
      case .summarise(let summary, let members):
        "sum \(summary.number): \(summary.titles.map { $0.dropFirst(6) }.joined(separator: " ")) of \(members.count)"
      case .wait: "wait"
      case .refuse(let held, let reason): "refuse \(held.occurrence.reminder): \(reason)"
      case .takeDown(.occurrence(let id)): "down \(id.reminder)"
      case .takeDown(.summary(let number)): "down sum \(number)"
      case .tell(let event): "\(event)"
      }
    }
  }

  @Test func popupOnTimeIsShownAtOnce() throws {
    var coalescer = PopupCoalescer()
    var fresh = try message(id: "r1")
    #expect(
      short(coalescer.admit(PopupCoalescer.Held(message: fresh) { _ in }, now: scheduled + .seconds(9))) == ["r1"])
    // Setting the clock back makes nothing older.
    #expect(short(coalescer.admit(PopupCoalescer.Held(message: fresh) { _ in }, now: scheduled - .hours(1))) == ["r1"])
    #expect(
      short(coalescer.admit(PopupCoalescer.Held(message: fresh) { _ in }, now: scheduled + .seconds(10))) == ["wait"])
    fresh.delivery.attempts = 1
    #expect(short(coalescer.admit(PopupCoalescer.Held(message: fresh) { _ in }, now: scheduled)).isEmpty)
  }

  /// The number of waiting messages (normal ones, named a b c …, each a minute later than the previous), and what is shown.
  @Test(arguments: [
    (1, ["a"]), (3, ["c", "b", "a"]), (4, ["d", "c", "b", "a"]), (5, ["e", "d", "c", "sum 1: b a of 2"]),
    (7, ["g", "f", "e", "sum 1: d c b a of 4"]),
  ])
  func threePopupsAndASummaryAreShown(_ count: Int, _ expected: [String]) throws {
    var coalescer = PopupCoalescer()
    for index in 0..<count {
      _ = coalescer.admit(try waiting(String("abcdefg".dropFirst(index).prefix(1)), minutes: Int64(index)), now: now)
    }
    #expect(short(coalescer.momentIsOver(now: now)) == expected)
    #expect(short(coalescer.momentIsOver(now: now)).isEmpty)
  }

  @Test func everyCriticalPopupIsShownAndUrgentOnesFirst() throws {
    var coalescer = PopupCoalescer()
    for (id, urgency) in [
      ("l1", Urgency.low), ("n1", .normal), ("c1", .critical), ("n2", .normal), ("c2", .critical), ("n3", .normal),
      ("c3", .critical), ("n4", .normal), ("c4", .critical), ("l2", .low),
    ] { _ = coalescer.admit(try waiting(id, urgency), now: now) }
    #expect(
      short(coalescer.momentIsOver(now: now)) == [
        "c1", "c2", "c3", "c4", "n1", "n2", "n3", "sum 1: n4 l1 l2 of 3",
      ])
  }

  @Test func occurrenceWithSeveralRoundsIsShownOnce() throws {
    var coalescer = PopupCoalescer()
    for round in 1...3 { _ = coalescer.admit(try waiting("a", round: round), now: now) }
    let orders = coalescer.momentIsOver(now: now)
    guard case .show(let held, let others) = orders.first, orders.count == 1 else {
      Issue.record("\(short(orders))")
      return
    }
    #expect(held.message.delivery.round == 3 && others.map(\.message.delivery.round) == [2, 1])
  }

  @Test func latecomersJoinTheSummary() throws {
    var coalescer = PopupCoalescer()
    _ = coalescer.admit(try waiting("a"), now: now)
    #expect(short(coalescer.momentIsOver(now: now)) == ["a"])
    for id in ["b", "c", "d", "e"] { _ = coalescer.admit(try waiting(id), now: now + .seconds(20)) }
    #expect(short(coalescer.momentIsOver(now: now + .seconds(20))) == ["b", "c", "sum 1: d e of 2"])
    // The summary grows, even by a single message, and replaces itself.
    _ = coalescer.admit(try waiting("f"), now: now + .seconds(50))
    #expect(short(coalescer.momentIsOver(now: now + .seconds(50))) == ["sum 1: d e f of 1"])
    // A minute later a new summary starts.
    for id in ["g", "h", "i", "j", "k"] { _ = coalescer.admit(try waiting(id), now: now + .seconds(111)) }
    #expect(short(coalescer.momentIsOver(now: now + .seconds(111))) == ["g", "h", "i", "sum 2: j k of 2"])
  }

  @Test func recoveryIsReportedOnce() throws {
    var coalescer = PopupCoalescer()
    #expect(coalescer.ended(.settled, now: now).isEmpty)
    for _ in 0..<3 { #expect(coalescer.ended(.blocked(.seconds(30)), now: now).isEmpty) }
    #expect(coalescer.ended(.retry, now: now).isEmpty)
    #expect(short(coalescer.ended(.settled, now: now)) == ["opened"])
    #expect(coalescer.ended(.settled, now: now).isEmpty)
    // A message pending at that time has waited, although nobody tried it; one fired later has not.
    for (age, expected) in [(Milliseconds.milliseconds(1), "wait"), (.zero, "b"), (.seconds(-1), "b")] {
      var sample = try waiting("b", attempts: 0).message
      sample.delivery.createdAt = now - age
      var next = coalescer
      #expect(short(next.admit(PopupCoalescer.Held(message: sample) { _ in }, now: now + .seconds(1))) == [expected])
    }
  }

  @Test func coalescingRestartsAfterAnOutage() throws {
    var coalescer = PopupCoalescer()
    let ids = ["a", "b", "c", "d", "e"]
    for _ in 0..<2 {
      for id in ids { _ = coalescer.admit(try waiting(id), now: now) }
      let orders = short(coalescer.momentIsOver(now: now))
      #expect(orders.dropLast() == ["a", "b", "c"] && orders.last?.hasSuffix(": d e of 2") == true, "\(orders)")
      _ = coalescer.ended(.blocked(.seconds(30)), now: now)
    }
  }

  @Test func failedSummaryCountsAsNotShown() throws {
    var coalescer = PopupCoalescer()
    for id in ["a", "b", "c", "d", "e"] { _ = coalescer.admit(try waiting(id), now: now) }
    guard case .summarise(let summary, let members) = coalescer.momentIsOver(now: now).last else {
      Issue.record("no summary")
      return
    }
    _ = coalescer.ended(.retry, summary: (summary.number, members), now: now)
    for id in ["d", "e"] { _ = coalescer.admit(try waiting(id), now: now) }
    #expect(short(coalescer.momentIsOver(now: now)) == ["sum 1: d e of 2"])
  }

  @Test func popupAnsweredElsewhereIsDropped() throws {
    var coalescer = PopupCoalescer()
    let held = try ["a", "b", "c", "d", "e", "f"].map { try waiting($0) }
    for one in held { _ = coalescer.admit(one, now: now) }
    #expect(short(coalescer.withdraw(held[0].occurrence)) == ["refuse a: closed before it was shown", "down a"])
    #expect(short(coalescer.momentIsOver(now: now)) == ["b", "c", "d", "sum 1: e f of 2"])
    #expect(short(coalescer.withdraw(held[4].occurrence)) == ["down e"])
    #expect(short(coalescer.withdraw(held[5].occurrence)) == ["down f", "down sum 1"])
  }

  @Test func stopRefusesHeldAndNewPopups() throws {
    var coalescer = PopupCoalescer()
    _ = coalescer.admit(try waiting("a"), now: now)
    #expect(short(coalescer.close()) == ["refuse a: cancelled because the daemon is stopping"])
    #expect(
      short(coalescer.admit(try waiting("b"), now: now)) == ["refuse b: cancelled because the daemon is stopping"])
    #expect(coalescer.momentIsOver(now: now).isEmpty)
  }

  @Test func eachMessageGetsItsOutcome() async throws {
    let screen = Screen()
    let channel = PopupCoalescingChannel(transport: screen) { [now] in now }
    let opened = Events<DesktopEvent>()
    channel.listen { opened.append($0) }
    var all: [Events<ChannelReport>] = []
    for id in ["a", "b", "c", "d", "e"] { all.append(channel.reports(of: try waiting(id).message)) }
    for _ in 0..<4 { try await screen.next().report(.ended(Self.attempt(.refused), next: .blocked(.seconds(30)))) }
    for reports in all { #expect(try await reports.next().next == .blocked(.seconds(30))) }

    for (index, id) in ["a", "b", "c", "d", "e"].enumerated() {
      all[index] = channel.reports(of: try waiting(id, attempts: 4).message)
    }
    for _ in 0..<4 { try await screen.next().report(.ended(Self.attempt(.delivered), next: .settled)) }
    for (index, reports) in all.enumerated() {
      let report = try await reports.next()
      #expect(report.next == .settled)
      #expect(report.attempt?.answer == (index < 3 ? nil : "shown in a summary of 2"))
      if index >= 3 { #expect(report.attempt?.number == 5) }
      #expect(reports.isEmpty)
    }
    #expect(try await opened.next() == .opened)
    #expect(opened.isEmpty)
    await channel.stop()
  }

  private static func attempt(_ outcome: Attempt.Outcome) -> Attempt {
    Attempt(number: 1, startedAt: scheduled, took: .zero, outcome: outcome)
  }
}

/// A transport that keeps the popups until the test answers.
final class Screen: PopupTransport {
  typealias Shown = (content: PopupContent, report: @Sendable (ChannelReport) -> Void)
  private let shown = Events<Shown>()

  func next() async throws -> Shown { try await shown.next() }
  func listen(remembering memory: String, _ handler: @escaping @Sendable (DesktopEvent) -> Void) {}
  var memory: String { "" }
  var unanswered: [OccurrenceID] { [] }
  func show(_ content: PopupContent, report: @escaping @Sendable (ChannelReport) -> Void) {
    shown.append((content, report))
  }
  func withdraw(_ key: PopupContent.Key) {}
  func stop() async {}
}
