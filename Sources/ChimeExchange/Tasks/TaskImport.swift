import ChimeCore
import ChimeSchedule

/// TaskImport makes reminders of taskwarrior's tasks: one at the due date of each.
///
/// The text is the output of `task export`. A recurring task becomes a recurring reminder, and the tasks that
/// taskwarrior generated from it are skipped.
///
/// Source: taskwarrior's JSON format ("RFC" in its documentation), task(1) of taskwarrior 2.6.2, "Recurrence".
public enum TaskImport {
  /// - Throws: ``ExchangeError`` if the text is not a list of tasks.
  public static func read(_ text: [UInt8], _ settings: ImportSettings) throws(ExchangeError) -> ImportPlan {
    try need(
      text.count <= CrontabImport.maximumLength, line: nil,
      "the text is longer than \(CrontabImport.maximumLength >> 20) MiB")
    guard let tasks = try PlainJSON(text).list else {
      throw ExchangeError(line: 1, "expected a list of tasks, as `task export` prints it")
    }
    var plan = ImportPlan()
    for task in tasks {
      guard case .object(_, let line) = task, let description = task["description"]?.text else {
        throw ExchangeError(line: nil, "expected tasks in the list, each an object with a description")
      }
      try take(task, line, DraftText.line(description) ?? "task", settings, into: &plan)
    }
    return plan
  }

  private static func take(
    _ task: PlainJSON, _ line: Int, _ title: String, _ settings: ImportSettings, into plan: inout ImportPlan
  ) throws(ExchangeError) {
    let status = task["status"]?.text ?? "pending"
    switch status {
    case "completed", "deleted":
      plan.remark(line, title, .closed, status == "completed" ? "it is done" : "it is deleted")
      return
    default:
      // The recurring task itself covers the tasks generated from it.
      if task["parent"] != nil { return }
    }
    guard let due = task["due"]?.text else {
      plan.remark(line, title, .refused, "it has no due date")
      return
    }
    guard let instant = instant(due) else {
      plan.remark(
        line, title, .refused,
        "its due date \"\(excerpt(due))\" is not a date of taskwarrior, such as 20261224T170000Z")
      return
    }
    let zone = settings.scheduleContext.zone
    let wall = zone.civil(at: instant)
    // A date without a time is stored as midnight.
    let time = wall.time == .midnight ? settings.allDayAt : wall.time
    var schedule = "at \(wall.date) \(time)"
    if let recurrence = task["recur"]?.text {
      guard let rule = TaskRecurrence(recurrence)?.rule else {
        plan.remark(line, title, .refused, "Chime does not read its recurrence \"\(excerpt(recurrence))\"")
        return
      }
      schedule = "DTSTART:\(compact(wall.date))T\(compact(time)) RRULE:\(rule)"
      if let until = task["until"]?.text.flatMap(Self.instant) {
        let last = zone.civil(at: until)
        schedule += ";UNTIL=\(compact(last.date))T\(compact(last.time))"
      }
    }
    var paragraphs: [String] = []
    for note in task["annotations"]?.list ?? [] { if let text = note["description"]?.text { paragraphs.append(text) } }
    let names = (task["tags"]?.list ?? []).compactMap(\.text) + [task["project"]?.text].compactMap { $0 }
    var tags: [String] = []
    for name in names {
      if let tag = DraftText.line(name, maximum: DraftText.maximumTag), !tags.contains(tag) { tags.append(tag) }
    }
    let isLow = task["priority"]?.text == "L"
    try plan.take(schedule, settings, line: line, title: title, body: paragraphs.joined(separator: "\n")) { draft in
      draft.tags = Array(tags.prefix(DraftText.maximumTags))
      if isLow { draft.urgency = .low }
    }
  }

  /// Parses `20261224T170000Z`.
  static func instant(_ text: String) -> Instant? {
    let bytes = Array(text.utf8)
    guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      bytes[range].allSatisfy { (0x30...0x39).contains($0) } ? Int(String(decoding: bytes[range], as: UTF8.self)) : nil
    }
    guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
      let minute = number(11..<13), let second = number(13..<15),
      let date = CivilDate(year: year, month: month, day: day),
      let time = CivilTime(hour: hour, minute: minute, second: second)
    else { return nil }
    return try? RFC3339.parse("\(date)T\(full(time))Z")
  }

  private static func full(_ time: CivilTime) -> String {
    let text = time.description
    return text.utf8.count == 5 ? text + ":00" : text
  }

  private static func compact(_ date: CivilDate) -> String { date.description.filter { $0 != "-" } }
  private static func compact(_ time: CivilTime) -> String { full(time).filter { $0 != ":" } }
}

/// A TaskRecurrence is the recurrence of a task.
struct TaskRecurrence: Equatable {
  var rule: String

  private static let words: [String: String] = [
    "daily": "FREQ=DAILY", "day": "FREQ=DAILY", "weekdays": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "weekly": "FREQ=WEEKLY",
    "sennight": "FREQ=WEEKLY", "biweekly": "FREQ=WEEKLY;INTERVAL=2", "fortnight": "FREQ=WEEKLY;INTERVAL=2",
    "monthly": "FREQ=MONTHLY",
    "month": "FREQ=MONTHLY", "bimonthly": "FREQ=MONTHLY;INTERVAL=2", "quarterly": "FREQ=MONTHLY;INTERVAL=3",
    "semiannual": "FREQ=MONTHLY;INTERVAL=6", "annual": "FREQ=YEARLY", "yearly": "FREQ=YEARLY",
    "biannual": "FREQ=YEARLY;INTERVAL=2",
    "biyearly": "FREQ=YEARLY;INTERVAL=2", "hourly": "FREQ=HOURLY",
  ]
  /// The units after a number, or after `P` and a number.
  private static let units: [(names: [String], frequency: String, factor: Int)] = [
    (["h", "hr", "hrs", "hour", "hours"], "HOURLY", 1), (["d", "day", "days"], "DAILY", 1),
    (["w", "wk", "wks", "week", "weeks"], "WEEKLY", 1),
    (["mo", "mos", "mth", "mths", "mnths", "month", "months"], "MONTHLY", 1),
    (["q", "qtr", "qtrs", "qrtrs", "quarter", "quarters"], "MONTHLY", 3),
    (["y", "yr", "yrs", "year", "years"], "YEARLY", 1),
  ]

  init?(_ text: String) {
    let text = text.lowercased()
    if let rule = Self.words[text] {
      self.rule = rule
      return
    }
    let isISO = text.hasPrefix("p")
    var rest = isISO ? text.dropFirst() : text[...]
    let isTime = isISO && rest.first == "t"
    if isTime { rest = rest.dropFirst() }
    let figures = rest.prefix { $0.isASCII && $0.isNumber }
    guard figures.count <= 5, let number = figures.isEmpty && !isISO ? 1 : Int(figures), number > 0 else { return nil }
    var unit = String(rest[figures.endIndex...])
    // In ISO 8601, M before the T means months.
    if isISO, unit == "m", !isTime { unit = "mo" }
    guard !unit.isEmpty, isISO ? isTime == (unit == "h") : true,
      let known = Self.units.first(where: { $0.names.contains(unit) })
    else { return nil }
    let interval = number * known.factor
    rule = "FREQ=\(known.frequency)" + (interval == 1 ? "" : ";INTERVAL=\(interval)")
  }
}
