import ChimeSchedule
import ChimeTracking

/// A LoopHabit is a habit as described by Loop's files.
struct LoopHabit {
  enum Value: Hashable {
    case done, automatic, notDone, skipped, unknown
    /// The number as written, in thousandths of a unit.
    case number(Int)

    init?(_ text: String) {
      switch text {
      case "YES_MANUAL", "2": self = .done
      case "YES_AUTO", "1": self = .automatic
      case "NO", "0": self = .notDone
      case "SKIP", "3", "-3": self = .skipped
      case "UNKNOWN", "-1", "": self = .unknown
      default:
        guard text.utf8.count <= 12, let number = Int(text) else { return nil }
        self = .number(number)
      }
    }
  }

  struct Day {
    var line: Int
    var day: CivilDate
    var value: Value
    var note: String?
  }

  var name: String
  /// The line in Habits.csv.
  var line: Int?
  /// Whether it is numerical; `nil` if no file says so.
  var saysNumerical: Bool?
  var frequency: (times: Int, days: Int) = (1, 1)
  var unit = ""
  var isAtMost = false
  /// Whether its limit is one that Chime supports: a daily one.
  var isLimited: Bool { isAtMost && period == .day && frequency.days == 1 }
  var goal: Double?
  var isArchived = false
  var days: [Day] = []

  var isNumerical: Bool {
    saysNumerical ?? days.contains { if case .number = $0.value { true } else { false } }
  }

  var counting: CountedDays {
    let (times, days) = frequency
    if isNumerical || times >= days { return .everyDay }
    return .rolling(times: times, days: days)
  }

  var period: Goal.Period {
    switch frequency.days {
    case 7: .week
    case 28...31: .month
    default: .day
    }
  }
}

/// LoopFiles sorts the files of an export.
struct LoopFiles {
  private var listed: [LoopHabit] = []
  /// The habits' own files, by folder.
  private var own: [(folder: String, days: [LoopHabit.Day])] = []
  private var common: (path: String, records: [SeparatedValues.Record])?

  mutating func take(_ file: LoopImport.File) throws(ExchangeError) {
    let parts = file.path.split(separator: "/")
    guard let name = parts.last?.lowercased() else { return }
    do throws(ExchangeError) {
      switch name {
      case "habits.csv": listed = try Self.habits(try SeparatedValues.read(file.text))
      case "scores.csv": break
      default:
        guard name.hasSuffix(".csv") else { return }
        let records = try SeparatedValues.read(Self.withoutQuotes(file.text))
        if Self.isOwn(records) {
          own.append((Self.folder(parts), try Self.days(records)))
        } else {
          common = (file.path, records)
        }
      }
    } catch {
      throw ExchangeError(line: error.line, "\(file.path): \(error.message)")
    }
  }

  /// Returns the folder `001 Name`; empty if the file is in another folder.
  private static func folder(_ path: [Substring]) -> String {
    guard path.count > 1, path[path.count - 2].utf8.prefix(3).allSatisfy({ (0x30...0x39).contains($0) }),
      path[path.count - 2].utf8.count >= 3
    else { return "" }
    return String(path[path.count - 2])
  }

  /// Replaces the quotes in the header of the common file. They belong to names and do not quote.
  private static func withoutQuotes(_ text: [UInt8]) -> [UInt8] {
    guard let end = text.firstIndex(of: 0x0A), text.starts(with: Array("Date,".utf8)), text[..<end].contains(0x22)
    else {
      return text
    }
    return text[..<end].map { $0 == 0x22 ? 0x1A : $0 } + text[end...]
  }

  /// Returns whether a file is of one habit: `Date,Value,Notes`, or two columns without a header.
  private static func isOwn(_ records: [SeparatedValues.Record]) -> Bool {
    guard let first = records.first else { return false }
    if first.fields.count >= 2, first.fields[0] == "Date", first.fields[1] == "Value" { return first.fields.count <= 3 }
    return CivilDate(first.fields[0]) != nil && first.fields.count <= 3
  }

  private static func days(_ records: [SeparatedValues.Record]) throws(ExchangeError) -> [LoopHabit.Day] {
    var days: [LoopHabit.Day] = []
    for record in records where record.fields[0] != "Date" {
      try need(record.fields.count >= 2, line: record.line, "expected a day and a value")
      let note = record.fields.count > 2 && !record.fields[2].isEmpty ? record.fields[2] : nil
      days.append(
        LoopHabit.Day(
          line: record.line, day: try day(record), value: try value(record.fields[1], record.line), note: note))
    }
    return days
  }

  private static func day(_ record: SeparatedValues.Record) throws(ExchangeError) -> CivilDate {
    guard let day = CivilDate(record.fields[0]) else {
      throw ExchangeError(line: record.line, "expected a day such as 2026-03-01, not \(quoted(record.fields[0]))")
    }
    return day
  }

  private static func value(_ text: String, _ line: Int) throws(ExchangeError) -> LoopHabit.Value {
    guard let value = LoopHabit.Value(text) else {
      throw ExchangeError(
        line: line, "expected YES_MANUAL, YES_AUTO, NO, SKIP, UNKNOWN or a whole number, not \(quoted(text))")
    }
    return value
  }

