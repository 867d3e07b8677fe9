import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime tracker pause|resume|skip`: days that neither break a streak nor add to it.
extension TrackerVerbs {
  static let pause = Verb(
    name: "pause", group: .keep, arguments: ["TRACKER"],
    summary: "Pause a tracker for some days, such as a vacation",
    details: [
      "The paused days neither break a streak nor add to it, and the tracker's reminders do not ring. The pause "
        + "begins today unless --from is given, and lasts until `chime tracker resume` unless --to is given."
    ],
    options: [
      .value("from", nil, "DAY", "The first day of the pause, in the past or the future"),
      .value("to", nil, "DAY", "The last day of the pause"),
    ],
    examples: [
      "chime tracker pause reading --from 2026-07-04 --to 2026-07-18",
      .init(command: "chime tracker pause running", remark: "from today on"),
    ],
    alsoTried: ["vacation", "rest", "holiday", "stop"], json: "`tracker`", run: runPause)

  static let resume = Verb(
    name: "resume", group: .keep, arguments: ["TRACKER"], summary: "End a pause: today counts again",
    examples: ["chime tracker resume reading"], alsoTried: ["unpause", "continue"], json: "`tracker`",
    run: runResume)

  static let skip = Verb(
    name: "skip", group: .keep, arguments: ["TRACKER"], summary: "Skip a day: it does not break a streak",
    details: [
      "If the tracker has a budget of skips (--skips of `chime tracker edit`), the skip counts for that day's month."
    ],
    options: [
      .value("day", nil, "DAY", "Another day than today, such as yesterday or 2026-03-01"),
      .flag("back", nil, "Undo a skip"),
    ],
    examples: ["chime tracker skip running", "chime tracker skip running --day yesterday"],
    alsoTried: ["pass"], json: "`tracker`", run: runSkip)

  private static func runPause(_ context: Context) throws -> ExitCode {
    let tracker = try TrackerArgument.one(context.line.words, context)
    let today = try context.today()
    let from = try context.line.value("from").map { try anyDay($0, "from", today) } ?? today.description
    let to = try context.line.value("to").map { try anyDay($0, "to", today) }
    if let to, to < from { throw Failure.usage(localized("the pause ends before it begins")) }
    var draft = TrackersInterface.TrackerDraft(id: tracker.id)
    draft.pauses = joined(tracker.pauses + [TrackersInterface.Range(from: from, to: to)])
    return try put(draft, context)
  }

  /// Sorts pauses and merges those that overlap or touch.
  static func joined(_ pauses: [TrackersInterface.Range]) -> [TrackersInterface.Range] {
    let sorted = pauses.sorted { ($0.from ?? "") < ($1.from ?? "") }
    return sorted.reduce(into: []) { result, pause in
      guard let last = result.last else { return result.append(pause) }
      let reach = last.to.map { CivilDate($0)?.adding(days: 1)?.description ?? $0 }
      guard reach.map({ $0 >= pause.from ?? "" }) ?? true else { return result.append(pause) }
      if let end = last.to, pause.to.map({ $0 > end }) ?? true { result[result.count - 1].to = pause.to }
    }
  }

  private static func runResume(_ context: Context) throws -> ExitCode {
    let tracker = try TrackerArgument.one(context.line.words, context)
    let today = try context.today()
    guard let yesterday = today.adding(days: -1)?.description else { return .failed }
    let isPaused = tracker.pauses.contains { ($0.from ?? "") <= today.description && $0.to ?? "9" >= today.description }
    guard isPaused else {
      let coming = tracker.pauses.last { ($0.from ?? "") > today.description }
      throw Failure.failed(
        localized("%1 is not paused today", tracker.id),
        hint: coming.map { localized("its next pause begins on %1", $0.from ?? "") })
    }
    var draft = TrackersInterface.TrackerDraft(id: tracker.id)
    draft.pauses = tracker.pauses.compactMap { pause in
      guard (pause.from ?? "") <= today.description, pause.to ?? "9" >= today.description else { return pause }
      guard (pause.from ?? "") <= yesterday else { return nil }
      return TrackersInterface.Range(from: pause.from, to: yesterday)
    }
    return try put(draft, context)
  }

  private static func runSkip(_ context: Context) throws -> ExitCode {
    let tracker = try TrackerArgument.one(context.line.words, context)
    let day = try trackerDay(tracker, context)
    var draft = TrackersInterface.TrackerDraft(id: tracker.id)
    if context.line.has("back") {
      try need(
        tracker.skips.contains(day),
        failed: localized("%1 was not skipped on %2", tracker.id, context.trackerWords.date(day)))
      draft.skips = tracker.skips.filter { $0 != day }
      return try put(draft, context)
    }
    try need(
      !tracker.skips.contains(day),
      failed: localized("%1 is skipped on %2 already", tracker.id, context.trackerWords.date(day)),
      hint: localized("--back undoes the skip"))
    if let budget = tracker.skipsEachMonth {
      let used = tracker.skips.count { $0.prefix(7) == day.prefix(7) }
      try need(
        used < budget,
        failed: localized(
          count: budget, "the %n skip of that month is used up", "the %n skips of that month are used up"),
        hint: localized("`chime tracker edit %1 --skips N` allows more", tracker.id))
    }
    draft.skips = (tracker.skips + [day]).sorted()
    return try put(draft, context)
  }

  /// Returns `--day`, or the tracker's current day, which is yesterday before its start of day.
  private static func trackerDay(_ tracker: TrackersInterface.Tracker, _ context: Context) throws -> String {
    let civil = try context.localZone().civil(at: context.now)
    if let text = context.line.value("day") { return try anyDay(text, "day", civil.date) }
    if let start = CivilTime(tracker.dayStartsAt), civil.time < start {
      return (civil.date.adding(days: -1) ?? civil.date).description
    }
    return civil.date.description
  }

  /// Parses a day that may be in the future, such as `tomorrow`.
  static func anyDay(_ text: String, _ option: String, _ today: CivilDate) throws -> String {
    if trimmed(text).lowercased() == "tomorrow", let day = today.adding(days: 1) { return day.description }
    return try PastMoment.day(text, option: option, today: today)
  }
}
