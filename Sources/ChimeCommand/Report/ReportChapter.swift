import ChimeControl
import ChimeSchedule
import ChimeWords

/// A chapter of the report: a pack, its trackers, and its badges.
extension ReportPage {
  func chapter(_ chapter: ReportContents.Chapter, number: Int, hue: String) -> Markup {
    let title = title(of: chapter)
    return tag(
      "section", ["id": "chapter-\(number)", "class": "chapter \(hue)", "aria-labelledby": "chapter-\(number)-title"]
    ) {
      tag("div", ["class": "head"]) {
        tag("h2", ["id": "chapter-\(number)-title", "dir": "auto"]) { title }
        if let level = chapter.level { tag("p", ["class": "soft"]) { localized("level %1", String(level.level)) } }
      }
      if let level = chapter.level { self.level(level) }
      for (index, part) in chapter.parts.enumerated() {
        self.part(
          part, id: "p\(number)-\(index + 1)", isAlone: chapter.parts.count == 1,
          isTitled: name(part.tracker) != title)
      }
      if !chapter.achievements.isEmpty { badges(chapter.achievements, id: "b\(number)") }
    }
  }

  private func level(_ level: T.Level) -> Markup {
    let share = Double(level.experience - level.from) / Double(max(level.next - level.from, 1))
    return tag("div", ["class": "level"]) {
      Self.bar(share)
      tag("p", ["class": "kicker"]) {
        localized(
          "%1 XP, and %2 more to level %3", LocalizedFormat.number(Double(level.experience)),
          LocalizedFormat.number(Double(max(level.next - level.experience, 0))), String(level.level + 1))
      }
    }
  }

  private func part(_ part: ReportContents.Part, id: String, isAlone: Bool, isTitled: Bool) -> Markup {
    let tracker = part.tracker
    let goal = tracker.kind == .measure ? words.goal(tracker).map { localized("goal %1", $0) } : words.goal(tracker)
    let about = [goal, tracker.kind == .measure ? nil : words.counting(tracker)].compactMap { $0 }
    return tag("div", ["class": isTitled ? "part" : "part bare"]) {
      tag("h3", ["dir": "auto", "class": isTitled ? nil : "unseen"]) { name(tracker) }
      if !about.isEmpty { tag("p", ["class": "kicker"]) { about.joined(separator: ", ") } }
      if part.statistics.entries == 0, !tracker.isLimited, part.year.allSatisfy({ $0.entries == 0 }) {
        nothingYet(tracker)
      } else {
        tag("div", ["class": "stack"]) { pieces(of: part, id: id, isAlone: isAlone) }
      }
    }
  }

  private func nothingYet(_ tracker: T.Tracker) -> Markup {
    let example =
      switch tracker.kind {
      case .check: tracker.hasItems ? localized("NAME") : nil as String?
      case .amount:
        "\(TrackerWords.shortest(tracker.usual ?? tracker.presets.first ?? 1))\(tracker.unit ?? "")"
      case .measure: "\(TrackerWords.shortest(tracker.goal?.value ?? 1))\(tracker.unit ?? "")"
      }
    return tag("div", ["class": "card empty"]) {
      tag("p") { localized("Nothing is logged yet. Your first entry starts the picture:") }
      tag("p") { tag("code") { (["chime log", tracker.id] + [example].compactMap { $0 }).joined(separator: " ") } }
    }
  }

  @MarkupBuilder
  private func pieces(of part: ReportContents.Part, id: String, isAlone: Bool) -> Markup {
    let tracker = part.tracker
    tiles(part)
    if tracker.kind != .measure || !part.statistics.points.isEmpty {
      if let figure = tracker.kind == .check ? nil : ReportPlot(page: self, part: part, id: "\(id)-plot").figure() {
        tag("div", ["class": "card"]) {
          figure
          valuesTable(part)
        }
      }
    }
    for (index, field) in part.fields.enumerated() where !field.points.isEmpty {
      further(field, part, id: "\(id)-field\(index)")
    }
    if tracker.kind == .check, !tracker.hasItems, isAlone {
      gardens(part, id: id)
      plan(part, id: id)
    }
    if tracker.hasItems, !part.items.isEmpty {
      wearCalendar(part, id: id)
      collection(part.items)
      wearPhotos(part)
    }
    if tracker.kind != .measure { heatMap(part, id: id) }
    if !part.milestones.isEmpty { milestones(part) }
  }

  /// Returns an additional measure of the entries, such as body fat, with a chart like that of the main value.
  private func further(_ field: T.Statistics, _ part: ReportContents.Part, id: String) -> Markup {
    let own = ReportContents.Part(
      tracker: field.tracker, progress: part.progress, statistics: field, year: [], milestones: [])
    return tag("div", ["class": "card"]) {
      tag("h4", ["dir": "auto"]) { name(field.tracker) }
      if let last = field.last {
        tag("p", ["class": "kicker"]) {
          localized("%1 on %2.", words.amount(last.value, field.tracker), words.day(last.day))
        }
      }
      ReportPlot(page: self, part: own, id: id).figure() ?? .nothing
      valuesTable(own)
    }
  }

