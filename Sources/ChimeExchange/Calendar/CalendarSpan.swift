import ChimeSchedule

/// A CalendarSpan is the time of an event or a to-do: its start, its length, and its recurrence.
struct CalendarSpan {
  /// The clock of its times.
  enum Clock {
    /// The clock of the reader.
    case floating
    case utc
    case zone(Zone)
  }

  var start: CivilDateTime
  var isAllDay: Bool
  var clock: Clock
  /// The length from start to end; one day for an all-day event.
  var length: CalendarDuration
  /// The distance from the start to the default alarm: a to-do's due time, an event's start.
  var usual: CalendarDuration
  /// The rules (`FREQ=…`). More than one is unusual; the occurrences of all count.
  var rules: [String] = []
  var added: [CivilDateTime] = []
  var removed: [CivilDateTime] = []
  /// What is interpreted differently from the file, in sentences.
  var remarks: [String] = []
  /// A zone that this machine lacks, with the offsets from the file.
  private var foreign: (name: String, rules: ZoneRules)?
  /// Whether its times are already converted to UTC with these offsets.
  private var hasLeft = false

  var isRecurring: Bool { !rules.isEmpty || !added.isEmpty }

  /// - Throws: ``Refusal`` if it has no usable time.
  init(_ component: CalendarComponent, zones: inout CalendarZones) throws(Refusal) {
    let isTodo = component.name == "VTODO"
    guard let property = component["DTSTART"] ?? (isTodo ? component["DUE"] : nil) else {
      throw Refusal(isTodo ? "it has no date" : "it has no start (DTSTART)")
    }
    guard let time = CalendarTime(property) else {
      throw Refusal("\"\(excerpt(property.value))\" is not a date and time")
    }
    let rules = try Self.rules(of: component)
    start = try Self.readable(time, rules: rules)
    isAllDay = time.isDate
    switch time.form {
    case .date: clock = .floating
    case .floating: clock = zones.unnamed.map { $0 == .utc ? .utc : .zone($0) } ?? .floating
    case .utc: clock = .utc
    case .zoned(let name):
      do {
        let zone = try zones.zone(name)
        clock = zone == .utc ? .utc : .zone(zone)
      } catch {
        guard let rules = zones.rules(of: name) else { throw error }
        // The clock counts as UTC until the whole component is parsed.
        (clock, foreign) = (.utc, (name, rules))
      }
    }
    length = time.isDate && !isTodo ? CalendarDuration(days: 1, seconds: 0) : .zero
    usual = .zero
    for rule in rules { self.rules.append(lifted(adjusted(rule, zones))) }
    for property in component.all("RDATE") { added += try times(property, &zones) }
    for property in component.all("EXDATE") { removed += try times(property, &zones) }
    if let end = component[isTodo ? "DUE" : "DTEND"] {
      if let end = CalendarTime(end), let civil = try? civil(end, &zones) {
        length = elapsed(to: civil, zones, minimumDays: isTodo ? 0 : 1)
      }
    } else if let text = component["DURATION"], let duration = CalendarDuration(trimmed(text.value)) {
      length = duration
    }
    if isTodo { usual = length }
    if time.civil != nil { addUnnamedStart(zones) }
    if foreign != nil { try leaveForeignZone(zones) }
  }

  /// Adds a start that its rules do not name. Other programs count it as an occurrence (RFC 5545 section 3.8.5.3 shows
  /// how to except one).
  private mutating func addUnnamedStart(_ zones: CalendarZones) {
    guard !rules.isEmpty, !added.contains(start) else { return }
    var onClock = self
    (onClock.added, onClock.removed) = ([], [])
    if isAllDay { onClock.clock = .utc }
    let zone = onClock.zone(zones.scheduleContext)
    let first = zone.instant(of: start)
    guard let schedule = try? Schedule(canonical: onClock.recurrenceText()),
      schedule.timetable(in: ScheduleContext(zone: zone)).next(after: first - .seconds(1)) != first
    else { return }
    if removed.contains(start) {
      // The start is excepted, so the rule alone counts.
      removed.removeAll { $0 == start }
    } else if zones.now.map({ first > $0 }) ?? true {
      added.append(start)
      remarks.append("its rule does not include its start, which is taken too")
    }
  }

  // MARK: Zones that this machine does not have

