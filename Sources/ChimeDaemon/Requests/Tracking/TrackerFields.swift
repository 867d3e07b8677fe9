import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// TrackerFields checks what a client wants a tracker to be, field by field. Errors say what to do.
struct TrackerFields {
  typealias Wired = TrackersInterface

  let context: ReminderContext
  let now: Instant

  /// The most trackers of an owner.
  static let maxTrackers = 200
  /// The most packs of an owner.
  static let maxPacks = 50
  static let decimals = 0...3
  static let maxPresets = 24
  static let maxPauses = 200
  static let maxSkips = 4_000
  static let maxLanguages = 40
  /// The most further measures of an entry.
  static let maxFields = 8

  /// Returns a new tracker. Fields that the draft leaves out have their defaults.
  func new(_ draft: Wired.TrackerDraft, owner: UInt32) throws -> Tracker {
    guard let id = TrackerID(checking: draft.id) else {
      throw ControlFailure.invalidValue(
        field: "id", "'\(Self.shown(draft.id))' is not an id: give 1 to 32 of a-z, 0-9 and -, a letter first")
    }
    guard let kind = draft.kind.flatMap({ Tracker.Kind(rawValue: $0.rawValue) }) else {
      throw ControlFailure.invalidValue(
        field: "kind", "give a kind: check (it was done), amount (it adds up), measure (a value)")
    }
    var tracker = Tracker(
      id: id, owner: owner, title: LocalizedText(id.rawValue), kind: kind, decimals: kind == .measure ? 1 : 0,
      startedOn: .earliest, createdAt: now)
    try Self.apply(draft, to: &tracker)
    if draft.startedOn == nil { tracker.startedOn = tracker.day(at: now, in: context.zones.local).day }
    return tracker
  }

  /// Applies the given fields.
  static func apply(_ draft: Wired.TrackerDraft, to tracker: inout Tracker) throws {
    for name in draft.reset ?? [] {
      guard let reset = TrackerSetting.all.first(where: { $0.name == name })?.reset else {
        let known = TrackerSetting.all.filter { $0.reset != nil }.map(\.name).joined(separator: ", ")
        throw ControlFailure.invalidValue(field: "reset", "'\(shown(name))' cannot be reset: choose from \(known)")
      }
      try reset(&tracker)
    }
    for setting in TrackerSetting.all { try setting.take(draft, &tracker) }
    try check(tracker)
  }

  static func hasNoAmount(_ field: String) -> ControlFailure {
    .invalidValue(field: field, "a check has no amount: leave it out, or give another kind")
  }

  /// Returns the presets, sorted and each once.
  static func presets(_ amounts: [Double], of tracker: Tracker) throws -> [Quantity] {
    try need(amounts.count <= maxPresets, "presets", "give at most \(maxPresets) amounts")
    return try Set(amounts.map { try positive($0, "presets", of: tracker) }).sorted()
  }

  static func positive(_ value: Double, _ field: String, of tracker: Tracker) throws -> Quantity {
    guard let unit = tracker.unit else { throw hasNoAmount(field) }
    let quantity = try quantity(value, unit, field)
    try need(quantity > .zero, field, "give more than zero, in \(unit)")
    return quantity
  }

  /// Checks the fields against each other.
  static func check(_ tracker: Tracker) throws {
    if tracker.kind == .measure, !tracker.presets.isEmpty || tracker.usual != nil {
      throw ControlFailure.invalidValue(
        field: tracker.presets.isEmpty ? "usual" : "presets", "a measure has no usual amount: each value is measured")
    }
    switch (tracker.kind, tracker.goal?.target) {
    case (_, nil), (.check, .count), (.amount, .total), (.measure, .value): break
    case (.check, _):
      throw ControlFailure.invalidValue(
        field: "goal", "the goal of a check is a count of entries: give count")
    case (.amount, _): throw ControlFailure.invalidValue(field: "goal", "the goal of an amount is a total: give total")
    case (.measure, _): throw ControlFailure.invalidValue(field: "goal", "the goal of a measure is a value: give value")
    }
    if tracker.isLimited {
      guard case .weekdays = tracker.counting else {
        throw ControlFailure.invalidValue(
          field: "goal", "a limit applies to each day that counts: give those weekdays, not a number of days")
      }
    }
  }

  // MARK: Parts

