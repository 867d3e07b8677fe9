import ChimeControl
import ChimeSchedule
import ChimeWords

/// Calendars of the report: the heat map of a year, and flowers for numbered days.
extension ReportPage {
  /// Returns twelve months side by side, which wrap. Darker means more.
  func heatMap(_ part: ReportContents.Part, id: String) -> Markup {
    let months = months(of: part.year)
    return tag("div", ["class": "card"]) {
      tag("h4") { localized("The year") }
      tag("p", ["class": "kicker"]) {
        localized("A fuller color means more; an empty frame is a day that does not count.")
      }
      tag("div", ["class": "months"]) {
        for (index, month) in months.enumerated() { heat(month, part.tracker, id: "\(id)-heat\(index)") }
      }
      Self.figures(
        localized("The year as a table"),
        head: [localized("Month"), localized("Entries"), localized("Days met"), localized("Days that count")],
        rows: months.reversed().map { month in
          [
            DayText.monthAndYear(month.first),
            LocalizedFormat.number(Double(month.days.reduce(0) { $0 + $1.total.entries })),
            String(month.met), String(month.due),
          ]
        })
    }
  }

  struct Month {
    var first: CivilDate
    var days: [(date: CivilDate, total: T.DayTotal)]

    var met: Int { days.count { $0.total.isNumbered } }
    var due: Int { days.count { $0.total.isAsked } }
    /// Returns the week row of a day, from 0; weeks begin on Monday.
    func row(_ day: CivilDate) -> Int { (day.day - 1 + first.weekday.rawValue - 1) / 7 }
    var rows: Int { row(first.adding(days: CivilDate.daysIn(month: first.month, year: first.year) - 1) ?? first) + 1 }
  }

  func months(of days: [T.DayTotal]) -> [Month] {
    days.reduce(into: []) { months, total in
      guard let date = CivilDate(total.day) else { return }
      let first = DayText.firstOfMonth(date)
      if months.last?.first != first { months.append(Month(first: first, days: [])) }
      months[months.count - 1].days.append((date, total))
    }
  }

  private func heat(_ month: Month, _ tracker: T.Tracker, id: String) -> Markup {
    tag("div", ["class": "heat"]) {
      tag("p", ["aria-hidden": "true"]) { "\(DayText.month(month.first.month)) \(month.first.year)" }
      Self.picture(
        id, title: DayText.monthAndYear(month.first),
        about: localized(count: month.due, "%1 of %n day was met", "%1 of %n days were met", month.met),
        box: "0 0 97 \(14 * 6 - 1)"
      ) {
        for (date, total) in month.days {
          let (x, y) = (14 * (date.weekday.rawValue - 1), 14 * month.row(date))
          tag(
            "rect",
            [
              "class": Self.warmth(total), "x": String(x), "y": String(y), "width": "12", "height": "12", "rx": "3",
            ]
          ) { tag("title") { hint(total, tracker) } }
          if date == contents.today {
            tag(
              "rect",
              [
                "class": "now-day", "x": coordinate(Double(x) - 1.5), "y": coordinate(Double(y) - 1.5), "width": "15",
                "height": "15", "rx": "4.5",
              ])
          }
        }
      }
    }
  }

  /// Returns the CSS class of a day: `dx` if it does not count, `d0` for no entries up to `d4` for a met goal.
  private static func warmth(_ total: T.DayTotal) -> String {
    if total.met { return "d4" }
    if total.limit == .exceeded { return "d1" }
    guard total.entries > 0, total.limit == nil else { return total.counts ? "d0" : "dx" }
    switch total.percent ?? 50 {
    case ..<34: return "d1"
    case ..<67: return "d2"
    default: return "d3"
    }
  }

  private func hint(_ total: T.DayTotal, _ tracker: T.Tracker) -> String {
    var parts = [words.day(total.day)]
    if let amount = total.total ?? total.value, total.entries > 0 {
      parts.append(words.amount(amount, tracker))
    } else if total.entries > 0 {
      parts.append(localized("done"))
    } else if total.counts {
      parts.append(localized("nothing"))
    } else {
      parts.append(words.reason(total.reason) ?? localized("does not count"))
    }
    return parts.joined(separator: ": ")
  }

  // MARK: Flowers

  /// Returns the days required in this month and the next, each with its number, done or not.
  func plan(_ part: ReportContents.Part, id: String) -> Markup {
    guard !part.plan.isEmpty else { return .nothing }
    return tag("div", ["class": "card"]) {
      tag("h4") { localized("The plan") }
      tag("p", ["class": "kicker"]) {
        localized("Each planned day has its number: filled when it was done, outlined when it is still to come.")
      }
      tag("div", ["class": "gardens"]) {
        for (index, plan) in part.plan.enumerated() { self.plan(plan, id: "\(id)-plan\(index)") }
      }
    }
  }

