import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

/// ReminderFields checks what a client wants a reminder to be, field by field. Errors say what to do.
struct ReminderFields {
  let context: ReminderContext
  let configuration: Configuration
  let now: Instant

  /// The title of a pack has at most 200 characters, of up to 8 bytes each.
  static let maxTitleBytes = 1_600
  /// An event may have a few hundred exceptions.
  static let maxWhenBytes = 16_384
  static let maxItems = 32
  static let graces: ClosedRange<Milliseconds> = .seconds(1)...(.days(3_660))
  static let snoozeCounts = 1...10
  static let snoozeLengths: ClosedRange<Milliseconds> = .seconds(1)...(.days(366))

  /// A text field of a reminder: its name, its places on the wire and in the reminder, and its bounds.
  struct Text: Sendable {
    var name: String
    var given: any WritableKeyPath<RemindersInterface.Draft, String?> & Sendable
    var shown: any WritableKeyPath<RemindersInterface.Reminder, String?> & Sendable
    var stored: any WritableKeyPath<Reminder, String?> & Sendable
    /// The most bytes in UTF-8.
    var maxBytes = 2_048
    var hasLines = false
    /// Whether `[defaults]` of a manifest may have it.
    var isShared = true
    /// Returns what is wrong with a text of valid length and characters; nil: nothing.
    var fault: @Sendable (String) -> String? = { _ in nil }
  }
  static let texts = [
    Text(name: "body", given: \.body, shown: \.body, stored: \.body, maxBytes: 16_384, hasLines: true, isShared: false),
    Text(name: "icon", given: \.icon, shown: \.icon, stored: \.icon),
    Text(name: "sound", given: \.sound, shown: \.sound, stored: \.sound),
    Text(name: "url", given: \.url, shown: \.url, stored: \.url, isShared: false) {
      Reminder.isLink($0) ? nil : "'\(TrackerFields.shown($0))' is not a link: give one such as https://example.org"
    },
    Text(name: "location", given: \.location, shown: \.location, stored: \.location),
    Text(name: "category", given: \.category, shown: \.category, stored: \.category, maxBytes: 255),
  ]

  /// Applies the given fields.
  func apply(_ change: RemindersInterface.Draft, to reminder: inout Reminder) throws {
    if let title = change.title { reminder.title = try Self.text(title, "title", maximum: Self.maxTitleBytes) }
    for text in Self.texts {
      guard let value = change[keyPath: text.given] else { continue }
      let taken =
        try value.isEmpty ? nil : Self.text(value, text.name, maximum: text.maxBytes, multiline: text.hasLines)
      if let fault = taken.flatMap(text.fault) { throw ControlFailure.invalidValue(field: text.name, fault) }
      reminder[keyPath: text.stored] = taken
    }
    if let timezone = change.timezone { reminder.timezone = try zoneChoice(timezone) }
    let reset = change.reset ?? []
    if reset.contains(.place) { reminder.place = nil }
    if reset.contains(.gap) { reminder.gap = nil }
    if reset.contains(.fold) { reminder.fold = nil }
    if reset.contains(.within) { reminder.within = nil }
    if reset.contains(.jitter) { reminder.jitter = .zero }
    if reset.contains(.nag) { reminder.nag = nil }
    if reset.contains(.quiet) { reminder.quiet = nil }
    if reset.contains(.snooze) { reminder.snoozeLengths = configuration.snooze }
    if let place = try place(change.latitude, change.longitude) { reminder.place = place }
    if let when = change.when { reminder.schedule = try schedule(when, in: reminder.timezone, at: reminder.place) }
    if let gap = change.gap { reminder.gap = GapRule(rawValue: gap.rawValue) }
    if let fold = change.fold { reminder.fold = FoldRule(rawValue: fold.rawValue) }
    if let channels = change.channels { reminder.channels = try self.channels(channels) }
    if let tags = change.tags { reminder.tags = try self.tags(tags) }
    if let urgency = change.urgency { reminder.urgency = Urgency(rawValue: urgency.rawValue) ?? .normal }
    if let catchUp = change.catchUp {
      reminder.catchUp = CatchUp(
        suspend: CatchUpRule(rawValue: catchUp.suspend.rawValue) ?? .latest,
        downtime: CatchUpRule(rawValue: catchUp.downtime.rawValue) ?? .latest)
    }
    if let grace = change.grace {
      reminder.grace = try Self.duration(grace, "grace", Self.graces)
    }
    if let jitter = change.jitter { reminder.jitter = try Self.duration(jitter, "jitter", Reminder.jitters) }
    if let nag = change.nag { reminder.nag = try self.nag(nag, over: reminder.nag) }
    if let quiet = change.quiet { reminder.quiet = try self.quiet(quiet, over: reminder.quiet) }
    if let wake = change.wake { reminder.wake = wake }
    if let stay = change.stay { reminder.stay = stay }
    if let within = change.within {
      if reminder.within == nil, change.urgency == nil { reminder.urgency = .critical }
      reminder.within = try Self.duration(within, "within", Reminder.withins)
    }
    if let snooze = change.snooze {
      try need(Self.snoozeCounts.contains(snooze.count), "snooze", "give one to ten lengths, such as PT10M")
      reminder.snoozeLengths = try snooze.map { try Self.duration($0, "snooze", Self.snoozeLengths) }
    }
  }

