import ChimeControl
import ChimeSchedule
import ChimeTracking

/// A TrackerSetting describes one setting: where clients, files and the tracker have it, and which values it takes.
struct TrackerSetting: Sendable {
  typealias Draft = TrackersInterface.TrackerDraft
  typealias Table = PackReader.Table
  typealias Field = ManifestWriter.Field

  /// The name on the wire.
  let name: String
  /// The key in files that change a tracker; nil: only the own table of a tracker may have it.
  var key: String?
  /// Checks the value of a client, and applies it.
  var take: @Sendable (Draft, inout Tracker) throws -> Void
  /// Removes the value; nil: every tracker has one.
  var reset: (@Sendable (inout Tracker) throws -> Void)?
  /// Reads the value from a table of a file, as a client would give it.
  var read: @Sendable (inout PackReader, Table, Tracker) -> Draft? = { _, _, _ in nil }
  /// Writes the value into a file; nil: files do not have it.
  var text: (@Sendable (Tracker) -> Field)?

  private init<Given, Kept>(
    _ name: String, _ given: any WritableKeyPath<Draft, Given?> & Sendable,
    _ kept: any WritableKeyPath<Tracker, Kept> & Sendable, key: String? = nil,
    reset: (@Sendable (inout Tracker) throws -> Void)? = nil,
    take: @escaping @Sendable (Given, Tracker) throws -> Kept,
    read: (@Sendable (inout PackReader, String, Table, Tracker) -> Given?)? = nil,
    text: (@Sendable (Tracker) -> Field)? = nil
  ) {
    (self.name, self.key, self.reset, self.text) = (name, key, reset, text)
    self.take = { draft, tracker in
      if let value = draft[keyPath: given] { tracker[keyPath: kept] = try take(value, tracker) }
    }
    guard let key, let read else { return }
    self.read = { reader, table, tracker in
      guard let value = read(&reader, key, table, tracker) else { return nil }
      var draft = Draft(id: tracker.id.rawValue)
      draft[keyPath: given] = value
      return draft
    }
  }

