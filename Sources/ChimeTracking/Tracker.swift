public import ChimeSchedule

/// A TrackerID is a tracker's typeable name: `water`. Lowercase letters, digits and hyphens, 1–32 of them, a letter
/// first; unique among its owner's trackers.
public struct TrackerID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CodingKeyRepresentable,
  CustomStringConvertible
{
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public var description: String { rawValue }
  public static func < (left: TrackerID, right: TrackerID) -> Bool { left.rawValue < right.rawValue }

  /// Creates the id if the name is valid.
  public init?(checking text: String) {
    guard (1...32).contains(text.utf8.count), let first = text.utf8.first, (97...122).contains(first),
      text.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 45 })
    else { return nil }
    rawValue = text
  }
}

/// A Tracker is something done repeatedly, of which a record is kept.
///
/// It is a definition only: entries record what was done, and `DayTotal` and `TrackerSummary` add them up. Stores and
/// backups keep it as JSON, so a property that is added later is optional.
public struct Tracker: Hashable, Sendable, Codable {
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// It was done or not.
    case check
    /// An amount; a day's entries add up.
    case amount
    /// A measured value; the last one of a day counts.
    case measure
  }

  /// A TimeOfDay is the part of the day in which it is listed.
  public enum TimeOfDay: String, Hashable, Sendable, Codable, CaseIterable { case morning, anytime, evening }

  public var id: TrackerID
  public var owner: UInt32
  public var title: LocalizedText
  /// The label of a button before the amount: *Drank*; nil for *Done*.
  public var verb: LocalizedText?
  public var kind: Kind
  /// The unit in which quantities are shown; nil for a check.
  public var unit: Unit?
  /// The number of decimals shown, 0 to 3.
  public var decimals: Int
  public var goal: Goal?
  /// The amounts on offer, in order; `usual` is what *Done* logs.
  public var presets: [Quantity]
  public var usual: Quantity?
  public var counting: CountedDays
  /// The weekdays that counted before, oldest first, so that changing them leaves the past unchanged.
  public var formerWeekdays: [FormerWeekdays]
  /// The start of its day in minutes after midnight, 0…1439; earlier entries belong to the day before.
  public var dayStartsAt: Int
  public var timeOfDay: TimeOfDay
  /// Vacations, as ranges of days; they neither break nor extend a streak.
  public var pauses: [ClosedRange<CivilDate>]
  /// Days skipped on purpose, in order.
  public var skips: [CivilDate]
  /// The most days per calendar month that may be skipped; nil for no limit.
  public var skipsEachMonth: Int?
  /// Whether its entries name items of a collection.
  public var hasItems: Bool
  /// Further measures of an entry, such as body fat: units by name.
  public var fields: [String: Unit]
  /// The bounds of its values and of its fields; nil or missing for none. Old backups have neither.
  public var bounds: Bounds?
  public var fieldBounds: [String: Bounds]?
  /// The distance between a measure's milestones, such as 2 kg; nil for none.
  public var milestoneStep: Quantity?
  /// The stock that its entries use up, if any. A measure has none.
  public var stock: Stock?
  public var icon: String?
  /// The pack that it belongs to; nil for one of the user's own.
  public var pack: PackID?
  /// The name of the manifest that declares it (`chime apply`); nil if it was made by hand or belongs to a pack.
  public var set: String?
  /// The XP per entry.
  public var experience: Int
  /// The first day that counts.
  public var startedOn: CivilDate
  public var createdAt: Instant
  /// A counter of changes to the definition.
  public var generation: Int64

  public init(
    id: TrackerID, owner: UInt32, title: LocalizedText, verb: LocalizedText? = nil, kind: Kind, unit: Unit? = nil,
    decimals: Int = 0, goal: Goal? = nil, presets: [Quantity] = [], usual: Quantity? = nil,
    counting: CountedDays = .everyDay, formerWeekdays: [FormerWeekdays] = [],
    dayStartsAt: Int = 0, timeOfDay: TimeOfDay = .anytime, pauses: [ClosedRange<CivilDate>] = [],
    skips: [CivilDate] = [],
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
    self.timeOfDay = timeOfDay
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

  /// Returns the tracker's day at an instant, and the local time in minutes after midnight (0…1439).
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

/// Bounds limit a measured value, so that typing errors are noticed.
public struct Bounds: Hashable, Sendable, Codable {
  public var least: Quantity
  public var most: Quantity
  /// The usual largest change within a week; nil for no limit.
  public var jump: Quantity?

  public init(least: Quantity, most: Quantity, jump: Quantity? = nil) {
    self.least = least
    self.most = most
    self.jump = jump
  }

  public func contains(_ value: Quantity) -> Bool { least <= value && value <= most }

  /// Returns whether a value is surprising, given another one some days before or after. Each started week allows one jump.
  public func isFar(_ value: Quantity, from other: Quantity, days: Int) -> Bool {
    guard let jump else { return false }
    let weeks = Double(max(1, (days.magnitude + 6) / 7))
    let distance = (Double(value.grains) - Double(other.grains)).magnitude
    return distance > Double(jump.grains) * weeks
  }
}

/// A Goal is what to reach, and in which period.
public struct Goal: Hashable, Sendable, Codable {
  public enum Period: String, Hashable, Sendable, Codable, CaseIterable { case day, week, month }

  /// A Target is what to reach.
  public enum Target: Hashable, Sendable, Codable {
    /// This many entries, for a check.
    case count(Int)
    /// This total, for an amount.
    case total(Quantity)
    /// This value, starting from the first entry, for a measure.
    case value(Quantity)
  }

  public var target: Target
  public var period: Period
  /// Whether it is a limit, which must not be exceeded. A limit is on a count or total per day.
  public var isAtMost: Bool

  public init(_ target: Target, each period: Period = .day, atMost isAtMost: Bool = false) {
    self.target = target
    self.period = period
    self.isAtMost = isAtMost
  }

  private enum CodingKeys: String, CodingKey { case target, period, isAtMost }

  /// Decodes a goal; old backups have no limits.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    target = try container.decode(Target.self, forKey: .target)
    period = try container.decode(Period.self, forKey: .period)
    isAtMost = try container.decodeIfPresent(Bool.self, forKey: .isAtMost) ?? false
  }
}

