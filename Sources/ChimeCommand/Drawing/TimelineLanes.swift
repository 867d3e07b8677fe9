import ChimeControl
import ChimeSchedule
import ChimeWords

/// The signs on a timeline and their meanings.
struct TimelineSigns {
  private let isASCII: Bool
  /// The glyphs used so far, so that the legend explains no others.
  private var glyphs: Glyphs

  init(_ glyphs: Glyphs) { (self.glyphs, isASCII) = (glyphs, glyphs.isASCII) }

  private var whole: Character { isASCII ? "*" : "●" }
  private var half: Character { isASCII ? "/" : "◐" }
  private var empty: Character { isASCII ? "o" : "○" }
  private var late: Character { isASCII ? "L" : "◆" }
  private var missed: Character { isASCII ? "!" : "×" }

  func mark(_ coming: OccurrencesInterface.UpcomingTime, at instant: Instant) -> Timeline.Mark {
    if coming.paused || coming.skipReason != nil { return Timeline.Mark(at: instant, sign: empty, tone: .faint) }
    if coming.snoozed || coming.repeats == true || coming.held != nil {
      return Timeline.Mark(at: instant, sign: half, tone: .caution, weight: 1)
    }
    return Timeline.Mark(at: instant, sign: whole, weight: 2)
  }

  var coming: [(Character, String)] {
    [
      (whole, localized("comes")), (half, localized("snoozed, repeated or held")),
      (empty, localized("paused, or done already")),
    ]
  }

  func mark(_ occurrence: OccurrencesInterface.Occurrence, at instant: Instant) -> Timeline.Mark {
    switch occurrence.state {
    case .missed where occurrence.missed == .doneAlready:
      Timeline.Mark(at: instant, sign: empty, tone: .faint, weight: 0)
    case .missed: Timeline.Mark(at: instant, sign: missed, tone: .bad, weight: 4)
    case _ where occurrence.late != nil: Timeline.Mark(at: instant, sign: late, tone: .caution, weight: 2)
    case .done: Timeline.Mark(at: instant, sign: whole, tone: .good, weight: 1)
    case .fired, .delivered, .snoozed, .awaited: Timeline.Mark(at: instant, sign: half, tone: .caution, weight: 3)
    case .dismissed: Timeline.Mark(at: instant, sign: empty, tone: .faint, weight: 0)
    }
  }

  var past: [(Character, String)] {
    [
      (whole, localized("done")), (half, localized("not answered yet")),
      (empty, localized("dismissed, or done already")),
      (late, localized("came late")), (missed, localized("missed")),
    ]
  }
}

/// Builds and prints the rows of a timeline.
enum TimelineLanes {
  /// Returns a row for each reminder, in order of first appearance.
  static func of<Item>(
    _ items: [Item], id: KeyPath<Item, String>, title: KeyPath<Item, String>, mark: (Item) -> Timeline.Mark?
  ) -> [Timeline.Lane] {
    var lanes: [Timeline.Lane] = []
    var places: [String: Int] = [:]
    for item in items {
      guard let mark = mark(item) else { continue }
      let place = places[item[keyPath: id]] ?? lanes.count
      if place == lanes.count {
        places[item[keyPath: id]] = place
        lanes.append(Timeline.Lane(title: TerminalSanitizer.line(item[keyPath: title]), marks: []))
      }
      lanes[place].marks.append(mark)
    }
    return lanes
  }

  /// Prints at most `limit` rows, all if nil, with a legend.
  static func print(
    _ context: Context, _ lanes: [Timeline.Lane], from: Instant, to: Instant, limit: Int?,
    legend: [(Character, String)]
  ) {
    let shown = Array(lanes.prefix(limit ?? .max))
    let glyphs = context.glyphs
    let timeline = Timeline(from: from, to: to, zone: context.clock().zone, lanes: shown, glyphs: glyphs)
    for line in timeline.lines(width: context.width, style: context.style) { context.out(line) }
    let used = Set(shown.flatMap(\.marks).map(\.sign))
    let signs = legend.filter { used.contains($0.0) }.map { "\($0.0) \($0.1)" }
    context.out()
    for line in Glyphs.legend(signs, width: context.width) { context.out(context.style(line, .faint)) }
    if shown.count < lanes.count {
      context.note(localized("These are the first %1; -n N or -n all shows more.", shown.count), .faint)
    }
  }
}