  /// Parses a schedule. It must have a time to come.
  func schedule(_ when: String, in timezone: ZoneChoice, at place: Place?) throws -> Schedule {
    try need(when.utf8.count <= Self.maxWhenBytes, "when", "a schedule has at most \(Self.maxWhenBytes) bytes")
    let scheduleContext = context.scheduleContext(in: try zone(timezone), at: place)
    do {
      return try Schedule.parse(when, now: now, in: scheduleContext)
    } catch {
      throw aboutCalendars(error, when, scheduleContext)
    }
  }

  /// Improves the error for an unknown calendar: it lists the known ones, or suggests one.
  private func aboutCalendars(_ error: ScheduleError, _ when: String, _ scheduleContext: ScheduleContext)
    -> ScheduleError
  {
    var every = scheduleContext
    every.calendar = { _ in [] }
    guard error.code == .invalidSchedule, error.suggestion == nil, let column = error.column,
      let schedule = try? Schedule.parse(when, now: now, in: every),
      let name = schedule.calendarNames.first(where: { context.calendars[$0] == nil })
    else { return error }
    func refusal(_ expected: String, _ suggestion: String?, _ message: String) -> ScheduleError {
      ScheduleError(
        code: error.code, text: error.text, column: column, expected: expected, suggestion: suggestion,
        message: message)
    }
    if let problem = context.calendarProblems[name] {
      return refusal("a calendar that can be read", nil, "\(error.text): \(problem) (column \(column))")
    }
    if name == PublicHolidays.calendarName {
      return refusal(
        "a country for the public holidays", nil,
        "\(error.text): the public holidays of which country? The locale names none; write country = \"CZ\" (or a "
          + "part of one, \"DE-BY\") under [calendars] in chimed.toml (column \(column))")
    }
    let known = context.calendars.keys.sorted()
    guard !known.isEmpty else { return refusal("a calendar under [calendars] in chimed.toml", nil, error.message) }
    guard let near = SpellingSuggestions.to(name, among: known).first, when.dropFirst(column - 1).hasPrefix(name) else {
      let expected = "one of the calendars \(known.prefix(10).joined(separator: ", "))"
      return refusal(
        expected, nil, "\(error.text): there is no calendar named \"\(name)\" (column \(column)); expected \(expected)")
    }
    let mended = when.prefix(column - 1) + near + when.dropFirst(column - 1 + name.count)
    return refusal(
      error.expected, String(mended),
      "\(error.text): there is no calendar named \"\(name)\" (column \(column)); did you mean \(near)?")
  }

  func zone(_ choice: ZoneChoice) throws -> Zone {
    if let zone = context.zones.zone(for: choice) { return zone }
    throw unknownZone(choice.text)
  }

