import ChimeControl
import ChimeSchedule
import ChimeWords

/// A chart of values over days for the terminal: a measure as points with a line of averages, an amount as columns.
struct TextChart {
  struct Value: Equatable {
    var day: CivilDate
    var value: Double
  }

  struct Expected: Equatable {
    var day: CivilDate
    var value: Double
    var low: Double
    var high: Double
  }

  /// Whether values are drawn as columns from zero.
  var isColumns: Bool
  var points: [Value]
  var averages: [Value]
  var expected: [Expected] = []
  var goal: Double?
  /// Whether the goal is an upper limit.
  var isLimit = false
  /// The number of days that each value covers: 7 for weekly sums.
  var daysEach = 1
  /// The minimum number of days on the axis.
  var fewestDays = DayAxis.fewestDays(in: nil)

  var glyphs: Glyphs

  /// Returns the lines of the chart; empty if there is no data.
  func lines(width: Int, height: Int, style: Style) -> [String] {
    guard let first = points.map(\.day).min(), let last = (points.map(\.day) + expected.map(\.day)).max(),
      let end = last.adding(days: daysEach - 1)
    else { return [] }
    let axis = DayAxis(first: first, last: end).holding(
      atLeast: daysEach > 1 ? daysEach * DayAxis.fewestWeeks : fewestDays, isColumns: isColumns)
    let scale = Scale(of: shown, ticks: max(2, height / 3), fromZero: isColumns, isWhole: daysEach == 7)
    let labels = scale.ticks.map { LocalizedFormat.number($0, decimals: scale.decimals) }
    let margin = labels.map { TextWidth.of($0) }.max() ?? 0
    let room = max(8, width - margin - 2)
    // All columns have the same width, if there is one for each value.
    let each = isColumns ? room * daysEach / axis.count : 0
    var canvas = Canvas(width: each > 0 ? each * axis.count / daysEach : room, height: height)
    draw(on: &canvas, axis, scale)

    var named: [Int: String] = [:]
    for (tick, label) in zip(scale.ticks, labels) { named[row(tick, scale, height)] = label }
    var lines = canvas.rows(style).enumerated().map { row, text in
      let label = named[row] ?? ""
      let blank = String(repeating: " ", count: margin - TextWidth.of(label))
      let edge = label.isEmpty ? (glyphs.isASCII ? "|" : "│") : glyphs.tee
      return blank + label + " " + style(edge, .faint) + text
    }
    let ticks = places(of: axis, in: canvas.width)
    var ruler = Array(repeating: glyphs.dash, count: canvas.width)
    for tick in ticks { ruler[tick.column] = glyphs.tick }
    let blank = String(repeating: " ", count: margin + 1)
    lines.append(blank + style(glyphs.corner + ruler.joined(), .faint))
    lines.append(blank + " " + Self.row(of: ticks, width: canvas.width))
    return lines
  }

  private var values: [Double] {
    points.map(\.value) + averages.map(\.value) + expected.flatMap { [$0.low, $0.high] }
  }

  /// All values that the scale must cover.
  private var shown: [Double] { values + (showsGoal ? [goal].compactMap(\.self) : []) }

  /// Whether the goal is drawn: not if it would flatten the values.
  var showsGoal: Bool {
    goal.map { Scale.holds($0, beside: values, isColumns: isColumns, isFirst: points.count < 3) } ?? false
  }

  // MARK: Places

  private func row(_ value: Double, _ scale: Scale, _ height: Int) -> Int {
    Int(((1 - scale.share(value)) * Double(height - 1)).rounded())
  }

  /// Returns the cell columns of a day: one if there are more days than cells.
  private func columns(_ day: CivilDate, _ axis: DayAxis, _ width: Int) -> Range<Int> {
    let start = Int(day.dayNumber - axis.first.dayNumber)
    let from = start * width / axis.count
    return from..<max(from + 1, (start + daysEach) * width / axis.count)
  }

  private func column(_ day: CivilDate, _ axis: DayAxis, _ width: Int) -> Int {
    if isColumns { return columns(day, axis, width).lowerBound }
    return Int((axis.share(day) * Double(width - 1)).rounded())
  }

