import ChimeControl
import ChimeSchedule
import ChimeWords

/// The options that define a tracker.
enum TrackerOptions {
  typealias Draft = TrackersInterface.TrackerDraft

  static let all: [Verb.Option] = [
    .value(
      "kind", nil, "KIND", "check, amount or measure",
      choices: TrackersInterface.Tracker.Kind.allCases.map(\.rawValue)),
    .value("unit", nil, "UNIT", "The unit of its amounts, such as ml, kg or pages"),
    .value("decimals", nil, "N", "Digits shown after the decimal point, 0 to 3"),
    .value("goal", nil, "AMOUNT", "The goal: a total, for a check a number of times, for a measure the value to reach"),
    .value(
      "limit", nil, "AMOUNT",
      "The most that a day may have: a total, for a check a number of times; instead of a goal"),
    .value(
      "per", nil, "PERIOD", "The period of the goal: day (the default), week or month",
      choices: ["day", "week", "month"]),
    .value("presets", nil, "LIST", "Amounts to offer, separated by commas: 150,250,330"),
    .value("usual", nil, "AMOUNT", "The amount of an entry that names none"),
    .value("days", nil, "DAYS", "The days that count: mon,wed,fri, mon-fri, weekdays, weekends or daily"),
    .value(
      "times", nil, "TIMES",
      "How many days are enough, no matter which: 3/week, 10/month, or 3/10 (in any 10 days)"),
    .value("day-starts", nil, "HH:MM", "The time at which its day begins; earlier entries belong to the day before"),
    .value(
      "time-of-day", nil, "PART", "Its part of the day: morning, anytime or evening",
      choices: TrackersInterface.Tracker.TimeOfDay.allCases.map(\.rawValue)),
    .value("skips", nil, "N", "How many days of a month you may skip; the default is no limit"),
    .flag("items", nil, "Make it a collection: its entries refer to items"),
    .value("fields", nil, "LIST", "Further measures of an entry with their units: body-fat=%,waist=cm"),
    .value("milestones", nil, "STEP", "For a measure: celebrate each step once, such as every 2 (kg)"),
    .value("stock", nil, "AMOUNT", "The present stock of what its entries use up, such as tablets"),
    .value("warn", nil, "DAYS", "Warn when the stock will last for fewer days than this; the default is 7"),
    .value("icon", nil, "NAME", "An icon, by its name or as a file"),
    .value("since", nil, "DAY", "The first day that counts; it may be in the past"),
  ]

  /// Applies the options to the draft.
  ///
  /// - Parameter old: the edited tracker; nil for a new one.
  static func fill(_ draft: inout Draft, _ context: Context, old: TrackersInterface.Tracker?) throws {
    let line = context.line
    var reset: [String] = []
    if let kind = line.value("kind") { draft.kind = .init(rawValue: kind) }
    if let unit = line.value("unit") { if unit.isEmpty { reset.append("unit") } else { draft.unit = unit } }
    draft.decimals = try line.count("decimals", minimum: 0, maximum: 3)
    let kind = draft.kind ?? old?.kind ?? .check
    if let text = line.value("limit") {
      try need(!line.has("goal"), localized("--goal and --limit cannot be used together"))
      try need(!line.has("per"), localized("--limit is for a day: leave out --per"))
      if !text.isEmpty {
        draft.goal = try limit(text, kind, draft.unit ?? old?.unit)
      } else if old?.goal?.atMost == true {
        reset.append("goal")
      }
    } else if let text = line.value("goal") {
      if text.isEmpty { reset.append("goal") } else { draft.goal = try goal(text, kind, old: old, line) }
    } else if let per = line.value("per") {
      guard var goal = old?.goal else { throw Failure.usage(localized("--per needs a goal: --goal 3 --per week")) }
      goal.period = .init(rawValue: per)
      draft.goal = goal
    }
    draft.presets = try line.list("presets")?.map { try amount($0, "presets", draft, old) }
    if let text = line.value("usual") {
      if text.isEmpty { reset.append("usual") } else { draft.usual = try amount(text, "usual", draft, old) }
    }
    draft.counting = try counting(line)
    draft.dayStartsAt = try line.value("day-starts").map { try time($0) }
    draft.timeOfDay = line.value("time-of-day").flatMap { .init(rawValue: $0) }
    if line.value("skips")?.isEmpty == true {
      reset.append("skipsEachMonth")
    } else {
      draft.skipsEachMonth = try line.count("skips", minimum: 0, maximum: 31)
    }
    if line.has("items") { draft.hasItems = true }
    draft.fields = try fields(line)
    if let text = line.value("milestones") {
      if text.isEmpty {
        reset.append("milestoneStep")
      } else {
        draft.milestoneStep = try amount(text, "milestones", draft, old)
      }
    }
    if let text = line.value("stock") {
      if text.isEmpty {
        reset.append("stock")
      } else {
        draft.stock = try inUnit(AmountText.required(text, option: "stock"), "stock", draft.unit ?? old?.unit)
      }
    }
    draft.warnDays = try line.count("warn", minimum: 0, maximum: 366)
    if draft.warnDays != nil, draft.stock == nil, old?.stock == nil {
      throw Failure.usage(localized("--warn needs a stock: --stock 30 --warn 7"))
    }
    if let icon = line.value("icon") { if icon.isEmpty { reset.append("icon") } else { draft.icon = icon } }
    draft.startedOn = try line.value("since").map {
      try PastMoment.day($0, option: "since", today: context.today())
    }
    if !reset.isEmpty { draft.reset = reset }
    // Derive the decimals from the numbers as typed.
    if draft.decimals == nil, old == nil {
      let typed = ["goal", "limit", "usual", "milestones"].compactMap { line.value($0) }
        // Numbers in another unit do not count: 0.5 l is 500 ml.
        .filter { (try? AmountText.parse($0))??.unit.map { $0 == draft.unit } ?? true }
      draft.decimals = decimals(typed, kind)
    }
  }