  /// Returns the next time of a reminder. Nil: it counts from another, and has no time yet.
  ///
  /// - Throws: `neverOccurs` if there is none.
  func firstTime(of reminder: Reminder) throws -> Instant? {
    _ = try zone(reminder.governingZone)
    if let next = context.timetable(of: reminder).next(after: now) { return next }
    if reminder.schedule.chain != nil { return nil }
    try requireBoundedSearch(reminder)
    throw ControlFailure.invalidSchedule(
      ScheduleError(
        code: .neverOccurs, text: reminder.schedule.canonical, column: nil, expected: "a future time",
        suggestion: nil, message: "\(reminder.schedule.canonical): it has no future time"))
  }

  /// Throws if the search for the next time takes too long. Schedules parsed here never do.
  func requireBoundedSearch(_ reminder: Reminder) throws {
    let zone = context.zone(of: reminder) ?? .utc
    try reminder.schedule.requireBoundedSearch(after: now, in: context.scheduleContext(in: zone, at: reminder.place))
  }

  static func duration(_ text: String, _ field: String, _ range: ClosedRange<Milliseconds>) throws -> Milliseconds {
    guard let length = try? DurationText.parseISO8601(text), range.contains(length) else {
      throw ControlFailure.invalidValue(
        field: field,
        "it must be from \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound)), in ISO 8601 "
          + "(\(DurationText.formatISO8601(range.lowerBound)) to \(DurationText.formatISO8601(range.upperBound)))")
    }
    return length
  }

  /// Returns the place of two coordinates; nil: neither is given.
  func place(_ latitude: Double?, _ longitude: Double?) throws -> Place? {
    if latitude == nil, longitude == nil { return nil }
    guard let latitude, let longitude else {
      let missing = latitude == nil ? "latitude" : "longitude"
      throw ControlFailure.invalidValue(field: missing, "a place has a latitude and a longitude; give both or none")
    }
    if let place = Place(latitude: latitude, longitude: longitude) { return place }
    let isLatitude = !(-90...90).contains(latitude)
    throw ControlFailure.invalidValue(
      field: isLatitude ? "latitude" : "longitude",
      "give degrees \(isLatitude ? "north, from -90 to 90" : "east, from -180 to 180")")
  }

  private func zoneChoice(_ text: String) throws -> ZoneChoice {
    let choice = ZoneChoice(text)
    _ = try zone(choice)
    return choice
  }

  func unknownZone(_ name: String) -> ControlFailure {
    let shown = TrackerFields.shown(name)
    guard Zone.isValidIdentifier(name) else {
      return .invalidValue(
        field: "timezone", "'\(shown)' is not a time zone; give an IANA name such as Europe/Prague, or local")
    }
    let hint = SpellingSuggestions.question(context.zones.near(name)) ?? "timedatectl list-timezones lists them"
    return .invalidValue(field: "timezone", "this machine has no time zone '\(shown)'; \(hint)")
  }

  func channels(_ names: [String], _ field: String = "channels") throws -> [ChannelName] {
    try need((1...Self.maxItems).contains(names.count), field, "give one to \(Self.maxItems) channels")
    var result: [ChannelName] = []
    for name in names {
      let channel = ChannelName(rawValue: name)
      try need(
        channel == .desktop || channel.isValidForEndpoint, field,
        "'\(TrackerFields.shown(name))' is not a channel: give desktop, or the name of an endpoint or a command")
      if !result.contains(channel) { result.append(channel) }
    }
    return result
  }

  private func tags(_ tags: [String]) throws -> [String] {
    try need(tags.count <= Self.maxItems, "tags", "give at most \(Self.maxItems) tags")
    var result: [String] = []
    for tag in tags {
      let tag = try Self.text(tag, "tags", maximum: 64)
      if !result.contains(tag) { result.append(tag) }
    }
    return result
  }

  /// Checks a text: any script, but no control characters, which could affect a terminal (U+0000–001F, 007F–009F).
  static func text(_ value: String, _ field: String, maximum: Int, multiline: Bool = false) throws -> String {
    let value = value.trimmed
    try need(!value.isEmpty, field, "the \(field) is empty")
    try need(
      value.utf8.count <= maximum, field, "the \(field) has \(value.utf8.count) bytes; at most \(maximum) are allowed")
    if let control = control(in: value, lines: multiline) {
      throw ControlFailure.invalidValue(field: field, "the \(field) has a control character (\(control))")
    }
    return value
  }

