/// A RecurrenceSchedule is a parsed schedule of the rrule dialect: a start, rules, single dates, exceptions and a shift.
///
///     DTSTART;TZID=America/New_York:19970902T090000 RRULE:FREQ=DAILY;COUNT=10
///
/// Source: RFC 5545 sections 3.3.10 and 3.8.5, RFC 7529. `docs/schedules.md` lists the interpretations chosen.
struct RecurrenceSchedule: DialectSchedule {
  /// The clock of the start.
  enum Clock: Sendable, Hashable {
    /// Whole days on the reminder's clock.
    case dates
    /// The reminder's clock.
    case floating
    case utc
    case zone(String)
  }

  var clock: Clock
  /// `DTSTART` in wall seconds on that clock; year 1…9999.
  var start: Int64
  var rules: [RecurrencePattern] = []
  /// `RDATE`: wall-clock times, and instants given in UTC beside another clock.
  var dates: [Int64] = []
  var instants: [Int64] = []
  /// `EXDATE`: a day excludes all occurrences on it.
  var exceptDates: [Int64] = []
  var exceptDays: [Int64] = []
  var exceptInstants: [Int64] = []
  var trigger = RecurrenceTrigger()

  private(set) var canonical: String

  init(_ bytes: [UInt8], context: ParseContext?) throws(Fault) {
    let unfolded = UnfoldedText(bytes)
    do {
      var reader = RecurrenceReader(unfolded.bytes)
      let read = try reader.schedule(context)
      clock = read.clock
      start = read.start
      rules = read.rules
      dates = read.dates
      instants = read.instants
      exceptDates = read.exceptDates
      exceptDays = read.exceptDays
      exceptInstants = read.exceptInstants
      trigger = read.trigger
    } catch {
      throw unfolded.located(error)
    }
    canonical = Self.text(
      clock, start, rules, dates, instants, exceptDates, exceptDays, exceptInstants, trigger)
    try need(
      canonical.utf8.count <= Schedule.maximumLength, .outOfRange, at: 0..<0,
      "written out it is longer than \(Schedule.maximumLength) bytes", expected: "fewer dates")
  }

  /// Makes a copy with another start; `nil` if the start is before 1970.
  init?(_ other: RecurrenceSchedule, start: Int64) {
    guard start >= 0 else { return nil }
    self = other
    self.start = start
    canonical = Self.text(clock, start, rules, dates, instants, exceptDates, exceptDays, exceptInstants, trigger)
  }

  /// Returns whether a text with this beginning, in lower case, is meant as one of this dialect. Such a text begins
  /// with a name and an equals sign, as parts of rules do, or with a property.
  static func isLikely(_ beginning: some Sequence<UInt8>) -> Bool {
    var name: [UInt8] = []
    for byte in beginning {
      switch byte {
      case UInt8(ascii: "="): return !name.isEmpty
      case UInt8(ascii: ":"), UInt8(ascii: ";"):
        let names = ["dtstart", "rrule", "rdate", "exdate", "exrule", "trigger"]
        return names.contains { $0.utf8.elementsEqual(name) }
      case 0x61...0x7A: name.append(byte)
      default: return false
      }
    }
    return false
  }

  var zoneIdentifier: String? {
    switch clock {
    case .dates, .floating: nil
    case .utc: "UTC"
    case .zone(let name): name
    }
  }

  var isOneOff: Bool { rules.isEmpty && dates.isEmpty && instants.isEmpty }

  func timetable(in scheduleContext: ScheduleContext, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    let gap = GapHandling(gap, default: .shift)
    let fold = fold ?? .first
    if rules.count == 1, dates.isEmpty, instants.isEmpty, exceptDates.isEmpty, exceptDays.isEmpty,
      exceptInstants.isEmpty, trigger.isZero
    {
      var budget = SearchBudget(Timetable.countingSteps)
      let rule = RecurrenceRule(rules[0], start: start, &budget)
      var timetable = Timetable(zone: zone, gap: gap, fold: fold, engine: .rrule(rule))
      if let end = end(of: rules[0]) { timetable.lastSecond = min(timetable.lastSecond, end) }
      timetable.isUncountable = rule.isUncountable
      return timetable
    }
    let set = set(zone.table, gap: gap, fold: fold)
    var timetable = Timetable(zone: zone, gap: gap, fold: fold, engine: .recurrences(set))
    if set.members.contains(where: \.rule.isUncountable) {
      timetable.isUncountable = true
      timetable.lastSecond = -1
    }
    return timetable
  }

  /// Returns `UNTIL` if it is an instant. (On a UTC clock it equals its wall-clock time.)
  private func end(of rule: RecurrencePattern) -> Int64? {
    guard let until = rule.until, until.form == .utc else { return nil }
    return until.wall
  }

