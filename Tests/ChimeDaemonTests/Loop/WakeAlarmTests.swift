import Foundation
import Testing

@testable import ChimeDaemon

/// The alarm that wakes the machine.
struct WakeAlarmTests {
  /// A machine without a hardware alarm is recognized, whether or not the timer can be created.
  @Test func machineWithoutAHardwareAlarmIsNotWoken() throws {
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
}