  // MARK: Figures

  private func tiles(_ part: ReportContents.Part) -> Markup {
    let rows = part.tracker.kind == .measure ? measured(part) : counted(part)
    var trend = MeasureTrend(part.statistics)
    if part.progress.isGoalValueReached { trend?.heading = .neither }
    let (rate, tone) = (localized("A week"), Self.tone(trend))
    return tag("dl", ["class": "tiles"]) {
      for row in rows {
        tag("div") {
          tag("dt") { row.name }
          tag("dd", ["class": row.name == rate ? tone : nil]) {
            row.value
            if let more = row.more { tag("small") { more } }
          }
        }
      }
    }
  }

  private typealias Tile = (name: String, value: String, more: String?)

  private func measured(_ part: ReportContents.Part) -> [Tile] {
    let (s, tracker) = (part.statistics, part.tracker)
    var tiles: [Tile] = []
    if let last = s.last { tiles.append((localized("Latest"), words.amount(last.value, tracker), words.day(last.day))) }
    if let first = s.first, let last = s.last, first.day != last.day {
      tiles.append(
        (localized("Change"), signed(last.value - first.value, tracker), localized("since %1", words.date(first.day))))
    }
    if let rate = s.weeklyRate {
      tiles.append(
        (
          localized("A week"),
          [MeasureTrend(s)?.arrow, signed(rate, tracker)].compactMap { $0 }.joined(separator: " "),
          [s.direction.map { direction($0) }, MeasureTrend(s)?.about].compactMap { $0 }.joined(separator: ", ")
        ))
    }
    if let goal = tracker.goal?.value {
      let isMet = part.progress.isGoalValueReached
      let goalOn = s.goalOn.map { localized("forecast for %1", words.date($0)) }
      tiles.append((localized("Goal"), words.amount(goal, tracker), isMet ? localized("reached") : goalOn))
    }
    if let least = s.least {
      tiles.append((localized("Least"), words.amount(least.value, tracker), words.day(least.day)))
    }
    if let most = s.most { tiles.append((localized("Most"), words.amount(most.value, tracker), words.day(most.day))) }
    return tiles
  }

  private func direction(_ direction: T.GoalProgress.Direction) -> String {
    switch direction {
    case .up: localized("rising")
    case .down: localized("falling")
    case .steady: localized("steady")
    }
  }

  private func counted(_ part: ReportContents.Part) -> [Tile] {
    let (s, tracker) = (part.statistics, part.tracker)
    var tiles: [Tile] = []
    if let total = s.total { tiles.append((localized("In all"), words.sum(total, tracker), entries(s.entries))) }
    if tracker.kind == .amount, let average = s.dailyAverage {
      tiles.append((localized("A day"), words.amount(average, tracker), localized("on days with an entry")))
    }
    if tracker.kind == .amount, let most = s.most {
      let title = tracker.isLimited ? localized("Most") : localized("Best day")
      tiles.append((title, words.amount(most.value, tracker), words.day(most.day)))
    }
    // Days before the tracker's first due day may have been met.
    let due = max(s.dueDays, s.metDays)
    if due > 0 {
      tiles.append(
        (
          tracker.goal == nil
            ? localized("Days done") : tracker.isLimited ? localized("Within the limit") : localized("Goal met"),
          StatsPage.percent(Double(s.metDays) / Double(due)),
          localized(
            count: due, "%1 of %2 day that counts", "%1 of %2 days that count",
            LocalizedFormat.number(Double(s.metDays)),
            LocalizedFormat.number(Double(due)))
        ))
    }
    let none = localized("none yet")
    let streak = words.streak(s.streak)
    tiles.append((localized("Streak"), streak.isEmpty ? none : streak, nil))
    let longest = words.streak(s.longest)
    let ended = s.longest.last.map { localized("up to %1", words.date($0)) }
    tiles.append((localized("Longest"), longest.isEmpty ? none : longest, longest.isEmpty ? nil : ended))
    tiles.append(
      (
        localized("Strength"), localized("%1 %", LocalizedFormat.number(s.strength * 100)),
        localized("of the habit")
      ))
    if let evenness = s.evenness {
      tiles.append(
        (localized("Rotation"), localized("%1 %", String(evenness)), localized("how evenly all are used")))
    }
    return tiles
  }

  func entries(_ count: Int) -> String { localized(count: count, "%n entry", "%n entries") }