  private func set(_ zone: ZoneTable, gap: GapHandling, fold: FoldRule) -> RecurrenceSet {
    var set = RecurrenceSet()
    set.nominal = trigger.days * 86_400
    set.exact = trigger.seconds
    set.exceptReadings = ContiguousArray(exceptDates)
    set.exceptDays = ContiguousArray(exceptDays)
    set.exceptInstants = ContiguousArray(exceptInstants)
    var budget = SearchBudget(Timetable.countingSteps)
    for rule in rules {
      var member = RecurrenceSet.Member(rule: RecurrenceRule(rule, start: start, &budget))
      if let end = end(of: rule) {
        member.lastSecond = end
        // The last wall-clock time that can apply: in the second pass of a fold, those of the first pass are over.
        let stretch = zone.segment(at: end)
        let passed = end < stretch.start + stretch.offsetBefore - stretch.offset
        member.rule.last = min(
          member.rule.last, passed ? stretch.start + stretch.offsetBefore - 1 : end + stretch.offset)
      }
      set.members.append(member)
    }

    var added: [Int64] = []
    // Without a rule, the start is an occurrence like the other dates.
    for reading in dates + (rules.isEmpty ? [start] : []) where !set.isExcepted(reading) {
      // Exceptions in UTC refer to the time before it is moved.
      guard
        set.exceptInstants.isEmpty || trigger.days == 0
          || !zone.instants(reading, gap: gap, fold: fold).contains(where: set.exceptInstants.containsSorted)
      else { continue }
      let moved = reading + set.nominal
      set.addedReadings.append(moved)
      added += zone.instants(moved, gap: gap, fold: fold).filter {
        trigger.days != 0 || !set.exceptInstants.containsSorted($0)
      }
    }
    for instant in instants where !set.exceptInstants.containsSorted(instant) {
      let reading = instant + zone.segment(at: instant).offset
      guard !set.isExcepted(reading) else { continue }
      added += trigger.days == 0 ? [instant] : zone.instants(reading + set.nominal, gap: gap, fold: fold)
    }
    set.added = ContiguousArray(added.sorted().map { $0 + set.exact })
    set.addedReadings.sort()
    return set
  }

  static func == (left: RecurrenceSchedule, right: RecurrenceSchedule) -> Bool { left.canonical == right.canonical }
  func hash(into hasher: inout Hasher) { hasher.combine(canonical) }
}

// MARK: - Text

extension RecurrenceSchedule {
  private static func text(
    _ clock: Clock, _ start: Int64, _ rules: [RecurrencePattern], _ dates: [Int64], _ instants: [Int64],
    _ exceptDates: [Int64], _ exceptDays: [Int64], _ exceptInstants: [Int64], _ trigger: RecurrenceTrigger
  ) -> String {
    var text = RecurrenceText()
    text.append("DTSTART")
    text.append(clock, [start])
    for rule in rules {
      text.append(" RRULE:")
      rule.write(into: &text)
    }
    if !dates.isEmpty {
      text.append(" RDATE")
      text.append(clock, dates)
    }
    if !instants.isEmpty {
      text.append(" RDATE")
      text.append(.utc, instants)
    }
    if !exceptDays.isEmpty {
      text.append(" EXDATE")
      text.append(.dates, exceptDays.map { $0 * 86_400 })
    }
    if !exceptDates.isEmpty {
      text.append(" EXDATE")
      text.append(clock == .dates ? .floating : clock, exceptDates)
    }
    if !exceptInstants.isEmpty {
      text.append(" EXDATE")
      text.append(.utc, exceptInstants)
    }
    if !trigger.isZero {
      text.append(" TRIGGER:")
      trigger.write(into: &text)
    }
    return text.string
  }
}

extension RecurrenceText {
  /// Appends the parameters and values of a property of moments.
  fileprivate mutating func append(_ clock: RecurrenceSchedule.Clock, _ walls: [Int64]) {
    let form: RecurrenceTime.Form
    switch clock {
    case .dates:
      append(";VALUE=DATE:")
      form = .date
    case .floating:
      append(":")
      form = .local
    case .utc:
      append(":")
      form = .utc
    case .zone(let name):
      append(";TZID=")
      append(name)
      append(":")
      form = .local
    }
    for (index, wall) in walls.enumerated() {
      if index > 0 { append(",") }
      append(RecurrenceTime(form: form, wall: wall))
    }
  }
}

/// A RecurrenceTrigger shifts each occurrence: `TRIGGER` with a duration (RFC 5545 sections 3.3.6 and 3.8.6.3).
struct RecurrenceTrigger: Sendable, Hashable {
  /// Weeks and days, in days. They shift the wall-clock time.
  var days: Int64 = 0
  /// Hours, minutes and seconds, in seconds of elapsed time; the sign is that of the days.
  var seconds: Int64 = 0

  /// The limit of both parts, in either direction: 100 years.
  static let largestDays: Int64 = 36_525
  static let largestSeconds: Int64 = 36_525 * 86_400

  var isZero: Bool { days == 0 && seconds == 0 }

  func write(into text: inout RecurrenceText) {
    if days < 0 || seconds < 0 { text.append("-") }
    text.append("P")
    let (days, seconds) = (Int64(days.magnitude), Int64(seconds.magnitude))
    if seconds == 0, days % 7 == 0 {
      text.append(days / 7)
      text.append("W")
      return
    }
    if days > 0 {
      text.append(days)
      text.append("D")
    }
    guard seconds > 0 else { return }
    text.append("T")
    for (length, letter, limit) in [(3_600, "H", .max), (60, "M", 60), (1, "S", 60)] as [(Int64, String, Int64)] {
      let part = seconds / length % limit
      if part > 0 {
        text.append(part)
        text.append(letter)
      }
    }
  }
}

extension ZoneTable {
  /// Returns the instants of a wall-clock time, in order.
  fileprivate func instants(_ wall: Int64, gap: GapHandling, fold: FoldRule) -> [Int64] {
    switch resolve(wall) {
    case .unique(let instant): [instant]
    case .gap(let before, _, _): gap == .shift ? [wall - before] : []
    case .fold(let first, let last): fold == .both ? [first, last] : [fold == .last ? last : first]
    }
  }
}
