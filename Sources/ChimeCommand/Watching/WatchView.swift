import ChimeControl
import ChimeSchedule
import ChimeWords

/// Draws the screen of `chime watch`: unanswered occurrences, upcoming times, pending deliveries, events.
struct WatchView {
  var model: WatchModel
  var zone: Zone
  var glyphs: Glyphs
  var width: Int
  var height: Int

  private var clock: WallClock { WallClock(zone: zone, now: model.now) }

  /// A row of a section, as parts that are laid out for the width.
  struct Row {
    /// Parts with columns of their own, such as the time.
    var lead: [Part]
    var text: Part
    /// At the right end, if there is room.
    var note: Part?
    var isChosen = false
  }

  struct Part: ExpressibleByStringLiteral {
    var text: String
    var tone: Style.Tone = .plain

    init(_ text: String, _ tone: Style.Tone = .plain) { (self.text, self.tone) = (TerminalSanitizer.line(text), tone) }
    init(stringLiteral value: String) { self.init(value) }
  }

  private struct Section {
    var title: String
    var rows: [Row]
    /// The times with countdowns.
    var times: [Instant?] = []
    /// The total number, which may exceed the rows.
    var total: Int
    /// The row that must be visible.
    var focus: Int?
    /// The number of rows granted before other sections get more.
    var least: Int
    /// Whether to show the last rows instead of the first if space is short.
    var showsEnd = false
    /// The lines shown without rows; without any, the section is left out.
    var empty: [String] = []

    var wanted: Int { rows.isEmpty ? empty.count : rows.count }
  }

  /// A frame, and the times with countdowns in it for `WatchModel.nextChange`.
  struct Picture {
    var frame: Frame
    var times: [Instant] = []
  }

  /// The minimum width for two columns of sections.
  private static let wide = 120
  /// Whether texts are abbreviated.
  private var isNarrow: Bool { width < 60 }

  func picture() -> Picture {
    var picture = Picture(frame: Frame(width: width, height: height))
    if model.mode == .help {
      drawHelp(on: &picture.frame)
      return picture
    }
    var top = drawHead(on: &picture.frame)
    let foot = height - (height > 5 ? 1 : 0)
    if height >= 12 { top += 1 }
    let ahead = dayAhead()
    let bottom = foot - (ahead.isEmpty ? 0 : ahead.count + 1)
    for (offset, line) in ahead.enumerated() { picture.frame.put(line.text, 0, bottom + 1 + offset, line.tone) }
    let left = [waiting, next, deliveries]
    if width >= Self.wide {
      let middle = width / 2
      draw(left, on: &picture, x: 0, width: middle - 2, rows: top..<bottom)
      draw([events], on: &picture, x: middle + 1, width: width - middle - 1, rows: top..<bottom)
    } else {
      draw(left + [events], on: &picture, x: 0, width: width, rows: top..<bottom)
    }
    if foot < height { drawFoot(on: &picture.frame, y: height - 1) }
    return picture
  }

  /// Whether the screen has room for the timeline of the next day.
  static func hasRoomForDayAhead(width: Int, height: Int) -> Bool { width >= 60 && height >= 30 }

  /// Returns the timeline of the next 24 hours, below the sections on a large screen.
  private func dayAhead() -> [Part] {
    guard Self.hasRoomForDayAhead(width: width, height: height) else { return [] }
    let signs = TimelineSigns(glyphs)
    let all = TimelineLanes.of(model.ahead, id: \.reminder, title: \.title) { coming in
      WallClock.instant(coming.at).map { signs.mark(coming, at: $0) }
    }
    // The list may be truncated before the day ends.
    let isCut = model.ahead.count >= WatchLine.mostAhead
    let end = isCut ? model.ahead.last.flatMap { WallClock.instant($0.at) } : nil
    let to = min(end ?? .latest, model.now + .hours(24))
    let lanes = all.filter { $0.marks.contains { $0.at < to } }.prefix(height / 4)
    let timeline = Timeline(from: model.now, to: to, zone: zone, lanes: Array(lanes), glyphs: glyphs)
    let lines = timeline.lines(width: width - 2, style: Style(isColored: false))
    guard !lines.isEmpty else { return [] }
    let used = Set(lanes.flatMap(\.marks).map(\.sign))
    let legend = signs.coming.filter { used.contains($0.0) }.map { "\($0.0) \($0.1)" }.joined(separator: "   ")
    let axis = lines.count - lanes.count
    return [Part(localized("The day ahead"), .strong)]
      + lines.enumerated().map { Part("  " + $0.element, $0.offset < axis ? .faint : .plain) }
      + [Part("  " + legend, .faint)]
  }

