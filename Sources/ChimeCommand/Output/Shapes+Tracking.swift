import ChimeControl

/// The shapes of what verbs of trackers answer with, made of those of trackers.
extension Shapes {
  static func change(_ words: TrackerWords) -> Shape<Trackers.Change> {
    Shape(
      list: "changes", item: "change",
      fields: [
        .init("entry", "the `entry`") { $0.entry.map { entry.json($0) } ?? .null },
        .init("standing", "the `standing` of its tracker on its day, afterwards") {
          $0.standing.map { standing(words).json($0) } ?? .null
        },
        .init("goalMet", "whether the goal was met by it") { .bool($0.goalMet) },
        .init("unlocked", "a list of each `achievement` that it unlocked") {
          .list($0.unlocked.map { achievement(words).json($0) })
        },
        .init("milestones", "a list of each `milestone` that was crossed") {
          .list($0.milestones.map { milestone.json($0) })
        },
        .init("levelUp", "the `level` that was reached; null when none was") {
          $0.levelUp.map { level.json($0) } ?? .null
        },
      ])
  }

  /// A change on one line, for `--plain`.
  static let changeLine = Shape<Trackers.Change>(
    list: "changes", item: "change",
    fields: [
      .init("id", "") { .optional($0.entry?.id) },
      .init("tracker", "") { .optional($0.standing?.tracker.id ?? $0.entry?.tracker) },
      .init("day", "") { .optional($0.entry?.day) },
      .init("value", "") { .optional($0.entry?.value) },
      .init("unit", "") { .optional($0.entry?.unit) },
      .init("item", "") { .optional($0.entry?.item) },
      .init("reached", "") { .optional($0.standing?.reached) },
      .init("remaining", "") { .optional($0.standing?.remaining) },
      .init("percent", "") { .optional($0.standing?.percent) },
      .init("met", "") { .bool($0.standing?.met ?? false) },
      .init("streak", "") { .optional($0.standing?.streak.length) },
      .init("unlocked", "") { .strings($0.unlocked.map(\.id)) },
      .init("milestones", "") { .strings($0.milestones.map(\.title)) },
      .init("level", "") { .optional($0.levelUp?.level) },
    ])

  static func day(_ words: TrackerWords) -> Shape<Trackers.DayView> {
    Shape(
      list: "days", item: "day",
      fields: [
        .init("day", "the day") { .string($0.day) },
        .init(
          "mood",
          "`kind` (`noHabits`, `notStarted`, `lightDay`, `productiveDay`, `perfectDay`), `title`, `message`, `next`"
        ) {
          .members([
            "kind": .string($0.mood.kind.rawValue), "title": .string(words.local($0.mood.title)),
            "message": .string(words.local($0.mood.message)), "next": .string(words.local($0.mood.next)),
          ])
        },
        .init(
          "quote",
          "the day's: `text`, `language`, `translation`, `source`, `category`, `categoryTitle`; null without one"
        ) {
          $0.quote.map { quote($0, words) } ?? .null
        },
        .init("standings", "a list of a `standing` for each tracker") {
          .list($0.standings.map { standing(words).json($0) })
        },
        .init("nextAchievement", "the `achievement` that is nearest; null when there is none") {
          $0.nextAchievement.map { achievement(words).json($0) } ?? .null
        },
        .init("levels", "a list of a `level` for each pack") { .list($0.levels.map { level.json($0) }) },
        .init("streaks", "a list of a `packStreak` for each pack that has several trackers") {
          .list($0.streaks.map { packStreak.json($0) })
        },
        .init("week", "the seven days up to this one: a list of `day`, `met` and `due`") {
          .list($0.week.map { dayMark.json($0) })
        },
      ])
  }

  private static func quote(_ quote: Trackers.Quote, _ words: TrackerWords) -> JSONText {
    .members([
      "text": .string(quote.text), "language": .string(quote.language),
      "translation": .optional(quote.translation.map { words.local($0) }), "source": .string(quote.source),
      "category": .string(quote.category),
      "categoryTitle": .optional(quote.categoryTitle.map { words.local($0) }),
    ])
  }

