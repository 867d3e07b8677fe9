import ChimeSchedule
import Testing

/// The grammar in `docs/schedules.md` and the parser accept the same texts.
@Suite struct GrammarTests {
  /// The errors that texts of the grammar may cause, because of their meaning.
  static let meanings = [
    "repeats a unit of time", "occurs twice", "is not a day of the calendar", "ends before it begins",
    "cannot be limited to days of the week", "does not fit a daily window", "a number of times",
    "counting off its occurrences takes too long", "cannot be used with a single moment",
    "a single moment has one time",
    "several dates without a year", "may be before or after noon", "is ambiguous",
    "the month of",
  ]

  func scheduleContext() throws -> ScheduleContext {
    ScheduleContext(zone: try zone("Europe/Prague"), calendar: { Grammar.names.contains($0) ? [] : nil })
  }

  @Test(arguments: ["schedule", "one-off", "wall", "rota", "dates", "interval", "after-done", "recurring"])
  func generatedTextsAreUnderstood(_ rule: String) throws {
    let grammar = try Grammar.phrases.get()
    let scheduleContext = try scheduleContext()
    var generator = SeededGenerator(seed: UInt64(rule.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
    var accepted = 0
    let rounds = ProofTier.amount(quick: 100, proof: 2_000)
    for round in 0..<rounds {
      var text = try grammar.text(of: rule, &generator)
      if rule == "dates" { text = "every \(text)" }
      if rule == "rota" || rule == "dates" { text += " at 9" }
      do {
        let schedule = try Schedule.parse(text, now: friday, in: scheduleContext)
        accepted += 1
        let again = try Schedule(canonical: schedule.canonical)
        #expect(again == schedule, "\(text)")
        guard round % 10 == 0 else { continue }
        #expect(try grammar.makes(schedule.canonical, from: "schedule"), "\(text) became \(schedule.canonical)")
      } catch let error as ScheduleError {
        let isMeaning =
          error.code == .neverOccurs || error.code == .outOfRange
          || Self.meanings.contains { error.message.contains($0) }
        #expect(isMeaning, "\(text): \(error.message)")
      }
    }
    #expect(accepted > rounds * 2 / 5)
  }

  /// Every text in the tests' tables and in the cookbook follows the grammar.
  @Test func understoodTextsFollowTheGrammar() throws {
    let grammar = try Grammar.phrases.get()
    for (text, canonical) in CanonicalTests.table {
      #expect(try grammar.makes(text, from: "schedule"), "\(text)")
      #expect(try grammar.makes(canonical, from: "schedule"), "\(canonical)")
    }
    for row in ErrorTests.table where row.code == .invalidSchedule {
      guard row.suggestion != nil, !GrammarTests.meanings.contains(where: { row.message.contains($0) }) else {
        continue
      }
      #expect(try !grammar.makes(row.text, from: "schedule"), "\(row.text)")
    }
  }

  /// Every rule is defined, and every rule but the first is used.
  @Test func grammarIsComplete() throws {
    let grammar = try Grammar.phrases.get()
    var named: Set<String> = ["schedule"]
    func visit(_ part: Grammar.Part) {
      switch part {
      case .rule(let name): named.insert(name)
      case .sequence(let parts), .choice(let parts): parts.forEach(visit)
      case .optional(let part), .repeated(let part): visit(part)
      case .word, .number, .name: break
      }
    }
    grammar.rules.values.forEach(visit)
    #expect(named == Set(grammar.rules.keys))
    #expect(grammar.rules.count > 50)
  }
}
