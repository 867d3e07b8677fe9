import ChimeSchedule

/// RemindImport makes reminders of the simple lines of remind's scripts, and reports the others.
///
/// `docs/exchange.md` says what is imported. Source: remind(1) of remind 4.2.2.
public enum RemindImport {
  /// - Throws: ``ExchangeError`` if no line of the text belongs to a remind script.
  public static func read(_ text: [UInt8], _ settings: ImportSettings) throws(ExchangeError) -> ImportPlan {
    var reader = Reader(settings: settings)
    var (number, held) = (0, (line: 0, text: ""))
    for line in try PlainLines(text) {
      number += 1
      if held.text.isEmpty { held.line = number }
      if line.hasSuffix("\\") {
        held.text += line.dropLast()
        continue
      }
      let whole = held.text + line
      held.text = ""
      try reader.take(trimmed(whole[...]), held.line)
    }
    if !held.text.isEmpty { try reader.take(trimmed(held.text[...]), held.line) }
    if reader.lawful == 0, let first = reader.plan.remarks.first {
      throw ExchangeError(line: first.line, "this is not a script of remind: \(first.message)")
    }
    return reader.plan
  }

  private static let commands: Set<String> = [
    "SET", "UNSET", "FSET", "FUNSET", "PRESERVE", "OMIT", "PUSH-OMIT-CONTEXT", "POP-OMIT-CONTEXT", "CLEAR-OMIT-CONTEXT",
    "IF", "IFTRIG", "ELSE",
    "ENDIF", "INCLUDE", "INCLUDER", "DO", "SYSINCLUDE", "INCLUDECMD", "BANNER", "DEBUG", "DUMP", "DUMPVARS", "ERRMSG",
    "EXIT", "FLUSH", "PUSH",
    "POP", "CLEAR", "RETURN", "TRANSLATE", "EXPR", "NOQUEUE", "MAYBE-UNCOMPUTABLE",
  ]

  private struct Reader {
    let settings: ImportSettings
    var plan = ImportPlan()
    /// The number of lines that belong to remind.
    var lawful = 0

    init(settings: ImportSettings) { self.settings = settings }

    mutating func take(_ line: String, _ number: Int) throws(ExchangeError) {
      guard let first = line.first, first != "#", first != ";" else { return }
      var rest = line[...]
      let word = (RemindLine.word(&rest) ?? "").uppercased()
      if RemindImport.commands.contains(word) {
        lawful += 1
        // Skip banners and similar commands silently, because no reminder is lost.
        if !["BANNER", "DEBUG", "FLUSH", "DUMP", "DUMPVARS"].contains(word) {
          plan.remark(number, nil, .refused, "\(word) is a part of remind's language that Chime does not read")
        }
        return
      }
      let found: RemindLine
      do {
        found = try RemindLine(word == "REM" ? rest : line[...])
      } catch {
        if word == "REM" { lawful += 1 }
        plan.remark(number, nil, .refused, error.message)
        return
      }
      lawful += 1
      guard !["PS", "PSFILE", "SPECIAL"].contains(found.kind) else {
        plan.remark(number, nil, .refused, "\(found.kind) draws into remind's own calendars")
        return
      }
      guard let title = DraftText.line(RemindText.plain(found.text)) else {
        plan.remark(number, nil, .refused, "expected a text after \(found.kind)")
        return
      }
      do {
        try add(found, number, title)
      } catch let error as ExchangeError {
        throw error
      } catch let refusal as RemindLine.Refusal {
        plan.remark(number, title, .refused, refusal.message)
      } catch {}
    }

    private mutating func add(_ line: RemindLine, _ number: Int, _ title: String) throws {
      guard !line.text.utf8.contains(UInt8(ascii: "[")) || line.kind == "RUN" else {
        throw RemindLine.Refusal("its text has an expression of remind")
      }
      let when = try RemindSchedule(line, allDayAt: settings.allDayAt)
      func finish(_ draft: inout ReminderDraft) {
        draft.tags = line.tags.flatMap { $0.split(separator: ",") }.compactMap {
          DraftText.line(String($0), maximum: DraftText.maximumTag)
        }
      }
      let body = line.kind == "RUN" ? "Runs: \(line.text)" : nil
      guard try plan.take(when.text(), settings, line: number, title: title, body: body, finish) else { return }
      if let days = line.daysAhead, days > 0 {
        try plan.take(when.text(ahead: "P\(days)D"), settings, line: number, title: title, body: body, finish)
        if days > 1 {
          plan.remark(
            number, title, .note,
            "remind shows it on each of the \(days) days before; Chime takes the first of them and the day itself")
        }
      }
      if let minutes = line.minutesAhead, minutes > 0, line.time != nil {
        try plan.take(when.text(ahead: "PT\(minutes)M"), settings, line: number, title: title, body: body, finish)
        if let apart = line.minutesApart, apart > 0 {
          plan.remark(
            number, title, .note,
            "the repeats every \(apart) minutes before it are left out; --nag repeats a reminder")
        }
      }
      if line.kind == "RUN" { plan.remark(number, title, .note, "Chime reminds of it, and does not run it") }
    }
  }
}

/// A RemindSchedule is the schedule of a line of remind.
struct RemindSchedule {
  let line: RemindLine
  let time: CivilTime