  static func statistics(_ words: TrackerWords) -> Shape<Trackers.Statistics> {
    Shape(
      list: "statistics", item: "statistics",
      fields: [
        .init("tracker", "the `tracker`") { tracker(words).json($0.tracker) },
        .init("range", "`from` and `to`") { range($0.range) },
        .init("entries", "how many entries") { .int($0.entries) },
        .init("total", "what they add up to") { .optional($0.total) },
        .init("dailyAverage", "of the days with an entry") { .optional($0.dailyAverage) },
        .init("first", "`day` and `value`") { point($0.first) }, .init("last", "`day` and `value`") { point($0.last) },
        .init("least", "`day` and `value`") { point($0.least) },
        .init("most", "`day` and `value`") { point($0.most) },
        .init("points", "day by day: a list of `day` and `value`") { .list($0.points.map { point($0) }) },
        .init("averages", "the moving average, in the same way") { .list($0.averages.map { point($0) }) },
        .init("averageDays", "over how many days") { .int($0.averageDays) },
        .init("weeklyRate", "how the average changes in a week") { .optional($0.weeklyRate) },
        .init("direction", "`up`, `down` or `steady`") { .optional($0.direction?.rawValue) },
        .init("trend", "the slope of the line through the points, a week") { .optional($0.trend) },
        .init(
          "prediction",
          "the forecast of a measure, the same for every range up to today: the next 14 days, a list of `day`, `value`, `low` and "
            + "`high` (95 percent)"
        ) {
          .list(
            $0.prediction.map {
              .members([
                "day": .string($0.day), "value": .number($0.value), "low": .number($0.low), "high": .number($0.high),
              ])
            })
        },
        .init("goalOn", "the day on which the goal is reached by the forecast") { .optional($0.goalOn) },
        .init("weeks", "a list of `from`, `to`, `entries`, `total`, `average`, `met`, `due`") {
          .list($0.weeks.map { period($0) })
        },
        .init("months", "the same by month") { .list($0.months.map { period($0) }) },
        .init("metDays", "days on which the goal was met") { .int($0.metDays) },
        .init("dueDays", "days that counted") { .int($0.dueDays) },
        .init("streak", "as of a `standing`") { streak($0.streak) },
        .init("longest", "as of a `standing`") { streak($0.longest) },
        .init("packStreak", "over all trackers of its pack, days with one of them met at least; null for one alone") {
          $0.packStreak.map { streak($0) } ?? .null
        },
        .init("strength", "how strong the habit is, 0 to 1") { .number($0.strength) },
        .init("evenness", "how evenly the items are used, 0 to 100; null without items") { .optional($0.evenness) },
        .init("items", "a list of each `item`, with its entries in the range") {
          .list($0.items.map { item.json($0) })
        },
        .init("lacking", "what there is too little of to say more: `noEntries`, `oneDay`, `noGoal`") {
          .strings($0.lacking)
        },
      ])
  }

  private static func point(_ point: Trackers.Point?) -> JSONText {
    point.map { .members(["day": .string($0.day), "value": .number($0.value)]) } ?? .null
  }

  private static func period(_ period: Trackers.Period) -> JSONText {
    .members([
      "from": .string(period.from), "to": .string(period.to), "entries": .int(period.entries),
      "total": .optional(period.total), "average": .optional(period.average), "met": .int(period.met),
      "due": .int(period.due),
    ])
  }

