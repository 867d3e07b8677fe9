import ChimeSchedule
import Testing

@testable import ChimeCommand

/// Axes, dots and months.
@Suite struct DrawingTests {
  @Test(
    arguments: [
      ([78.4, 88.1], 5, false, 78, 90, 2), ([0, 3_720], 5, true, 0, 4_000, 1_000), ([5], 4, false, 4.5, 5.5, 0.25),
      ([], 5, false, 0, 1, 0.2), ([-3, 4], 4, false, -4, 4, 2), ([0, 0], 4, true, 0, 0.6, 0.2),
      ([1e6, 1e6 + 1], 2, false, 1e6, 1e6 + 1, 0.5),
      ([.nan, 1, .infinity, 3], 2, false, 1, 3, 1),
    ] as [([Double], Int, Bool, Double, Double, Double)])
  func scalesFitTheirValues(
    _ values: [Double], _ ticks: Int, _ fromZero: Bool, _ low: Double, _ high: Double, _ step: Double
  ) {
    let scale = Scale(of: values, ticks: ticks, fromZero: fromZero)
    #expect(abs(scale.low - low) < 1e-6 && abs(scale.high - high) < 1e-6 && abs(scale.step - step) < 1e-6, "\(scale)")
  }

  /// All values lie within the scale, there are few ticks, and the ticks' digits differ.
  @Test func scalesContainAllValuesWithDistinctTicks() {
    var seed: UInt64 = 7
    func chance() -> Double {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(seed >> 11) / Double(1 << 53)
    }
    for _ in 0..<2_000 {
      let size = [0.01, 1, 100, 1e6][Int(chance() * 4)]
      let values = (0..<Int(1 + chance() * 5)).map { _ in (chance() - 0.5) * size }
      for ticks in [2, 5, 9] {
        let scale = Scale(of: values, ticks: ticks, fromZero: chance() < 0.5)
        #expect(values.allSatisfy { (-1e-6...1 + 1e-6).contains(scale.share($0)) }, "\(values) \(scale)")
        #expect((2...(ticks * 2 + 3)).contains(scale.ticks.count), "\(values) \(scale)")
      }
    }
  }

  @Test func scalesOfWholeNumbersHaveWholeTicks() {
    for most in 1...40 {
      let scale = Scale(of: [0, Double(most)], ticks: 3, fromZero: true, isWhole: true)
      #expect(scale.ticks.allSatisfy { $0 == $0.rounded() } && scale.decimals == 0 && scale.high >= Double(most))
    }
  }

  @Test(
    arguments: [
      ("2026-03-21", "2026-03-27", 9, ["Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri"]),
      ("2026-02-28", "2026-03-27", 9, ["2 Mar", "9 Mar", "16 Mar", "23 Mar"]),
      ("2026-02-28", "2026-03-27", 2, ["2 Mar", "16 Mar"]),
      ("2025-12-28", "2026-04-10", 9, ["Jan", "Feb", "Mar", "Apr"]),
      ("2025-03-28", "2026-03-27", 4, ["Apr", "Jul", "Oct", "Jan"]),
      ("2019-05-01", "2026-03-27", 9, ["2020", "2021", "2022", "2023", "2024", "2025", "2026"]),
    ] as [(String, String, Int, [String])])
  func dayAxisHasReadableTicks(_ first: String, _ last: String, _ limit: Int, _ expected: [String]) throws {
    let axis = DayAxis(first: try #require(CivilDate(first)), last: try #require(CivilDate(last)))
    #expect(axis.ticks(limit: limit).map(\.text) == expected)
  }

  @Test func canvasDrawsBrailleDots() {
    var canvas = Canvas(width: 2, height: 1)
    for (x, y) in [(0, 0), (0, 3), (1, 3), (2, 0), (9, 9), (-1, 0)] { canvas.dot(x, y) }
    #expect(canvas.rows(Style(isColored: false)) == ["⣁⠁"])
  }

  @Test func linesHaveNoGaps() {
    for end in [(0, 0), (7, 3), (3, 7), (-7, 2), (0, -5), (5, 0)] {
      var places: [(Int, Int)] = []
      Canvas.line((0, 0), end) { places.append(($0, $1)) }
      #expect(places.first! == (0, 0) && places.last! == end)
      #expect(zip(places, places.dropFirst()).allSatisfy { abs($0.0 - $1.0) <= 1 && abs($0.1 - $1.1) <= 1 })
    }
  }

  @Test(arguments: [(2024, 2, 5), (2026, 2, 5), (2026, 3, 6), (2026, 6, 5), (2023, 5, 5), (2027, 2, 4)])
  func monthGridHasAllDays(_ year: Int, _ number: Int, _ weeks: Int) throws {
    let month = try #require(CivilDate(year: year, month: number, day: 1))
    let grid = MonthGrid(month: month, today: month) { MonthGrid.Cell(text: String($0.day)) }
    for width in [35, 40, 80, 200] {
      let lines = grid.lines(width: width, style: Style(isColored: false))
      #expect(lines.count == weeks + 1 && lines.allSatisfy { TextWidth.of($0) <= width })
      let days = lines.dropFirst().joined(separator: " ").split { !$0.isNumber }.compactMap { Int($0) }
      #expect(days == Array(1...CivilDate.daysIn(month: number, year: year)))
    }
  }

  // MARK: Charts

  private static func day(_ plus: Int) -> CivilDate { CivilDate.earliest.adding(days: 20_000 + plus) ?? .latest }

  /// On the first day there is one column of normal width.
  @Test(arguments: [40, 80, 120])
  func firstDayHasAColumnOfNormalWidth(_ width: Int) throws {
    var chart = TextChart(
      isColumns: true, points: [.init(day: Self.day(0), value: 750)], averages: [], goal: 2_500,
      glyphs: Glyphs(isASCII: false))
    func widest(_ chart: TextChart) -> Int {
      chart.lines(width: width, height: 10, style: Style(isColored: false)).map { $0.count { "▁▂▃▄▅▆▇█".contains($0) } }
        .max() ?? 0
    }
    #expect(
      (1...width / 10).contains(widest(chart)),
      "\(chart.lines(width: width, height: 10, style: Style(isColored: false)))")
    chart.points.append(.init(day: Self.day(1), value: 750))
    #expect((2...width / 5).contains(widest(chart)))
    // A week of checks is one of several columns.
    chart = TextChart(
      isColumns: true, points: [.init(day: Self.day(4), value: 3)], averages: [], daysEach: 7,
      glyphs: Glyphs(isASCII: false))
    #expect((1...width / 6).contains(widest(chart)))
  }

