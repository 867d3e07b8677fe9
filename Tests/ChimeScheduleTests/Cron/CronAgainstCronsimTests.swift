import ChimeSchedule
import Foundation
import Testing

/// Compares random cron expressions in random zones with cronsim, a Python library that follows Debian's cron.
///
/// Known differences between cronsim and Debian's cron are excluded, as `docs/schedules.md` says: jumps of three hours
/// and more; wildcard jobs where clocks change by less than an hour or not on the hour; a gap over midnight; a step on
/// a single number (cronsim reads `5-5/2` as `5-59/2`); and fixed times with seconds (cronsim runs those by elapsed
/// time, which here is `gap = skip`, `fold = both`).
@Suite struct CronAgainstCronsimTests {
  struct Question: Encodable {
    var expression: String
    var zone: String
    var after: Int64
  }

  /// Reads a question per line; answers with the next occurrences, with the error, or that it gave up: cronsim searches for
  /// some dates without an end.
  static let script = """
    import json, signal, sys
    from datetime import datetime, timezone
    from zoneinfo import ZoneInfo
    from cronsim import CronSim, CronSimError
    class GivenUp(Exception): pass
    def give_up(*_): raise GivenUp()
    signal.signal(signal.SIGVTALRM, give_up)
    for line in sys.stdin:
        question = json.loads(line)
        zone = ZoneInfo(question["zone"])
        answer = []
        # Seconds of processor, so that it does not depend on the load.
        signal.setitimer(signal.ITIMER_VIRTUAL, 5)
        try:
            sim = CronSim(question["expression"], datetime.fromtimestamp(question["after"], zone))
            for _ in range(12):
                found = next(sim, None)
                if found is None:
                    break
                second = int(found.timestamp())
                # From the second pass of a fold it looks back into the first.
                if second > question["after"] and second not in answer:
                    answer.append(second)
                if len(answer) == 5:
                    break
            print(json.dumps({"next": answer}))
        except CronSimError as error:
            print(json.dumps({"next": None}))
        except GivenUp:
            print(json.dumps({"next": answer, "gaveUp": True}))
    """

  struct Answer: Decodable {
    var next: [Int64]?
    var gaveUp: Bool?
  }

  static let zones = [
    "Europe/Prague", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "America/Havana", "Asia/Gaza",
    "Africa/Casablanca", "Pacific/Apia", "Antarctica/Troll", "Asia/Kathmandu", "America/St_Johns", "Asia/Tehran",
    "America/Caracas", "Europe/Dublin", "Asia/Beirut", "America/Santiago", "UTC", "Asia/Tokyo", "Africa/Cairo",
  ]

  static func ask(_ questions: [Question]) throws -> [Answer]? {
    let root = Package.folder
    let python = ProcessInfo.processInfo.environment["CHIME_PYTHON"] ?? root + "/.venv/bin/python3"
    guard FileManager.default.isExecutableFile(atPath: python) else {
      Issue.record("no \(python): run make test, set CHIME_PYTHON, or set CHIME_SKIP_PEERS=1")
      return nil
    }
    let encoder = JSONEncoder()
    var input = Data()
    for question in questions { input += try encoder.encode(question) + Data([0x0A]) }
    let result = try ChildProcess.run(python, ["-c", script], input: .bytes(input))
    let decoder = JSONDecoder()
    return try result.output.split(separator: 0x0A).map { try decoder.decode(Answer.self, from: $0) }
  }

  /// Returns whether both treat the offset changes between two instants alike.
  static func isCommonGround(_ zone: Zone, from start: Int64, through end: Int64, isWild: Bool) -> Bool {
    var at = Instant(seconds: max(0, start - 2 * 86_400))
    while let change = zone.nextTransition(after: at), change.instant.seconds <= end + 2 * 86_400 {
      at = change.instant
      let size = change.offsetAfter - change.offsetBefore
      guard abs(size) < 3 * 3_600, size % 60 == 0, at.seconds % 60 == 0 else { return false }
      if isWild {
        let wall = (at.seconds + Int64(change.offsetBefore)) % 86_400
        guard size % 3_600 == 0, wall % 3_600 == 0, wall != 0 || size < 0 else { return false }
      }
    }
    return true
  }

