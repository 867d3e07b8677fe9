import ChimeSchedule
import Foundation
import Testing

/// Random expressions against the machine's own `systemd-analyze calendar`.
///
/// `CHIME_CALENDAR_SEED` and `CHIME_CALENDAR_COUNT` give other questions, and more of them.
@Suite(.enabled(if: CalendarOracle.isExpected))
struct CalendarAgainstSystemdTests {
  static func setting(_ name: String, _ usual: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? usual
  }
  static let seed = setting("CHIME_CALENDAR_SEED", 252)
  static let count = Int(setting("CHIME_CALENDAR_COUNT", 1))

  /// What this program makes of a text, without its prefix; `nil` when it refuses.
  static func normalized(_ text: String, in surroundings: Surroundings) -> String? {
    let text = "calendar: " + text
    do {
      return String(try Schedule.parse(text, now: .earliest, in: surroundings).canonical.dropFirst(10))
    } catch {
      // What never occurs is still an expression.
      guard error.code == .neverOccurs else { return nil }
      return (try? Schedule(canonical: text)).map { String($0.canonical.dropFirst(10)) }
    }
  }

  @Test func acceptsAndNormalizesTheSame() throws {
    var generator = CalendarGenerator(seed: Self.seed)
    var accepted = 0
    var refused = 0
    for round in 0..<8 * Self.count {
      let zoneName = round % 2 == 0 ? "Europe/Prague" : generator.zone()
      let surroundings = Surroundings(
        zone: try #require(CalendarOracle.zones(zoneName)), zones: { CalendarOracle.zones($0) })
      var texts: Set<String> = []
      while texts.count < 500 {
        var text = generator.expression(near: generator.number(1970...2199))
        if generator.chance(15) { text += " " + generator.pick(["UTC", "utc", "CET", "cest", "EST", generator.zone()]) }
        if generator.chance(60) { text = generator.damaged(text) }
        text = text.trimmingCharacters(in: .whitespaces)
        if !text.isEmpty { texts.insert(text) }
      }
      let run = try CalendarOracle.Run(texts.sorted(), zone: zoneName, base: 0, count: 1)
      for (text, answer) in zip(run.expressions, try run.answers()) {
        let ours = Self.normalized(text, in: surroundings)
        if ours == nil { refused += 1 } else { accepted += 1 }
        #expect(ours == answer?.normalized, "\(text) in \(zoneName)")
      }
    }
    print("compared \(accepted) accepted and \(refused) refused calendar expressions with systemd")
    #expect(accepted > 1_000 && refused > 1_000)
  }
}
