import ChimeSchedule
import Foundation
import Testing

@testable import ChimeDaemon

/// Sleep and wake-up, as reported by logind and the clock.
struct SleepCycleTests {
  typealias Event = SleepCycle.Event
  typealias Order = SleepCycle.Order

  static let patience = Order.wait(SleepCycle.patience)
  static let failsafe = Order.wait(SleepCycle.failsafe)

  @Test(arguments: [
    // A normal sleep; one with a slow delivery; and one that fails at once.
    ([Event.sleeps, .settled, .wakes], [patience, .settle, .release, failsafe, .wait(nil), .inhibit, .resume]),
    ([.sleeps, .timeUp, .wakes], [patience, .settle, .release, failsafe, .wait(nil), .inhibit, .resume]),
    ([.sleeps, .wakes], [patience, .settle, .wait(nil), .inhibit, .resume]),
    // The clock reports the sleep too, before or after logind: it is handled once.
    (
      [.sleeps, .settled, .slept, .wakes],
      [patience, .settle, .release, failsafe, .wait(nil), .resume, .inhibit]
    ),
    ([.slept], [.resume]), ([.slept, .wakes], [.resume, .inhibit]),
    // The next sleep is a new one.
    ([.slept, .sleeps, .wakes], [.resume, patience, .settle, .wait(nil), .inhibit, .resume]),
    // No wake-up is reported.
    ([.sleeps, .settled, .timeUp], [patience, .settle, .release, failsafe, .wait(nil), .goOn]),
    ([.sleeps, .lost], [patience, .settle, .wait(nil), .goOn]),
    ([.sleeps, .settled, .lost], [patience, .settle, .release, failsafe, .wait(nil), .goOn]),
    // Events out of order are ignored.
    ([.settled], []), ([.timeUp], []), ([.lost], []), ([.sleeps, .sleeps], [patience, .settle]),
    ([.wakes], [.inhibit, .resume]),
  ])
  func whatIsHeardLeadsToOrders(events: [Event], orders: [Order]) {
    var cycle = SleepCycle()
    #expect(events.flatMap { cycle.handle($0) } == orders)
  }

  /// A machine without a hardware alarm is recognized, whether or not the timer can be created.
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