  static func hasStepOnOneNumber(_ text: String) -> Bool {
    text.split { $0 == " " || $0 == "," }.contains { item in
      let parts = item.split(separator: "/")
      let ends = parts[0].split(separator: "-")
      return parts.count == 2 && ends.count == 2 && ends[0] == ends[1]
    }
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["CHIME_SKIP_PEERS"] != "1"))
  func randomExpressionsMatchCronsim() throws {
    var generator = CronGenerator(random: SeededGenerator(seed: 2_038), hasSpecials: false)
    var zones: [Zone] = []
    var changes: [[Int64]] = []
    for name in Self.zones {
      let zone = try zone(name)
      var list: [Int64] = []
      var at = instant("1971-01-01T00:00:00Z")
      while let change = zone.nextTransition(after: at), change.instant < instant("2090-01-01T00:00:00Z") {
        at = change.instant
        list.append(at.seconds)
      }
      zones.append(zone)
      changes.append(list)
    }
    var questions: [Question] = []
    for round in 0..<ProofTier.amount(quick: 800, proof: 20_000) {
      let index = Int.random(in: 0..<zones.count, using: &generator.random)
      var after = Int64.random(in: 31_536_000...3_786_912_000, using: &generator.random)
      if round % 2 == 0, let change = changes[index].randomElement(using: &generator.random) {
        after = change + Int64.random(in: -2 * 86_400...2 * 86_400, using: &generator.random)
      }
      let wall = after + Int64(zones[index].offset(at: Instant(seconds: after)))
      var text = generator.expression(near: wall)
      if generator.chance(8) { text = "\(generator.field(0, 59, near: 0...59)) \(text)" }
      // The forms of L and # that cronsim supports.
      if generator.chance(12) {
        var fields = text.split(separator: " ").map(String.init)
        let last = fields.count - 1
        if generator.chance(2) { fields[last - 2] = generator.pick(["L", "LW", "1,L"]) }
        if generator.chance(2) { fields[last] = generator.pick(["5L", "1#2", "7#1", "0L", "3,6#5"]) }
        text = fields.joined(separator: " ")
      }
      questions.append(Question(expression: text, zone: zones[index].identifier, after: after))
    }
    guard let answers = try Self.ask(questions) else { return }
    try #require(answers.count == questions.count)
    var compared = 0
    let endless = zip(questions, answers).filter { $1.gaveUp == true }.map(\.0.expression)
    print("cronsim gave up \(endless)")
    for (question, answer) in zip(questions, answers) where !Self.hasStepOnOneNumber(question.expression) {
      let zone = zones[Self.zones.firstIndex(of: question.zone) ?? 0]
      guard let wanted = answer.next else {
        // Both reject what never occurs.
        #expect((try? Schedule(canonical: question.expression)) == nil, "\(question)")
        continue
      }
      guard let schedule = try? Schedule(canonical: question.expression) else {
        #expect(wanted.isEmpty, "\(question)")
        continue
      }
      let isWild = CronReference(question.expression).isWild
      let hasSeconds = question.expression.split(separator: " ").count == 6
      let end = wanted.last ?? question.after
      guard Self.isCommonGround(zone, from: question.after, through: end, isWild: isWild || hasSeconds) else {
        continue
      }
      let timetable =
        hasSeconds ? schedule.timetable(in: zone, gap: .skip, fold: .both) : schedule.timetable(in: zone)
      let found = timetable.occurrences(after: Instant(seconds: question.after)).prefix(wanted.count).map(\.seconds)
      compared += 1
      #expect(found == wanted, "\(question) (\(schedule))")
    }
    print("compared \(compared) of \(questions.count) expressions with cronsim")
    #expect(compared > questions.count * 3 / 4)
  }
}
