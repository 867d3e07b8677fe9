import ChimeCore
import ChimeSchedule

/// TimerImport makes reminders of systemd timers: the time, and the unit to start. It starts nothing.
///
/// The text is the output of `systemctl cat` for the timers and the services that they start.
///
/// Source: systemd.timer(5), systemd.time(7).
public enum TimerImport {
  /// - Throws: ``ExchangeError`` if the text has no timer.
  public static func read(_ text: [UInt8], _ settings: ImportSettings) throws(ExchangeError) -> ImportPlan {
    let files = try UnitFiles(text)
    let timers = files.units.filter { $0.name.hasSuffix(".timer") }
    try need(!timers.isEmpty, line: nil, "it has no timer of systemd: give the output of `systemctl cat NAME.timer`")
    var plan = ImportPlan()
    for timer in timers {
      try Reader(timer: timer, files: files, settings: settings).take(into: &plan)
    }
    return plan
  }

  private struct Reader {
    let timer: UnitFiles.Unit
    let files: UnitFiles
    let settings: ImportSettings
    let service: String
    let title: String
    let body: String

    init(timer: UnitFiles.Unit, files: UnitFiles, settings: ImportSettings) {
      self.timer = timer
      self.files = files
      self.settings = settings
      let base = String(timer.name.dropLast(6))
      let service = timer.value("Unit", in: "Timer") ?? base + ".service"
      let unit = files.units.first { $0.name == service }
      let description = timer.value("Description", in: "Unit") ?? unit?.value("Description", in: "Unit")
      self.service = service
      // Only the service manager can expand specifiers.
      title =
        description.flatMap { $0.utf8.contains(UInt8(ascii: "%")) ? nil : DraftText.line($0) } ?? DraftText.line(base)
        ?? "timer"
      let commands = unit?.list("ExecStart", in: "Service").map(\.value) ?? []
      body = (["Starts \(service)"] + commands).joined(separator: "\n")
    }

    func take(into plan: inout ImportPlan) throws(ExchangeError) {
      guard !timer.name.contains("@.") else {
        plan.remark(timer.line, timer.name, .refused, "it is a template: import its instances, NAME@WHAT.timer")
        return
      }
      let calendars = timer.list("OnCalendar", in: "Timer")
      let repeats = timer.list("OnUnitActiveSec", in: "Timer") + timer.list("OnUnitInactiveSec", in: "Timer")
      var count = 0
      for calendar in calendars {
        if try plan.take(
          "calendar: \(calendar.value)", settings, line: calendar.line, title: title, body: body,
          { finish(&$0, isCalendar: true) })
        {
          count += 1
        }
      }
      for setting in repeats {
        guard let span = Self.span(setting.value), span >= .minutes(1) else {
          plan.remark(
            setting.line, title, .refused,
            "\(setting.name)=\(excerpt(setting.value)) is not a span of a minute or more")
          continue
        }
        // The fixed start makes repeated imports give the same schedule. Days are written in hours, because days of a
        // phrase keep the wall clock and a timer does not.
        let hours = span.rawValue % 86_400_000 == 0 ? "\(span.rawValue / 3_600_000)h" : DurationText.format(span)
        let schedule = "every \(hours) starting 2000-01-01T00:00:00Z"
        if try plan.take(
          schedule, settings, line: setting.line, title: title, body: body, { finish(&$0, isCalendar: false) })
        {
          count += 1
          plan.remark(
            setting.line, title, .note,
            "\(setting.name) counts from when \(service) ran; Chime reads it as every \(hours), on a grid of its own")
        }
      }
      let others = timer.settings.filter { $0.section == "Timer" }
      for name in ["OnBootSec", "OnStartupSec", "OnActiveSec", "OnClockChange", "OnTimezoneChange"] {
        guard let setting = others.last(where: { $0.name == name }), !setting.value.isEmpty,
          !(name.hasSuffix("Change") && !["1", "yes", "true", "on"].contains(setting.value.lowercased()))
        else { continue }
        let why = name.hasSuffix("Change") ? "is not a time" : "counts from a start, which is not a time"
        plan.remark(setting.line, title, count > 0 ? .note : .refused, "\(name) \(why)")
        if count == 0 { return }
      }
      if count > 0, let delay = timer.value("RandomizedDelaySec", in: "Timer"), let span = Self.span(delay),
        span > Reminder.jitters.upperBound
      {
        plan.remark(timer.line, title, .note, "its random delay is cut to 24 hours")
      }
      if calendars.isEmpty, repeats.isEmpty,
        !plan.remarks.contains(where: { $0.line ?? 0 >= timer.line && $0.title == title })
      {
        plan.remark(timer.line, title, .refused, "it has no time: it needs OnCalendar or OnUnitActiveSec")
      }
    }

    private func finish(_ draft: inout ReminderDraft, isCalendar: Bool) {
      let isPersistent = Self.isYes(timer.value("Persistent", in: "Timer"))
      // systemd runs a timer missed during sleep at wake-up, and one missed while it was not running only if it is persistent.
      draft.catchUp = CatchUp(suspend: .latest, downtime: isCalendar && isPersistent ? .latest : .skip)
      if Self.isYes(timer.value("WakeSystem", in: "Timer")) { draft.wake = true }
      if let delay = timer.value("RandomizedDelaySec", in: "Timer"), let span = Self.span(delay), span > .zero {
        draft.jitter = min(span, Reminder.jitters.upperBound)
      }
    }

    private static func isYes(_ value: String?) -> Bool {
      ["1", "yes", "y", "true", "t", "on"].contains(value?.lowercased() ?? "")
    }

    /// Parses `15min`, `1h 30min`, `90` (seconds), `2d` or `1w`. Months and years are refused, because they have no
    /// fixed length.
    ///
    /// Source: systemd.time(7), "Parsing Time Spans".
    static func span(_ text: String) -> Milliseconds? {
      let units: [String: Int64] = [
        "": 1_000, "ms": 1, "msec": 1, "s": 1_000, "sec": 1_000, "second": 1_000, "seconds": 1_000, "m": 60_000,
        "min": 60_000, "minute": 60_000, "minutes": 60_000, "h": 3_600_000, "hr": 3_600_000, "hour": 3_600_000,
        "hours": 3_600_000, "d": 86_400_000, "day": 86_400_000, "days": 86_400_000, "w": 604_800_000,
        "week": 604_800_000, "weeks": 604_800_000,
      ]
      var rest = text[...].drop { $0 == " " }
      var total: Int64 = 0
      guard !rest.isEmpty else { return nil }
      while !rest.isEmpty {
        let figures = rest.prefix { $0.isASCII && $0.isNumber }
        guard !figures.isEmpty, figures.count <= 10, let number = Int64(figures) else { return nil }
        rest = rest[figures.endIndex...].drop { $0 == " " }
        let word = rest.prefix { $0.isASCII && $0.isLetter }
        rest = rest[word.endIndex...].drop { $0 == " " }
        guard let unit = units[String(word)] else { return nil }
        let (part, tooLong) = number.multipliedReportingOverflow(by: unit)
        let (sum, overflow) = total.addingReportingOverflow(part)
        guard !tooLong, !overflow else { return nil }
        total = sum
      }
      return total <= Milliseconds.days(3_660).rawValue ? Milliseconds(rawValue: total) : nil
    }
  }
}
