import ChimeSchedule
import ChimeTracking

/// LoopImport reads habits and their days from the CSV export of Loop Habit Tracker.
///
/// The export is an archive of `Habits.csv` (one line a habit), `Checkmarks.csv` (one line a day, one column a habit),
/// and a folder `001 Name` with its own `Checkmarks.csv` for each habit. Scores are skipped, as Chime computes its own.
/// Any of these files is enough. A habit's own file has the notes, `Habits.csv` the kind and frequency, and the common
/// `Checkmarks.csv` the habits without their own file.
///
/// - A completed day (`YES_MANUAL`, 2) becomes an entry at noon. Days that Loop adds because the frequency allows it
///   (`YES_AUTO`, 1), days not done (`NO`, 0) and unknown days (`UNKNOWN`, −1) become nothing. Skips (`SKIP`, 3; −3 in
///   old exports) become skipped days.
/// - Numbers are thousandths of the habit's unit. Loop writes numbers up to 0.003 as the words above.
/// - "At most" becomes a goal only if the limit is daily.
///
/// Source: `HabitsCSVExporter.kt`, `HabitList.kt` and `Entry.kt` of https://github.com/iSoron/uhabits, versions 1.8 to
/// 2.3.1 (up to 2.2 without headers in the habits' own files, with numbers instead of words, and with other columns in
/// `Habits.csv`).
public enum LoopImport {
  /// A File is a file of the export: its path in the archive, and its bytes.
  public struct File: Sendable {
    public var path: String
    public var text: [UInt8]
  }

  /// Reads the archive that Loop exports, or one file of it.
  ///
  /// - Parameter path: The name of the file.
  public static func read(
    _ bytes: [UInt8], called path: String, _ settings: EntryImportSettings
  ) throws(ExchangeError) -> EntryPlan {
    guard bytes.starts(with: ZipArchive.signature) else {
      return try read([File(path: path, text: bytes)], settings)
    }
    let files = try ZipArchive.files(in: bytes) {
      $0.lowercased().hasSuffix(".csv") && !$0.lowercased().hasSuffix("scores.csv")
    }
    return try read(files.map { File(path: $0.path, text: $0.bytes) }, settings)
  }

  /// - Parameter files: The files in any order; unrelated ones are skipped.
  /// - Throws: ``ExchangeError`` if there is no habit, or a file has a wrong format; the error names the file.
  public static func read(_ files: [File], _ settings: EntryImportSettings) throws(ExchangeError) -> EntryPlan {
    var sources = LoopFiles()
    for file in files { try sources.take(file) }
    let habits = try sources.habits(isForOne: settings.into != nil)
    try need(!habits.isEmpty, line: nil, "the file has no Checkmarks.csv of Loop Habit Tracker with a habit in it")
    var plan = EntryPlan()
    var taken = Set(settings.trackers.map(\.id))
    for habit in habits { try add(habit, to: &plan, settings, &taken) }
    return plan
  }

