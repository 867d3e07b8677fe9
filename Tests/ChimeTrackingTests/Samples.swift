import ChimeSchedule
import ChimeTestKit
import ChimeTracking

/// 2024-01-01, a Monday at the start of a leap year.
let monday = CivilDate(year: 2024, month: 1, day: 1) ?? .earliest

func day(_ text: String) -> CivilDate { CivilDate(text) ?? .earliest }

extension CivilDate {
  func plus(_ days: Int) -> CivilDate { adding(days: days) ?? .latest }
}

extension Tracker {
  /// Returns a tracker that starts on 2024-01-01.
  static func sample(
    _ kind: Kind = .check, goal: Goal? = nil, counting: CountedDays = .everyDay,
    formerWeekdays: [FormerWeekdays] = [], from start: CivilDate = monday,
    pauses: [ClosedRange<CivilDate>] = [], skips: [CivilDate] = [], dayStartsAt: Int = 0
  ) -> Tracker {
    Tracker(
      id: TrackerID(rawValue: "sample"), owner: 1000, title: "Sample", kind: kind,
      unit: kind == .check ? nil : Unit(kind == .amount ? "ml" : "kg"), goal: goal, counting: counting,
      formerWeekdays: formerWeekdays,
      dayStartsAt: dayStartsAt, pauses: pauses, skips: skips, startedOn: start, createdAt: .earliest)
  }
}

extension Quantity {
  static func ml(_ value: Double) -> Quantity { Unit("ml").flatMap { Quantity(value, $0) } ?? .zero }
  static func kg(_ value: Double) -> Quantity { Unit("kg").flatMap { Quantity(value, $0) } ?? .zero }
}

extension Entry {
  /// Returns an entry of the tracker's day, at a minute of the local time (UTC).
  static func sample(
    _ id: Int64, of tracker: Tracker, on day: CivilDate, minute: Int = 720, _ quantity: Quantity? = nil
  ) -> Entry {
    let calendarDay = Int64(day.dayNumber) + (minute < tracker.dayStartsAt ? 1 : 0)
    return Entry(
      id: EntryID(rawValue: id), tracker: tracker.id, owner: tracker.owner,
      at: Instant(seconds: calendarDay * 86_400 + Int64(minute) * 60), day: day, minute: minute, quantity: quantity)
  }
}

extension ProgressAggregator {
  /// Returns the summary after logging the entries for the first time, day by day.
  func summary(ofEntries entries: [Entry]) -> TrackerSummary { summary(of: totals(of: entries)) }

  func totals(of entries: [Entry]) -> [DayTotal] {
    Dictionary(grouping: entries, by: \.day).values.compactMap { total(of: $0) }.sorted { $0.day < $1.day }
  }

  /// Returns the summary with one entry, enough for a goal without a number, on each of some days after a first.
  func done(_ days: some Sequence<Int>, from first: CivilDate = monday) -> TrackerSummary {
    summary(ofEntries: days.enumerated().map { .sample(Int64($0 + 1), of: tracker, on: first.plus($1)) })
  }
}