  /// Converts the times to UTC with the offsets of the file. No rule can express the clock of an unknown zone, so the
  /// times are listed, as far as the offsets are known.
  private mutating func leaveForeignZone(_ zones: CalendarZones) throws(Refusal) {
    guard let (name, rules) = foreign else { return }
    func utc(_ civil: CivilDateTime) -> CivilDateTime { Zone.utc.civil(at: rules.instant(of: civil)) }
    var walls = [start]
    if isRecurring {
      guard let schedule = try? Schedule(canonical: recurrenceText()) else {
        throw Refusal("its RRULE is invalid: \(excerpt(self.rules.first ?? ""))")
      }
      walls = []
      var walk = schedule.timetable(in: .utc).walk(steps: CalendarExport.mostSteps)
      var last = max(Zone.utc.instant(of: start), rules.years.lowerBound) - .seconds(1)
      while walls.count < CalendarExport.maximumListed, let next = walk.next(after: last),
        next <= rules.years.upperBound
      {
        if next > zones.scheduleContext.zone.instant(of: start) - .days(1) { walls.append(Zone.utc.civil(at: next)) }
        last = next
      }
    }
    guard let first = walls.first, rules.years.contains(rules.instant(of: first)) else {
      throw Refusal(
        "this machine has no time zone \"\(excerpt(name))\", and the file does not give the offsets of that time"
      )
    }
    remarks.append(
      isRecurring
        ? "this machine has no time zone \"\(excerpt(name))\"; its times are listed, with the file's offsets"
        : "this machine has no time zone \"\(excerpt(name))\"; its time has the file's offset")
    (start, added) = (utc(first), walls.dropFirst().map(utc))
    (self.rules, removed) = ([], [])
    hasLeft = true
  }

  /// Returns a rule by days, weeks or months that has weeks or days of the year as a yearly rule, as dateutil and
  /// libical read it. RFC 5545 has no such rules.
  private mutating func lifted(_ rule: String) -> String {
    let parts = rule.split(separator: ";").map(String.init)
    func part(_ name: String) -> String? { parts.first { $0.hasPrefix("\(name)=") } }
    let units = ["FREQ=DAILY", "FREQ=WEEKLY", "FREQ=MONTHLY"]
    guard let unit = part("FREQ"), units.contains(unit), part("BYWEEKNO") != nil || part("BYYEARDAY") != nil,
      ["INTERVAL=1", nil].contains(part("INTERVAL")), part("BYSETPOS") == nil
    else { return rule }
    let limit = part("BYWEEKNO") == nil ? "BYYEARDAY" : "BYWEEKNO"
    remarks.append("\(limit) with \(unit) is read as each such day of a year")
    var lifted = parts.map { $0 == unit ? "FREQ=YEARLY" : $0 }
    if limit == "BYWEEKNO", part("BYDAY") == nil { lifted.append("BYDAY=MO,TU,WE,TH,FR,SA,SU") }
    return lifted.joined(separator: ";")
  }

  // MARK: Reading

