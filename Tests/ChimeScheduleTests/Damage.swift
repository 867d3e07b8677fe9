import ChimeSchedule
import Testing

/// Random damage to sound texts of a dialect: they are refused or understood, and never worse.
struct Damage {
  var seed: UInt64
  /// In a quick run, in which so many are to be `understood`.
  var rounds: Int
  /// In a proof.
  var proof: Int
  /// What may be put in anywhere.
  var pieces: [String]
  /// How many places of a text are damaged at most.
  var places = 3
  /// How many texts have to be understood at the least, so that the test is about something.
  var understood: Int
  var scheduleContext: ScheduleContext

  /// What is understood has a canonical form that means the same and a time to come; what is suggested is understood.
  /// `also` gets each text and what it was understood as, and may look for more.
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
