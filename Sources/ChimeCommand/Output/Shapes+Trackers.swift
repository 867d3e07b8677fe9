import ChimeControl

/// The shapes of trackers and what is kept of them. Titles and texts that packs bring are in the user's language.
extension Shapes {
  typealias Trackers = TrackersInterface

  static func tracker(_ words: TrackerWords) -> Shape<Trackers.Tracker> {
    Shape(
      list: "trackers", item: "tracker",
      fields: [
        .init("id", "its id") { .string($0.id) },
        .init("title", "its title") { .string(words.local($0.title)) },
        .init("kind", "`check`, `amount` or `measure`") { .string($0.kind.rawValue) },
        .init("unit", "what its amounts are in; null for a check") { .optional($0.unit) },
        .init("decimals", "digits after the point that are shown") { .int($0.decimals) },
        .init(
          "goal", "`count`, `total` or `value`, the others null, and `period`: `day`, `week`, `month`; null without one"
        ) {
          goal($0.goal)
        },
        .init("presets", "amounts that are offered") { .list($0.presets.map { .number($0) }) },
        .init("usual", "the amount that is meant when none is named") { .optional($0.usual) },
        .init("counting", "`weekdays`; or `times` with `per`: `week`, `month`, or `days` with their number `days`") {
          counting($0.counting)
        },
        .init("formerWeekdays", "which `weekdays` counted before, each list with `until`, its last day; oldest first") {
          .list($0.formerWeekdays.map { .members(["until": .string($0.until), "weekdays": .strings($0.weekdays)]) })
        },
        .init("dayStartsAt", "when its day begins, HH:MM") { .string($0.dayStartsAt) },
        .init("slot", "`morning`, `anytime` or `evening`") { .string($0.slot.rawValue) },
        .init("pauses", "vacations: a list of `from` and `to`") { .list($0.pauses.map { range($0) }) },
        .init("skips", "days that were skipped") { .strings($0.skips) },
        .init("skipsEachMonth", "how many may be in a month; null for as many as one likes") {
          .optional($0.skipsEachMonth)
        },
        .init("hasItems", "whether its entries point at items") { .bool($0.hasItems) },
        .init("fields", "further measures of an entry, each with its unit") { texts($0.fields) },
        .init("milestoneStep", "the step whose crossing is celebrated") { .optional($0.milestoneStep) },
        .init("icon", "its icon") { .optional($0.icon) },
        .init("pack", "the pack that brought it") { .optional($0.pack) },
        .init("experience", "XP that an entry is worth") { .int($0.experience) },
        .init("startedOn", "the first day that counts") { .string($0.startedOn) },
        .init("createdAt", "when it was made") { .time($0.createdAt) },
      ])
  }