  /// The first value of a measure is not at the edge, and its goal is visible.
  @Test(arguments: [40, 80, 120])
  func firstMeasureIsDrawnWithItsGoalInView(_ width: Int) throws {
    let first = TextChart.Value(day: Self.day(0), value: 85.5)
    let chart = TextChart(
      isColumns: false, points: [first], averages: [first], goal: 80, glyphs: Glyphs(isASCII: false))
    let rows = chart.lines(width: width, height: 10, style: Style(isColored: false))
    let row = try #require(rows.first { $0.contains("∘") }, "\(rows)")
    let column = row.distance(from: row.startIndex, to: try #require(row.firstIndex(of: "∘")))
    #expect(column > 6 && column < width / 3, "\(rows.joined(separator: "\n"))")
    #expect(chart.showsGoal && rows.contains { $0.contains("┄┄┄┄") })
    // A goal that would flatten many values is not drawn.
    let many = (0..<9).map { TextChart.Value(day: Self.day($0), value: 85 + Double($0) / 10) }
    #expect(
      !TextChart(isColumns: false, points: many, averages: [], goal: 60, glyphs: Glyphs(isASCII: false)).showsGoal)
    // The first drink is drawn with the day's goal.
    #expect(
      TextChart(
        isColumns: true, points: [.init(day: Self.day(0), value: 250)], averages: [], goal: 2_500,
        glyphs: Glyphs(isASCII: false)
      ).showsGoal)
  }

  /// The band of expected values has no empty column, however many columns a day takes.
  @Test(arguments: [40, 80, 120, 200])
  func bandOfExpectedValuesHasNoGaps(_ width: Int) throws {
    let points = (0..<30).map { TextChart.Value(day: Self.day($0), value: 80 - Double($0) / 10) }
    var chart = TextChart(isColumns: false, points: points, averages: [], glyphs: Glyphs(isASCII: false))
    chart.expected = (30..<44).map { .init(day: Self.day($0), value: 77, low: 74, high: 80) }
    let rows = chart.lines(width: width, height: 12, style: Style(isColored: false))
    let bands = rows.compactMap { row in
      row.firstIndex(of: "░").map { row[$0...].prefix { "░┅".contains($0) }.count }
    }
    let inAll = rows.map { $0.count { "░┅".contains($0) } }.max() ?? 0
    #expect(inAll >= width / 5 && bands.contains(inAll), "\(rows.joined(separator: "\n"))")
  }

  /// A chart is no higher than the terminal; on a low one the drawing takes precedence over the sentences.
  @Test func chartsFitTheHeightOfTheTerminal() {
    let sentences = [["one"], ["two", "two"], ["three"]]
    let unknown = Chart.Room(rows: nil, usual: 14, fixed: 3, sentences: sentences)
    #expect(unknown.height == 14 && unknown.sentences.count == 4)
    for rows in 8...60 {
      let room = Chart.Room(rows: rows, usual: 14, fixed: 3, sentences: sentences)
      let used = room.height + 2 + 3 + room.sentences.count + (room.hasGap ? 1 : 0) + 1
      #expect(used <= rows || room.height == 5 && room.sentences.isEmpty, "\(rows): \(room)")
      #expect((5...20).contains(room.height))
    }
    #expect(Chart.Room(rows: 15, usual: 9, fixed: 4, sentences: sentences).sentences == ["one"])
    #expect(Chart.Room(rows: 40, usual: 14, fixed: 3, sentences: sentences).height == 20)
  }

  @Test(arguments: ["chart weight", "chart water", "chart goal", "chart weight --range 1W"])
  func chartsFitAnyTerminal(_ line: String) throws {
    for (width, height) in [(40, 15), (80, 24), (120, 40)] {
      let outcome = chime(
        words(line), daemon: try FakeTrackers().daemon(), width: width, height: height, isTerminal: true,
        environment: ["LANG": "C.UTF-8", "NO_COLOR": "1"])
      // The last line is the prompt's.
      #expect(outcome.lines.count <= height, "\(width)x\(height):\n\(outcome.output)")
    }
  }
}