  static func pack(_ words: TrackerWords) -> Shape<Trackers.Pack> {
    Shape(
      list: "packs", item: "pack",
      fields: [
        .init("id", "its name") { .string($0.id) },
        .init("title", "its title") { .string(words.local($0.title)) },
        .init("text", "what it is for") { .string(words.local($0.text)) },
        .init("version", "its version") { .int($0.version) },
        .init("icon", "its icon") { .optional($0.icon) },
        .init("installedAt", "when it was installed; null while it is not") { .time($0.installedAt) },
        .init("shipped", "whether it comes with Chime") { .bool($0.shipped) },
        .init("trackers", "the ids of its trackers") { .strings($0.trackers.map(\.id)) },
        .init("reminders", "a list of `key`, `title`, `when`, `tracker`, `optional` and `id`") {
          .list(
            $0.reminders.map {
              .members([
                "key": .string($0.key), "title": .string(words.local($0.title)), "when": .string($0.when),
                "tracker": .string($0.tracker), "optional": .bool($0.optional), "id": .optional($0.id),
              ])
            })
        },
        .init("achievements", "how many it has") { .int($0.achievements) },
        .init(
          "choices", "the goals that it offers, by tracker: `least`, `most`, `step` and `presets`, those that are usual"
        ) {
          .object(
            $0.choices.sorted { $0.key < $1.key }.map { choice in
              JSONText.Member(
                name: choice.key,
                value: .members([
                  "least": .number(choice.value.least), "most": .number(choice.value.most),
                  "step": .number(choice.value.step),
                  "presets": .list((choice.value.presets ?? []).map { .number($0) }),
                ]))
            })
        },
        .init("milestoneSteps", "the steps of milestones that it offers, by tracker: a list of `unit` and `steps`") {
          .object(
            Dictionary(grouping: $0.milestoneSteps ?? [], by: \.tracker).sorted { $0.key < $1.key }.map { offer in
              JSONText.Member(
                name: offer.key,
                value: .list(
                  offer.value.map {
                    .members(["unit": .string($0.unit), "steps": .list($0.steps.map { .number($0) })])
                  }))
            })
        },
      ])
  }

  static let fault = Shape<Wire.Fault>(
    list: "faults", item: "fault",
    fields: [
      .init("file", "the file") { .string($0.file) }, .init("line", "the line, from 1") { .int($0.line) },
      .init("column", "the column, from 1") { .int($0.column) }, .init("key", "the key") { .string($0.key) },
      .init("message", "what is wrong") { .string($0.message) },
    ])

  static let undoable = Shape<Trackers.Undoable>(
    list: "changes", item: "undone",
    fields: [
      .init("id", "its number") { .int($0.id) }, .init("at", "when it was made") { .time($0.at) },
      .init(
        "kind",
        "`logged`, `edited`, `removed`, `removedAll`, `tracker`, `item`, `milestone`, `pack`, `imported`, `restored`, "
          + "`reminderAdded`, `reminderEdited`, `reminderRemoved`, `reminderPaused`, `reminderResumed`, `reminderSkipped`, "
          + "`reminderMoved`, `reminderDone`, `reminderSnoozed`, `reminderDismissed`, `remindersImported`, `setApplied`, "
          + "`endpointAdded`, `endpointEdited`, `endpointRemoved`, `silenced`, `silenceEnded`, `startedOver`; more may come"
      ) { .string($0.kind) },
      .init("tracker", "the tracker's id") { .optional($0.tracker) },
      .init("subject", "what was changed, in a few words") { .string($0.subject) },
    ])

  static let contents = Shape<Trackers.Contents>(
    list: "backups", item: "contents",
    fields: [
      .init("trackers", "how many trackers") { .int($0.trackers) },
      .init("entries", "how many entries") { .int($0.entries) }, .init("items", "how many items") { .int($0.items) },
      .init("milestones", "how many milestones") { .int($0.milestones) },
      .init("packs", "how many packs") { .int($0.packs) },
      .init("unlocks", "how many achievements are unlocked") { .int($0.unlocks) },
      .init("photos", "how many photos") { .int($0.photos) },
      .init("reminders", "how many reminders") { .int($0.reminders) },
      .init("endpoints", "how many endpoints") { .int($0.endpoints) },
      .init("occurrences", "how many times that have come") { .int($0.occurrences) },
      .init("secrets", "how many endpoints have their secrets in it, encrypted") { .int($0.secrets) },
      .init("configuration", "how many files of the configuration") { .int($0.configuration) },
      .init("madeAt", "when the backup was made") { .time($0.madeAt) },
    ])
}