  // MARK: Header and footer

  /// Draws the daemon's state, the time, and problems; returns the next free row.
  private func drawHead(on frame: inout Frame) -> Int {
    let time = String(clock.text(model.now - .seconds(model.now.seconds % 60)))
    let (text, tone) = verdict
    let right = frame.width >= 60 ? time : String(time.suffix(5))
    frame.put(right, frame.width - TextWidth.of(right), 0, .faint)
    let dot = frame.put(glyphs.bullet + " ", 0, 0, tone)
    frame.put(text, dot, 0, tone, room: frame.width - TextWidth.of(right) - dot - 1)
    guard case .connected = model.link, let health = model.health, frame.height >= 8 else { return 1 }
    var y = 1
    let limit = max(1, min(4, frame.height / 6))
    for problem in HealthStatus(health).problems {
      for line in TextWidth.wrap(TerminalSanitizer.line(problem.text), to: frame.width - 2).prefix(2) where y <= limit {
        frame.put(line, 2, y, problem.tone, room: frame.width - 2)
        y += 1
      }
    }
    return y
  }

  private var verdict: (String, Style.Tone) {
    switch model.link {
    case .connected:
      guard let health = model.health else { return (localized("connecting"), .faint) }
      let verdict = HealthStatus(health)
      return (localized("Chime: %1", verdict.headline), verdict.tone)
    case .silent(let since): return (localized("the daemon has not answered since %1", clock.time(since)), .caution)
    case .away(let since, _, _):
      return (localized("the daemon is away since %1; reconnecting", clock.time(since)), .bad)
    }
  }

  private func drawFoot(on frame: inout Frame, y: Int) {
    switch model.mode {
    case .asking(let text, let problem):
      let x = frame.put(localized("snooze for: "), 0, y, .strong)
      let end = frame.put(TerminalSanitizer.line(text) + (glyphs.isASCII ? "_" : "▏"), x, y)
      frame.put(problem ?? localized("Enter snoozes, Esc goes back"), end + 2, y, problem == nil ? .faint : .caution)
    case .watching, .help:
      if let notice = model.notice {
        frame.put(TerminalSanitizer.line(notice.text), 0, y, notice.tone)
        return
      }
      var hints = model.open.isEmpty ? [] : [localized("d done"), localized("s snooze"), localized("x dismiss")]
      let rest = [localized("? help"), isNarrow ? "q" : localized("q leave")]
      let choose = localized("%1 choose", arrows)
      let all = (hints + [choose] + rest).reduce(0) { $0 + TextWidth.of($1) + 3 }
      if !hints.isEmpty, all <= width { hints.append(choose) }
      hints += rest
      var x = 0
      for hint in hints where x + TextWidth.of(hint) <= frame.width {
        x = frame.put(hint, x, y, .faint) + (isNarrow ? 2 : 3)
      }
    }
  }

  private var arrows: String { glyphs.isASCII ? "j k" : "↑↓" }

  // MARK: Sections

  private var waiting: Section {
    let rows = model.open.map { occurrence in
      let fired = WallClock.instant(occurrence.firedAt ?? occurrence.scheduledAt) ?? model.now
      return Row(
        lead: [
          Part(stamp(fired)),
          // If the note does not fit, its word replaces the age.
          Part(isNarrow && occurrence.state == .snoozed ? StateWords.say("snoozed") : age(fired), .faint),
        ], text: Part(occurrence.title, .strong),
        note: note(of: occurrence).map { Part($0, .faint) }, isChosen: occurrence.id == model.chosen)
    }
    return Section(
      title: localized("Waiting for an answer"), rows: rows, total: max(rows.count, model.health?.openOccurrences ?? 0),
      focus: model.open.firstIndex { $0.id == model.chosen }, least: 4)
  }

