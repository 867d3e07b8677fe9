import ChimeSchedule
import Foundation
import Testing

/// The cookbook in `docs/schedules.md`, row by row.
@Suite struct CookbookTests {
  struct Row: Sendable {
    var phrase, rule, zone, saidAt, canonical: String
    var next: [String]
  }

  static func rows() throws -> [Row] {
    let file = URL(filePath: Package.folder).appending(path: "docs/schedules.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { $0.trimmingCharacters(in: .whitespaces) }
      let plain = cells.map { $0.trimmingCharacters(in: ["`"]) }
      guard plain.count == 6 else { return Row(phrase: "", rule: "", zone: "", saidAt: "", canonical: "", next: []) }
      return Row(
        phrase: plain[0], rule: plain[1], zone: plain[2], saidAt: plain[3], canonical: plain[4],
        next: cells[5].components(separatedBy: "<br>"))
    }
  }

  /// Returns the number of phrases in the cookbook.
  static func phrases() throws -> Int {
    try rows().count { row in
      do { return try Schedule(canonical: row.canonical).dialect == .phrase } catch { return false }
    }
  }

  @Test func everyRowHasItsTimes() throws {
    let rows = try Self.rows()
    #expect(rows.count >= 36)
    #expect(try Self.phrases() >= 60)
    for row in rows {
      let zone = try zone(row.zone)
      let now = instant(row.saidAt)
      let rule = row.rule.split(separator: " ").map(String.init)
      // "place 50.0875 14.4213"
      let numbers = rule.first == "place" ? rule.dropFirst().compactMap(Double.init) : []
      let place = numbers.count == 2 ? Place(latitude: numbers[0], longitude: numbers[1]) : nil
      var scheduleContext = ScheduleContext(zone: zone, place: place, zones: { CalendarOracle.zones($0) })
      if rule.first == "done" { scheduleContext.lastDone = instant(rule[1]) }
      if rule.first == "holidays" {
        let days = rule[1].components(separatedBy: "..").compactMap { CivilDate($0) }
        scheduleContext.calendar = { $0 == "holidays" && days.count == 2 ? [days[0]...days[1]] : nil }
      }
      let schedule = try Schedule.parse(row.phrase, now: now, in: scheduleContext)
      #expect(schedule.canonical == row.canonical)
      #expect(try Schedule(canonical: row.canonical) == schedule)
      let timetable = schedule.timetable(
        in: scheduleContext, gap: rule.first == "gap" ? GapRule(rawValue: rule[1]) : nil,
        fold: rule.first == "fold" ? FoldRule(rawValue: rule[1]) : nil)
      var found: [String] = []
      var after = now
      while found.count < row.next.count {
        guard let next = timetable.next(after: after) else {
          found.append("*end*")
          break
        }
        let remark = timetable.remark(for: next).map { " (\($0))" } ?? ""
        found.append("`\(RFC3339.format(next, in: zone))`\(remark)")
        after = next
      }
      #expect(found == row.next, "\(row.phrase)")
    }
  }
}
