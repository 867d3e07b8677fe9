/// A SpokenExample makes example schedules for a refused text from its days, its time and its durations.
///
/// They show how to write such a schedule. An example may say less than the text, so it is not a suggestion.
struct SpokenExample {
  /// The closest first. The reader checks which of them are valid schedules at present.
  private(set) var candidates: [String] = []

  /// The example for a text without any such part.
  static let any = "tomorrow at 9"

  private var weekdays: [Weekday] = []
  private var date: String?
  private var near: String?
  private var part: String?
  private var length: String?
  private var time: String?
  private var isEvery = false

  init(_ bytes: [UInt8]) {
    guard let tokens = try? SpokenToken.tokens(bytes) else { return }
    for index in tokens.indices { take(index, of: tokens, bytes) }
    let words = tokens.map { String(decoding: bytes[$0.range], as: UTF8.self).lowercased() }
    if let event = words.first(where: { if case .event = SolarWord.table[$0] { true } else { false } }) {
      candidates.append("30m before \(event)")
    }
    let at = "at \(time ?? "9")"
    let weekdays = weekdays.map(\.abbreviation).joined(separator: ",")
    if isEvery {
      if !weekdays.isEmpty { candidates.append("every \(weekdays) \(at)") }
      if let date { candidates.append("every \(date) \(at)") }
      if let length { candidates.append("every \(length)") }
      candidates.append("daily \(at)")
    } else {
      if let date { candidates.append("\(date) \(at)") }
      if let day = self.weekdays.first { candidates.append("\(day.name) \(at)") }
      if let near { candidates += [part.map { "\(near) \($0)" }, "\(near) \(at)", near].compactMap { $0 } }
      if time != nil { candidates.append(at) }
      if let length { candidates.append("in \(length)") }
      if let part { candidates.append("tomorrow \(part)") }
    }
  }

  private mutating func take(_ index: Int, of tokens: [SpokenToken], _ bytes: [UInt8]) {
    func token(_ offset: Int) -> SpokenToken? {
      tokens.indices.contains(index + offset) ? tokens[index + offset] : nil
    }
    func text(_ token: SpokenToken) -> String { String(decoding: bytes[token.range], as: UTF8.self).lowercased() }
    func number(_ offset: Int, _ range: ClosedRange<Int>) -> Int? {
      guard let token = token(offset), token.kind == .number || token.kind == .ordinal else { return nil }
      return range.contains(token.value) ? token.value : nil
    }
    let (here, facts) = (tokens[index], tokens[index].facts)
    if !facts.kinds.isDisjoint(with: [.every, .often]) || facts.isPlural { isEvery = true }
    if let day = facts.weekday, !weekdays.contains(day) { weekdays.append(day) }
    if let month = here.month, date == nil {
      let isOf = token(-1)?.facts.word == .of
      let day = number(1, 1...31) ?? number(isOf ? -2 : -1, 1...31) ?? 1
      date = "\(MonthDays.names[month - 1]) \(min(day, CivilDate.daysIn(month: month, year: 2_001)))"
    }
    if !facts.kinds.isDisjoint(with: [.today, .tomorrow]) || facts.part == .tonight { near = near ?? text(here) }
    if let found = facts.part, found != .tonight, !facts.isPlural { part = part ?? text(here) }
    if facts.isUnit || !facts.kinds.isDisjoint(with: .fortnights), length == nil {
      length = self.length(text(here), token(-1), token(-1).map(text) ?? "")
    }
    if facts.time != nil { time = time ?? text(here) }
    guard let hour = number(0, 0...23), time == nil else { return }
    let isHalf = [.am, .pm].contains(token(1)?.facts.word) && (1...12).contains(hour)
    if token(1)?.isSign(":") == true, let minute = number(2, 0...59) {
      time = "\(hour):\(minute < 10 ? "0" : "")\(minute)"
    } else if isHalf, let half = token(1) {
      time = "\(hour)\(half.facts.word.rawValue)"
    } else if let before = token(-1),
      before.isSign("@") || SpokenWords.hours.contains(text(before)) || text(before) == "before"
    {
      time = "\(hour)"
    } else if let before = token(-1), ["in", "within"].contains(text(before)) || isEvery, token(1) == nil, hour > 0 {
      length = length ?? "\(hour) minutes"
    }
  }

  /// Returns `3 weeks`, or `2 weeks` if no number says how many: `in a few weeks`.
  private func length(_ unit: String, _ before: SpokenToken?, _ word: String) -> String? {
    let isMany = unit.hasSuffix("s") && unit.utf8.count > 2
    if let before, before.kind == .number, (1...1_000).contains(before.value) {
      let isOne = before.value == 1 || isMany || unit.utf8.count < 4
      return "\(before.value) \(unit)\(isOne ? "" : "s")"
    }
    if isMany { return "2 \(unit)" }
    return !isEvery && ["next", "this", "the", "a", "an"].contains(word) ? "1 \(unit)" : nil
  }
}
