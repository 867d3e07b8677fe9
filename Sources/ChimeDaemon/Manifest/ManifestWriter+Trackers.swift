import ChimeCore
import ChimeSchedule
import ChimeTracking

// Trackers and packs as a set's TOML has them.
extension ManifestWriter {
  static func fields(of tracker: Tracker) -> [Field] {
    TrackerSetting.all.compactMap { $0.text?(tracker) }
      + [Field(name: "xp", text: String(tracker.experience), isUsual: tracker.experience == 10)]
  }

  /// One of the user's own.
  static func table(_ tracker: Tracker) -> String {
    table("tracker", [text("id", tracker.id.rawValue)] + fields(of: tracker))
  }

  /// An installed pack.
  ///
  /// - Parameters:
  ///   - base: the pack as it comes with Chime; nil for one of the user's own, of which it is not known what its file says.
  ///   - made: what the pack makes of a reminder beneath the head of an export.
  static func table(
    _ installed: InstalledPack, base: Pack?, trackers: [Tracker], reminders: [ReminderID: Reminder],
    now: Instant, made: (PackReminder) throws -> Reminder
  ) rethrows -> String {
    let pack = base ?? installed.pack
    var result = table(
      "pack",
      [
        text("name", pack.id.rawValue), text("file", base == nil ? "\(pack.id).toml" : nil),
        text("language", language(installed.languages)),
      ])
    for declared in pack.trackers {
      guard let tracker = trackers.first(where: { $0.id == declared.id && $0.pack == pack.id }) else { continue }
      let plain = base == nil ? [] : fields(of: declared)
      let foreign =
        tracker.kind == .check
        ? ["unit", "decimals", "presets", "usual", "milestone"] : tracker.kind == .amount ? ["milestone"] : []
      let keys = ManifestReader.trackerKeys.filter { !foreign.contains($0) }
      let lines = fields(of: tracker).filter { keys.contains($0.name) }.compactMap { field in
        let said = plain.first { $0.name == field.name }?.text
        return said == field.text && base != nil ? nil : line(field)
      }
      result += "\n[pack.tracker.\(declared.id)]\n" + lines.joined()
    }
    for declared in pack.reminders {
      guard let id = installed.reminders[declared.key], let reminder = reminders[id] else {
        if !declared.isOptional { result += "\n[pack.reminder]\n\(declared.key) = false\n" }
        continue
      }
      let plain = fields(of: try made(declared), now: now)
      let lines = fields(of: reminder, now: now).compactMap { field -> String? in
        let said = plain.first { $0.name == field.name }
        return said?.text == field.text || field.name == "tracker" ? nil : line(field)
      }
      result += "\n[pack.reminder.\(declared.key)]\nid = \(TOMLText.quoted(id.rawValue))\n" + lines.joined()
    }
    return result
  }

  /// The tag of the first of some languages, which may be named as locales are; of none it is English.
  static func language(_ languages: [String]) -> String { (languages.first ?? "en").replacing("_", with: "-") }

  /// Of a field that a pack has and its user has not, that it is to have none.
  private static func line(_ field: Field) -> String {
    let none = ReminderFields.texts.contains { $0.name == field.name } ? "\"\"" : "false"
    return "\(field.name) = \(field.lines ?? field.text ?? none)\n"
  }

  // MARK: Values

  static func texts(_ text: LocalizedText) -> String {
    if text.texts.count == 1, let only = text.texts["en"] { return TOMLText.quoted(only) }
    let parts = text.texts.sorted { $0.key < $1.key }.map { "\(TOMLText.key($0.key)) = \(TOMLText.quoted($0.value))" }
    return "{ \(parts.joined(separator: ", ")) }"
  }

  static func units(_ fields: [String: ChimeTracking.Unit]) -> String {
    let parts = fields.sorted { $0.key < $1.key }.map {
      "\(TOMLText.key($0.key)) = \(TOMLText.quoted($0.value.symbol))"
    }
    return parts.isEmpty ? "{}" : "{ \(parts.joined(separator: ", ")) }"
  }

  static func amount(_ quantity: Quantity, of tracker: Tracker) -> String {
    guard let unit = tracker.unit else { return "" }
    return "\(fixed(quantity.value(in: unit))) \(unit.symbol)"
  }

  static func goal(_ goal: Goal, of tracker: Tracker) -> String {
    let period = each(goal.period.rawValue)
    let limit = goal.isAtMost ? PackAmounts.atMost : ""
    return switch goal.target {
    case .count(let count) where goal.isAtMost: limit + String(count) + " times"
    case .count(let count): times(count) + period
    case .total(let total): limit + amount(total, of: tracker) + (goal.period == .day ? "" : period)
    case .value(let value): amount(value, of: tracker)
    }
  }

  private static func times(_ count: Int) -> String {
    switch count {
    case 1: "once"
    case 2: "twice"
    default: String(count) + " times"
    }
  }

  static func days(_ counting: CountedDays) -> String {
    switch counting {
    case .weekdays(.everyDay): "every day"
    case .weekdays(.weekdays): "weekdays"
    case .weekdays(.weekends): "weekends"
    case .weekdays(let set):
      Weekday.allCases.filter { set.contains(WeekdaySet($0)) }.map(\.abbreviation).joined(separator: ",")
    case .timesAWeek(let count): times(count) + each("week")
    case .timesAMonth(let count): times(count) + each("month")
    case .rolling(let count, let days): [times(count), "in", String(days), "days"].joined(separator: " ")
    }
  }

  private static func each(_ period: String) -> String { " a " + period }

  static func minute(_ minute: Int) -> String {
    "\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60)"
  }
}
