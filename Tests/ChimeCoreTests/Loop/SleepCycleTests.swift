import ChimeCore
import ChimeSchedule
import Testing

/// Sleep and wake-up, as reported by logind and the clock.
struct SleepCycleTests {
  typealias Event = SleepCycle.Event
  typealias Order = SleepCycle.Order

  static let patience = Order.wait(SleepCycle.patience)
  static let hour = Milliseconds.hours(1)
  static let awake = Order.resume(slept: hour)
  static let failsafe = Order.wait(SleepCycle.failsafe)

  @Test(arguments: [
    // A normal sleep; one with a slow delivery; and one that fails at once.
    (
      [Event.sleeps, .settled, .wakes],
      [patience, .settle, .release, failsafe, .wait(nil), .inhibit, .resume(slept: nil)]
    ),
    ([.sleeps, .timeUp, .wakes], [patience, .settle, .release, failsafe, .wait(nil), .inhibit, .resume(slept: nil)]),
    ([.sleeps, .wakes], [patience, .settle, .wait(nil), .inhibit, .resume(slept: nil)]),
    // The clock reports the sleep too, before or after logind: it is handled once.
    (
      [.sleeps, .settled, .slept(hour), .wakes],
      [patience, .settle, .release, failsafe, .wait(nil), awake, .inhibit]
    ),
    ([.slept(hour)], [awake]), ([.slept(hour), .wakes], [awake, .inhibit]),
    // The next sleep is a new one.
    ([.slept(hour), .sleeps, .wakes], [awake, patience, .settle, .wait(nil), .inhibit, .resume(slept: nil)]),
    // No wake-up is reported.
    ([.sleeps, .settled, .timeUp], [patience, .settle, .release, failsafe, .wait(nil), .goOn]),
    ([.sleeps, .lost], [patience, .settle, .wait(nil), .goOn]),
    ([.sleeps, .settled, .lost], [patience, .settle, .release, failsafe, .wait(nil), .goOn]),
    // Events out of order are ignored.
    ([.settled], []), ([.timeUp], []), ([.lost], []), ([.sleeps, .sleeps], [patience, .settle]),
    ([.wakes], [.inhibit, .resume(slept: nil)]),
  ])
  func sleepSignalsGiveTheExpectedOrders(events: [Event], orders: [Order]) {
    var cycle = SleepCycle()
    #expect(events.flatMap { cycle.handle($0) } == orders)
  }

  @Test func delayLockIsReleasedBeforeLogindsTimeout() {
    #expect(SleepCycle.patience <= .seconds(2))
  }
}