  /// The settings in the order in which they are applied: amounts need the unit. A pack's title has 60 characters and a verb 20,
  /// of up to 8 bytes each.
  static let all: [TrackerSetting] = [
    TrackerSetting(
      "title", \.title, \.title, key: "title",
      take: { texts, _ in try TrackerFields.texts(texts, "title", maximum: 480) },
      read: { reader, key, table, _ in reader.texts(key, in: table) },
      text: {
        Field(
          name: "title", text: ManifestWriter.texts($0.title), isUsual: $0.title == LocalizedText($0.id.rawValue))
      }),
    TrackerSetting(
      "verb", \.verb, \.verb, key: "verb", reset: { $0.verb = nil },
      take: { texts, _ in try TrackerFields.texts(texts, "verb", maximum: 160) },
      read: { reader, key, table, _ in reader.texts(key, in: table) },
      text: { Field(name: "verb", text: $0.verb.map(ManifestWriter.texts)) }),
    TrackerSetting(
      "kind", \.kind, \.kind,
      take: { kind, tracker in
        if kind.rawValue == tracker.kind.rawValue { return tracker.kind }
        throw ControlFailure.invalidValue(
          field: "kind",
          "\(tracker.id) is of the kind \(tracker.kind.rawValue), which cannot change: add another tracker")
      }, text: { ManifestWriter.text("kind", $0.kind.rawValue) }),
    unit,
    TrackerSetting(
      "decimals", \.decimals, \.decimals, key: "decimals",
      take: { digits, tracker in
        guard tracker.kind != .check else { throw TrackerFields.hasNoAmount("decimals") }
        try need(TrackerFields.decimals.contains(digits), "decimals", "give 0 to 3 digits after the point")
        return digits
      }, read: { reader, key, table, _ in reader.number(key, in: table) },
      text: {
        Field(name: "decimals", text: String($0.decimals), isUsual: $0.decimals == ($0.kind == .measure ? 1 : 0))
      }),
    TrackerSetting(
      "goal", \.goal, \.goal, key: "goal", reset: { $0.goal = nil }, take: TrackerFields.goal,
      read: { reader, _, table, tracker in reader.goal(table, of: tracker) },
      text: { tracker in ManifestWriter.text("goal", tracker.goal.map { ManifestWriter.goal($0, of: tracker) }) }),
    TrackerSetting(
      "presets", \.presets, \.presets, key: "presets", take: TrackerFields.presets,
      read: { reader, _, table, tracker in reader.presets(table, of: tracker) },
      text: { tracker in
        Field(
          name: "presets", text: TOMLText.array(tracker.presets.map { ManifestWriter.amount($0, of: tracker) }),
          isUsual: tracker.presets.isEmpty)
      }),
    amount("usual", \.usual, \.usual, key: "usual"),
    TrackerSetting(
      "counting", \.counting, \.counting, key: "days", take: { counting, _ in try TrackerFields.counting(counting) },
      read: { reader, key, table, _ in reader.days(key, in: table).map(WireMapper.counting) },
      text: { ManifestWriter.text("days", ManifestWriter.days($0.counting), usual: "every day") }),
    TrackerSetting(
      "dayStartsAt", \.dayStartsAt, \.dayStartsAt, key: "dayStartsAt",
      take: { text, _ in try TrackerFields.minute(text, "dayStartsAt") },
      read: { reader, key, table, _ in reader.minute(key, in: table).map(WireMapper.clock) },
      text: { ManifestWriter.text("dayStartsAt", ManifestWriter.minute($0.dayStartsAt), usual: "0:00") }),
    TrackerSetting(
      "timeOfDay", \.timeOfDay, \.timeOfDay, key: "timeOfDay",
      take: { timeOfDay, _ in Tracker.TimeOfDay(rawValue: timeOfDay.rawValue) ?? .anytime },
      read: { reader, key, table, _ in reader.choice(key, in: table, TrackersInterface.Tracker.TimeOfDay.self) },
      text: { ManifestWriter.text("timeOfDay", $0.timeOfDay.rawValue, usual: "anytime") }),
    TrackerSetting(
      "skipsEachMonth", \.skipsEachMonth, \.skipsEachMonth, key: "skipsEachMonth", reset: { $0.skipsEachMonth = nil },
      take: { days, _ in
        try need((0...31).contains(days), "skipsEachMonth", "give 0 to 31 days of a month")
        return days
      }, read: { reader, key, table, _ in reader.number(key, in: table) },
      text: { Field(name: "skipsEachMonth", text: $0.skipsEachMonth.map(String.init)) }),
    TrackerSetting(
      "hasItems", \.hasItems, \.hasItems, take: { hasItems, _ in hasItems },
      text: { Field(name: "items", text: String($0.hasItems), isUsual: !$0.hasItems) }),
    TrackerSetting(
      "fields", \.fields, \.fields, take: { fields, _ in try TrackerFields.fields(fields) },
      text: { Field(name: "fields", text: ManifestWriter.units($0.fields), isUsual: $0.fields.isEmpty) }),
    amount("milestoneStep", \.milestoneStep, \.milestoneStep, key: "milestone") { tracker in
      try need(tracker.kind == .measure, "milestoneStep", "only a measure has steps to celebrate")
    },
    TrackerSetting(
      "stock", \.stock, \.stock, key: "stock", reset: { $0.stock = nil },
      take: { amount, tracker in
        Stock(
          try TrackerFields.stock(amount, in: nil, of: tracker, "stock"),
          warnDays: tracker.stock?.warnDays ?? Stock.usualWarnDays)
      },
      read: { reader, key, table, tracker in
        if tracker.kind == .check { return reader.number(key, in: table).map(Double.init) }
        return table[key].flatMap { reader.amount($0, table.key(key), of: tracker) }
      },
      text: { tracker in
        let text = tracker.stock.map { stock in
          tracker.kind == .check
            ? String(stock.quantity.grains / Quantity.one.grains) : ManifestWriter.amount(stock.quantity, of: tracker)
        }
        return tracker.kind == .check ? Field(name: "stock", text: text) : ManifestWriter.text("stock", text)
      }),
    TrackerSetting(
      "warnDays", \.warnDays, \.stock, key: "warnDays", reset: { $0.stock?.warnDays = Stock.usualWarnDays },
      take: { days, tracker in
        guard var stock = tracker.stock else {
          throw ControlFailure.invalidValue(field: "warnDays", "give the stock too")
        }
        try need(Stock.warnDays.contains(days), "warnDays", "give 0 to 366 days")
        stock.warnDays = days
        return stock
      }, read: { reader, key, table, _ in reader.number(key, in: table) },
      text: {
        Field(
          name: "warnDays", text: $0.stock.map { String($0.warnDays) },
          isUsual: $0.stock?.warnDays == Stock.usualWarnDays)
      }),
    TrackerSetting(
      "icon", \.icon, \.icon, key: "icon", reset: { $0.icon = nil },
      take: { icon, _ in icon.isEmpty ? nil : try ReminderFields.text(icon, "icon", maximum: 2_048) },
      read: { reader, key, table, _ in reader.plain(key, in: table) }, text: { ManifestWriter.text("icon", $0.icon) }),
    TrackerSetting(
      "startedOn", \.startedOn, \.startedOn, key: "start", take: { day, _ in try TrackerFields.day(day, "startedOn") },
      read: { reader, key, table, _ in reader.plain(key, in: table, as: "a day in quotes, such as \"2026-03-29\"") },
      text: { ManifestWriter.text("start", $0.startedOn.description) }),
    TrackerSetting(
      "pauses", \.pauses, \.pauses, take: { pauses, _ in try TrackerFields.pauses(pauses) }),
    TrackerSetting("skips", \.skips, \.skips, take: { skips, _ in try TrackerFields.skips(skips) }),
  ]