  private func plan(_ plan: DayPlan, id: String) -> Markup {
    let title = DayText.monthAndYear(plan.month)
    let text = localized("%1 of %2 days are done.", String(plan.done), String(plan.days.count))
    let month = Month(first: plan.month, days: [])
    return tag("div", ["class": "garden"]) {
      tag("p") {
        tag("strong") { title }
        ", \(text)"
      }
      Self.picture(id, title: title, about: text, box: "0 0 280 \(26 + 40 * month.rows)") {
        for day in Weekday.allCases {
          tag("text", ["class": "wd", "x": String(40 * (day.rawValue - 1) + 20), "y": "12"]) {
            LocalizedFormat.weekday(day)
          }
        }
        for day in plan.days {
          if let date = CivilDate(day.day) {
            let (x, y) = (40 * (date.weekday.rawValue - 1) + 20, 26 + 40 * month.row(date) + 20)
            tag("g", ["class": "plan \(day.state.rawValue)", "transform": "translate(\(x) \(y))"]) {
              tag("title") { "\(words.day(day.day)): \(state(day.state))" }
              tag("circle", ["r": "15"])
              tag("text", ["y": "4.2"]) { String(day.number) }
            }
          }
        }
      }
    }
  }

  private func state(_ state: Output.PlannedDay.State) -> String {
    switch state {
    case .done: localized("done")
    case .missed: localized("not done")
    case .today: localized("today")
    case .upcoming: localized("to come")
    }
  }

  /// Returns a garden for each month, latest first: a flower for each day met, with its number if the day counts; a bud
  /// for a missed day.
  func gardens(_ part: ReportContents.Part, id: String) -> Markup {
    let from = contents.range?.from ?? ""
    // Skip months before the first day.
    let shown = months(of: part.year).filter { month in
      month.days.contains { $0.total.day >= from } && (month.due > 0 || month.met > 0)
    }.suffix(12)
    let tracker = part.tracker.id
    let forms = Set(
      shown.flatMap(\.days).filter { $0.total.met }.map { ReportFlowers.form($0.total.day, tracker) })
    return .all([
      tag("svg", ["width": "0", "height": "0", "aria-hidden": "true", "style": "position:absolute"]) {
        ReportFlowers.definitions(forms)
      },
      tag("div", ["class": "gardens"]) {
        for (index, month) in shown.reversed().enumerated() { garden(month, tracker, id: "\(id)-garden\(index)") }
      },
    ])
  }

  private func garden(_ month: Month, _ tracker: String, id: String) -> Markup {
    let title = DayText.monthAndYear(month.first)
    let inAll = month.days.compactMap(\.total.number).max()
    let text = localized(count: month.due, "%1 of %2 day", "%1 of %2 days", month.met, month.due)
    return tag("div", ["class": "card garden"]) {
      tag("h4") { title }
      tag("p") { inAll.map { localized("%1, %2 in all", text, String($0)) } ?? text }
      Self.picture(
        id, title: title, about: text, box: "0 0 280 \(26 + 40 * month.rows)"
      ) {
        for day in Weekday.allCases {
          tag("text", ["class": "wd", "x": String(40 * (day.rawValue - 1) + 20), "y": "12"]) {
            LocalizedFormat.weekday(day)
          }
        }
        grid(month, tracker)
      }
    }
  }

  private func grid(_ month: Month, _ tracker: String) -> Markup {
    let known = Dictionary(month.days.map { ($0.date, $0.total) }) { $1 }
    var number = 0
    var pieces: [Markup] = []
    for day in 0..<CivilDate.daysIn(month: month.first.month, year: month.first.year) {
      guard let date = month.first.adding(days: day) else { continue }
      let (x, y) = (40 * (date.weekday.rawValue - 1) + 20, 26 + 40 * month.row(date) + 20)
      let place = "translate(\(x) \(y))"
      let total = known[date]
      if let total, total.met {
        if total.isNumbered { number += 1 }
        pieces.append(
          tag("g", ["transform": place]) {
            tag("title") {
              total.number.map { localized("%1: day %2", words.day(total.day), String($0)) } ?? words.day(total.day)
            }
            tag("use", ["href": "#\(ReportFlowers.id(ReportFlowers.form(total.day, tracker)))"])
            if total.isNumbered { tag("text", ["class": "heart-number", "y": "4.2"]) { String(number) } }
          })
      } else if let total, total.counts {
        pieces.append(
          tag("g", ["transform": place]) {
            tag("title") { localized("%1: not done", words.day(total.day)) }
            tag("circle", ["class": "bud", "r": "9"])
          })
      } else {
        pieces.append(tag("g", ["transform": place]) { tag("circle", ["class": "seed", "r": "2.5"]) })
      }
      if date == contents.today {
        pieces.append(
          tag("g", ["transform": place]) {
            tag("rect", ["class": "now-day", "x": "-19", "y": "-19", "width": "38", "height": "38", "rx": "10"])
          })
      }
    }
    return .all(pieces)
  }
}
