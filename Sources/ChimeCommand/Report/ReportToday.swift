import ChimeControl
import ChimeSchedule
import ChimeWords

/// The head of the page, and today's progress.
extension ReportPage {
  var masthead: Markup {
    let mood = contents.day.mood
    let title = words.local(mood.title)
    return tag("header", ["class": "mast slate"]) {
      tag("div", ["class": "mast-in"]) {
        tag("div") {
          tag("p", ["class": "kicker"]) {
            "\(localized("Report of %1", periodText)) · \(words.day(contents.today.description))"
          }
          tag("h1") { title.isEmpty ? localized("Your progress") : title }
          tag("p", ["class": "message"]) { words.local(mood.message) }
          tag("p", ["class": "message soft"]) { words.local(mood.next) }
        }
        if let quote = contents.day.quote { self.quote(quote) }
      }
      if !contents.parts.isEmpty { week }
    }
  }

  private func quote(_ quote: T.Quote) -> Markup {
    let translation = quote.translation.flatMap { words.preferredLanguages.choose($0) }
    return tag("figure", ["class": "quote"]) {
      tag("blockquote") {
        tag("p", ["lang": quote.language, "dir": PreferredLanguages.isRightToLeft(quote.language) ? "rtl" : "ltr"]) {
          quote.text
        }
        if let translation, translation.language != quote.language {
          tag(
            "p",
            [
              "lang": translation.language,
              "dir": PreferredLanguages.isRightToLeft(translation.language) ? "rtl" : "ltr",
            ]
          ) {
            translation.text
          }
        }
      }
      tag("figcaption", ["dir": "auto"]) {
        quote.source
        if let title = quote.categoryTitle.map({ words.local($0) }), !title.isEmpty {
          " "
          tag("span", ["class": "pill \(CategoryColor(quote.category).hue)"]) { title }
        }
      }
    }
  }

  /// The last seven days, each as a ring that shows its progress.
  private var week: Markup {
    tag("ol", ["class": "week", "aria-label": localized("The last seven days")]) {
      for mark in contents.day.week {
        let isToday = mark.day == contents.day.day
        let date = CivilDate(mark.day)
        tag("li", ["class": isToday ? "now" : nil, "aria-current": isToday ? "date" : nil]) {
          tag("span", ["class": "name"]) { date.map { LocalizedFormat.weekday($0.weekday) } ?? mark.day }
          if let date { tag("span", ["class": "number"]) { String(date.day) } }
          // A tracker that was begun counts half, as its half circle in the terminal does.
          Self.ring(
            mark.due > 0 ? (Double(mark.met) + Double(mark.started) / 2) / Double(mark.due) : 0,
            isMet: mark.due > 0 && mark.met >= mark.due)
          tag("span", ["class": "soft"]) {
            mark.due > 0 ? localized("%1 of %2", String(mark.met), String(mark.due)) : localized("free")
          }
        }
      }
    }
  }

  var today: Markup {
    // Drinks come first, because their cards are tall.
    let parts = contents.parts.filter { Self.isDrunk($0.tracker) } + contents.parts.filter { !Self.isDrunk($0.tracker) }
    return tag("section", ["id": "today", "aria-labelledby": "today-title", "class": "slate"]) {
      tag("div", ["class": "head"]) { tag("h2", ["id": "today-title"]) { localized("Today") } }
      tag("ul", ["class": "today"]) {
        for part in parts { card(part) }
        if let next = contents.day.nextAchievement { self.next(next) }
      }
    }
  }

  private func card(_ part: ReportContents.Part) -> Markup {
    let chapters = shownChapters
    let hue = chapters.firstIndex { $0.parts.contains { $0.tracker.id == part.tracker.id } }.map { self.hue(of: $0) }
    let progress = part.progress
    let share = Double(words.percent(progress) ?? 0) / 100
    let isTall = Self.isDrunk(part.tracker) && part.tracker.goal != nil
    return tag("li", ["class": "card \(hue ?? "slate")\(isTall ? " wide" : "")"]) {
      if isTall {
        ReportCup.cup(share)
      } else if let photo = progress.items?.last?.photo, contents.photos[photo] != nil {
        thumbnail(photo, progress.items?.last?.title ?? "")
      } else if part.tracker.kind != .measure {
        tag("div", ["class": "mark"]) { Self.ring(share, isMet: progress.met) }
      }
      tag("div") {
        tag("h3", ["dir": "auto"]) { name(part.tracker) }
        if isTall { tag("p", ["class": "big"]) { localized("%1 %", LocalizedFormat.number(share * 100)) } }
        tag("p", ["class": part.tracker.kind == .measure ? "big" : "state"]) { words.state(progress) }
        if let trend = MeasureTrend(part.progress) { self.trend(trend, part.progress) }
        for line in facts(part) { tag("p", ["class": "kicker"]) { line } }
      }
    }
  }

  /// Returns `↘ 0.7 a week`, green toward the goal and red away from it; arrow and words say the same.
  private func trend(_ trend: MeasureTrend, _ progress: T.GoalProgress) -> Markup {
    tag("p", ["class": Self.tone(trend)]) {
      trend.text(words, progress.tracker)
      if let about = trend.about { tag("span", ["class": "soft"]) { " \(about)" } }
    }
  }

  static func tone(_ trend: MeasureTrend?) -> String? {
    switch trend?.heading {
    case .towards: "toward leaf"
    case .away: "toward rose"
    case .neither, nil: nil
    }
  }

