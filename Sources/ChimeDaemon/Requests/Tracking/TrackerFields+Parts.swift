import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

// Parts of drafts and requests.
extension TrackerFields {
  /// Makes a client's text safe to repeat in a message.
  static func shown(_ text: String, longest: Int = 64) -> String {
    String(
      text.prefix(longest).map {
        $0.isNewline || $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? "?" : $0
      })
  }

  /// Returns whether a text is a valid id of an item: 1 to 64 of a-z, 0-9 and -.
  static func isItemID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
  }

  static func day(_ text: String, _ field: String) throws -> CivilDate {
    guard let day = CivilDate(text) else {
      throw ControlFailure.invalidValue(field: field, "'\(shown(text))' is not a day: give one such as 2026-03-29")
    }
    return day
  }

  /// Returns the days of a range; nil: both ends are open.
  static func range(_ range: Wired.Range?, _ field: String = "range") throws -> ClosedRange<CivilDate>? {
    guard let range, range.from != nil || range.to != nil else { return nil }
    let from = try range.from.map { try day($0, field) } ?? .earliest
    let to = try range.to.map { try day($0, field) } ?? .latest
    try need(from <= to, field, "\(from) is after \(to): give the earlier day first")
    return from...to
  }

  static func weekdays(_ names: [String], _ field: String) throws -> WeekdaySet {
    var set: WeekdaySet = []
    for name in names {
      guard let day = Weekday.allCases.first(where: { $0.abbreviation == name }) else {
        throw ControlFailure.invalidValue(
          field: field, "'\(shown(name))' is not a weekday: give mon, tue, wed, thu, fri, sat or sun")
      }
      set.insert(WeekdaySet(day))
    }
    return set
  }

  /// Parses HH:MM as a minute of the day.
  static func minute(_ text: String, _ field: String) throws -> Int {
    guard text.utf8.count == 5, let time = CivilTime(text) else {
      throw ControlFailure.invalidValue(field: field, "'\(shown(text))' is not a time of day: give one such as 04:00")
    }
    return time.hour * 60 + time.minute
  }

  /// Finds a unit by its symbol. Case does not matter if the unit is clear: `KG` is kg.
  static func unit(_ symbol: String, _ field: String) throws -> Unit {
    if let known = Unit.known[symbol] { return known }
    let alike = Unit.known.values.filter { $0.symbol.lowercased() == symbol.lowercased() }
    if alike.count == 1 { return alike[0] }
    guard let unit = Unit(symbol) else {
      throw ControlFailure.invalidValue(
        field: field,
        "'\(shown(symbol))' is not a unit: give \(Unit.known.keys.sorted().joined(separator: ", ")), or a word of 1 "
          + "to 16 letters"
      )
    }
    return unit
  }

  static func quantity(_ value: Double, _ unit: Unit, _ field: String) throws -> Quantity {
    try need(value.isFinite, field, "give a number")
    guard let quantity = Quantity(value, unit) else {
      let most = Quantity(grains: Quantity.limit(of: unit.dimension)).value(in: unit).rounded(.down)
      throw ControlFailure.invalidValue(
        field: field,
        "it is larger than Chime can record: at most \(Int64(most)) \(unit)")
    }
    try need(quantity != .zero || value == 0, field, "it is too close to zero, in \(unit)")
    return quantity
  }

  /// Checks a stock, in the unit of the tracker. The stock of a check is a whole number.
  static func stock(
    _ value: Double, in symbol: String?, of tracker: Tracker, _ field: String
  ) throws -> Quantity {
    let quantity: Quantity
    switch tracker.kind {
    case .measure:
      throw ControlFailure.invalidValue(field: field, "a measure has no stock: its values do not add up")
    case .amount: quantity = try Self.quantity(value, in: symbol, of: tracker, field)
    case .check:
      guard symbol == nil, let count = Int(exactly: value) else {
        throw ControlFailure.invalidValue(
          field: field, "each entry of \(tracker.id) uses up one: give a whole number, without a unit")
      }
      quantity = .ones(count)
    }
    try need(
      quantity >= .zero && quantity <= tracker.mostStock, field,
      "it must be zero or more, and not larger than Chime can record")
    return quantity
  }

  /// Parses an amount in the unit of the tracker, or one that converts to it.
  static func quantity(
    _ value: Double, in symbol: String?, of tracker: Tracker, _ field: String = "amount"
  ) throws -> Quantity {
    guard let own = tracker.unit else {
      throw ControlFailure.invalidValue(
        field: field, "\(tracker.id) is a check: leave the amount out, or log it several times")
    }
    guard let symbol else { return try quantity(value, own, field) }
    // The case of the user's own units does not matter.
    if symbol.lowercased() == own.symbol.lowercased() { return try quantity(value, own, field) }
    let unit = try self.unit(symbol, "unit")
    guard unit.converts(to: own) else {
      let known = Unit.known.values.filter { $0.converts(to: own) }.map(\.symbol).sorted()
      let those = known.isEmpty ? own.symbol : known.joined(separator: ", ")
      throw ControlFailure.invalidValue(
        field: "unit", "\(tracker.id) is in \(own), and \(unit) does not convert to that: give it in \(those)")
    }
    return try quantity(value, unit, field)
  }

  /// Parses further measures, each in the unit of its field.
  static func fields(_ fields: [String: Double], of tracker: Tracker) throws -> [String: Quantity] {
    var result: [String: Quantity] = [:]
    for (name, value) in fields {
      result[name] = try quantity(value, unit(ofField: name, tracker), "fields")
    }
    return result
  }

  /// Returns the unit of a further measure.
  static func unit(ofField name: String, _ tracker: Tracker) throws -> Unit {
    if let unit = tracker.fields[name] { return unit }
    let known = tracker.fields.keys.sorted()
    let hint =
      SpellingSuggestions.question(String(name.prefix(64)), among: known)
      ?? (known.isEmpty ? "\(tracker.id) has none" : "\(tracker.id) has \(known.joined(separator: ", "))")
    throw ControlFailure.invalidValue(field: "fields", "there is no measure '\(shown(name))': \(hint)")
  }

  /// Checks a note; nil: it is empty.
  static func note(_ note: String) throws -> String? {
    let trimmed = note.trimmed
    guard !trimmed.isEmpty else { return nil }
    try need(
      trimmed.count <= Entry.longestNote, "note",
      "a note has at most \(Entry.longestNote) characters; this one has \(trimmed.count)")
    return try ReminderFields.text(trimmed, "note", maximum: 8 * Entry.longestNote, multiline: true)
  }

  /// Parses a time after 1970.
  static func time(_ text: String?) throws -> Instant? {
    guard let text else { return nil }
    guard let instant = try? RFC3339.parse(text) else {
      throw ControlFailure.invalidValue(field: "at", "give an RFC 3339 time, such as 2026-12-01T09:00:00+01:00")
    }
    try need(instant >= Instant(seconds: 2 * 86_400), "at", "give a time after 1970")
    return instant
  }
}