  private static func habits(_ records: [SeparatedValues.Record]) throws(ExchangeError) -> [LoopHabit] {
    guard let header = records.first, header.fields.contains("Name") else {
      throw ExchangeError(line: records.first?.line, "expected a header with the column Name")
    }
    var habits: [LoopHabit] = []
    for record in records.dropFirst() {
      func field(_ names: String...) -> String {
        for name in names {
          if let index = header.fields.firstIndex(of: name), index < record.fields.count { return record.fields[index] }
        }
        return ""
      }
      func number(_ text: String, _ column: String, from least: Int) throws(ExchangeError) -> Int {
        if text.isEmpty { return 1 }
        guard let number = Int(text), (least...1_000).contains(number) else {
          throw ExchangeError(
            line: record.line, "\(column): expected a whole number from \(least) to 1000, not \(quoted(text))")
        }
        return number
      }
      var habit = LoopHabit(name: DraftText.line(field("Name"), maximum: 200) ?? "Habit", line: record.line)
      habit.saysNumerical = field("Type") == "NUMERICAL" ? true : field("Type") == "YES_NO" ? false : nil
      habit.frequency = (
        try number(field("FrequencyNumerator", "NumRepetitions"), "FrequencyNumerator", from: 1),
        try number(field("FrequencyDenominator", "Interval"), "FrequencyDenominator", from: 1)
      )
      habit.unit = trimmed(field("Unit"))
      habit.isAtMost = field("Target Type") == "AT_MOST"
      habit.goal = NumberText.number(field("Target Value"))
      habit.isArchived = field("Archived?") == "true"
      habits.append(habit)
    }
    return habits
  }

  /// - Parameter isForOne: Whether one tracker gets all entries. Then only one habit is allowed, and it needs no name.
  func habits(isForOne: Bool) throws(ExchangeError) -> [LoopHabit] {
    var habits = listed
    for (folder, days) in own {
      let number = Int(folder.prefix(3)).map { $0 - 1 }
      if let number, habits.indices.contains(number), habits[number].days.isEmpty, number < listed.count {
        habits[number].days = days
      } else {
        let name = DraftText.line(String(folder.dropFirst(3)), maximum: 200) ?? ""
        try need(
          isForOne || !folder.isEmpty, line: nil, "the file has one habit without its name: name the tracker for it")
        habits.append(LoopHabit(name: name.isEmpty ? "Habit" : name, days: days))
      }
    }
    if let common {
      do throws(ExchangeError) {
        try add(common.records, to: &habits)
      } catch {
        throw ExchangeError(line: error.line, "\(common.path): \(error.message)")
      }
    }
    let known = habits.filter { !$0.days.isEmpty }
    try need(
      !isForOne || known.count == 1, line: nil,
      "the file has \(known.count) habits, but --into names one tracker: take the Checkmarks.csv of one habit's "
        + "folder")
    return habits
  }

  /// Adds the days of habits without their own file from the common file.
  private func add(_ records: [SeparatedValues.Record], to habits: inout [LoopHabit]) throws(ExchangeError) {
    guard let header = records.first, header.fields[0] == "Date" else {
      throw ExchangeError(line: records.first?.line, "this is not a Checkmarks.csv: its first column must be Date")
    }
    let width = records.dropFirst().map(\.fields.count).max() ?? header.fields.count
    // Each line ends with a comma.
    let names = header.fields.dropFirst().last == "" ? header.fields.dropFirst().dropLast() : header.fields.dropFirst()
    let count = width - 1 - (header.fields.last == "" ? 1 : 0)
    var columns: [Int]
    if names.count == count {
      columns = []
      for name in names {
        let quoted = String.UnicodeScalarView(name.unicodeScalars.map { $0 == "\u{1A}" ? "\"" : $0 })
        let name = DraftText.line(String(quoted), maximum: 200) ?? "Habit"
        if let index = habits.indices.first(where: { habits[$0].name == name && !columns.contains($0) }) {
          columns.append(index)
        } else {
          columns.append(habits.count)
          habits.append(LoopHabit(name: name))
        }
      }
    } else {
      // Names may contain commas, which are not quoted.
      try need(
        count == listed.count, line: header.line,
        "the header \(names.count) has over \(count) columns, because the name of a habit contains a comma: to "
          + "separate them, Habits.csv is needed")
      columns = Array(listed.indices)
    }
    let wanted = columns.map { habits[$0].days.isEmpty }
    for record in records.dropFirst() {
      try need(
        record.fields.count > columns.count, line: record.line,
        "expected \(columns.count + 1) columns, as in the header, but found \(record.fields.count)")
      let day = try Self.day(record)
      for (offset, index) in columns.enumerated() where wanted[offset] {
        let value = try Self.value(record.fields[offset + 1], record.line)
        if value != .unknown { habits[index].days.append(LoopHabit.Day(line: record.line, day: day, value: value)) }
      }
    }
  }
}
