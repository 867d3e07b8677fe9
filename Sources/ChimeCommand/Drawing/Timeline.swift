import ChimeSchedule
import ChimeWords

/// A time axis with a row of marks for each item; days and hours stand above.
///
///                     Fri 27 Mar                      Sat 28 Mar
///                     09   12   15   18   21   00   03   06
///     Drink water  ●──●──●──●──●──●──●─────────────────
struct Timeline {
  struct Mark: Equatable {
    var at: Instant
    var sign: Character
    var tone = Style.Tone.plain
    /// Of several marks in one cell, the heaviest provides the tone, and also the sign unless all are of the same kind.
    var weight = 0
  }

  struct Lane: Equatable {
    var title: String
    var tone = Style.Tone.plain
    var marks: [Mark]
  }

  var from: Instant
  var to: Instant
  var zone: Zone
  var lanes: [Lane]
  var glyphs: Glyphs

  /// The minimum number of cells between labels of minutes, hours, and days.
  private static let minuteRoom = 8
  private static let hourRoom = 4
  private static let dayRoom = 3

  func lines(width: Int, style: Style) -> [String] {
    guard from < to, !lanes.isEmpty else { return [] }
    let longest = lanes.map { TextWidth.of($0.title) }.max() ?? 0
    let margin = min(longest, max(8, width * 3 / 10))
    let room = max(8, width - margin - 2)
    let blank = String(repeating: " ", count: margin + 2)
    let ticks = self.ticks(every: step(in: room), in: room)
    var lines: [String] = []
    for (names, tone) in [(row(of: ticks.days, in: room), Style.Tone.strong), (row(of: ticks.hours, in: room), .faint)]
    where !names.isEmpty { lines.append(blank + style(names, tone)) }
    for lane in lanes {
      let title = TextWidth.pad(TextWidth.truncate(lane.title, to: margin), to: margin)
      lines.append(style(title, lane.tone) + "  " + track(lane, ticks.days.map(\.column), in: room).rows(style)[0])
    }
    return lines
  }

  // MARK: The axis

  private struct Tick {
    var column: Int
    var text: String
  }

  private var span: Int64 { max(1, (to - from).rawValue) }

  private func column(_ instant: Instant, in room: Int) -> Int {
    Int(((instant - from).rawValue * Int64(room)) / span)
  }

  /// Returns the minutes between two labels, so that all fit; from a day on, whole days.
  private func step(in room: Int) -> Int {
    let all = Double(span) / 60_000
    func first(_ steps: [Int], _ each: Int) -> Int? {
      steps.first { all / Double($0) <= Double(room) / Double(each) }
    }
    // An axis of few hours would otherwise have two labels or fewer.
    if all <= 12 * 60, let step = first([1, 2, 5, 10, 15, 30], Self.minuteRoom) { return step }
    if let step = first([1, 2, 3, 4, 6, 12].map { $0 * 60 }, Self.hourRoom) { return step }
    return first([1, 2, 7, 14, 28, 91, 182, 364].map { $0 * 1_440 }, Self.dayRoom) ?? 728 * 1_440
  }

  /// Returns the starts of days and hours by the zone's clock, across DST transitions.
  private func ticks(every step: Int, in room: Int) -> (days: [Tick], hours: [Tick]) {
    var days: [Tick] = []
    var hours: [Tick] = []
    let first = zone.civil(at: from).date
    let stride = max(1, step / 1_440)
    // The width of a full day; the first and the last may be shorter.
    let each = Int(Int64(room) * 86_400_000 * Int64(stride) / span)
    var day = first
    while let start = Self.start(of: day, minute: 0, in: zone), start < to {
      if Int(day.dayNumber - first.dayNumber) % stride == 0 {
        // The first day began before the axis does.
        days.append(Tick(column: max(0, column(start, in: room)), text: name(day, every: stride, in: each)))
      }
      if step < 1_440 {
        for minute in Swift.stride(from: 0, to: 1_440, by: step) {
          guard let at = Self.start(of: day, minute: minute, in: zone), at >= from, at < to,
            let time = CivilTime(hour: minute / 60, minute: minute % 60)
          else { continue }
          let text = time.description
          hours.append(Tick(column: column(at, in: room), text: String(text.prefix(step < 60 ? 5 : 2))))
        }
      }
      guard let next = day.adding(days: 1) else { break }
      day = next
    }
    // The first and the last label may have less room than the others.
    for index in [0, days.count - 1] where days.indices.contains(index) {
      let end = index + 1 < days.count ? days[index + 1].column : room + 1
      let day = zone.civil(at: from).date.adding(days: index * stride) ?? first
      days[index].text = name(day, every: stride, in: min(each, end - days[index].column))
    }
    return (days, hours)
  }

  /// Returns `Sun 22 Nov`, `Sun 22` or `22`, as room permits; with days left out between labels, `22 Nov`.
  private func name(_ day: CivilDate, every stride: Int, in room: Int) -> String {
    let (weekday, short) = (LocalizedFormat.weekday(day.weekday), DayText.short(day))
    let names = ["\(weekday) \(short)", stride > 1 ? short : "\(weekday) \(day.day)"]
    return names.first { TextWidth.of($0) < room } ?? String(day.day)
  }

  private static func start(of day: CivilDate, minute: Int, in zone: Zone) -> Instant? {
    guard let time = CivilTime(hour: minute / 60, minute: minute % 60) else { return nil }
    return switch zone.resolve(CivilDateTime(date: day, time: time)) {
    case .unique(let instant): instant
    case .gap(_, _, let transition): transition
    case .fold(let first, _): first
    }
  }

  /// Returns labels that begin at their ticks. A label that does not fit, or that would touch the next, is left out.
  private func row(of ticks: [Tick], in room: Int) -> String {
    var line = ""
    for (index, tick) in ticks.enumerated() {
      let used = TextWidth.of(line)
      let next = index + 1 < ticks.count ? ticks[index + 1].column : room + 1
      let size = TextWidth.of(tick.text)
      guard tick.column >= used + (line.isEmpty ? 0 : 1), tick.column + size <= room, size < next - tick.column else {
        continue
      }
      line += String(repeating: " ", count: tick.column - used) + tick.text
    }
    return line
  }

  // MARK: Rows

  private func track(_ lane: Lane, _ midnights: [Int], in room: Int) -> Canvas {
    var canvas = Canvas(width: room, height: 1)
    for x in 0..<room { canvas.put(Character(glyphs.dash), x, 0, .faint) }
    for x in midnights where x > 0 { canvas.put(glyphs.isASCII ? "+" : "┼", x, 0, .faint) }
    var cells: [Int: [Mark]] = [:]
    for mark in lane.marks where mark.at >= from && mark.at <= to {
      cells[min(room - 1, column(mark.at, in: room)), default: []].append(mark)
    }
    for (x, marks) in cells {
      guard let heaviest = marks.max(by: { $0.weight < $1.weight }) else { continue }
      // Several marks of one kind in one cell show their number, up to 9, else `+`.
      let isOneKind = marks.allSatisfy { $0.sign == heaviest.sign }
      let count: Character = marks.count > 9 ? "+" : Character(String(marks.count))
      canvas.put(marks.count > 1 && isOneKind ? count : heaviest.sign, x, 0, heaviest.tone)
    }
    return canvas
  }
}