  private static func rules(of component: CalendarComponent) throws(Refusal) -> [String] {
    guard component["EXRULE"] == nil else { throw Refusal("it has an EXRULE, which iCalendar no longer supports") }
    var rules: [String] = []
    for property in component.all("RRULE") {
      let text = CalendarFile.capitals(property.value)
      guard
        text.utf8.allSatisfy({ byte in
          (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || "=;,+-".utf8.contains(byte)
        })
      else { throw Refusal("its RRULE is invalid: \(excerpt(property.value))") }
      // Some programs write an empty RRULE for events that do not recur.
      guard text.utf8.contains(where: { $0 != UInt8(ascii: ";") }) else { continue }
      // By character: drops a stray semicolon at the end, which is common. Parsing the rule later refuses other faults.
      rules.append(text.split(separator: ";").joined(separator: ";"))
    }
    return rules
  }

  /// Returns the start in a year that a schedule accepts. A yearly rule without a count means the same from any of its
  /// years on, so a birthday of 1944 begins with the first anniversary in range.
  private static func readable(_ time: CalendarTime, rules: [String]) throws(Refusal) -> CivilDateTime {
    if let civil = time.civil { return civil }
    let parts = rules.first?.split(separator: ";") ?? []
    guard rules.count == 1, parts.contains("FREQ=YEARLY"), !parts.contains(where: { $0.hasPrefix("COUNT=") }) else {
      throw Refusal("it begins before 1970")
    }
    let interval = parts.first { $0.hasPrefix("INTERVAL=") }.flatMap { Int($0.dropFirst(9)) } ?? 1
    guard (1...400).contains(interval) else { throw Refusal("it begins before 1970") }
    var moved = time
    moved.year += (1970 - time.year + interval - 1) / interval * interval
    // 29 February waits for a leap year.
    for _ in 0..<8 {
      if let civil = moved.civil { return civil }
      moved.year += interval
    }
    throw Refusal("it begins before 1970")
  }

  /// Returns a time on this clock.
  private func civil(_ time: CalendarTime, _ zones: inout CalendarZones) throws(Refusal) -> CivilDateTime {
    guard let civil = time.civil else { throw Refusal("one of its times lies outside the years 1970–9999") }
    if isAllDay { return CivilDateTime(date: civil.date, time: .midnight) }
    // A date in place of a time means the occurrence of that day.
    if time.isDate { return CivilDateTime(date: civil.date, time: start.time) }
    let instant: Instant
    switch time.form {
    case .date, .floating: return civil
    case .utc:
      if case .utc = clock, foreign == nil || hasLeft { return civil }
      instant = Zone.utc.instant(of: civil)
    case .zoned(let name) where name == foreign?.name:
      guard hasLeft, let foreign else { return civil }
      return Zone.utc.civil(at: foreign.rules.instant(of: civil))
    case .zoned(let name):
      let zone = try zones.zone(name)
      if case .zone(let own) = clock, own.identifier == zone.identifier { return civil }
      instant = zone.instant(of: civil)
    }
    return wall(of: instant, zones)
  }

  /// Returns what its clock shows at an instant.
  private func wall(of instant: Instant, _ zones: CalendarZones) -> CivilDateTime {
    if let foreign, !hasLeft { return Zone.utc.civil(at: instant + .seconds(Int64(foreign.rules.offset(at: instant)))) }
    return zone(zones.scheduleContext).civil(at: instant)
  }

  /// Returns the zone of its times, given the reader's context.
  func zone(_ scheduleContext: ScheduleContext) -> Zone {
    switch clock {
    case .floating: scheduleContext.zone
    case .utc: .utc
    case .zone(let zone): zone
    }
  }

  private func times(_ property: ContentLine, _ zones: inout CalendarZones) throws(Refusal) -> [CivilDateTime] {
    var times: [CivilDateTime] = []
    for value in property.value.split(separator: ",") {
      // Use the start of a PERIOD.
      guard let time = CalendarTime(trimmed(value.prefix { $0 != "/" }), zone: property.parameter("TZID")) else {
        throw Refusal("\"\(excerpt(String(value)))\" is not a date and time")
      }
      times.append(try civil(time, &zones))
    }
    return times
  }

  /// Returns the time of a RECURRENCE-ID.
  func recurrence(_ property: ContentLine, _ zones: inout CalendarZones) throws(Refusal) -> CivilDateTime {
    guard let time = CalendarTime(property) else {
      throw Refusal("\"\(excerpt(property.value))\" is not a date and time")
    }
    return try civil(time, &zones)
  }

  private func elapsed(to end: CivilDateTime, _ zones: CalendarZones, minimumDays: Int64) -> CalendarDuration {
    if isAllDay {
      return CalendarDuration(
        days: max(minimumDays, Int64(end.date.dayNumber) - Int64(start.date.dayNumber)), seconds: 0)
    }
    let zone = zone(zones.scheduleContext)
    return CalendarDuration(days: 0, seconds: max(0, zone.instant(of: end).seconds - zone.instant(of: start).seconds))
  }

  /// Returns the rule with an UNTIL that matches the start.
  private func adjusted(_ rule: String, _ zones: CalendarZones) -> String {
    rule.split(separator: ";").map { part -> String in
      guard part.hasPrefix("UNTIL="), let until = CalendarTime(part.dropFirst(6)), let civil = until.civil else {
        return String(part)
      }
      let endOfDay = CivilTime(hour: 23, minute: 59, second: 59) ?? .midnight
      var suffix = ""
      if case .utc = clock { suffix = "Z" }
      if isAllDay {
        // In UTC the end is midnight in some zone. The reader's zone is the best guess.
        let date =
          until.form == .utc ? zones.scheduleContext.zone.civil(at: Zone.utc.instant(of: civil)).date : civil.date
        return "UNTIL=" + CivilDateTime(date: date, time: endOfDay).basic
      }
      if until.isDate { return "UNTIL=" + CivilDateTime(date: civil.date, time: endOfDay).basic + suffix }
      if until.form == .utc, foreign != nil {
        return "UNTIL=" + wall(of: Zone.utc.instant(of: civil), zones).basic + "Z"
      }
      return until.form == .floating ? "UNTIL=" + civil.basic + suffix : String(part)
    }.joined(separator: ";")
  }
}

extension CalendarSpan {
  /// Returns the recurrence as a schedule of the rrule dialect.
  ///
  /// - Parameters:
  ///   - time: The time of day of an all-day event.
  ///   - trigger: The distance from the start.
  func recurrenceText(at time: CivilTime = .midnight, trigger: CalendarDuration = .zero) -> String {
    func written(_ civil: CivilDateTime) -> String {
      var text = (isAllDay ? CivilDateTime(date: civil.date, time: time) : civil).basic
      if case .utc = clock { text += "Z" }
      return text
    }
    func property(_ name: String, _ times: [CivilDateTime]) -> String {
      var zone = ""
      if case .zone(let own) = clock { zone = ";TZID=\(own.identifier)" }
      return "\(name)\(zone):" + times.map(written).joined(separator: ",")
    }
    var parts = [property("DTSTART", [start])]
    for rule in rules { parts.append("RRULE:\(rule)") }
    if !added.isEmpty { parts.append(property("RDATE", Array(Set(added)).sorted())) }
    if !removed.isEmpty { parts.append(property("EXDATE", Array(Set(removed)).sorted())) }
    if trigger != .zero { parts.append("TRIGGER:\(trigger.text)") }
    return parts.joined(separator: " ")
  }
}
