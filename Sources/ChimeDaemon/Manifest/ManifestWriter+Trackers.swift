import ChimeCore
import ChimeSchedule
import ChimeTracking

// Trackers and packs in a set's TOML.
extension ManifestWriter {
  static func fields(of tracker: Tracker) -> [Field] {
    TrackerSetting.all.compactMap { $0.text?(tracker) }
      + [Field(name: "xp", text: String(tracker.experience), isUsual: tracker.experience == 10)]
  }

  /// Returns the table of a user's own tracker.
  static func table(_ tracker: Tracker) -> String {
    table("tracker", [text("id", tracker.id.rawValue)] + fields(of: tracker))
  }

  /// Returns the table of an installed pack.
  ///
  /// - Parameters:
  ///   - base: the shipped pack; nil for a user's own, whose file is unknown.
  ///   - made: returns the reminder that the pack creates with the defaults of an export.
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

  /// Returns the tag of the first language, which may be written like a locale; English if there is none.
  static func language(_ languages: [String]) -> String { (languages.first ?? "en").replacing("_", with: "-") }

  /// Returns the line of a field. A field that the user removed from the pack's reminder is written as absent.
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
