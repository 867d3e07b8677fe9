import ChimeControl
import ChimeSchedule
import ChimeWords

/// A chart of values over days. The SVG stretches to the available width with constant line widths. Labels are HTML, so
/// that their size is the same on every screen.
struct ReportPlot {
  typealias T = TrackersInterface

  var page: ReportPage
  var part: ReportContents.Part
  var id: String

  private var statistics: T.Statistics { part.statistics }
  private var expected: [T.Prediction] { statistics.prediction }
  private var tracker: T.Tracker { part.tracker }
  private var isColumns: Bool { tracker.kind == .amount }
  private var goal: Double? { isColumns ? dailyGoal : tracker.goal?.value }
  private var dailyGoal: Double? { tracker.goal?.period ?? .day == .day ? tracker.goal?.total : nil }

  /// The coordinate space of the SVG before stretching.
  private static let width = 1000.0
  private static let height = 400.0

  /// Returns the chart; nil if there is no data.
  func figure() -> Markup? {
    guard let first = days.min(), let last = days.max() else { return nil }
    let axis = DayAxis(first: first, last: last).holding(
      atLeast: DayAxis.fewestDays(in: page.contents.range), isColumns: isColumns)
    let values =
      statistics.points.map(\.value) + statistics.averages.map(\.value) + (goalIsNear ? [goal].compactMap { $0 } : [])
      + expected.flatMap { [$0.low, $0.high] }
    let scale = Scale(of: values, ticks: 5, fromZero: isColumns)
    return tag("figure", ["class": "plot"]) {
      tag("div", ["class": "plot-area"]) {
        if let unit = tracker.unit { tag("span", ["class": "unit", "aria-hidden": "true"]) { unit } }
        for tick in scale.ticks {
          tag("span", ["class": "y", "aria-hidden": "true", "style": "top:\(percent(1 - scale.share(tick)))"]) {
            LocalizedFormat.number(tick, decimals: scale.decimals)
          }
        }
        ReportPage.picture(
          id, title: title, about: about, box: "0 0 \(coordinate(Self.width)) \(coordinate(Self.height))",
          isStretched: true
        ) { drawing(axis, scale) }
        for (index, tick) in axis.ticks(limit: 13).enumerated() {
          tag(
            "span",
            [
              "class": index % 2 == 1 ? "x minor" : "x", "aria-hidden": "true",
              "style": "left:\(percent(place(tick.day, axis)))",
            ]
          ) { tick.text }
        }
        for flag in flags(axis) {
          tag("span", ["class": "flag minor", "aria-hidden": "true", "style": "left:\(percent(flag.place))"]) {
            flag.text
          }
        }
      }
      legend
    }
  }

  private var days: [CivilDate] {
    (statistics.points.map(\.day) + statistics.averages.map(\.day) + expected.map(\.day)).compactMap { CivilDate($0) }
  }

  private var goalIsNear: Bool {
    let values = statistics.points.map(\.value)
    return goal.map { Scale.holds($0, beside: values, isColumns: isColumns, isFirst: values.count < 3) } ?? false
  }

  /// Returns the crossed values with their positions; of overlapping ones, the latest.
  private func flags(_ axis: DayAxis) -> [(place: Double, text: String)] {
    crossed.reduce(into: []) { flags, stone in
      guard let day = CivilDate(stone.day), axis.first <= day, let value = stone.value else { return }
      let place = place(day, axis)
      if flags.allSatisfy({ abs($0.place - place) > 0.05 }) { flags.append((place, page.words.number(value, tracker))) }
    }
  }

  /// A single average would be a line without length.
  private var hasMean: Bool { statistics.averages.count > 1 }

  private var crossed: [T.Milestone] { part.milestones.filter { $0.value != nil } }

  /// Returns the position of a day: columns stand in the middle of theirs, so each end has half a day of margin.
  private func place(_ day: CivilDate, _ axis: DayAxis) -> Double {
    let count = Double(axis.count)
    return isColumns ? (Double(day.dayNumber - axis.first.dayNumber) + 0.5) / count : axis.share(day)
  }

  private func percent(_ share: Double) -> String { "\(coordinate(share * 100))%" }

  private func line(_ points: [(CivilDate, Double)], _ axis: DayAxis, _ scale: Scale) -> String {
    points.enumerated().map { index, point in
      "\(index == 0 ? "M" : "L")\(x(point.0, axis)) \(y(point.1, scale))"
    }.joined()
  }

  private func x(_ day: CivilDate, _ axis: DayAxis) -> String { coordinate(place(day, axis) * Self.width) }
  private func y(_ value: Double, _ scale: Scale) -> String { coordinate((1 - scale.share(value)) * Self.height) }

  private func dated(_ points: [T.Point]) -> [(CivilDate, Double)] {
    points.compactMap { point in CivilDate(point.day).map { ($0, point.value) } }
  }

