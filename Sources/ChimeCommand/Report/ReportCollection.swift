import ChimeControl
import ChimeSchedule
import ChimeWords

/// Collections: the items used on each day, with photos of items and entries.
///
/// Each photo is in the file once, as a CSS class, however often it is shown.
extension ReportPage {
  func isGone(_ item: T.Item) -> Bool { item.until.map { $0 <= contents.today.description } ?? false }

  /// The photos of items and entries as CSS classes; empty if there are none.
  var photoStyle: String {
    shownPhotos.enumerated().compactMap { index, name in
      contents.photos[name].map { ".ph\(index){background-image:url(\($0.uri))}" }
    }.joined(separator: "\n")
  }

  /// The names of the included photos of items and entries, sorted.
  private var shownPhotos: [String] {
    let names = contents.parts.flatMap { $0.items.map(\.photo) + $0.entries.map(\.photo) }.compactMap { $0 }
    return Set(names).filter { contents.photos[$0] != nil }.sorted()
  }

  /// Returns a thumbnail beside a text with the same content; nothing without a photo.
  func thumbnail(_ photo: String?, _ title: String) -> Markup {
    guard let photo, let index = shownPhotos.firstIndex(of: photo) else { return .nothing }
    return tag("span", ["class": "photo ph\(index)", "role": "img", "aria-label": localized("Photo: %1", title)])
  }

  /// Returns up to three months of the range with the items used on each day.
  func wearCalendar(_ part: ReportContents.Part, id: String) -> Markup {
    let worn = WornDays(part.entries, of: part.collection)
    guard !worn.items.isEmpty else { return .nothing }
    let from = contents.range?.from ?? ""
    let shown = months(of: part.year).filter { month in month.days.contains { $0.total.day >= from } }.suffix(3)
    return tag("div", ["class": "card"]) {
      tag("h4") { localized("What was used on which day") }
      tag("div", ["class": "wears"]) {
        for month in shown.reversed() { wears(month, worn) }
      }
      tag("ul", ["class": "chips letters"]) {
        for item in worn.items {
          tag("li") {
            tag("b", ["class": CategoryColor(item.id).hue]) { item.letter }
            " "
            tag("span", ["dir": "auto"]) { item.title }
            " "
            tag("span", ["class": "soft"]) { localized(count: item.times, "%n time", "%n times") }
          }
        }
      }
      Self.figures(
        localized("The days as a table"), head: [localized("Day"), localized("Used")],
        rows: worn.days.sorted { $0.key > $1.key }.map { day, ids in
          [
            words.day(day),
            ids.map { id in worn.items.first { $0.id == id }?.title ?? id }.joined(separator: ", "),
          ]
        })
    }
  }

  private func wears(_ month: Month, _ worn: WornDays) -> Markup {
    tag("div") {
      tag("p", ["class": "kicker"]) { DayText.monthAndYear(month.first) }
      tag("ol", ["class": "wear", "role": "list"]) {
        for day in Weekday.allCases {
          tag("li", ["class": "wd", "aria-hidden": "true"]) { LocalizedFormat.weekday(day) }
        }
        for (date, total) in month.days {
          let ids = worn.days[total.day] ?? []
          let titles = ids.map { id in worn.items.first { $0.id == id }?.title ?? id }
          tag(
            "li",
            [
              "class": date == contents.today ? "now" : nil,
              "style": date == month.days[0].date ? "grid-column-start:\(date.weekday.rawValue)" : nil,
              "title": titles.isEmpty ? nil : titles.joined(separator: ", "),
            ]
          ) {
            tag("span", ["class": "soft"]) { String(date.day) }
            for (index, id) in ids.prefix(2).enumerated() {
              if let item = worn.items.first(where: { $0.id == id }) {
                tag("b", ["class": CategoryColor(id).hue, "aria-label": titles[index]]) { item.letter }
              }
            }
          }
        }
      }
    }
  }

  /// Returns the photos of entries, newest first.
  func wearPhotos(_ part: ReportContents.Part) -> Markup {
    let shown = part.entries.filter { $0.photo.map { contents.photos[$0] != nil } ?? false }
      .prefix(ReportPhotos.mostOfEntries)
    guard !shown.isEmpty else { return .nothing }
    let titles = Dictionary(part.items.map { ($0.id, $0.title) }) { first, _ in first }
    return tag("div") {
      tag("h4", ["class": "above"]) { localized("Photos") }
      tag("ul", ["class": "shots"]) {
        for entry in shown {
          let title = entry.item.map { titles[$0] ?? $0 } ?? name(part.tracker)
          tag("li") {
            thumbnail(entry.photo, title)
            tag("span", ["dir": "auto"]) { title }
            tag("span", ["class": "soft"]) { words.day(entry.day) }
          }
        }
      }
    }
  }
}
