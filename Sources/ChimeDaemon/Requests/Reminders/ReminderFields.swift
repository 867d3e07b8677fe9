import ChimeControl
import ChimeCore
import ChimeSchedule

/// Judges what a client wants a reminder to be, field by field, and says what is wrong in a sentence.
struct ReminderFields {
  let context: ReminderContext
  let configuration: Configuration
  let now: Instant

  /// A pack's title has at most 200 characters, of up to 8 bytes each.
  static let maxTitleBytes = 1_600
  /// Room for an event with a few hundred exceptions.
  static let maxWhenBytes = 16_384
  static let maxItems = 32
  static let graces: ClosedRange<Milliseconds> = .seconds(1)...(.days(3_660))
  static let snoozeCounts = 1...10
  static let snoozeLengths: ClosedRange<Milliseconds> = .seconds(1)...(.days(366))

  /// A text that a reminder may have: what it is called, where the wire and the reminder have it, and its bounds.
  struct Text: Sendable {
    var name: String
    var given: any WritableKeyPath<RemindersInterface.Draft, String?> & Sendable
    var shown: any WritableKeyPath<RemindersInterface.Reminder, String?> & Sendable
    var kept: any WritableKeyPath<Reminder, String?> & Sendable
    /// In UTF-8.
    var maxBytes = 2_048
    var hasLines = false
    /// Whether `[defaults]` of a set may say it.
    var isShared = true
    /// What is wrong with a text that has the length and the characters of one; nil: nothing.
    var fault: @Sendable (String) -> String? = { _ in nil }
  }
  static let texts = [
    Text(name: "body", given: \.body, shown: \.body, kept: \.body, maxBytes: 16_384, hasLines: true, isShared: false),
    Text(name: "icon", given: \.icon, shown: \.icon, kept: \.icon),
    Text(name: "sound", given: \.sound, shown: \.sound, kept: \.sound),
    Text(name: "url", given: \.url, shown: \.url, kept: \.url, isShared: false) {
      Reminder.isLink($0) ? nil : "'\(TrackerFields.shown($0))' is not a link: give one such as https://example.org"
    },
    Text(name: "location", given: \.location, shown: \.location, kept: \.location),
    Text(name: "category", given: \.category, shown: \.category, kept: \.category, maxBytes: 255),
  ]

  /// Lays the fields that are given over `reminder`.
  func apply(_ change: RemindersInterface.Draft, to reminder: inout Reminder) throws {
    if let title = change.title { reminder.title = try text(title, "title", maximum: Self.maxTitleBytes) }
    for text in Self.texts {
      guard let value = change[keyPath: text.given] else { continue }
      let taken =
        try value.isEmpty ? nil : self.text(value, text.name, maximum: text.maxBytes, multiline: text.hasLines)
      if let fault = taken.flatMap(text.fault) { throw ControlFailure.invalidValue(field: text.name, fault) }
      reminder[keyPath: text.kept] = taken
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
      guard Self.snoozeCounts.contains(snooze.count) else {
        throw ControlFailure.invalidValue(field: "snooze", "give one to ten lengths, such as PT10M")
      }
      reminder.snoozeLengths = try snooze.map { try Self.duration($0, "snooze", Self.snoozeLengths) }
    }
  }

  /// The schedule, and that it has a time to come.
  func schedule(_ when: String, in timezone: ZoneChoice, at place: Place?) throws -> Schedule {
    guard when.utf8.count <= Self.maxWhenBytes else {
      throw ControlFailure.invalidValue(field: "when", "a schedule has at most \(Self.maxWhenBytes) bytes")
    }
    let scheduleContext = context.scheduleContext(in: try zone(timezone), at: place)
    do {
      return try Schedule.parse(when, now: now, in: scheduleContext)
    } catch {
      throw aboutCalendars(error, when, scheduleContext)
    }
  }

  /// A refusal for a calendar that is not there says which are, and which one may have been meant.
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

  /// The reminder's next time; refuses one that has none. Nil for one that counts from another of which nothing has become
  /// yet.
  func firstTime(of reminder: Reminder) throws -> Instant? {
    _ = try zone(reminder.governingZone)
    if let next = context.timetable(of: reminder).next(after: now) { return next }
    if reminder.schedule.chain != nil { return nil }
    try requireBoundedSearch(reminder)
    throw ControlFailure.invalidSchedule(
      ScheduleError(
        code: .neverOccurs, text: reminder.schedule.canonical, column: nil, expected: "a future time",
        suggestion: nil, message: "\(reminder.schedule.canonical): it has no time left"))
  }

  /// Refuses a reminder whose times take too long to look for, which a text that was understood here never does.
  func requireBoundedSearch(_ reminder: Reminder) throws {
    let zone = context.zone(of: reminder) ?? .utc
    try reminder.schedule.requireBoundedSearch(after: now, in: context.scheduleContext(in: zone, at: reminder.place))
  }

  static func duration(_ text: String, _ field: String, _ range: ClosedRange<Milliseconds>) throws -> Milliseconds {
    guard let length = try? DurationText.parseISO8601(text), range.contains(length) else {
      throw ControlFailure.invalidValue(
        field: field,
        "it must be from \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound)), in "
          + "ISO 8601 (\(DurationText.formatISO8601(range.lowerBound)) to "
          + "\(DurationText.formatISO8601(range.upperBound)))")
    }
    return length
  }

  /// The place of two coordinates; nil when neither is given.
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
    guard (1...Self.maxItems).contains(names.count) else {
      throw ControlFailure.invalidValue(field: field, "give one to \(Self.maxItems) channels")
    }
    var result: [ChannelName] = []
    for name in names {
      let channel = ChannelName(rawValue: name)
      guard channel == .desktop || channel.isValidForEndpoint else {
        throw ControlFailure.invalidValue(
          field: field,
          "'\(TrackerFields.shown(name))' is not a channel: give desktop, or the name of an endpoint or a command")
      }
      if !result.contains(channel) { result.append(channel) }
    }
    return result
  }

  private func tags(_ tags: [String]) throws -> [String] {
    guard tags.count <= Self.maxItems else {
      throw ControlFailure.invalidValue(field: "tags", "give at most \(Self.maxItems) tags")
    }
    var result: [String] = []
    for tag in tags {
      let tag = try text(tag, "tags", maximum: 64)
      if !result.contains(tag) { result.append(tag) }
    }
    return result
  }

  /// Text of any script, without the control characters that could speak to a terminal (U+0000–001F, 007F–009F).
  func text(_ value: String, _ field: String, maximum: Int, multiline: Bool = false) throws -> String {
    let value = value.trimmed
    guard !value.isEmpty else { throw ControlFailure.invalidValue(field: field, "the \(field) is empty") }
    guard value.utf8.count <= maximum else {
      throw ControlFailure.invalidValue(
        field: field, "the \(field) has \(value.utf8.count) bytes; at most \(maximum) are allowed")
    }
    if let control = Self.control(in: value, lines: multiline) {
      throw ControlFailure.invalidValue(field: field, "the \(field) has a control character (\(control))")
    }
    return value
  }

  /// The first control character of a text, as `U+1B`; nil when there is none.
  ///
  /// - Parameter lines: whether it may be of several lines, and have tabs.
  static func control(in text: String, lines: Bool) -> String? {
    let control = text.unicodeScalars.first {
      $0.properties.generalCategory == .control && !(lines && ($0 == "\n" || $0 == "\t"))
    }
    return control.map { "U+\(String($0.value, radix: 16, uppercase: true))" }
  }
}