  private static let names = ["", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  init(_ line: RemindLine, allDayAt: CivilTime) throws(RemindLine.Refusal) {
    self.line = line
    time = line.time ?? allDayAt
    if line.every != nil, first == nil {
      throw .init("* needs a whole date from which it repeats")
    }
    if line.isDayBefore, line.day != 1 || line.month != nil || line.year != nil || !line.weekdays.isEmpty {
      throw .init("- counts back from its date, which Chime reads only for the last day of a month: 1 -1")
    }
    if !line.weekdays.isEmpty, let day = line.day, day > 22, !(day == 23 && line.month.map { $0 != 2 } == true),
      first == nil
    {
      throw .init("the weekday may fall in the next month")
    }
    if line.day == nil, line.year != nil, line.every != nil { throw .init("* needs a whole date to repeat from") }
  }

  /// The date of a line with a complete date. With weekdays it is the first of these on or after it.
  private var first: CivilDate? {
    guard let year = line.year, let month = line.month, let day = line.day,
      let date = CivilDate(year: year, month: month, day: day)
    else { return nil }
    guard !line.weekdays.isEmpty else { return date }
    return (0..<7).lazy.compactMap { CivilDate(dayNumber: Int(date.dayNumber) + $0) }
      .first { line.weekdays.contains(Self.number(of: $0)) }
  }

  /// Returns the weekday, 1 for Monday. 1970-01-01 was a Thursday.
  private static func number(of date: CivilDate) -> Int { (Int(date.dayNumber) + 3) % 7 + 1 }

  /// - Parameter ahead: How long before, as an ISO 8601 duration.
  func text(ahead: String? = nil) throws(RemindLine.Refusal) -> String {
    if let first {
      guard line.every != nil || ahead != nil else { return "at \(first) \(time)" }
      return rule(from: first, line.every.map { "FREQ=DAILY;INTERVAL=\($0)" } ?? "FREQ=DAILY;COUNT=1", ahead)
    }
    // With several weekdays, only the first one on or after the day counts, once a month.
    let isFirstOfSeveral = line.day != nil && line.weekdays.count > 1
    if ahead == nil, line.until == nil, line.from == nil, !isFirstOfSeveral { return calendar }
    guard line.year == nil else { throw .init("a year without a month and a day cannot be used with this") }
    var parts = [isFirstOfSeveral ? "FREQ=MONTHLY" : "FREQ=DAILY"]
    if let month = line.month { parts.append("BYMONTH=\(month)") }
    if line.isDayBefore {
      parts.append("BYMONTHDAY=-1")
    } else if let day = line.day {
      let days = line.weekdays.isEmpty ? [day] : Array(day...(day + 6))
      parts.append("BYMONTHDAY=\(days.map(String.init).joined(separator: ","))")
    }
    if !line.weekdays.isEmpty {
      parts.append(
        "BYDAY=\(line.weekdays.sorted().map { Self.names[$0].prefix(2).uppercased() }.joined(separator: ","))")
    }
    if isFirstOfSeveral { parts.append("BYSETPOS=1") }
    guard let start = line.from ?? CivilDate(year: 2_000, month: 1, day: 1) else { return calendar }
    return rule(from: start, parts.joined(separator: ";"), ahead)
  }

  private func rule(from date: CivilDate, _ rule: String, _ ahead: String?) -> String {
    let clock = Self.compact(time.description.split(separator: ":").count == 2 ? "\(time):00" : "\(time)")
    var text = "DTSTART:\(Self.compact("\(date)"))T\(clock) RRULE:\(rule)"
    if let until = line.until { text += ";UNTIL=\(Self.compact("\(until)"))T235959" }
    if let ahead { text += " TRIGGER:-\(ahead)" }
    return text
  }

  private static func compact(_ text: String) -> String { text.filter { $0 != "-" && $0 != ":" } }

  private var calendar: String {
    let days = line.weekdays.sorted().map { Self.names[$0] }.joined(separator: ",")
    let month = line.month.map { Self.two($0) } ?? "*"
    var day = "-" + (line.day.map(Self.two) ?? "*")
    if line.isDayBefore {
      day = "~01"
    } else if let from = line.day, !line.weekdays.isEmpty {
      day = "-\(Self.two(from))..\(Self.two(from + 6))"
    }
    let date = "\(line.year.map(String.init) ?? "*")-\(month)\(day)"
    return "calendar: \(days.isEmpty ? "" : days + " ")\(date) \(time)"
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}

/// RemindText removes remind's substitutions from a message.
enum RemindText {
  /// Returns the plain text: the part in `%"…%"` if there is one. It drops `%b`, `%t` and others, which stand for the
  /// time, because Chime shows the time itself.
  static func plain(_ text: String) -> String {
    var rest = text[...]
    if let opening = rest.firstRange(of: "%\""), let closing = rest[opening.upperBound...].firstRange(of: "%\"") {
      rest = rest[opening.upperBound..<closing.lowerBound]
    }
    var plain = ""
    while let character = rest.popFirst() {
      guard character == "%", let next = rest.first else {
        plain.append(character)
        continue
      }
      rest.removeFirst()
      switch next {
      case "%": plain.append("%")
      case "_": plain.append(" ")
      case "\"": break
      default:
        // Remove the blank before it too.
        if plain.hasSuffix(" ") { plain.removeLast() }
        if next == "*" || next == ":" { _ = rest.popFirst() }
      }
    }
    return plain
  }
}
