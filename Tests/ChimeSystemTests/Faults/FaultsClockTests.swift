import Foundation
import Testing

/// Steps of the machine's real clock by two seconds.
@Suite(
  .proof(.clock), .serialized, .enabled(if: Machine.mayBeSet, "needs root and leave to set the clock (CAP_SYS_TIME)"))
struct FaultsClockTests {
  /// Runs alone, because the clock is shared by all tests.
  @Test(.timeLimit(.minutes(5)))
  func clockStepsOfTwoSecondsFireEachSecondOnce() async throws {
    try await Home.run(alone: true) { home in
      try home.configure("[desktop]\nprogram = \"true\"\n")
      let daemon = try await home.start()
      let id = try await home.add("Second", "every 1s")
      let stream = try await home.spawn(Machine.chime, ["watch", "--json"])
      func fired() throws -> [JSON] {
        try stream.lines.map { try JSON(parsing: $0) }.filter { $0["event"].string == "fired" }
      }
      try await eventually("it has fired") { try fired().count >= 2 }

      let keeper = try await home.spawn("/usr/bin/python3", [Machine.support("clock-keeper")], withInput: true)
      func set(_ offset: String) async throws {
        let before = keeper.lines.count
        keeper.write(offset)
        try await eventually("the clock is set; it said \(keeper.errors)") { keeper.lines.count > before }
      }
      try await eventually("it is there") { keeper.lines == ["ready"] }
      for (offset, way) in [("2", "forward"), ("0", "back"), ("-2", "back"), ("0", "forward")] {
        let told = daemon.process.errors.split(separator: "\n").count { $0.contains("the clock was set \(way)") }
        let before = try fired().count
        try await set(offset)
        try await eventually("the step is reported") {
          daemon.process.errors.split(separator: "\n").count { $0.contains("the clock was set \(way)") } == told + 1
        }
        // Forward at once; backward when the clock has caught up.
        try await eventually("it continues") { try fired().count > before + 1 }
      }
      #expect(try await home.answer("io.chime.Daemon.Status")["status"]["clockEvents"].int == 4)
      _ = try await home.answer("io.chime.Reminders.Pause", ["id": .string(id)])
      let record = try await home.record(of: id).reversed()
      let times = try record.map { try Date($0.at, strategy: .iso8601).timeIntervalSince1970 }
      let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
      #expect(gaps.allSatisfy { $0 == 1 }, "every second, and each once: \(times)")
      #expect(record.allSatisfy { $0.late == nil && $0.state != "missed" })
      let names = try fired().compactMap { $0["occurrence"].string }
      #expect(Set(names).count == names.count, "none is notified twice")
    }
  }
}

extension Machine {
  /// Whether the clock may be set: CAP_SYS_TIME is bit 25 (capabilities(7)).
  static let mayBeSet: Bool = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
    let set = line.flatMap { UInt64($0.split(separator: "\t").last ?? "", radix: 16) } ?? 0
    return isRoot && set >> 25 & 1 == 1 && has("python3")
  }()
}