  /// Returns when the occurrence fires again.
  private func note(of occurrence: OccurrencesInterface.Occurrence) -> String? {
    if occurrence.state == .snoozed, let until = occurrence.snoozedUntil.flatMap({ WallClock.instant($0) }) {
      return localized("snoozed until %1", stamp(until))
    }
    return occurrence.repeatAt.flatMap { WallClock.instant($0) }.map { localized("again at %1", stamp($0)) }
  }

  private var next: Section {
    var rows = model.upcoming.map { coming in
      let at = WallClock.instant(coming.at) ?? model.now
      let tone: Style.Tone = coming.paused || coming.skipReason != nil ? .faint : .plain
      return Row(
        lead: [
          Part(stamp(at), tone),
          isNarrow && coming.paused
            ? Part(StateWords.say("paused"), .faint) : Part(countdown(at), isClose(at) ? .strong : .faint),
        ],
        text: Part(coming.title, tone),
        note: isNarrow && coming.paused ? nil : ComingMark.text(coming).map { Part($0, .faint) })
    }
    rows += model.awaiting.map { one in
      Row(
        lead: [Part("", .faint), Part(localized("waits"), .faint)], text: Part(one.title, .faint),
        note: Part(ChainText.waits(one), .faint))
    }
    return Section(
      title: localized("Next"), rows: rows,
      times: model.upcoming.map { WallClock.instant($0.at) } + model.awaiting.map { _ in nil }, total: rows.count,
      least: 5,
      empty: model.knowsUpcoming
        ? [localized("Nothing is coming."), localized("Add a reminder: chime in 25m \"Tea\"")] : notLoaded)
  }

  /// Before the daemon has answered.
  private var notLoaded: [String] { [localized("Looking it up.")] }

  private func isClose(_ instant: Instant) -> Bool {
    instant - model.now < WatchModel.close && instant >= model.now && model.link == .connected
  }

  private var deliveries: Section {
    let rows = model.pending.map { delivery in
      let again = delivery.nextAttempt.flatMap { WallClock.instant($0) }
      let times = delivery.attempts > 1 ? "\(delivery.attempts)\(glyphs.isASCII ? "x" : "×") " : ""
      return Row(
        lead: [
          Part(delivery.channel),
          Part(again.map { countdown($0) } ?? localized("under way"), delivery.attempts > 0 ? .caution : .faint),
        ],
        text: Part(delivery.title), note: delivery.lastResult.map { Part(times + localizedServerMessage($0), .faint) })
    }
    return Section(
      title: localized("Deliveries"), rows: rows,
      times: model.pending.map { $0.nextAttempt.flatMap { WallClock.instant($0) } },
      total: max(rows.count, model.health?.pendingDeliveries ?? 0), least: 2)
  }

  private var events: Section {
    let rows = model.lines.map { line in
      // The kind stands before the title, because a narrow screen truncates the end.
      let tone = WatchEvents.tone(line.kind)
      return Row(
        lead: [Part(stamp(line.at, withSeconds: !isNarrow), .faint), Part(StateWords.say(line.kind), tone)],
        text: Part(line.text, tone))
    }
    return Section(
      title: localized("What has happened"), rows: rows, total: rows.count, least: 3, showsEnd: true,
      empty: model.knowsHistory ? [localized("Nothing yet.")] : notLoaded)
  }

  /// Returns `08:10`, `Fri 08:10` for a day within a week, else the date.
  private func stamp(_ instant: Instant, withSeconds: Bool = false) -> String {
    let civil = zone.civil(at: instant)
    let days = civil.date.dayNumber - zone.civil(at: model.now).date.dayNumber
    let time = clock.time(instant).prefix(withSeconds ? 8 : 5)
    if days == 0 { return String(time) }
    if days.magnitude < 7 { return "\(LocalizedFormat.weekday(civil.date.weekday)) \(time.prefix(5))" }
    return LocalizedFormat.date(civil.date)
  }

  /// Returns `in 9 min 30 s`, or `9 min 30 s` on a narrow screen; `now` if the time has come.
  private func countdown(_ instant: Instant) -> String {
    let seconds = (instant - model.now).rawValue / 1_000
    if seconds <= 0 { return localized("now") }
    return isNarrow ? RelativeTime.amount(seconds: seconds) : clock.relative(instant)
  }

  /// Returns the waiting time in minutes, since seconds would distract.
  private func age(_ instant: Instant) -> String {
    let seconds = (model.now - instant).rawValue / 1_000
    return seconds < 60
      ? localized("just now") : RelativeTime.amount(seconds: seconds < 3_570 ? seconds / 60 * 60 : seconds)
  }

