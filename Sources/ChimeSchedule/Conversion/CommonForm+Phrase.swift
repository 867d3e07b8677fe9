extension CommonForm {
  /// Returns the form as a phrase.
  func phraseText() throws(Inexpressible) -> String {
    if case .date(let date) = days {
      guard times.count == 1, let time = times.first else {
        throw Inexpressible("a phrase cannot express several moments of one day")
      }
      return "at \(date) \(time)"
    }
    var text: String
    if case .weekly(let weekdays) = days, let step, let from = times.first, let to = times.last {
      text = "every \(Phrase.length(Int64(step))) from \(from) to \(to)"
      if weekdays != .everyDay { text += " on \(weekdays.canonical)" }
    } else {
      guard times.count <= Phrase.mostTimes else {
        throw Inexpressible("a phrase cannot express so many times of day")
      }
      text = "\(try phraseDays()) at \(times.map(\.description).joined(separator: ","))"
    }
    var bounds = Phrase.Bounds(count: count, except: except)
    // A date includes all its times, so it is the shorter form if none of them comes before the start.
    bounds.starting = first.map { $0.time <= times[0] ? .date($0.date) : .civil($0) } ?? countedFrom.map { .date($0) }
    bounds.until = last.map { .civil($0) }
    return text + bounds.canonical
  }

  /// The day from which a rota counts.
  private var countedFrom: CivilDate? {
    switch days {
    case .weeks(_, _, let from), .interval(_, let from): from
    case .ofMonth(_, _, let turn), .ordinal(_, _, let turn), .workday(_, _, let turn): turn?.from
    case .weekly, .date: nil
    }
  }

  private func phraseDays() throws(Inexpressible) -> String {
    switch days {
    case .weekly(let weekdays): return Phrase.Days.weekdays(weekdays).canonical
    case .ofMonth(let months, let days, let turn):
      var items: [String] = []
      let fromStart = days.filter { $0 > 0 }
      if !fromStart.isEmpty { items.append("day \(fromStart.map(String.init).joined(separator: ","))") }
      items += days.filter { $0 < 0 }.map { "\(Self.place($0)) day" }
      return try Self.phrase(items, months, turn)
    case .ordinal(let months, let ordinals, let turn):
      return try Self.phrase(
        ordinals.map { "\(Self.place($0.ordinal)) \($0.weekday.abbreviation)" }, months, turn)
    case .workday(let months, let places, let turn):
      return try Self.phrase(places.map { "\(Self.place($0)) weekday" }, months, turn)
    case .weeks(let interval, let weekdays, _): return Phrase.Days.weeks(every: interval, weekdays).canonical
    case .interval(let interval, _): return Phrase.Days.days(every: interval).canonical
    case .date: return ""
    }
  }

  /// Returns the words for a position: `first`, `last`, `second last`.
  private static func place(_ number: Int) -> String {
    MonthSelection.ordinal(abs(number), fromEnd: number < 0)
  }

  private static func phrase(
    _ items: [String], _ months: MonthSet, _ turn: Turn?
  ) throws(Inexpressible) -> String {
    let list = items.joined(separator: ",")
    // Without "every", days of named months could be dates, which occur once.
    guard let turn else { return "\(months == .all ? "" : "every ")\(list) of \(names(months))" }
    guard !turn.isYears else { return "every \(turn.count) years on \(list) of \(names(months))" }
    guard months == .all else { throw Inexpressible("a phrase that counts months cannot express only some of them") }
    return "every \(turn.count) months on \(list)"
  }

  private static func names(_ months: MonthSet) -> String {
    months == .all ? "month" : months.numbers.map { MonthDays.names[$0 - 1] }.joined(separator: ",")
  }
}