  @MarkupBuilder
  private func drawing(_ axis: DayAxis, _ scale: Scale) -> Markup {
    for tick in scale.ticks { tag("path", ["class": "grid", "d": "M0 \(y(tick, scale))H\(coordinate(Self.width))"]) }
    for stone in crossed where axis.first.description <= stone.day {
      if let day = CivilDate(stone.day) {
        tag("path", ["class": "flag-line", "d": "M\(x(day, axis)) 0V\(coordinate(Self.height))"])
      }
    }
    if isColumns { columns(axis, scale) } else { measured(axis, scale) }
    if hasMean { tag("path", ["class": "mean", "d": line(dated(statistics.averages), axis, scale)]) }
    ahead(axis, scale)
    if let goal, goalIsNear {
      tag("path", ["class": "goal-line", "d": "M0 \(y(goal, scale))H\(coordinate(Self.width))"])
    }
  }

  /// Draws points as lines without length: their round caps stay round under stretching.
  private func measured(_ axis: DayAxis, _ scale: Scale) -> Markup {
    let path = dated(statistics.points).map { "M\(x($0.0, axis)) \(y($0.1, scale))h0" }.joined()
    // One or two points without a line would be overlooked in the faint style of many.
    return tag("path", ["class": statistics.points.count < 3 ? "raw few" : "raw", "d": path])
  }

  private func columns(_ axis: DayAxis, _ scale: Scale) -> Markup {
    let breadth = Self.width / Double(axis.count) * 0.72
    func path(_ points: [(CivilDate, Double)]) -> String {
      points.map { day, value in
        let left = coordinate(place(day, axis) * Self.width - breadth / 2)
        return
          "M\(left) \(coordinate(Self.height))V\(y(value, scale))h\(coordinate(breadth))V\(coordinate(Self.height))Z"
      }.joined()
    }
    let points = dated(statistics.points)
    return .all([
      tag("path", ["class": "column", "d": path(points.filter { $0.1 < dailyGoal ?? 0 })]),
      tag("path", ["class": "column met", "d": path(points.filter { $0.1 >= dailyGoal ?? 0 })]),
    ])
  }

  /// Draws the forecast band and its middle line.
  @MarkupBuilder
  private func ahead(_ axis: DayAxis, _ scale: Scale) -> Markup {
    let days = expected.compactMap { one in CivilDate(one.day).map { ($0, one) } }
    if !days.isEmpty {
      let upper = line(days.map { ($0.0, $0.1.high) }, axis, scale)
      let lower = days.reversed().map { "L\(x($0.0, axis)) \(y($0.1.low, scale))" }.joined()
      tag("path", ["class": "band", "d": "\(upper)\(lower)Z"])
      tag("path", ["class": "ahead", "d": line(days.map { ($0.0, $0.1.value) }, axis, scale)])
    }
  }

  // MARK: Texts

  private var title: String {
    isColumns
      ? localized("%1, day by day", page.name(tracker)) : localized("%1, with its average", page.name(tracker))
  }

  private var about: String {
    var sentences: [String] = []
    let s = statistics
    if let first = s.points.first, let last = s.points.last {
      sentences.append(
        localized(
          "From %1 on %2 to %3 on %4.", page.words.amount(first.value, tracker), page.words.date(first.day),
          page.words.amount(last.value, tracker), page.words.date(last.day)))
    }
    if let least = s.least, let most = s.most {
      sentences.append(
        localized(
          "The lowest was %1, the highest %2.", page.words.amount(least.value, tracker),
          page.words.amount(most.value, tracker)))
    }
    if let last = expected.last {
      sentences.append(
        localized(
          "In 14 days Chime expects a value between %1 and %2.", page.words.amount(last.low, tracker),
          page.words.amount(last.high, tracker)))
    }
    return sentences.joined(separator: " ")
  }

  private var legend: Markup {
    tag("figcaption", ["class": "legend"]) {
      if isColumns {
        sign(localized("a day's total")) { tag("path", ["class": "column met", "d": "M10 12V1h8V12Z"]) }
      } else {
        sign(localized("a day's value")) { tag("path", ["class": "raw", "d": "M16 6h0"]) }
      }
      if hasMean {
        sign(localized(count: statistics.averageDays, "average of %n day", "average of %n days")) {
          tag("path", ["class": "mean", "d": "M2 6H30"])
        }
      }
      if !expected.isEmpty {
        sign(localized("forecast for the next 14 days; 95 of 100 values fall within the band")) {
          .all([
            tag("path", ["class": "band", "d": "M2 1H30V12H2Z"]), tag("path", ["class": "ahead", "d": "M3 6H30"]),
          ])
        }
      }
      if let goal, goalIsNear {
        let amount = page.words.amount(goal, tracker)
        sign(tracker.isLimited ? localized("limit %1", amount) : localized("goal %1", amount)) {
          tag("path", ["class": "goal-line", "d": "M1 6H31"])
        }
      }
      if !crossed.isEmpty { sign(localized("milestones")) { tag("path", ["class": "flag-line", "d": "M16 0V12"]) } }
    }
  }

  private func sign(_ text: String, _ drawing: () -> Markup) -> Markup {
    tag("span") {
      ReportPage.ornament(box: "0 0 32 12") { drawing() }
      text
    }
  }
}