  private static func amount(
    _ name: String, _ given: any WritableKeyPath<Draft, Double?> & Sendable,
    _ kept: any WritableKeyPath<Tracker, Quantity?> & Sendable, key: String,
    check: @escaping @Sendable (Tracker) throws -> Void = { _ in }
  ) -> TrackerSetting {
    TrackerSetting(
      name, given, kept, key: key, reset: { $0[keyPath: kept] = nil },
      take: { value, tracker in
        try check(tracker)
        return try TrackerFields.positive(value, name, of: tracker)
      },
      read: { reader, key, table, tracker in
        table[key].flatMap { reader.amount($0, table.key(key), of: tracker) }
      },
      text: { tracker in
        ManifestWriter.text(key, tracker[keyPath: kept].map { ManifestWriter.amount($0, of: tracker) })
      })
  }

  /// The unit of amounts. Trackers that are no checks need one.
  private static let unit: TrackerSetting = {
    var setting = TrackerSetting(
      "unit", \.unit, \.unit, key: "unit",
      reset: { tracker in
        try need(
          tracker.kind == .check, "reset",
          "\(tracker.id) is in \(tracker.unit?.symbol ?? "a unit") and needs a unit: give another one")
        tracker.unit = nil
      }, take: { symbol, _ in try TrackerFields.unit(symbol, "unit") },
      read: { reader, key, table, tracker in reader.unit(key, in: table, of: tracker) },
      text: { ManifestWriter.text("unit", $0.unit?.symbol) })
    let take = setting.take
    setting.take = { draft, tracker in
      if draft.unit != nil, tracker.kind == .check { throw TrackerFields.hasNoAmount("unit") }
      let old = tracker.unit
      try take(draft, &tracker)
      guard tracker.kind != .check, let unit = tracker.unit else {
        if tracker.kind == .check { return }
        throw ControlFailure.invalidValue(
          field: "unit", "give the unit: ml, kg, min, pages or another word")
      }
      if let old, !old.converts(to: unit) {
        // Values in the old unit have no meaning in the new one.
        (tracker.goal, tracker.presets, tracker.usual, tracker.milestoneStep) = (nil, [], nil, nil)
        (tracker.bounds, tracker.stock) = (nil, nil)
      }
    }
    return setting
  }()
}