  private static func add(
    _ habit: LoopHabit, to plan: inout EntryPlan, _ settings: EntryImportSettings, _ taken: inout Set<TrackerID>
  ) throws(ExchangeError) {
    guard let first = habit.days.map(\.day).min() else {
      return plan.remark(habit.line, habit.name, .note, "it has no entries yet, so it is left out")
    }
    let (tracker, isNew) = tracker(habit, from: first, settings, taken)
    taken.insert(tracker.id)
    try need(
      tracker.kind != .measure && (tracker.kind == .amount) == habit.isNumerical, line: nil,
      "\(habit.name) \(habit.isNumerical ? "has amounts" : "has none"), and \(tracker.id) is a \(tracker.kind.rawValue)"
    )
    var skips: [CivilDate] = []
    var notes = 0
    var reader = EntryReader(settings.making(tracker))
    for day in habit.days {
      switch day.value {
      case .done where !habit.isNumerical: take(day, nil)
      case .done: take(day, 0.002)
      case .automatic where habit.isNumerical: take(day, 0.001)
      case .number(let thousandths) where habit.isNumerical && thousandths > 0: take(day, Double(thousandths) / 1_000)
      case .skipped: skips.append(day.day)
      case .number(let number) where !habit.isNumerical:
        plan.fault(day.line, "\(habit.name): expected 2 for done, 3, 1, 0 or -1, not \(number)")
      case .automatic, .notDone, .unknown, .number: if day.note != nil { notes += 1 }
      }
    }
    func take(_ day: LoopHabit.Day, _ value: Double?) {
      var note = day.note
      if let long = note, long.count > Entry.longestNote {
        note = String(long.prefix(Entry.longestNote - 1)) + "…"
        plan.remark(day.line, habit.name, .note, "its note of \(day.day) is cut to \(Entry.longestNote) characters")
      }
      reader.take(
        EntryRow(
          line: day.line, tracker: tracker.id.rawValue, day: day.day.description, value: value.map(NumberText.text),
          note: note))
    }
    plan.entries += reader.plan.entries
    plan.faults += reader.plan.faults.prefix(EntryPlan.mostFaults - plan.faults.count)
    say(habit, notes, skips.count, isNew, &plan)
    guard isNew else { return }
    var made = tracker
    made.skips = skips.sorted()
    plan.trackers.append(made)
  }

  private static func say(_ habit: LoopHabit, _ notes: Int, _ skips: Int, _ isNew: Bool, _ plan: inout EntryPlan) {
    if notes > 0 {
      plan.remark(habit.line, habit.name, .note, "notes of days without an entry are left out: \(notes)")
    }
    if skips > 0, !isNew {
      plan.remark(habit.line, habit.name, .note, "the tracker exists already; skipped days are left out: \(skips)")
    }
    if isNew, habit.isArchived {
      plan.remark(habit.line, habit.name, .note, "it was archived, and is added anyway")
    }
    if isNew, habit.isNumerical, habit.goal != nil, habit.isAtMost, !habit.isLimited {
      plan.remark(
        habit.line, habit.name, .note,
        "a limit applies to a day here, but its own to another period, so it has no goal")
    }
    if isNew, habit.isNumerical, !habit.unit.isEmpty, Unit(habit.unit) == nil {
      plan.remark(habit.line, habit.name, .note, "Chime has no unit \(quoted(habit.unit)), so it counts times")
    }
  }

  /// Returns the tracker of a habit: the requested one, one from an earlier import, or a new one.
  private static func tracker(
    _ habit: LoopHabit, from first: CivilDate, _ settings: EntryImportSettings, _ taken: Set<TrackerID>
  ) -> (Tracker, isNew: Bool) {
    if let into = settings.into, let tracker = settings.trackers.first(where: { $0.id == into }) {
      return (tracker, false)
    }
    let kind: Tracker.Kind = habit.isNumerical ? .amount : .check
    let known = settings.trackers.first { tracker in
      tracker.kind == kind && tracker.title.texts.values.contains(habit.name)
    }
    if let known { return (known, false) }
    var tracker = Tracker(
      id: .made(of: habit.name, besides: taken), owner: settings.owner, title: LocalizedText(habit.name), kind: kind,
      counting: habit.counting, startedOn: first, createdAt: settings.now)
    if habit.isNumerical {
      tracker.unit = Unit(habit.unit) ?? Unit("times")
      tracker.decimals =
        habit.days.contains { if case .number(let number) = $0.value { number % 1_000 != 0 } else { false } } ? 2 : 0
      if let goal = habit.goal, !habit.isAtMost || habit.isLimited, let unit = tracker.unit,
        let quantity = Quantity(goal, unit), quantity > .zero || habit.isLimited && quantity == .zero
      {
        tracker.goal = Goal(.total(quantity), each: habit.period, atMost: habit.isLimited)
      }
    }
    return (tracker, true)
  }
}

extension EntryImportSettings {
  /// Returns the settings with one tracker for all entries.
  fileprivate func making(_ tracker: Tracker) -> EntryImportSettings {
    var settings = self
    settings.trackers = [tracker]
    settings.into = tracker.id
    return settings
  }
}