  static func standing(_ words: TrackerWords) -> Shape<Trackers.Standing> {
    Shape(
      list: "standings", item: "standing",
      fields: [
        .init("tracker", "the tracker's id") { .string($0.tracker.id) },
        .init("title", "its title") { .string(words.local($0.tracker.title)) },
        .init("kind", "`check`, `amount` or `measure`") { .string($0.tracker.kind.rawValue) },
        .init("slot", "`morning`, `anytime` or `evening`") { .string($0.tracker.slot.rawValue) },
        .init("unit", "what its amounts are in") { .optional($0.tracker.unit) },
        .init("goal", "as the tracker's") { goal($0.tracker.goal) },
        .init("day", "the day") { .string($0.day) },
        .init("entries", "entries of the day") { .int($0.entries) },
        .init("total", "what they add up to") { .optional($0.total) },
        .init("value", "a measure's last value up to that day") { .optional($0.value) },
        .init("reached", "what the goal's period has so far") { .optional($0.reached) },
        .init("remaining", "what is left of the goal") { .optional($0.remaining) },
        .init("percent", "the share of the goal; more than 100 is possible") { .optional($0.percent) },
        .init("met", "whether the goal is met") { .bool($0.met) },
        .init("counts", "whether the day counts") { .bool($0.counts) },
        .init("why", "why not: `weekday`, `paused`, `skipped`, `notStarted`, `enough`") { .optional($0.why) },
        .init("streak", "`length`, `unit` (`days`, `weeks`, `months`), `first` and `last`") { streak($0.streak) },
        .init("longest", "the longest streak, in the same way") { streak($0.longest) },
        .init("strength", "how strong the habit is, 0 to 1") { .number($0.strength) },
        .init("number", "the day's number among those that were met") { .int($0.number) },
        .init("numberThisMonth", "the same within the month") { .int($0.numberThisMonth) },
        .init("countedThisMonth", "how many days count in the month") { .int($0.countedThisMonth) },
        .init("lastAt", "when it was logged last") { .time($0.lastAt) },
        .init("weeklyRate", "of a measure in `today`: how its average changes in a week, by the last three months") {
          .optional($0.weeklyRate)
        },
        .init("direction", "`up`, `down` or `steady`") { .optional($0.direction?.rawValue) },
        .init("goalOn", "the day on which its goal is reached at that rate") { .optional($0.goalOn) },
        .init("fields", "its further measures, each with the latest value") { numbers($0.fields ?? [:]) },
        .init("items", "of a collection in `today`: each `item` that was used on the day, the latest last") {
          .list(($0.items ?? []).map { item.json($0) })
        },
      ])
  }

  static let entry = Shape<Trackers.Entry>(
    list: "entries", item: "entry",
    fields: [
      .init("id", "its number, for `chime entry edit` and `remove`") { .int($0.id) },
      .init("tracker", "the tracker's id") { .string($0.tracker) },
      .init("at", "when it was done") { .time($0.at) },
      .init("day", "the tracker's day that it counts for") { .string($0.day) },
      .init("value", "how much; null for a check") { .optional($0.value) },
      .init("unit", "in which unit") { .optional($0.unit) },
      .init("fields", "further measures, by name") { numbers($0.fields) },
      .init("item", "the item's id") { .optional($0.item) },
      .init("note", "its note") { .optional($0.note) },
      .init("photo", "the name of its photo") { .optional($0.photo) },
      .init("average", "the moving average there; null unless it is a measure") { .optional($0.average) },
      .init("rate", "how the average changes in a week") { .optional($0.rate) },
    ])

  static let item = Shape<Trackers.Item>(
    list: "items", item: "item",
    fields: [
      .init("id", "its id") { .string($0.id) },
      .init("tracker", "the tracker's id") { .string($0.tracker) },
      .init("title", "its title") { .string($0.title) },
      .init("attributes", "such as `brand` and `model`") { texts($0.attributes) },
      .init("since", "the day since which it is there") { .optional($0.since) },
      .init("until", "the day until which it was") { .optional($0.until) },
      .init("note", "its note") { .optional($0.note) },
      .init("photo", "the name of its photo") { .optional($0.photo) },
      .init("entries", "how many entries point at it") { .int($0.entries) },
      .init("lastDay", "the day of the last of them") { .optional($0.lastDay) },
    ])

  static let milestone = Shape<Trackers.Milestone>(
    list: "milestones", item: "milestone",
    fields: [
      .init("id", "its number") { .int($0.id) },
      .init("tracker", "the tracker's id") { .string($0.tracker) },
      .init("day", "its day") { .string($0.day) },
      .init("title", "its title") { .string($0.title) },
      .init("note", "its note") { .optional($0.note) },
      .init("photo", "the name of its photo") { .optional($0.photo) },
      .init("value", "the value that was crossed; null for one that a person set") { .optional($0.value) },
    ])

