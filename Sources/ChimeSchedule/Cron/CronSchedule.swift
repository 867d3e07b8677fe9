/// A CronSchedule is a parsed schedule of the cron dialect.
///
/// Texts with the same meaning give equal values: each field is a set, and of the stars only their effect is stored
/// (``runsByRealTime``, ``CronDays/needsBoth``).
///
/// Source: Debian's crontab(5) and cron(8), 3.0pl1.
struct CronSchedule: DialectSchedule {
  /// Bits 0…59; bit 0 alone is the five-field form.
  var seconds: UInt64
  /// Bits 0…59.
  var minutes: UInt64
  /// Bits 0…23.
  var hours: UInt64
  var days: CronDays
  /// Whether the minute or the hour begins with `*`. Such jobs run whenever the clock shows one of their times. All
  /// others run once for each of their times, however often the clock shows it (cron(8)).
  var runsByRealTime: Bool

  init(_ bytes: [UInt8], context: ParseContext?) throws(Fault) {
    var parser = CronParser(bytes, from: 0, to: bytes.count)
    self = try parser.expression()
  }

  init(seconds: UInt64, minutes: UInt64, hours: UInt64, days: CronDays, runsByRealTime: Bool) {
    self.seconds = seconds
    self.minutes = minutes
    self.hours = hours
    self.days = days
    self.runsByRealTime = runsByRealTime
  }

  /// Debian's cron takes a jump of less than this, in seconds, as a short delay and runs all missed jobs.
  static let shortestGap: Int64 = 5 * 60
  /// A jump of the clock by three hours or more is a correction: jobs within it are lost.
  static let shortestCorrection: Int64 = 3 * 3_600

  func timetable(in scheduleContext: ScheduleContext, zone: Zone, gap: GapRule?, fold: FoldRule?) -> Timetable {
    let own: GapHandling = .end(shorterThan: runsByRealTime ? Self.shortestGap : Self.shortestCorrection)
    var timetable = Timetable(
      zone: zone, gap: GapHandling(gap, default: own), fold: fold ?? (runsByRealTime ? .both : .first),
      engine: .cron(CronRule(self)))
    if fold == nil { timetable.longestFold = Self.shortestCorrection }
    return timetable
  }
}

/// CronDays are the days of a cron schedule.
struct CronDays: Sendable, Hashable {
  /// Bits 1…12.
  var months: UInt64
  /// Days of the month: bits 1…31.
  var dates: UInt64
  /// Days before the last of the month (`L-3`): bits 0…30.
  var datesFromEnd: UInt64 = 0
  /// Days of the month that stand for their nearest weekday (`15W`): bits 1…31.
  var nearest: UInt64 = 0
  /// Days before the last of the month that stand for their nearest weekday (`LW`): bits 0…30.
  var nearestFromEnd: UInt64 = 0
  /// Days of the week, Sunday first: bits 0…6.
  var weekdays: UInt64
  /// Days of the week with their number in the month (`1#2`): bit `weekday + 7 × (number − 1)`, 0…34. Bits 35…41 are
  /// the last of each in the month (`5L`).
  var ordinals: UInt64 = 0
  /// Whether a day must match both as a day of the month and as a day of the week. This holds if one of the two fields
  /// begins with `*`; otherwise one match suffices.
  var needsBoth: Bool

  static let everyDate: UInt64 = 0xFFFF_FFFE
  static let everyWeekday: UInt64 = 0x7F
  static let everyMonth: UInt64 = 0x1FFE
  static let lastOrdinal = 5

  /// Makes values with the same meaning equal. It drops special days that are already included. If the fields are
  /// alternatives and one includes every day, every day matches.
  mutating func normalize() {
    if dates == Self.everyDate { (datesFromEnd, nearest, nearestFromEnd) = (0, 0, 0) }
    for ordinal in 0...Self.lastOrdinal { ordinals &= ~(weekdays << UInt64(7 * ordinal)) }
    if !needsBoth, dates == Self.everyDate || weekdays == Self.everyWeekday {
      (dates, datesFromEnd, nearest, nearestFromEnd) = (Self.everyDate, 0, 0, 0)
      (weekdays, ordinals) = (Self.everyWeekday, 0)
      needsBoth = true
    }
  }
}