  // MARK: Room

  private func draw(_ all: [Section], on picture: inout Picture, x: Int, width: Int, rows: Range<Int>) {
    let sections = all.filter { $0.wanted > 0 }
    // Leave a blank row between sections if there is room.
    let gap = rows.count >= 8 + 3 * sections.count ? 1 : 0
    let shares = Self.shares(sections.map { ($0.wanted, $0.least) }, room: rows.count, gap: gap)
    var y = rows.lowerBound
    for (section, share) in zip(sections, shares) where share > 0 {
      draw(section, share, on: &picture, x: x, y: y, width: width)
      y += share + 1 + gap
    }
  }

  /// Distributes rows to sections, besides their titles: first up to two each in order, then up to the minimum of each,
  /// then one by one.
  static func shares(_ sections: [(wanted: Int, least: Int)], room: Int, gap: Int) -> [Int] {
    var shares = sections.map { _ in 0 }
    var left = room + gap
    for (index, section) in sections.enumerated() {
      let rows = min(section.wanted, 2, left - 1 - gap)
      guard rows > 0 else { continue }
      shares[index] = rows
      left -= rows + 1 + gap
    }
    for (index, section) in sections.enumerated() where shares[index] > 0 {
      let more = min(min(section.wanted, section.least) - shares[index], left)
      guard more > 0 else { continue }
      shares[index] += more
      left -= more
    }
    while left > 0 {
      let before = left
      for (index, section) in sections.enumerated()
      where left > 0 && shares[index] > 0 && shares[index] < section.wanted {
        shares[index] += 1
        left -= 1
      }
      if left == before { break }
    }
    return shares
  }

  private func draw(_ section: Section, _ count: Int, on picture: inout Picture, x: Int, y: Int, width: Int) {
    let isCut = section.total > count && !section.rows.isEmpty && !section.showsEnd
    let title = picture.frame.put(section.title, x, y, .strong, room: width)
    if isCut {
      let text = localized("%1 of %2", count, section.total)
      picture.frame.put(text, title + 2, y, .faint, room: max(0, width - (title - x) - 2))
    }
    guard !section.rows.isEmpty else {
      for (offset, line) in section.empty.prefix(count).enumerated() {
        picture.frame.put(line, x + 2, y + 1 + offset, .faint, room: width - 2)
      }
      return
    }
    var first = section.showsEnd ? max(0, section.rows.count - count) : 0
    if let focus = section.focus, focus >= count { first = min(focus - count / 2, section.rows.count - count) }
    let rows = Array(section.rows[first..<min(first + count, section.rows.count)])
    let columns = (0..<(rows.map(\.lead.count).max() ?? 0)).map { column in
      min(rows.map { TextWidth.of($0.lead[column].text) }.max() ?? 0, max(14, width / 5))
    }
    for (offset, row) in rows.enumerated() {
      draw(row, columns, on: &picture.frame, x: x, y: y + 1 + offset, width: width)
    }
    if !section.times.isEmpty { picture.times += section.times[first..<(first + rows.count)].compactMap { $0 } }
  }

  private func draw(_ row: Row, _ columns: [Int], on frame: inout Frame, x: Int, y: Int, width: Int) {
    if row.isChosen { frame.put(glyphs.isASCII ? ">" : "›", x, y, .strong) }
    var column = x + 2
    let end = x + width
    for (part, size) in zip(row.lead, columns) {
      frame.put(part.text, column, y, part.tone, room: min(size, max(0, end - column)))
      column += size + 2
    }
    let room = max(0, end - column)
    // The title comes first; the note gets the rest if it stays readable.
    let title = TextWidth.of(row.text.text)
    var kept = min(title, room)
    if let note = row.note {
      let wanted = TextWidth.of(note.text)
      let least = min(title, max(12, room * 3 / 5))
      let rest = min(wanted, room - 2 - min(title, room - 2 - wanted >= least ? room - 2 - wanted : least))
      if rest >= min(wanted, 10) {
        kept = min(title, room - 2 - rest)
        frame.put(note.text, end - rest, y, note.tone, room: rest)
      }
    }
    frame.put(row.text.text, column, y, row.text.tone, room: kept)
  }
}