  /// Returns the forecast for each cell column, interpolating between days further apart.
  private func ahead(_ axis: DayAxis, _ width: Int) -> [(column: Int, Expected)] {
    guard let last = expected.last else { return [] }
    var all: [(column: Int, Expected)] = []
    for (one, next) in zip(expected, expected.dropFirst() + [last]) {
      let (from, to) = (column(one.day, axis, width), column(next.day, axis, width))
      for x in from..<max(to, from + 1) {
        let share = to > from ? Double(x - from) / Double(to - from) : 0
        func between(_ value: KeyPath<Expected, Double>) -> Double {
          one[keyPath: value] + (next[keyPath: value] - one[keyPath: value]) * share
        }
        all.append(
          (x, Expected(day: one.day, value: between(\.value), low: between(\.low), high: between(\.high))))
      }
    }
    return all
  }

  private struct Place {
    var column: Int
    var text: String
  }

  private func places(of axis: DayAxis, in width: Int) -> [Place] {
    axis.ticks(limit: max(2, width / 7)).map { Place(column: column($0.day, axis, width), text: $0.text) }
  }

  /// Returns a row of labels under their ticks; a label that does not fit is left out.
  private static func row(of places: [Place], width: Int) -> String {
    var line = ""
    for place in places {
      let size = TextWidth.of(place.text)
      let start = min(max(0, place.column - size / 2), max(0, width - size))
      let used = TextWidth.of(line)
      guard line.isEmpty || start > used else { continue }
      line += String(repeating: " ", count: start - used) + place.text
    }
    return line
  }

  // MARK: Drawing

  /// Draws back to front: the forecast band, the goal, the columns or points, the average.
  private func draw(on canvas: inout Canvas, _ axis: DayAxis, _ scale: Scale) {
    let (width, height) = (canvas.width, canvas.height)
    for (x, one) in ahead(axis, width) {
      for y in row(one.high, scale, height)...row(one.low, scale, height) { canvas.put(glyphs.band, x, y, .faint) }
    }
    if isColumns { drawColumns(on: &canvas, axis, scale) }
    if let goal, showsGoal {
      let y = row(goal, scale, height)
      for x in 0..<width where canvas.isEmpty(x, y) { canvas.put(glyphs.goal, x, y, .good) }
    }
    if !isColumns { drawLines(on: &canvas, axis, scale) }
  }

  private func drawLines(on canvas: inout Canvas, _ axis: DayAxis, _ scale: Scale) {
    let (width, height) = (canvas.width, canvas.height)
    for point in points {
      canvas.put(glyphs.point, column(point.day, axis, width), row(point.value, scale, height), .faint)
    }
    for (x, one) in ahead(axis, width) { canvas.put(glyphs.ahead, x, row(one.value, scale, height), .caution) }
    // Braille has a resolution of its own; ASCII stars have that of cells.
    let (across, down) = glyphs.isASCII ? (width, height) : (width * 2, height * 4)
    let path = averages.map { one in
      (
        x: Int((axis.share(one.day) * Double(across - 1)).rounded()),
        y: Int(((1 - scale.share(one.value)) * Double(down - 1)).rounded())
      )
    }
    for (from, to) in zip(path, path.dropFirst()) {
      Canvas.line(from, to) { x, y in
        if glyphs.isASCII { canvas.put(glyphs.mean, x, y, .strong) } else { canvas.dot(x, y, .strong) }
      }
    }
  }

  /// Draws columns; days that share a cell column show their mean.
  private func drawColumns(on canvas: inout Canvas, _ axis: DayAxis, _ scale: Scale) {
    let (width, height) = (canvas.width, canvas.height)
    var sums: [Int: (total: Double, count: Int)] = [:]
    for point in points {
      let all = columns(point.day, axis, width)
      // Leave a gap between columns that are at least two cells wide.
      for x in all.dropLast(all.count > 1 ? 1 : 0) {
        sums[x] = ((sums[x]?.total ?? 0) + point.value, (sums[x]?.count ?? 0) + 1)
      }
    }
    for (x, sum) in sums {
      let value = sum.total / Double(sum.count)
      let tone: Style.Tone = goal.map { isLimit ? value > $0 ? .bad : .plain : value >= $0 ? .good : .plain } ?? .plain
      let eighths = Int((scale.share(value) * Double(height * 8)).rounded())
      for level in 0..<(eighths / 8) { canvas.put(glyphs.eighths[7], x, height - 1 - level, tone) }
      if eighths % 8 > 0 { canvas.put(glyphs.eighths[eighths % 8 - 1], x, height - 1 - eighths / 8, tone) }
    }
    for average in averages {
      let all = columns(average.day, axis, width)
      let y = min(height - 1, Int((1 - scale.share(average.value)) * Double(height)))
      canvas.put(glyphs.mean, all.lowerBound + (all.count - 1) / 2, y, .caution)
    }
  }
}
