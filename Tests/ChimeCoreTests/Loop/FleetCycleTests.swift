import ChimeSchedule
import Testing

@testable import ChimeCore

/// When a daemon looks for what others have changed.
struct FleetCycleTests {
  typealias Event = FleetCycle.Event
  typealias Order = FleetCycle.Order

  static let soon = Order.wait(.zero)

  @Test(
    arguments: [
      ([Event.ready, .due, .looked(isAtRest: false)], [soon, .look(releases: false), .wait(FleetCycle.interval)]),
      ([.ready, .due, .looked(isAtRest: true)], [soon, .look(releases: false), .wait(FleetCycle.aloneInterval)]),
      // What comes before the first read has ended waits for it.
      ([.taken, .due, .ready, .due], [nil, nil, soon, .look(releases: true)]),
      // One look at a time: what comes meanwhile leads to another.
      (
        [.ready, .due, .changed, .due, .looked(isAtRest: true), .due],
        [soon, .look(releases: false), nil, nil, soon, .look(releases: false)]
      ),
      (
        [.ready, .due, .taken, .looked(isAtRest: false), .due, .looked(isAtRest: true), .due],
        [
          soon, .look(releases: false), nil, soon, .look(releases: true), .wait(FleetCycle.aloneInterval),
          .look(releases: false),
        ]
      ),
    ] as [([Event], [Order?])])
  func aLookFollowsEachChange(events: [Event], orders: [Order?]) {
    var cycle = FleetCycle()
    #expect(events.map { cycle.handle($0) } == orders)
  }

  @Test func claimsOfOthersAreReleasedByTheNextLook() {
    var cycle = FleetCycle()
    _ = [Event.ready, .taken, .due].map { cycle.handle($0) }
    cycle.releaseHasFailed()
    #expect(cycle.handle(.looked(isAtRest: true)) == .wait(FleetCycle.aloneInterval))
    #expect(cycle.handle(.due) == .look(releases: true))
  }
}
