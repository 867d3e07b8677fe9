/// A RecurrencePattern is the value of an `RRULE` property (RFC 5545 section 3.3.10, RFC 7529).
///
/// Lists of small numbers are bit masks. An empty mask means that the part is absent.
struct RecurrencePattern: Sendable, Hashable {
  enum Frequency: UInt8, Sendable, Hashable, CaseIterable {
    case secondly, minutely, hourly, daily, weekly, monthly, yearly

    var name: StaticString {
      switch self {
      case .secondly: "SECONDLY"
      case .minutely: "MINUTELY"
      case .hourly: "HOURLY"
      case .daily: "DAILY"
      case .weekly: "WEEKLY"
      case .monthly: "MONTHLY"
      case .yearly: "YEARLY"
      }
    }
  }

  /// What happens to a day that its month or year lacks (RFC 7529 section 4.1).
  enum Skip: UInt8, Sendable, Hashable {
    case omit, backward, forward
  }

  /// An Ordinal is a numbered weekday of a month or a year: `2MO`, `-1FR`.
  struct Ordinal: Sendable, Hashable, Comparable {
    /// 1…53, or −53…−1 from the end.
    var ordinal: Int8
    /// 0 is Monday.
    var weekday: UInt8

    /// Orders those from the beginning first, then those from the end, each in calendar order.
    static func < (left: Ordinal, right: Ordinal) -> Bool {
      if (left.ordinal < 0) != (right.ordinal < 0) { return right.ordinal < 0 }
      return (left.ordinal, left.weekday) < (right.ordinal, right.weekday)
    }
  }

  var frequency: Frequency = .daily
  /// 1…2 147 483 647
  var interval: Int64 = 1
  var count: Int64?
  var until: RecurrenceTime?
  /// Bits 0…59.
  var seconds: UInt64 = 0
  /// Bits 0…59.
  var minutes: UInt64 = 0
  /// Bits 0…23.
  var hours: UInt64 = 0
  /// Bit 0 is Monday.
  var weekdays: UInt8 = 0
  /// Ascending, each once.
  var ordinals: [Ordinal] = []
  /// Bit 0 is the first of the month.
  var monthDays: UInt32 = 0
  /// Bit 0 is the last of the month.
  var monthDaysFromEnd: UInt32 = 0
  /// 1…366 and −366…−1; those from the end come last.
  var yearDays: [Int16] = []
  /// Bit 0 is week 1.
  var weeks: UInt64 = 0
  /// Bit 0 is the last week.
  var weeksFromEnd: UInt64 = 0
  /// Bits 1…12.
  var months: UInt32 = 0
  /// 1…366 and −366…−1; those from the end come last.
  var positions: [Int16] = []
  /// 0 is Monday.
  var weekStart: UInt8 = 0
  var skip: Skip = .omit

  /// The largest `COUNT` of a rule, and the largest sum over all rules of a schedule.
  static let largestCount: Int64 = 10_000
  static let largestInterval: Int64 = 2_147_483_647

  /// The two-letter names of weekdays in RFC 5545, Monday first.
  static let weekdayNames: [StaticString] = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

  var hasWeekdays: Bool { weekdays != 0 || !ordinals.isEmpty }
  var hasMonthDays: Bool { monthDays != 0 || monthDaysFromEnd != 0 }
  var hasWeeks: Bool { weeks != 0 || weeksFromEnd != 0 }
  /// Whether a BY part exists from which BYSETPOS can choose.
  var namesAnything: Bool {
    hasWeekdays || hasMonthDays || !yearDays.isEmpty || hasWeeks || months != 0 || hasTimes
  }
  var hasTimes: Bool { hours != 0 || minutes != 0 || seconds != 0 }
}

/// A RecurrenceTime is a moment in the notation of RFC 5545.
struct RecurrenceTime: Sendable, Hashable {
  enum Form: UInt8, Sendable, Hashable {
    /// `20260101`
    case date
    /// `20260101T090000`, on the governing clock.
    case local
    /// `20260101T090000Z`
    case utc
  }

  var form: Form
  /// Wall seconds; for a date those of its midnight.
  var wall: Int64
}

// MARK: - Text

