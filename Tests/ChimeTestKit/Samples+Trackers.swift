import ChimeCore
import ChimeSchedule
import ChimeTracking

/// Returns the day so many days after an arbitrary Monday in 2026.
func trackingDay(_ number: Int) -> CivilDate { CivilDate(dayNumber: 20_542 + number) ?? .latest }

let waterKey = TrackerKey(owner: 1_000, id: TrackerID(rawValue: "water"))
let watchKey = TrackerKey(owner: 1_000, id: TrackerID(rawValue: "watch"))

/// Returns a minimal tracker.
func sampleTracker(_ key: TrackerKey = waterKey, title: String? = nil) throws -> Tracker {
  Tracker(
    id: key.id, owner: key.owner, title: LocalizedText(title ?? "Title of \(key.id)"), kind: .check,
    startedOn: trackingDay(0), createdAt: at(0))
}

/// Returns a tracker in which no field has its default.
func fullTracker(_ key: TrackerKey) throws -> Tracker {
  Tracker(
    id: key.id, owner: key.owner, title: LocalizedText(["en": "Water \"'%_\\", "ar": "\u{645}\u{627}\u{621}"]),
    verb: "Drank", kind: .amount, unit: .init("ml"), decimals: 1,
    goal: Goal(.total(Quantity(grains: 40_000_000_000)), each: .week),
    presets: [Quantity(grains: 1), Quantity(grains: 2)], usual: Quantity(grains: 2),
    counting: .rolling(times: 3, days: 7), formerWeekdays: [FormerWeekdays(until: trackingDay(2), weekdays: .weekends)],
    dayStartsAt: 240, timeOfDay: .evening,
    pauses: [trackingDay(3)...trackingDay(4)], skips: [trackingDay(9)], skipsEachMonth: 2, hasItems: true,
    fields: ["fat": .known["%"]].compactMapValues { $0 },
    bounds: Bounds(least: Quantity(grains: 1), most: Quantity(grains: 8), jump: Quantity(grains: 2)),
    fieldBounds: ["fat": Bounds(least: Quantity(grains: 2), most: Quantity(grains: 6))],
    milestoneStep: Quantity(grains: 5),
    stock: Stock(Quantity(grains: 30), since: at(3), warnDays: 5, warnedState: .low), icon: "cup",
    pack: PackID(rawValue: "hydration"), set: "home", experience: 3, startedOn: trackingDay(1), createdAt: at(7),
    generation: 4)
}

func sampleEntry(_ key: TrackerKey = waterKey, at time: Instant = at(10), day: CivilDate = trackingDay(0)) -> Entry {
  Entry(id: EntryID(rawValue: 0), tracker: key.id, owner: key.owner, at: time, day: day, minute: 600)
}

/// Returns an entry in which no field has its default.
func fullEntry(_ key: TrackerKey) -> Entry {
  Entry(
    id: EntryID(rawValue: 99), tracker: key.id, owner: key.owner, at: at(77), day: trackingDay(1), minute: 1_439,
    quantity: Quantity(grains: -3), fields: ["fat": Quantity(grains: 9), "": Quantity(grains: .max)],
    item: ItemID(rawValue: "speedmaster"), note: "two\nlines \u{1F4A7} \"'%_\\", photo: "photo.jpg")
}

func sampleItem(_ id: ItemID = ItemID(rawValue: "speedmaster"), _ key: TrackerKey = watchKey) -> Item {
  Item(
    id: id, tracker: key.id, owner: key.owner, title: "Title of \(id)", attributes: ["brand": "Omega", "": "\"'%"],
    since: trackingDay(1), until: trackingDay(5), note: "a note", photo: "item.jpg", createdAt: at(5))
}

func sampleMilestone(_ key: TrackerKey = waterKey, day: CivilDate = trackingDay(2)) -> Milestone {
  Milestone(
    id: 0, tracker: key.id, owner: key.owner, day: day, title: "80 kg", note: "at last", photo: "me.jpg",
    value: Quantity(grains: 80), createdAt: at(6))
}

func sampleTotal(_ day: CivilDate, count: Int = 2) -> DayTotal {
  DayTotal(
    day: day, count: count, total: Quantity(grains: 7), least: Quantity(grains: 3), most: Quantity(grains: 4),
    last: Quantity(grains: 4), firstAt: at(10), lastAt: at(20), firstMinute: 600, lastMinute: 601, isMet: true,
    goal: Goal(.total(Quantity(grains: 7))))
}

func sampleChange(
  _ kind: TrackingChange.Kind = .logged, owner: UInt32 = 1_000, at time: Instant = at(100), _ subject: String = ""
) -> TrackingChange {
  TrackingChange(owner: owner, at: time, kind: kind, tracker: waterKey.id, subject: subject)
}

/// Returns a pack in which no field has its default, including nested values.
func fullPack(_ id: String = "hydration", title: String = "Hydration") throws -> Pack {
  var tracker = try fullTracker(TrackerKey(owner: 0, id: waterKey.id))
  tracker.pack = PackID(rawValue: id)
  let text = LocalizedText(["en": "Text", "cs": "Text \u{10D}esky"])
  return Pack(
    id: PackID(rawValue: id), title: LocalizedText(title), text: text, version: 3, icon: "cup",
    trackers: [tracker, try sampleTracker(TrackerKey(owner: 0, id: watchKey.id))],
    reminders: [
      PackReminder(
        key: "drink", title: text, body: text, when: "every 90m", whenWithoutPlace: "daily at 8", tracker: waterKey.id,
        quietWhenDone: false, pace: true, followsEntries: true, logs: Quantity(grains: 4), isOptional: true),
      PackReminder(key: "plain", title: "Plain", when: "daily at 9", tracker: watchKey.id),
    ],
    achievements: [
      Achievement(
        id: AchievementID(rawValue: "full"), title: text, text: text, category: "size", icon: "star", experience: 50,
        criterion: Criterion(
          .itemsOwned, tracker: watchKey.id, target: 5, amount: Quantity(grains: 3), days: .weekends, minute: 480,
          attribute: "brand", value: "Omega", within: 7, minimum: 2, month: 2, day: 29, weekdays: [.friday]))
    ]
      + Criterion.Kind.allCases.map { kind in
        Achievement(id: AchievementID(rawValue: "\(kind)"), title: "T", text: "", criterion: Criterion(kind))
      },
    categories: ["size": text], levels: LevelCurve(base: 70, power: 1.25),
    moods: Dictionary(
      uniqueKeysWithValues: Mood.allCases.map {
        ($0, MoodText(title: text, message: LocalizedText("\($0)"), next: text))
      }),
    quotes: [
      Quote(
        text: "\u{5D0} \u{202B}right to left\u{202C}", language: "he", translation: text, source: "Source",
        category: "wisdom"), Quote(text: "Plain", language: "en", source: "", category: ""),
    ], channels: ["desktop", "team"],
    choices: [
      waterKey.id: .init(
        least: Quantity(grains: 1), most: Quantity(grains: 9), step: Quantity(grains: 2), presets: [Quantity(grains: 3)]
      )
    ],
    milestoneSteps: Unit("kg").map { [waterKey.id: [.init(unit: $0, steps: [Quantity(grains: 2)])]] } ?? [:])
}

/// Checks that a sample differs from a plain value in all fields except the named ones.
func expectFull(_ full: Any, _ plain: Any, but known: Set<String>) throws {
  for (one, other) in zip(Mirror(reflecting: full).children, Mirror(reflecting: plain).children) {
    guard let label = one.label, !known.contains(label) else { continue }
    try expect("\(one.value)" != "\(other.value)", "the sample leaves \(label) at its default")
  }
}
