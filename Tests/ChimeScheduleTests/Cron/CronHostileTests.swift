import ChimeSchedule
import Testing

/// Untrusted cron expressions: long, strange or damaged.
@Suite struct CronHostileTests {
  @Test(arguments: [
    "cron: " + String(repeating: "1,", count: 32_000) + " * * * *", String(repeating: "* ", count: 32_700),
    "cron:" + String(repeating: " ", count: 65_000), "cron: " + String(repeating: "9", count: 65_000),
    "cron: " + String(repeating: ",", count: 65_000), "cron: 0 0 " + String(repeating: "15W,", count: 16_000) + " * *",
    "cron: 0 0 * * " + String(repeating: "m", count: 65_000), "@" + String(repeating: "daily", count: 13_000),
    "@daily " + String(repeating: "x", count: 65_000), "cron: 0 0 * * " + String(repeating: "1#2,", count: 16_000),
    "cron: " + String(repeating: "é", count: 32_000), "* * * * * " + String(repeating: "/", count: 65_000),
    "cron: 5/" + String(repeating: "/", count: 65_000) + " * * * *", "cron: * * * * *\u{0}", "cron: \u{202E} * * * *",
    "cron: 0-" + String(repeating: "0", count: 65_000) + "x * * * *",
    "cron: * * L-" + String(repeating: "-", count: 65_000),
  ])
  func refusesLongTexts(_ text: String) throws {
    let error = #expect(throws: ScheduleError.self) { try Schedule.parse(text, now: friday, zone: .utc) }
    guard let error else { return }
    #expect(error.message.unicodeScalars.count <= 1_000)
    #expect(!error.message.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F || $0.value == 0x202E })
  }

  /// Long valid expressions are understood.
  @Test func understandsLongLists() throws {
    let list = Array(repeating: "0-59/1,*/7", count: 5_000).joined(separator: ",")
    #expect(try Schedule(canonical: "cron: \(list) 8 * * *").canonical == "cron: 0-59 8 * * *")
  }

  /// Random damage: texts are rejected or understood. Understood texts round-trip, suggestions are valid, and a crontab
  /// line with the text means the same.
  @Test func survivesDamage() throws {
    let damage = Damage(
      seed: 43, rounds: 600, proof: 10_000,
      pieces: [
        "*", "/", "-", ",", "#", "L", "W", "?", " ", "0", "7", "59", "60", "99999999999999999999", "mon", "fri", "jan",
        "x",
        "@", "\t", "\0", "é", "*/", "-1", "cron:", "LW", "\r\n",
      ], places: 2, understood: 50,
      scheduleContext: ScheduleContext(zone: .utc))
    damage.expectSurvival(of: CronTextTests.canonical.map(\.text)) { text, schedule in
      guard schedule.dialect == .cron, let line = try? CrontabTime(line: Array(text.utf8)),
        line.commandStart == text.utf8.count
      else { return }
      #expect(line.schedule == schedule, "\(text)")
    }
  }

  /// A line may begin with any bytes.
  @Test func survivesAnyBytes() {
    var generator = SeededGenerator(seed: 44)
    let signs = Array("*/-,#LW? 0123456789monfrijan@daily\t".utf8) + [0x00, 0x0B, 0x7F, 0x80, 0xC3, 0xE2, 0xFF]
    for _ in 0..<ProofTier.amount(quick: 2_000, proof: 50_000) {
      let line = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
        signs[Int.random(in: 0..<signs.count, using: &generator)]
      }
      do {
        let time = try CrontabTime(line: line)
        #expect(time.commandStart <= line.count)
      } catch {
        #expect(!error.message.isEmpty)
      }
    }
  }
}