extension Tracker {
  var goalValue: Quantity? { if case .value(let value)? = goal?.target { value } else { nil } }

  public var isLimited: Bool { goal?.isAtMost ?? false }

  /// Returns the state of a day's limit; nil without a limit. A day keeps the limit that it had.
  public func limitState(of total: DayTotal?) -> LimitState? {
    guard let goal else { return nil }
    let then = total?.goal.flatMap { $0.isAtMost ? $0 : nil } ?? goal
    guard isLimited, let limit = then.amount else { return nil }
    let reached = total.map { used(by: $0) } ?? .zero
    return LimitState(reached, of: limit, portion: kind == .check ? .one : usual)
  }

  /// Returns whether a day that is over was met; for a limit, even without entries.
  public func wasMet(_ total: DayTotal?) -> Bool {
    limitState(of: total).map { $0 != .exceeded } ?? total?.isMet ?? false
  }
}

/// FormerWeekdays are the weekdays that counted up to a day, from the end of the previous range on.
public struct FormerWeekdays: Hashable, Sendable, Codable {
  public var until: CivilDate
  public var weekdays: WeekdaySet

  public init(until: CivilDate, weekdays: WeekdaySet) {
    self.until = until
    self.weekdays = weekdays
  }
}

/// CountedDays say which days count towards a streak.
public enum CountedDays: Hashable, Sendable, Codable {
  /// These weekdays; the others neither break nor extend a streak.
  case weekdays(WeekdaySet)
  /// This many days of each calendar week (from Monday), on any weekdays; the streak counts weeks.
  case timesAWeek(Int)
  /// This many days of each calendar month, on any dates; the streak counts months.
  case timesAMonth(Int)
  /// This many days in any `days` consecutive ones. The streak counts days, including those in between while the
  /// promise holds (as in Loop Habit Tracker).
  case rolling(times: Int, days: Int)

  public static let everyDay = CountedDays.weekdays(.everyDay)
}
