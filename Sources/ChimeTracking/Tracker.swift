public import ChimeSchedule

/// A tracker's typeable name: `water`. Lower-case letters, digits and hyphens, 1 to 32, a letter first. Unique among the
/// trackers of its owner.
public struct TrackerID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CodingKeyRepresentable,
  CustomStringConvertible
{
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public var description: String { rawValue }
  public static func < (left: TrackerID, right: TrackerID) -> Bool { left.rawValue < right.rawValue }

  /// The name, when it is one.
  public init?(checking text: String) {
    guard (1...32).contains(text.utf8.count), let first = text.utf8.first, (97...122).contains(first),
      text.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 45 })
    else { return nil }
    rawValue = text
  }
}

/// Something that is done again and again, and of which a record is kept.
///
/// A definition only: what was done stands in its entries, and what they add up to in `DayTotal` and `TrackerSummary`.
public struct Tracker: Hashable, Sendable, Codable {
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// It was done.
    case check
    /// So much of it; a day's entries add up.
    case amount
    /// A value as it was then; the last of a day is the day's.
    case measure
  }

  /// When in the day it has its place.
  public enum TimeOfDay: String, Hashable, Sendable, Codable, CaseIterable { case morning, anytime, evening }

  public var id: TrackerID
  public var owner: UInt32
  public var title: LocalizedText
  /// What an entry of it is called, for a button: *Drank*, in front of the amount. Nil: *Done*.
  public var verb: LocalizedText?
  public var kind: Kind
  /// What quantities are shown in; nil for a check.
  public var unit: Unit?
  /// Digits after the point that are shown, 0 to 3.
  public var decimals: Int
  public var goal: Goal?
  /// Amounts that are offered; `usual` is what *Done* logs. In order.
  public var presets: [Quantity]
  public var usual: Quantity?
  public var counting: CountedDays
  /// Which weekdays counted before, oldest first, so that a change of them leaves the past as it was.
  public var formerWeekdays: [FormerWeekdays]
  /// Minutes after midnight, 0 to 1439, at which its day begins: what is logged before is the day before's.
  public var dayStartsAt: Int
  public var slot: TimeOfDay
  /// Days on which it rests, each a vacation: they neither break a streak nor add to it.
  public var pauses: [ClosedRange<CivilDate>]
  /// Days that were skipped on purpose, in order.
  public var skips: [CivilDate]
  /// How many days of a calendar month may be skipped; nil: as many as one likes.
  public var skipsEachMonth: Int?
  /// Whether its entries point at items of a collection.
  public var hasItems: Bool
  /// Further measures that an entry may have beside its value, such as body fat: by name, with their unit.
  public var fields: [String: Unit]
  /// What its values may be, and those of its fields; nil or missing: anything. Backups of before have neither.
  public var bounds: Bounds?
  public var fieldBounds: [String: Bounds]?
  /// A measure's steps that are each celebrated once, such as every 2 kg; nil: none.
  public var milestoneStep: Quantity?
  /// What its entries use up; nil: nothing that is counted. A measure has none.
  public var stock: Stock?
  public var icon: String?
  /// The pack that brought it; nil for one of the user's own.
  public var pack: PackID?
  /// The set of files that declares it, by name (`chime apply`); nil: it was made by hand, or is a pack's.
  public var set: String?
  /// XP that each entry is worth.
  public var experience: Int
  /// The first day that counts.
  public var startedOn: CivilDate
  public var createdAt: Instant
  /// Grows by one with each change of the definition.
  public var generation: Int64

  public init(
    id: TrackerID, owner: UInt32, title: LocalizedText, verb: LocalizedText? = nil, kind: Kind, unit: Unit? = nil,
    decimals: Int = 0, goal: Goal? = nil, presets: [Quantity] = [], usual: Quantity? = nil,
    counting: CountedDays = .everyDay, formerWeekdays: [FormerWeekdays] = [],
    dayStartsAt: Int = 0, slot: TimeOfDay = .anytime, pauses: [ClosedRange<CivilDate>] = [], skips: [CivilDate] = [],
    skipsEachMonth: Int? = nil, hasItems: Bool = false, fields: [String: Unit] = [:], bounds: Bounds? = nil,
    fieldBounds: [String: Bounds]? = nil, milestoneStep: Quantity? = nil,
    stock: Stock? = nil, icon: String? = nil, pack: PackID? = nil, set: String? = nil, experience: Int = 10,
    startedOn: CivilDate,
    createdAt: Instant, generation: Int64 = 0
  ) {
    self.id = id
    self.owner = owner
    self.title = title
    self.verb = verb
    self.kind = kind
    self.unit = unit
    self.decimals = decimals
    self.goal = goal
    self.presets = presets
    self.usual = usual
    self.counting = counting
    self.formerWeekdays = formerWeekdays
    self.dayStartsAt = dayStartsAt
    self.slot = slot
    self.pauses = pauses
    self.skips = skips
    self.skipsEachMonth = skipsEachMonth
    self.hasItems = hasItems
    self.fields = fields
    self.bounds = bounds
    self.fieldBounds = fieldBounds
    self.milestoneStep = milestoneStep
    self.stock = stock
    self.icon = icon
    self.pack = pack
    self.set = set
    self.experience = experience
    self.startedOn = startedOn
    self.createdAt = createdAt
    self.generation = generation
  }

  /// The tracker's day at an instant, and the minute of the clock on the wall (0 to 1439).
  ///
  ///     // 2026-03-29 01:30 in Prague, for a day that starts at 04:00
  ///     tracker.day(at: instant, in: prague)    // (2026-03-28, 90)
  public func day(at instant: Instant, in zone: Zone) -> (day: CivilDate, minute: Int) {
    let reading = zone.civil(at: instant)
    let minute = Int(reading.time.secondOfDay) / 60
    let day = minute < dayStartsAt ? reading.date.adding(days: -1) ?? reading.date : reading.date
    return (day, minute)
  }
}