extension RecurrencePattern {
  /// Appends the canonical form: parts in a fixed order, values ascending with those from the end last, parts without
  /// effect omitted.
  func write(into text: inout RecurrenceText) {
    if skip != .omit { text.append("RSCALE=GREGORIAN;") }
    text.append("FREQ=")
    text.append(frequency.name)
    if interval != 1 {
      text.append(";INTERVAL=")
      text.append(interval)
    }
    if let until {
      text.append(";UNTIL=")
      text.append(until)
    }
    if let count {
      text.append(";COUNT=")
      text.append(count)
    }
    text.append(";BYMONTH=", bits: UInt64(months), from: 0)
    text.append(";BYWEEKNO=", bits: weeks, fromEnd: weeksFromEnd)
    text.append(";BYYEARDAY=", yearDays)
    text.append(";BYMONTHDAY=", bits: UInt64(monthDays), fromEnd: UInt64(monthDaysFromEnd))
    writeWeekdays(into: &text)
    text.append(";BYHOUR=", bits: hours, from: 0)
    text.append(";BYMINUTE=", bits: minutes, from: 0)
    text.append(";BYSECOND=", bits: seconds, from: 0)
    text.append(";BYSETPOS=", positions)
    if skip != .omit { text.append(skip == .forward ? ";SKIP=FORWARD" : ";SKIP=BACKWARD") }
    if weekStart != 0, weekStartMatters {
      text.append(";WKST=")
      text.append(Self.weekdayNames[Int(weekStart)])
    }
  }

  /// Whether the first day of the week affects the result.
  var weekStartMatters: Bool {
    frequency == .weekly && (interval > 1 || !positions.isEmpty) || frequency == .yearly && hasWeeks
  }

  private func writeWeekdays(into text: inout RecurrenceText) {
    guard hasWeekdays else { return }
    text.append(";BYDAY=")
    var isFirst = true
    for day in 0..<7 where weekdays >> UInt8(day) & 1 != 0 {
      if !isFirst { text.append(",") }
      isFirst = false
      text.append(Self.weekdayNames[day])
    }
    for ordinal in ordinals {
      if !isFirst { text.append(",") }
      isFirst = false
      text.append(Int64(ordinal.ordinal))
      text.append(Self.weekdayNames[Int(ordinal.weekday)])
    }
  }
}

/// A RecurrenceText builds canonical text.
struct RecurrenceText {
  var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(128) }

  var string: String { String(decoding: bytes, as: UTF8.self) }

  mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func append(_ number: Int64) {
    var rest = number.magnitude
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    let start = bytes.count
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  private mutating func append(_ number: Int, width: Int) {
    var divisor = 1
    for _ in 1..<width { divisor *= 10 }
    while divisor > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / divisor % 10))
      divisor /= 10
    }
  }

  mutating func append(_ time: RecurrenceTime) {
    let (day, second) = dividedByDay(time.wall)
    let fields = CivilDate(unchecked: day).fields
    append(fields.year, width: 4)
    append(fields.month, width: 2)
    append(fields.day, width: 2)
    guard time.form != .date else { return }
    append("T")
    append(Int(second) / 3_600, width: 2)
    append(Int(second) / 60 % 60, width: 2)
    append(Int(second) % 60, width: 2)
    if time.form == .utc { append("Z") }
  }

  mutating func append(_ name: StaticString, _ numbers: [Int16]) {
    for (index, number) in numbers.enumerated() {
      append(index == 0 ? name : ",")
      append(Int64(number))
    }
  }

  /// Appends the numbers of the set bits as a list, where bit 0 means `from`.
  mutating func append(_ name: StaticString, bits: UInt64, from: Int64) {
    var rest = bits
    while rest != 0 {
      append(rest == bits ? name : ",")
      append(Int64(rest.trailingZeroBitCount) + from)
      rest &= rest - 1
    }
  }

  /// Appends numbers from 1 up, then those counted from the end as −1, −2, …
  mutating func append(_ name: StaticString, bits: UInt64, fromEnd: UInt64) {
    append(name, bits: bits, from: 1)
    var rest = fromEnd
    while rest != 0 {
      append(rest == fromEnd && bits == 0 ? name : ",")
      let highest = 63 - rest.leadingZeroBitCount
      append(-1 - Int64(highest))
      rest &= ~(1 << UInt64(highest))
    }
  }
}
