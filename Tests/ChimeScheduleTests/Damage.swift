import ChimeSchedule
import Testing

/// Damages valid texts of a dialect at random, and checks that they are rejected or understood.
struct Damage {
  var seed: UInt64
  /// The rounds of a quick run.
  var rounds: Int
  /// The rounds of a proof.
  var proof: Int
  /// The strings that may be inserted.
  var pieces: [String]
  /// The most places to damage in a text.
  var places = 3
  /// The minimum number of understood texts in a quick run, so that the test is meaningful.
  var understood: Int
  var scheduleContext: ScheduleContext

  /// Checks that understood texts round-trip and have a future time, and that suggestions are valid. `also` receives
  /// each text with its schedule for further checks.
  func expectSurvival(of texts: [String], also: (String, Schedule) -> Void = { _, _ in }) {
    var generator = SeededGenerator(seed: seed)
    var accepted = 0
    let count = ProofTier.amount(quick: rounds, proof: proof)
    for round in 0..<count {
      let text = damaged(texts[round % texts.count], &generator)
      do {
        let schedule = try Schedule.parse(text, now: friday, in: scheduleContext)
        accepted += 1
        #expect((try? Schedule(canonical: schedule.canonical)) == schedule, "\(text)")
        #expect(schedule.timetable(in: scheduleContext).next(after: friday) != nil, "\(text)")
        also(text, schedule)
      } catch {
        #expect(!error.message.isEmpty)
        if let suggestion = error.suggestion {
          #expect(throws: Never.self, "\(text)") { try Schedule.parse(suggestion, now: friday, in: scheduleContext) }
        }
      }
    }
    #expect(accepted > understood * count / rounds)
  }

  private func damaged(_ text: String, _ generator: inout SeededGenerator) -> String {
    var text = text
    for _ in 0..<Int.random(in: 1...places, using: &generator) {
      let place = text.index(text.startIndex, offsetBy: Int.random(in: 0...text.count, using: &generator))
      if Bool.random(using: &generator), place < text.endIndex {
        text.remove(at: place)
      } else {
        text.insert(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &generator)], at: place)
      }
    }
    return text
  }
}