  /// Returns one or two lines about the tracker's progress.
  private func facts(_ part: ReportContents.Part) -> [String] {
    let progress = part.progress
    var lines: [String] = []
    if part.tracker.kind == .measure {
      if let goal = words.goal(part.tracker) {
        lines.append(
          progress.isGoalValueReached
            ? localized("Goal reached: %1!", goal) : words.outlook(progress) ?? localized("goal %1", goal))
      }
      return lines + words.fields(progress.fields ?? [:], part.tracker)
    }
    if let remaining = words.remaining(progress), part.tracker.kind == .amount || part.tracker.isLimited {
      lines.append(remaining)
    }
    let streak = words.streak(progress.streak)
    if !streak.isEmpty { lines.append(localized("%1 in a row", streak)) }
    if part.tracker.timeOfDay != .anytime { lines.append(words.timeOfDay(part.tracker.timeOfDay)) }
    return lines
  }

  private func next(_ achievement: T.Achievement) -> Markup {
    let chapter = shownChapters.firstIndex { $0.id == achievement.pack }
    let share = Double(achievement.reached) / Double(max(achievement.target, 1))
    return tag("li", ["class": "card row \(chapter.map { hue(of: $0) } ?? "slate")"]) {
      tag("div") {
        tag("p", ["class": "kicker"]) { localized("Next achievement") }
        tag("h3", ["dir": "auto"]) { words.local(achievement.title) }
        tag("p", ["class": "state", "dir": "auto"]) { words.local(achievement.text) }
      }
      tag("div") {
        Self.bar(share)
        tag("p", ["class": "kicker"]) { words.progress(achievement) }
      }
    }
  }

  /// Returns the tracker's title as written.
  func name(_ tracker: T.Tracker) -> String { words.preferredLanguages.text(tracker.title, or: tracker.id) }

  /// Returns `+0.4 kg` or `−0.4 kg`, with a typographic minus.
  func signed(_ value: Double, _ tracker: T.Tracker) -> String {
    let text = words.signed(value, tracker)
    return text.hasPrefix("-") ? "−" + text.dropFirst() : text
  }
}

/// A drawing of a glass with its fill level.
enum ReportCup {
  private static let glass = "M14 8L27 178Q28.5 192 43 192H107Q121.5 192 123 178L136 8"

  static func cup(_ share: Double) -> Markup {
    // The water level is 186 (empty) to 22 (full); more shows a full glass.
    let level = 186 - 164 * min(max(share, 0), 1)
    return ReportPage.ornament(box: "0 0 150 200", class: "cup") {
      tag("defs") {
        tag("clipPath", ["id": "glass"]) { tag("path", ["d": glass + "Z"]) }
      }
      tag("g", ["clip-path": "url(#glass)"]) {
        tag("path", ["class": "cup-air", "d": "M0 0H150V200H0Z"])
        if share > 0 {
          tag("g", ["transform": "translate(0 \(coordinate(level)))"]) {
            tag("path", ["class": "cup-water cup-back", "d": wave(height: 5, shift: 40)])
            tag("path", ["class": "cup-water cup-front", "d": wave(height: 4, shift: 0)])
          }
        }
      }
      for quarter in 1...3 {
        let y = coordinate(186 - 164 * Double(quarter) / 4)
        tag(
          "path",
          [
            "class": "cup-line",
            "d": "M\(quarter == 2 ? "106" : "114") \(y)H\(coordinate(123 + 3.2 * Double(quarter)))",
          ])
      }
      tag("path", ["class": "cup-glass", "d": glass])
    }
  }

  /// Returns waves of 80 units, extended beyond the glass, so that an animation by one wave is seamless.
  private static func wave(height: Double, shift: Double) -> String {
    let h = coordinate(height)
    let crests = (0..<4).map { _ in "q20 -\(h) 40 0t40 0" }.joined()
    return "M\(coordinate(-shift)) 0\(crests)V220H\(coordinate(-shift))Z"
  }
}

/// The expected jobs: a row of squares for each, green for a success, red for a failure or a missing run.
extension ReportPage {
  var expectations: Markup {
    guard !contents.expectations.isEmpty else { return .nothing }
    let down = contents.expectations.count { $0.state == .down }
    return tag("section", ["id": "expected", "aria-labelledby": "expected-title"]) {
      tag("div", ["class": "head"]) { tag("h2", ["id": "expected-title"]) { localized("Expected jobs") } }
      tag("p", ["class": "kicker"]) {
        down == 0
          ? localized("None is down.") : localized(count: down, "%n is down.", "%n are down.")
      }
      tag("ul", ["class": "card jobs"]) { for one in contents.expectations { job(one) } }
    }
  }

  private func job(_ one: ExpectationsInterface.Expectation) -> Markup {
    tag("li", ["class": one.state == .down ? "down" : nil]) {
      tag("strong", ["dir": "auto"]) { one.title }
      tag("span", ["class": "kicker"]) { "\(StateWords.say(one.state.rawValue)) · \(one.when)" }
      tag("span", ["class": "beats", "role": "img", "aria-label": summary(one.recentRuns)]) {
        for run in one.recentRuns { tag("i", ["class": run.result.rawValue, "title": title(run)]) }
      }
    }
  }

  private func title(_ run: ExpectationsInterface.RunResult) -> String {
    "\(run.at.at.prefix(16).replacing("T", with: " ")) \(word(run.result))"
  }

  private func word(_ result: ExpectationsInterface.RunResult.Result) -> String {
    switch result {
    case .succeeded: localized("went well")
    case .failed: StateWords.say("failed")
    case .missed: localized("no ping")
    }
  }

  /// Returns a summary such as `12 went well, 1 failed, 0 no ping`.
  private func summary(_ runs: [ExpectationsInterface.RunResult]) -> String {
    ExpectationsInterface.RunResult.Result.allCases.map { result in
      "\(runs.count { $0.result == result }) \(word(result))"
    }.joined(separator: ", ")
  }
}