  static func goal(_ goal: Wired.Goal, of tracker: Tracker) throws -> Goal {
    try need(
      [goal.count != nil, goal.total != nil, goal.value != nil].count(where: { $0 }) == 1, "goal",
      "give one of count (a check), total (an amount) and value (a measure)")
    let period = goal.period.flatMap { Goal.Period(rawValue: $0.rawValue) } ?? .day
    let isAtMost = goal.atMost ?? false
    try need(period == .day || !isAtMost, "goal", "a limit applies to a day: leave the period out")
    if let count = goal.count {
      let least = isAtMost ? 0 : 1
      try need((least...10_000).contains(count), "goal", "give \(least) to 10000 entries")
      return Goal(.count(count), each: period, atMost: isAtMost)
    }
    if let total = goal.total {
      let isNothing = isAtMost && total == 0 && tracker.unit != nil
      return Goal(
        .total(isNothing ? .zero : try positive(total, "goal", of: tracker)), each: period, atMost: isAtMost)
    }
    guard let unit = tracker.unit else {
      throw ControlFailure.invalidValue(
        field: "goal", "the goal of a check is a count of entries: give count")
    }
    try need(
      !isAtMost, "goal", "a measure cannot have a limit, because its values do not add up: give the value to reach")
    try need(goal.period == nil || goal.period == .day, "goal", "a value is reached once: leave the period out")
    return Goal(.value(try quantity(goal.value ?? 0, unit, "goal")))
  }

  static func counting(_ counting: Wired.Counting) throws -> CountedDays {
    func refused(_ message: String) -> ControlFailure { .invalidValue(field: "counting", message) }
    let either = "give either weekdays (mon, tue …), or times with per (week, month, or days)"
    if let names = counting.weekdays {
      guard counting.times == nil, counting.per == nil, counting.days == nil else { throw refused(either) }
      let set = try weekdays(names, "counting")
      guard !set.isEmpty else { throw refused("give at least one weekday") }
      return .weekdays(set)
    }
    guard let times = counting.times, let per = counting.per else { throw refused(either) }
    guard per == .days || counting.days == nil else { throw refused("days needs per: days") }
    switch per {
    case .week:
      guard (1...7).contains(times) else { throw refused("a week has 1 to 7 days") }
      return times == 7 ? .everyDay : .timesAWeek(times)
    case .month:
      guard (1...31).contains(times) else { throw refused("a month has 1 to 31 days") }
      return .timesAMonth(times)
    case .days:
      guard let days = counting.days, (1...366).contains(days) else {
        throw refused("give the number of consecutive days: days, from 1 to 366")
      }
      guard (1...days).contains(times) else { throw refused("give 1 to \(days) times in \(days) days") }
      return times == days ? .everyDay : .rolling(times: times, days: days)
    }
  }

  static func pauses(_ pauses: [Wired.Range]) throws -> [ClosedRange<CivilDate>] {
    try need(pauses.count <= maxPauses, "pauses", "give at most \(maxPauses) pauses")
    return try pauses.map { pause in
      guard let range = try range(pause, "pauses") else {
        throw ControlFailure.invalidValue(field: "pauses", "give the first day of a pause, its last, or both")
      }
      return range
    }.sorted { $0.lowerBound < $1.lowerBound }
  }

  static func skips(_ skips: [String]) throws -> [CivilDate] {
    try need(skips.count <= maxSkips, "skips", "give at most \(maxSkips) days")
    return try Set(skips.map { try day($0, "skips") }).sorted()
  }

  static func fields(_ fields: [String: String]) throws -> [String: Unit] {
    var result: [String: Unit] = [:]
    for (name, symbol) in fields.sorted(by: { $0.key < $1.key }) {
      if let fault = fault(ofField: name, beside: result.count) {
        throw ControlFailure.invalidValue(field: "fields", fault)
      }
      result[name] = try unit(symbol, "fields")
    }
    return result
  }

  /// Returns why a tracker cannot have this further measure; nil: it can. Clients, files and backups follow the same rule.
  ///
  /// - Parameter others: the number of measures that it has already.
  static func fault(ofField name: String, beside others: Int) -> String? {
    func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
    let isName =
      (1...32).contains(name.utf8.count) && isLetter(name.utf8.first ?? 0)
      && name.utf8.allSatisfy {
        isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
      }
    guard isName else { return "'\(shown(name))' is not a name: give 1 to 32 letters, digits and -, such as bodyFat" }
    return others < maxFields ? nil : "give at most \(maxFields) further measures"
  }

  static func texts(_ texts: [String: String], _ field: String, maximum: Int) throws -> LocalizedText {
    try need((1...maxLanguages).contains(texts.count), field, "give the text in one to \(maxLanguages) languages")
    var result: [String: String] = [:]
    for (language, text) in texts {
      try need(
        (1...35).contains(language.utf8.count)
          && (language.utf8.allSatisfy({
            UInt8(ascii: "-") == $0 || Character(UnicodeScalar($0)).isLetter || Character(UnicodeScalar($0)).isNumber
          })), field, "'\(shown(language))' is not a language: give a tag such as en or pt-BR")
      result[language] = try ReminderFields.text(text, field, maximum: maximum)
    }
    return LocalizedText(result)
  }
}