  private static func decimals(_ texts: [String], _ kind: TrackersInterface.Tracker.Kind) -> Int? {
    let digits = texts.map { text in
      text.split(whereSeparator: { $0 == "." || $0 == "," }).dropFirst().first?.prefix { $0.isNumber }.count ?? 0
    }.max()
    let least = kind == .measure ? 1 : 0
    return max(least, min(3, digits ?? 0)) == 0 ? nil : max(least, min(3, digits ?? 0))
  }

  private static func goal(
    _ text: String, _ kind: TrackersInterface.Tracker.Kind, old: TrackersInterface.Tracker?, _ line: ParsedLine
  ) throws -> TrackersInterface.Goal {
    var amount = try AmountText.required(text, option: "goal")
    let period = line.value("per").flatMap { TrackersInterface.Goal.Period(rawValue: $0) } ?? old?.goal?.period
    amount.value = try inUnit(amount, "goal", line.value("unit") ?? old?.unit)
    switch kind {
    case .check:
      guard let count = Int(exactly: amount.value), count >= 1 else {
        throw Failure.usage(
          localized("the goal of a check is a number of times, a whole number, not \"%1\"", text),
          hint: localized("--unit makes it an amount"))
      }
      return TrackersInterface.Goal(count: count, period: period)
    case .amount: return TrackersInterface.Goal(total: amount.value, period: period)
    case .measure: return TrackersInterface.Goal(value: amount.value, period: period)
    }
  }

  private static func limit(
    _ text: String, _ kind: TrackersInterface.Tracker.Kind, _ unit: String?
  ) throws -> TrackersInterface.Goal {
    let amount = try AmountText.required(text, option: "limit")
    let value = try inUnit(amount, "limit", unit)
    switch kind {
    case .check:
      guard let count = Int(exactly: value), count >= 0 else {
        throw Failure.usage(
          localized("the limit of a check is a number of times, a whole number, not \"%1\"", text),
          hint: localized("--unit makes it an amount"))
      }
      return TrackersInterface.Goal(count: count, atMost: true)
    case .amount: return TrackersInterface.Goal(total: value, atMost: true)
    case .measure:
      throw Failure.usage(
        localized("a measure has no limit: its values do not add up"),
        hint: localized("--goal is the value to reach"))
    }
  }

  private static func amount(
    _ text: String, _ option: String, _ draft: Draft, _ old: TrackersInterface.Tracker?
  ) throws -> Double {
    try inUnit(AmountText.required(text, option: option), option, draft.unit ?? old?.unit)
  }

  /// Converts an option's amount to the tracker's unit.
  private static func inUnit(
    _ amount: AmountText.Amount, _ option: String, _ unit: String?
  ) throws -> Double {
    guard let named = amount.unit, named != unit else { return amount.value }
    if let unit, let value = AmountText.converted(amount.value, from: named, to: unit) { return value }
    throw Failure.usage(
      unit.map { localized("--%1 is in %2, not in %3", option, $0, named) }
        ?? localized("--%1 is in %2, and the tracker has no unit", option, named),
      hint: unit == nil ? "--unit \(named)" : nil)
  }

  private static func counting(_ line: ParsedLine) throws -> TrackersInterface.Counting? {
    if let days = line.value("days") {
      try need(!line.has("times"), localized("--days and --times cannot be used together"))
      return TrackersInterface.Counting(weekdays: try WeekdayText.parse(days, option: "days"))
    }
    guard let text = line.value("times") else { return nil }
    let parts = text.lowercased().split { $0 == "/" || $0 == " " }.map(String.init)
      .filter { !["a", "in", "any", "days", "times", "per", "each", "out", "of"].contains($0) }
    if parts.count == 2, let times = Int(parts[0]), (1...366).contains(times) {
      switch parts[1] {
      case "week", "w": return TrackersInterface.Counting(times: times, per: .week)
      case "month", "m": return TrackersInterface.Counting(times: times, per: .month)
      default:
        if let days = Int(parts[1].hasSuffix("d") ? String(parts[1].dropLast()) : parts[1]), (1...366).contains(days) {
          return TrackersInterface.Counting(times: times, per: .days, days: days)
        }
      }
    }
    throw Failure.usage(localized("--times needs 3/week, 10/month or 3/10 (in any 10 days), not \"%1\"", text))
  }

  static func time(_ text: String) throws -> String {
    var padded = text.contains(":") ? text : "\(text):00"
    if padded.prefix(while: { $0 != ":" }).count == 1 { padded = "0" + padded }
    guard let time = CivilTime(padded), time.second == 0 else {
      throw Failure.usage(localized("--day-starts needs a time of day such as 4:00, not \"%1\"", text))
    }
    return time.description
  }

  private static func fields(_ line: ParsedLine) throws -> [String: String]? {
    guard let list = line.list("fields") else { return nil }
    return Dictionary(try list.map { try Pairs.split($0, option: "fields") }.map { ($0.name, $0.value) }) { $1 }
  }
}
