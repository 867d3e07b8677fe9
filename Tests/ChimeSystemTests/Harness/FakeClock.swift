import Foundation

/// Debian's libfaketime, which gives a program another clock, including timerfd_create(2) and epoll, so that
/// libdispatch's timers follow it.
enum FakeClock {
  static let library = ["x86_64", "aarch64"].lazy.map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1" }
    .first { FileManager.default.fileExists(atPath: $0) }
  /// A sanitizer reads the clock before the library is initialized, which recurs endlessly.
  static let isAvailable = library != nil && !Sanitizer.isThere

  /// Returns the environment for a clock with this start and speed.
  static func running(from start: Date, times speed: Int) -> [String: String] {
    // libfaketime parses the time in the program's own zone.
    [
      "LD_PRELOAD": library ?? "", "TZ": "UTC", "FAKETIME": "@\(utc(start)) x\(speed)",
    ]
  }

  /// Returns the environment for a clock whose offset is read from a file at each call; monotonic time is real.
  static func steered(by file: String) -> [String: String] {
    [
      "LD_PRELOAD": library ?? "", "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": "1",
      "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    ]
  }

  private static func utc(_ date: Date) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "UTC")
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
    return formatter.string(from: date)
  }
}

extension Home {
  /// Sets the clock of a daemon with `FakeClock.steered` and makes it notice. libfaketime does not trigger
  /// TFD_TIMER_CANCEL_ON_SET, so send SIGCONT, which also makes the daemon check its clock.
  func step(_ daemon: Daemon?, to offset: String, in file: String) throws {
    try write(offset + "\n", to: file + ".new")
    guard rename(file + ".new", file) == 0 else { throw HarnessFailure("rename: \(errno)") }
    daemon?.process.send(SIGCONT)
  }

  /// Returns the recorded times of a reminder with their states; a run of missed times is one record.
  func record(of reminder: String) async throws -> [(at: String, state: String, late: String?, count: Int)] {
    var all: [(String, String, String?, Int)] = []
    var cursor = JSON.null
    repeat {
      let page = try await answer(
        "io.chime.Occurrences.List",
        ["filter": ["reminder": .string(reminder)], "limit": 1_000, "cursor": cursor])
      for one in page["occurrences"].elements {
        all.append(
          (
            one["scheduledAt"]["at"].string ?? "", one["state"].string ?? "", one["late"].string,
            one["missedCount"].int ?? 1
          ))
      }
      cursor = page["cursor"]
    } while cursor != .null
    return all.map { (at: $0.0, state: $0.1, late: $0.2, count: $0.3) }
  }
}

extension Home {
  /// Returns how often the daemon has reevaluated everything, because of its clock or a stop.
  func clockEvents() async throws -> Int {
    try await answer("io.chime.Daemon.Status")["status"]["clockEvents"].int ?? -1
  }
}
