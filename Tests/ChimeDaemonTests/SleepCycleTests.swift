import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// Falling asleep and waking, as logind and the clock tell of it.
struct SleepCycleTests {
  typealias Event = SleepCycle.Event
  typealias Order = SleepCycle.Order

  static let patience = Order.wait(SleepCycle.patience)
  static let failsafe = Order.wait(SleepCycle.failsafe)

  @Test(arguments: [
    // A sleep as it should be; with something that takes too long; and one that fails at once.
    ([Event.sleeps, .settled, .wakes], [patience, .settle, .release, failsafe, .wait(nil), .inhibit, .resume]),
    ([.sleeps, .timeUp, .wakes], [patience, .settle, .release, failsafe, .wait(nil), .inhibit, .resume]),
    ([.sleeps, .wakes], [patience, .settle, .wait(nil), .inhibit, .resume]),
    // The clock tells of it too, before logind or after: it is acted on once.
    (
      [.sleeps, .settled, .slept, .wakes],
      [patience, .settle, .release, failsafe, .wait(nil), .resume, .inhibit]
    ),
    ([.slept], [.resume]), ([.slept, .wakes], [.resume, .inhibit]),
    // The next sleep is told anew.
    ([.slept, .sleeps, .wakes], [.resume, patience, .settle, .wait(nil), .inhibit, .resume]),
    // Nobody says that it woke.
    ([.sleeps, .settled, .timeUp], [patience, .settle, .release, failsafe, .wait(nil), .goOn]),
    ([.sleeps, .lost], [patience, .settle, .wait(nil), .goOn]),
    ([.sleeps, .settled, .lost], [patience, .settle, .release, failsafe, .wait(nil), .goOn]),
    // What does not fit is passed over.
    ([.settled], []), ([.timeUp], []), ([.lost], []), ([.sleeps, .sleeps], [patience, .settle]),
    ([.wakes], [.inhibit, .resume]),
  ])
  func whatIsHeardLeadsToOrders(events: [Event], orders: [Order]) {
    var cycle = SleepCycle()
    #expect(events.flatMap { cycle.handle($0) } == orders)
  }

  /// The timer may be had or not; a machine without a clock that wakes it is said to be one in any case.
  @Test func aMachineWithoutAnAlarmClockIsNotWoken() throws {
    let folder = RunFolder.url.appending(path: "chime-rtc-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(WakeAlarm(isSystem: true, clocks: folder.path).problem != nil)
    let clock = folder.appending(path: "rtc0")
    try FileManager.default.createDirectory(at: clock, withIntermediateDirectories: true)
    #expect(WakeAlarm(isSystem: true, clocks: folder.path).problem != nil, "one without an alarm")
    try Data().write(to: clock.appending(path: "wakealarm"))
    let problem = WakeAlarm(isSystem: true, clocks: folder.path).problem
    #expect(problem == nil || problem?.contains("CAP_WAKE_ALARM") == true)
  }

  @Test func theMachineIsLetGoLongBeforeLogindsPatienceEnds() {
    #expect(SleepCycle.patience <= .seconds(2))
  }
}