  /// Returns the first control character, such as `U+1B`; nil: there is none.
  ///
  /// - Parameter lines: whether line feeds and tabs are allowed.
  static func control(in text: String, lines: Bool) -> String? {
    let control = text.unicodeScalars.first {
      $0.properties.generalCategory == .control && !(lines && ($0 == "\n" || $0 == "\t"))
    }
    return control.map { "U+\(String($0.value, radix: 16, uppercase: true))" }
  }
}

// Repeats and quiet hours.
extension ReminderFields {
  /// Fields that are not given keep their values.
  func nag(_ wire: RemindersInterface.Nag, over known: Nag?) throws -> Nag {
    var nag: Nag
    if let every = wire.every {
      nag = known ?? Nag(every: .zero)
      nag.every = try Self.duration(every, "nag", Nag.lengths)
    } else if let known {
      nag = known
    } else {
      throw ControlFailure.invalidValue(
        field: "nag", "give the interval of repeats until it is answered, such as every PT5M")
    }
    if let max = wire.max {
      try need(
        Nag.counts.contains(max), "nag",
        "a reminder has \(Nag.counts.lowerBound) to \(Nag.counts.upperBound) repeats, not \(max)")
      nag.max = max
    }
    if let steps = wire.escalation {
      try need(steps.count <= Nag.maxSteps, "nag", "give at most \(Nag.maxSteps) steps of escalation")
      nag.escalation = try steps.map { .init(from: $0.from, channels: try channels($0.channels, "nag")) }
        .enumerated().sorted { ($0.element.from, $0.offset) < ($1.element.from, $1.offset) }.map(\.element)
    }
    if let step = nag.escalation.first(where: { !(1...nag.max).contains($0.from) }) {
      throw ControlFailure.invalidValue(
        field: "nag", "there is no repeat \(step.from) to add channels to: there are repeats 1 to \(nag.max)")
    }
    return nag
  }

  /// Fields that are not given keep their values. Without any of its own, a reminder follows the configuration.
  func quiet(_ wire: RemindersInterface.Quiet, over known: QuietRule?) throws -> QuietRule? {
    var quiet = known ?? QuietRule()
    if let rule = wire.rule { quiet.handling = QuietRule.Handling(rawValue: rule.rawValue) }
    if let texts = wire.hours {
      do {
        quiet.hours = texts.isEmpty ? nil : try QuietHours(texts)
      } catch {
        throw ControlFailure.invalidValue(field: "quiet", error.message)
      }
    }
    return quiet == QuietRule() ? nil : quiet
  }
}

// Reminders from a backup.
extension ReminderFields {
  /// Checks a whole reminder, before any of its times is computed.
  ///
  /// Its schedule may be over: it had a time to come when the backup was made.
  func judged(_ reminder: Reminder) throws -> Reminder {
    var judged = reminder
    // `apply` merges these with what is there.
    (judged.nag, judged.quiet) = (nil, nil)
    try apply(WireMapper.draft(of: reminder), to: &judged)
    try need(
      Reminder.skips.contains(reminder.skipNext), "skipNext", "give a number from 0 to \(Reminder.skips.upperBound)")
    if let link = reminder.tracker { try judge(link) }
    // This machine may lack the zone. The reminder follows UTC then.
    if case .named(let name) = reminder.timezone, !Zone.isValidIdentifier(name) { throw unknownZone(name) }
    if let set = reminder.set { _ = try Self.text(set, "set", maximum: 255) }
    // The canonical text of a recurrence has several lines.
    _ = try Self.text(reminder.schedule.canonical, "when", maximum: Self.maxWhenBytes, multiline: true)
    return judged
  }

  private func judge(_ link: TrackerLink) throws {
    try need(TrackerID(checking: link.tracker.rawValue) != nil, "tracker", "the id of a tracker is invalid")
    guard let amount = link.amount else { return }
    try need(
      (1...Quantity.limit(of: link.unit?.dimension ?? .count)).contains(amount.grains), "tracker",
      "an amount must be more than zero, and not larger than Chime can record")
  }
}