/// What a measured value may be, so that a slip of the fingers is noticed.
public struct Bounds: Hashable, Sendable, Codable {
  public var least: Quantity
  public var most: Quantity
  /// How far a value usually lies at most from one of the week before; nil: as far as it likes.
  public var jump: Quantity?

  public init(least: Quantity, most: Quantity, jump: Quantity? = nil) {
    self.least = least
    self.most = most
    self.jump = jump
  }

  public func contains(_ value: Quantity) -> Bool { least <= value && value <= most }

  /// Whether a value is a surprise after one of some days before, or after: each week that begins may add a jump.
  public func isFar(_ value: Quantity, from other: Quantity, days: Int) -> Bool {
    guard let jump else { return false }
    let weeks = Double(max(1, (days.magnitude + 6) / 7))
    let distance = (Double(value.grains) - Double(other.grains)).magnitude
    return distance > Double(jump.grains) * weeks
  }
}

/// What is to be reached, and in which time.
public struct Goal: Hashable, Sendable, Codable {
  public enum Period: String, Hashable, Sendable, Codable, CaseIterable { case day, week, month }

  /// What is reached.
  public enum Target: Hashable, Sendable, Codable {
    /// So many entries: of a check.
    case count(Int)
    /// So much in all: of an amount.
    case total(Quantity)
    /// This value, from wherever the first entry was: of a measure.
    case value(Quantity)
  }

  public var target: Target
  public var period: Period
  /// Whether it is a limit: what is not to be passed. A limit is of a count or a total, and of a day.
  public var isAtMost: Bool

  public init(_ target: Target, each period: Period = .day, atMost isAtMost: Bool = false) {
    self.target = target
    self.period = period
    self.isAtMost = isAtMost
  }

  private enum CodingKeys: String, CodingKey { case target, period, isAtMost }

  /// Backups of before know no limits.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    target = try container.decode(Target.self, forKey: .target)
    period = try container.decode(Period.self, forKey: .period)
    isAtMost = try container.decodeIfPresent(Bool.self, forKey: .isAtMost) ?? false
  }
}

/// The weekdays that counted up to a day, and since the one before it.
public struct FormerWeekdays: Hashable, Sendable, Codable {
  public var until: CivilDate
  public var weekdays: WeekdaySet

  public init(until: CivilDate, weekdays: WeekdaySet) {
    self.until = until
    self.weekdays = weekdays
  }
}

/// Which days count towards a streak.
public enum CountedDays: Hashable, Sendable, Codable {
  /// These weekdays. All others neither break a streak nor add to it.
  case weekdays(WeekdaySet)
  /// So many days of each calendar week (from Monday on), whichever: the streak counts weeks.
  case timesAWeek(Int)
  /// So many days of each calendar month, whichever: the streak counts months.
  case timesAMonth(Int)
  /// So many days in any `days` that follow each other: the streak counts days, those between included for as long as
  /// the promise holds (as Loop Habit Tracker has it).
  case rolling(times: Int, days: Int)

  public static let everyDay = CountedDays.weekdays(.everyDay)
}
