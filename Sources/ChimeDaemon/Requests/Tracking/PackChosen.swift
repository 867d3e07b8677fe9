import ChimeControl
import ChimeTracking

/// A PackChosen applies the choices of an installation to the trackers of a pack.
struct PackChosen {
  let pack: Pack
  let choices: TrackersInterface.PackChoices

  /// - Parameter known: the existing tracker, whose settings stay unless the user chooses others now.
  func tracker(_ declared: Tracker, known: Tracker?) throws -> Tracker {
    try checkNames()
    var tracker = declared
    let id = declared.id.rawValue
    if let known, known.pack == pack.id {
      if known.title.texts["en"] != declared.title.texts["en"] { tracker.title = known.title }
      (tracker.unit, tracker.goal, tracker.usual) = (known.unit, known.goal, known.usual)
      (tracker.milestoneStep, tracker.counting) = (known.milestoneStep, known.counting)
      (tracker.dayStartsAt, tracker.skipsEachMonth) = (known.dayStartsAt, known.skipsEachMonth)
      tracker.stock = known.stock
      tracker.fields.merge(known.fields) { _, own in own }
    } else if let known, known.pack == nil, known.kind == declared.kind, Self.fits(known.unit, declared.unit) {
      merge(known, into: &tracker)
    }
    try need(
      tracker.fields.count <= TrackerFields.maxFields, "fields",
      "\(id) would have \(tracker.fields.count) further measures, with those of the pack; at most "
        + "\(TrackerFields.maxFields) are taken")
    if let symbol = choices.units?[id] { try choose(unit: symbol, for: &tracker) }
    if let value = choices.goals?[id] { tracker.goal = try goal(value, for: tracker) }
    if let value = choices.usual?[id] { tracker.usual = try positive(value, "usual", of: tracker) }
    if let value = choices.milestoneSteps?[id] {
      try need(tracker.kind == .measure, "milestoneSteps", "\(id) is not a measure and has no steps to celebrate")
      tracker.milestoneStep = try positive(value, "milestoneSteps", of: tracker)
    }
    if let title = choices.titles?[id] {
      tracker.title = LocalizedText(try ReminderFields.text(title, "titles", maximum: 200))
    }
    if let names = choices.weekdays?[id] {
      let set = try TrackerFields.weekdays(names.split(separator: ",").map(String.init), "weekdays")
      try need(!set.isEmpty, "weekdays", "give at least one weekday")
      tracker.counting = .weekdays(set)
    }
    return tracker
  }

  /// Turns the user's own tracker into that of the pack. Its settings stay, and the pack adds the missing ones.
  private func merge(_ own: Tracker, into tracker: inout Tracker) {
    (tracker.title, tracker.unit, tracker.counting) = (own.title, own.unit, own.counting)
    (tracker.dayStartsAt, tracker.skipsEachMonth) = (own.dayStartsAt, own.skipsEachMonth)
    tracker.stock = own.stock
    tracker.goal = own.goal ?? tracker.goal
    tracker.usual = own.usual ?? tracker.usual
    tracker.milestoneStep = own.milestoneStep ?? tracker.milestoneStep
    tracker.icon = own.icon ?? tracker.icon
    tracker.fields.merge(own.fields) { _, own in own }
    if !own.presets.isEmpty { tracker.presets = own.presets }
  }

  private static func fits(_ own: Unit?, _ declared: Unit?) -> Bool {
    guard let own, let declared else { return own == nil && declared == nil }
    return own.converts(to: declared)
  }

  private func checkNames() throws {
    let trackers = pack.trackers.map(\.id.rawValue)
    let named: [Set<String>] = [
      Set((choices.goals ?? [:]).keys), Set((choices.usual ?? [:]).keys), Set((choices.units ?? [:]).keys),
      Set((choices.milestoneSteps ?? [:]).keys), Set((choices.titles ?? [:]).keys),
      Set((choices.weekdays ?? [:]).keys),
    ]
    if let other = named.joined().sorted().first(where: { !trackers.contains($0) }) {
      throw ControlFailure.notFound(
        what: "tracker", id: TrackerFields.shown(other), similar: SpellingSuggestions.to(other, among: trackers))
    }
  }

  /// Changes the unit. The step between milestones becomes the one that is offered for the new unit.
  private func choose(unit symbol: String, for tracker: inout Tracker) throws {
    let unit = try TrackerFields.unit(symbol, "units")
    guard let old = tracker.unit, old.converts(to: unit) else {
      throw ControlFailure.invalidValue(
        field: "units", "\(tracker.id) is in \(tracker.unit?.symbol ?? "no unit"), and \(unit) does not convert to that"
      )
    }
    guard unit != old else { return }
    tracker.unit = unit
    Self.changeStep(of: &tracker, from: old, in: pack)
  }

  /// Replaces an offered step between milestones by the one for the new unit, such as 2 kg by 5 lb. Other steps stay.
  static func changeStep(of tracker: inout Tracker, from old: Unit, in pack: Pack) {
    let offered = pack.milestoneSteps[tracker.id] ?? []
    guard let step = tracker.milestoneStep,
      let index = offered.first(where: { $0.unit == old })?.steps.firstIndex(of: step),
      let steps = offered.first(where: { $0.unit == tracker.unit })?.steps, let last = steps.last
    else { return }
    tracker.milestoneStep = index < steps.count ? steps[index] : last
  }

  private func goal(_ value: Double, for tracker: Tracker) throws -> Goal {
    guard let unit = tracker.unit else {
      guard let count = Int(exactly: value), (1...10_000).contains(count) else {
        throw ControlFailure.invalidValue(field: "goals", "the goal of \(tracker.id) is a whole number of times")
      }
      return Goal(.count(count), each: tracker.goal?.period ?? .day, atMost: tracker.isLimited)
    }
    let quantity = try positive(value, "goals", of: tracker)
    if let choice = pack.choices[tracker.id], !(choice.least...choice.most).contains(quantity) {
      let (least, most) = (choice.least.value(in: unit), choice.most.value(in: unit))
      throw ControlFailure.invalidValue(
        field: "goals", "the goal of \(tracker.id) must be from \(Self.plain(least)) to \(Self.plain(most)) \(unit)")
    }
    return tracker.kind == .measure
      ? Goal(.value(quantity)) : Goal(.total(quantity), each: tracker.goal?.period ?? .day, atMost: tracker.isLimited)
  }

  private static func plain(_ number: Double) -> String {
    Int(exactly: number).map(String.init) ?? String((number * 100).rounded() / 100)
  }

  private func positive(_ value: Double, _ field: String, of tracker: Tracker) throws -> Quantity {
    let quantity = try TrackerFields.quantity(value, in: nil, of: tracker, field)
    try need(quantity > .zero, field, "\(tracker.id): give more than zero")
    return quantity
  }
}
