import ChimeSchedule

/// CrontabImport makes reminders of the jobs of a crontab: the time, and the command. It runs nothing.
///
/// `docs/exchange.md` says what is imported and what is not.
///
/// Source: crontab(5) of Debian's cron 3.0pl1; `CRON_TZ` as in cronie.
public enum CrontabImport {
  /// The longest text that is read, in bytes.
  static let maximumLength = 16 << 20

  /// - Parameter hasUsers: Whether a user precedes each command, as in `/etc/crontab` and `/etc/cron.d`.
  /// - Throws: ``ExchangeError`` if no line of the text belongs to a crontab, or it asks for too many reminders.
  public static func read(_ text: [UInt8], _ settings: ImportSettings, hasUsers: Bool = false) throws(ExchangeError)
    -> ImportPlan
  {
    try need(text.count <= maximumLength, line: nil, "the text is longer than \(maximumLength >> 20) MiB")
    var reader = Reader(settings: settings, hasUsers: hasUsers)
    var number = 0
    var rest = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text[3...] : text[...]
    while !rest.isEmpty {
      number += 1
      let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
      var line = rest[..<end]
      if line.last == 0x0D { line.removeLast() }
      try reader.take(Array(line.drop { $0 == 0x20 || $0 == 0x09 }), number)
      rest = rest[min(end + 1, rest.endIndex)...]
    }
    if reader.lawful == 0, let first = reader.plan.remarks.first {
      throw ExchangeError(line: first.line, "this is not a crontab: \(first.message)")
    }
    return reader.plan
  }

  /// A Reader keeps the state that earlier lines set for later ones.
  private struct Reader {
    let settings: ImportSettings
    let hasUsers: Bool
    var plan = ImportPlan()
    /// The number of valid lines.
    var lawful = 0
    private var title: String?
    private var zone: Zone?
    /// The zone of CRON_TZ if the machine lacks it.
    private var missingZone: String?

    init(settings: ImportSettings, hasUsers: Bool) {
      self.settings = settings
      self.hasUsers = hasUsers
    }

    /// Reads a line without leading blanks.
    mutating func take(_ line: [UInt8], _ number: Int) throws(ExchangeError) {
      if line.isEmpty {
        title = nil
      } else if line[0] == UInt8(ascii: "#") {
        switch CrontabComment(line) {
        case .title(let text): title = text
        case .legend: title = nil
        case .other: break
        }
      } else if let variable = CrontabVariable(line) {
        lawful += 1
        set(variable, number)
      } else {
        try takeJob(line, number)
        title = nil
      }
    }

    private mutating func set(_ variable: CrontabVariable, _ number: Int) {
      switch variable.name {
      case "CRON_TZ":
        missingZone = nil
        zone = nil
        guard !variable.value.isEmpty else { return }
        zone = Zone.isValidIdentifier(variable.value) ? settings.scheduleContext.zone(known: variable.value) : nil
        if zone == nil { missingZone = excerpt(variable.value) }
      case "TZ":
        plan.remark(
          number, nil, .note,
          "TZ is the clock of the commands and does not change when they run (CRON_TZ does); it is skipped")
      default: break
      }
    }

    private mutating func takeJob(_ line: [UInt8], _ number: Int) throws(ExchangeError) {
      if Self.isReboot(line) {
        lawful += 1
        plan.remark(number, title, .refused, "@reboot means the start of the machine, which is not a time")
        return
      }
      let time: CrontabTime
      do {
        time = try CrontabTime(line: line)
      } catch {
        plan.remark(number, title, .refused, error.message)
        return
      }
      lawful += 1
      var command = line[time.commandStart...]
      var user: String?
      if hasUsers {
        let word = command.prefix { $0 != 0x20 && $0 != 0x09 }
        user = DraftText.line(String(decoding: word, as: UTF8.self))
        command = command[word.endIndex...].drop { $0 == 0x20 || $0 == 0x09 }
      }
      let job = CrontabCommand(command)
      guard let name = title ?? DraftText.line(job.command, maximum: CrontabCommand.longestTitle) else {
        plan.remark(
          number, title, .refused,
          hasUsers ? "the user and the command are missing after the time" : "the command is missing")
        return
      }
      if let missingZone {
        plan.remark(number, name, .refused, "this machine has no time zone \"\(missingZone)\" (CRON_TZ)")
        return
      }
      var paragraphs = [job.command]
      if let user { paragraphs.append("User: \(user)") }
      if let input = job.input { paragraphs.append("Input:\n\(input)") }
      let schedule: Schedule
      do {
        schedule = try settings.schedule(time.schedule.canonical, in: zone)
      } catch .refused(let reason) {
        plan.remark(number, name, .refused, reason)
        return
      } catch {
        plan.remark(number, name, .past, "it has no future time")
        return
      }
      try plan.add(
        ReminderDraft(
          line: number, title: name, body: DraftText.body(paragraphs.joined(separator: "\n\n")), schedule: schedule,
          timezone: zone?.identifier))
    }

    private static func isReboot(_ line: [UInt8]) -> Bool {
      let word = line.prefix(16).prefix { $0 != 0x20 && $0 != 0x09 }
      return CalendarFile.capitals(String(decoding: word, as: UTF8.self)) == "@REBOOT"
    }
  }
}
