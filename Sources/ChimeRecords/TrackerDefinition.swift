import ChimeCore
package import ChimeSchedule
package import ChimeTracking
import FoundationEssentials

/// A TrackerDefinition is a tracker as JSON in the `definition` column or in a pack. As in `Definition`, default values
/// are omitted and fields that are added later are optional.
///
///     {"goal":{"total":40000000000},"kind":"amount","startedOn":"2026-03-01","title":{"en":"Water"},"unit":"ml"}
package struct TrackerDefinition: Codable, Hashable {
  var title: [String: String]
  var verb: [String: String]?
  var kind: Tracker.Kind
  var unit: ChimeTracking.Unit?
  var decimals: Int?
  var goal: GoalForm?
  var presets: [Quantity]?
  var usual: Quantity?
  var counting: CountingForm?
  var formerWeekdays: [FormerWeekdays]?
  var dayStartsAt: Int?
  var slot: Tracker.TimeOfDay?
  var pauses: [ClosedRange<CivilDate>]?
  var skips: [CivilDate]?
  var skipsEachMonth: Int?
  var hasItems: Bool?
  var fields: [String: ChimeTracking.Unit]?
  var bounds: Bounds?
  var fieldBounds: [String: Bounds]?
  var milestoneStep: Quantity?
  var stock: Stock?
  var icon: String?
  var set: String?
  var experience: Int?
  var startedOn: CivilDate
  var generation: Int64?

  private static let usualExperience = 10

  package init(of tracker: Tracker) {
    title = tracker.title.texts
    verb = tracker.verb?.texts
    kind = tracker.kind
    unit = tracker.unit
    decimals = tracker.decimals == 0 ? nil : tracker.decimals
    goal = tracker.goal.map { GoalForm(of: $0) }
    presets = tracker.presets.isEmpty ? nil : tracker.presets
    usual = tracker.usual
    counting = tracker.counting == .weekdays(.everyDay) ? nil : CountingForm(of: tracker.counting)
    formerWeekdays = tracker.formerWeekdays.isEmpty ? nil : tracker.formerWeekdays
    dayStartsAt = tracker.dayStartsAt == 0 ? nil : tracker.dayStartsAt
    slot = tracker.slot == .anytime ? nil : tracker.slot
    pauses = tracker.pauses.isEmpty ? nil : tracker.pauses
    skips = tracker.skips.isEmpty ? nil : tracker.skips
    skipsEachMonth = tracker.skipsEachMonth
    hasItems = tracker.hasItems ? true : nil
    fields = tracker.fields.isEmpty ? nil : tracker.fields
    bounds = tracker.bounds
    fieldBounds = tracker.fieldBounds
    milestoneStep = tracker.milestoneStep
    stock = tracker.stock
    icon = tracker.icon
    set = tracker.set
    experience = tracker.experience == Self.usualExperience ? nil : tracker.experience
    startedOn = tracker.startedOn
    generation = tracker.generation == 0 ? nil : tracker.generation
  }

  /// Returns the tracker, with the values of the other columns.
  package func tracker(id: TrackerID, owner: UInt32, pack: PackID?, createdAt: Instant) throws -> Tracker {
    Tracker(
      id: id, owner: owner, title: LocalizedText(title), verb: verb.map { LocalizedText($0) }, kind: kind, unit: unit,
      decimals: decimals ?? 0,
      goal: try goal.map { try $0.goal() }, presets: presets ?? [], usual: usual,
      counting: try counting?.counting() ?? .weekdays(.everyDay), formerWeekdays: formerWeekdays ?? [],
      dayStartsAt: dayStartsAt ?? 0, slot: slot ?? .anytime,
      pauses: pauses ?? [], skips: skips ?? [], skipsEachMonth: skipsEachMonth, hasItems: hasItems ?? false,
      fields: fields ?? [:], bounds: bounds, fieldBounds: fieldBounds, milestoneStep: milestoneStep,
      stock: stock, icon: icon,
      pack: pack, set: set,
      experience: experience ?? Self.usualExperience, startedOn: startedOn, createdAt: createdAt,
      generation: generation ?? 0)
  }
}

/// `{"total":40000000000}`, `{"count":3,"each":"week"}`, `{"value":120000000000}`, `{"atMost":true,"count":5}`
package struct GoalForm: Codable, Hashable {
  var count: Int?
  var total: Quantity?
  var value: Quantity?
  var each: Goal.Period?
  var atMost: Bool?

  package init(of goal: Goal) {
    switch goal.target {
    case .count(let count): self.count = count
    case .total(let total): self.total = total
    case .value(let value): self.value = value
    }
    each = goal.period == .day ? nil : goal.period
    atMost = goal.isAtMost ? true : nil
  }

  func goal() throws -> Goal {
    let target: Goal.Target? =
      count.map { .count($0) } ?? total.map { .total($0) } ?? value.map { .value($0) }
    guard let target else { throw UnknownForm(of: "goal") }
    return Goal(target, each: each ?? .day, atMost: atMost ?? false)
  }
}

/// `{"weekdays":31}` (bit 0 is Monday), `{"week":3}`, `{"month":12}`, `{"days":7,"times":3}`
struct CountingForm: Codable, Hashable {
  var weekdays: UInt8?
  var week: Int?
  var month: Int?
  var times: Int?
  var days: Int?

  init(of counting: CountedDays) {
    switch counting {
    case .weekdays(let set): weekdays = set.rawValue
    case .timesAWeek(let count): week = count
    case .timesAMonth(let count): month = count
    case .rolling(let times, let days): (self.times, self.days) = (times, days)
    }
  }

  func counting() throws -> CountedDays {
    if let weekdays { return .weekdays(WeekdaySet(rawValue: weekdays)) }
    if let week { return .timesAWeek(week) }
    if let month { return .timesAMonth(month) }
    guard let times, let days else { throw UnknownForm(of: "way of counting days") }
    return .rolling(times: times, days: days)
  }
}

/// A value that a later version may have written.
struct UnknownForm: Error, CustomStringConvertible {
  let description: String
  init(of what: String) { description = "it has a \(what) that this version of chimed does not know" }
}