  private func valuesTable(_ part: ReportContents.Part) -> Markup {
    let (s, tracker) = (part.statistics, part.tracker)
    let averages = Dictionary(s.averages.map { ($0.day, $0.value) }) { $1 }
    let values = s.points.reversed().map { point in
      [
        words.day(point.day), words.amount(point.value, tracker),
        averages[point.day].map { words.amount($0, tracker) } ?? "",
      ]
    }
    let ahead = s.prediction.map { one in
      [
        words.day(one.day), words.amount(one.value, tracker), words.amount(one.low, tracker),
        words.amount(one.high, tracker),
      ]
    }
    let months = s.months.reversed().map { month in
      [
        CivilDate(month.from).map { DayText.monthAndYear($0) } ?? month.from, String(month.entries),
        month.average.map { words.amount($0, tracker) } ?? "",
      ]
        + (tracker.kind == .amount
          ? [month.total.map { words.sum($0, tracker) } ?? "", "\(month.met)/\(month.due)"] : [])
    }
    let (day, average) = (localized("Day"), localized("Average"))
    return .all([
      Self.figures(
        localized("Months as a table"),
        head: [localized("Month"), localized("Entries"), average]
          + (tracker.kind == .amount ? [localized("Total"), localized("Days met")] : []), rows: months),
      Self.figures(
        localized("Days as a table"), head: [day, localized("Value"), average], rows: values),
      Self.figures(
        localized("Expected days as a table"),
        head: [day, localized("Expected"), localized("Low"), localized("High")], rows: ahead),
    ])
  }

  // MARK: Collections and milestones

  /// Returns the most and the least used items side by side; all of them if they are few.
  private func collection(_ items: [T.Item]) -> Markup {
    let gone = items.filter { isGone($0) }.sorted { ($1.entries, $0.title) < ($0.entries, $1.title) }
    let sorted = items.filter { !isGone($0) }.sorted { ($1.entries, $0.title) < ($0.entries, $1.title) }
    let most = sorted.first?.entries ?? 0
    let isFew = sorted.count <= 12
    let top = isFew ? sorted : Array(sorted.prefix(6))
    let bottom = isFew ? [] : Array(sorted.suffix(6))
    return tag("div", ["class": "pair"]) {
      worn(top, isFew ? localized("Most used first") : localized("Most used"), most: most)
      if !bottom.isEmpty { worn(bottom, localized("Least used"), most: most) }
      if !gone.isEmpty { worn(Array(gone.prefix(12)), localized("No longer there"), most: most) }
    }
  }

  private func worn(_ items: [T.Item], _ title: String, most: Int) -> Markup {
    tag("div", ["class": "card"]) {
      tag("h4") { title }
      tag("ol", ["class": "worn"]) {
        for item in items {
          tag("li", ["class": isGone(item) ? "gone" : nil]) {
            tag("span", ["dir": "auto"]) {
              thumbnail(item.photo, item.title)
              item.title
              if let until = item.until, isGone(item) {
                tag("span", ["class": "soft"]) { localized("✗ until %1", words.date(until)) }
              }
              if let brand = item.attributes["brand"] ?? item.attributes.min(by: { $0.key < $1.key })?.value {
                tag("span", ["class": "soft"]) { brand }
              }
            }
            Self.bar(most > 0 ? Double(item.entries) / Double(most) : 0)
            tag("span", ["class": "n"]) {
              String(item.entries)
              tag("span", ["class": "unseen"]) { localized(count: item.entries, "time", "times") }
            }
          }
        }
      }
    }
  }

  /// Returns milestones: those with a note or photo as cards, others as a word and a day.
  private func milestones(_ part: ReportContents.Part) -> Markup {
    let withStory = part.milestones.filter { $0.note != nil || $0.photo != nil }
    let crossed = part.milestones.filter { $0.note == nil && $0.photo == nil }
    return tag("div") {
      tag("h4", ["class": "above"]) { localized("Milestones") }
      if !crossed.isEmpty {
        tag("ul", ["class": "chips"]) {
          for stone in crossed {
            tag("li") {
              tag("strong", ["dir": "auto"]) { stone.title }
              " "
              tag("span", ["class": "soft"]) { words.day(stone.day) }
            }
          }
        }
      }
      if !withStory.isEmpty { stories(withStory) }
    }
  }

  private func stories(_ stones: [T.Milestone]) -> Markup {
    tag("ul", ["class": "stones"]) {
      for stone in stones {
        tag("li", ["class": "card"]) {
          if let photo = stone.photo.flatMap({ contents.photos[$0] }) {
            tag("img", ["src": photo.uri, "alt": localized("Photo: %1", stone.title)])
          }
          tag("p", ["class": "kicker"]) {
            words.day(stone.day)
            if stone.photo.map({ contents.photos[$0] == nil }) ?? false { ", \(localized("its photo was left out"))" }
          }
          tag("p", ["class": "name", "dir": "auto"]) { stone.title }
          if let note = stone.note { tag("p", ["dir": "auto"]) { note } }
        }
      }
    }
  }
}