  static func achievement(_ words: TrackerWords) -> Shape<Trackers.Achievement> {
    Shape(
      list: "achievements", item: "achievement",
      fields: [
        .init("pack", "the pack that brought it") { .string($0.pack) },
        .init("id", "its id") { .string($0.id) },
        .init("title", "its title") { .string(words.local($0.title)) },
        .init("text", "what it takes") { .string(words.local($0.text)) },
        .init("category", "its category") { .optional($0.category) },
        .init("categoryTitle", "what the pack calls the category; null where it says nothing") {
          .optional($0.categoryTitle.map { words.local($0) })
        },
        .init("icon", "its icon") { .optional($0.icon) },
        .init("experience", "the XP it is worth") { .int($0.experience) },
        .init("reached", "how far it has come") { .int($0.reached) },
        .init("target", "how far it has to come") { .int($0.target) },
        .init("unlockedAt", "when it was unlocked; null while it is locked") { .time($0.unlockedAt) },
      ])
  }

  static let level = Shape<Trackers.Level>(
    list: "levels", item: "level",
    fields: [
      .init("pack", "the pack") { .string($0.pack) }, .init("level", "the level, from 1") { .int($0.level) },
      .init("experience", "the XP so far") { .int($0.experience) },
      .init("from", "the XP at which this level began") { .int($0.from) },
      .init("next", "the XP at which the next begins") { .int($0.next) },
    ])

  static let packStreak = Shape<Trackers.PackStreak>(
    list: "streaks", item: "packStreak",
    fields: [
      .init("pack", "the pack") { .string($0.pack) },
      .init("streak", "days running on which one of its trackers at least was met, as of a `standing`") {
        streak($0.streak)
      },
    ])

  static let dayMark = Shape<Trackers.DayMark>(
    list: "week", item: "day",
    fields: [
      .init("day", "the day") { .string($0.day) },
      .init("met", "how many trackers were met") { .int($0.met) },
      .init("due", "how many counted") { .int($0.due) },
      .init("begun", "how many of the others have an entry") { .int($0.begun) },
    ])

  static let dayTotal = Shape<Trackers.DayTotal>(
    list: "days", item: "day",
    fields: [
      .init("day", "the day") { .string($0.day) },
      .init("entries", "its entries") { .int($0.entries) },
      .init("total", "what they add up to") { .optional($0.total) },
      .init("value", "a measure's last value") { .optional($0.value) },
      .init("met", "whether the goal was met") { .bool($0.met) },
      .init("counts", "whether the day counts") { .bool($0.counts) },
      .init("percent", "the share of the goal") { .optional($0.percent) },
      .init("number", "its number among the days that were met") { .optional($0.number) },
      .init("why", "why it does not count") { .optional($0.why) },
    ])

  // MARK: Parts

  static func goal(_ goal: Trackers.Goal?) -> JSONText {
    guard let goal else { return .null }
    return .members([
      "count": .optional(goal.count), "total": .optional(goal.total), "value": .optional(goal.value),
      "period": .string((goal.period ?? .day).rawValue),
    ])
  }

  private static func counting(_ counting: Trackers.Counting) -> JSONText {
    .members([
      "weekdays": counting.weekdays.map { .strings($0) } ?? .null, "times": .optional(counting.times),
      "per": .optional(counting.per?.rawValue), "days": .optional(counting.days),
    ])
  }

  static func range(_ range: Trackers.Range) -> JSONText {
    .members(["from": .optional(range.from), "to": .optional(range.to)])
  }

  static func streak(_ streak: Trackers.Streak) -> JSONText {
    .members([
      "length": .int(streak.length), "unit": .string(streak.unit.rawValue), "first": .optional(streak.first),
      "last": .optional(streak.last),
    ])
  }

  static func numbers(_ numbers: [String: Double]) -> JSONText {
    .object(numbers.sorted { $0.key < $1.key }.map { JSONText.Member(name: $0.key, value: .number($0.value)) })
  }

  static func texts(_ texts: [String: String]) -> JSONText {
    .object(texts.sorted { $0.key < $1.key }.map { JSONText.Member(name: $0.key, value: .string($0.value)) })
  }
}
