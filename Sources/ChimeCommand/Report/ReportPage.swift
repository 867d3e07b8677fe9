import ChimeControl
import ChimeSchedule
import ChimeWords

/// A report as one self-contained HTML page, without scripts and external resources.
///
/// Source: HTML Living Standard; Content Security Policy level 3; WAI-ARIA 1.2 for the names of pictures.
struct ReportPage {
  typealias T = TrackersInterface

  var contents: ReportContents
  var words: TrackerWords

  /// Returns the whole file.
  func html() -> String {
    "<!DOCTYPE html>\n"
      + tag(
        "html",
        [
          "lang": words.preferredLanguages.first,
          "dir": PreferredLanguages.isRightToLeft(words.preferredLanguages.first) ? "rtl" : "ltr",
        ]
      ) {
        head
        tag("body") {
          tag("a", ["class": "skip", "href": "#main"]) { localized("Skip to the content") }
          tag("div", ["class": "wrap"]) {
            masthead
            navigation
            tag("main", ["id": "main"]) { main }
            footer
          }
        }
      }.html + "\n"
  }

  /// The text by which a file is recognized as a report.
  static let mark = "<meta name=\"generator\" content=\"Chime report\">"

  /// Forbids all loading: pictures and the style sheet are within the page.
  private static let policy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

  private var head: Markup {
    tag("head") {
      tag("meta", ["charset": "utf-8"])
      tag("meta", ["http-equiv": "Content-Security-Policy", "content": Self.policy])
      tag("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
      tag("meta", ["name": "color-scheme", "content": "light dark"])
      tag("meta", ["name": "referrer", "content": "no-referrer"])
      tag("meta", ["name": "robots", "content": "noindex"])
      Markup.own("<meta name=\"generator\" content=\"Chime report\">")
      tag("title") { localized("Chime: %1", title) }
      tag("style") { Markup.own(ReportStyle.text) }
      if !photoStyle.isEmpty { tag("style") { photoStyle } }
    }
  }

  private var navigation: Markup {
    let chapters = shownChapters
    guard !chapters.isEmpty else { return .nothing }
    return tag("nav", ["aria-label": localized("Contents")]) {
      tag("ul") {
        tag("li", ["class": "slate"]) { link("today", localized("Today")) }
        for (index, chapter) in chapters.enumerated() {
          tag("li", ["class": hue(of: index)]) { link("chapter-\(index + 1)", title(of: chapter)) }
        }
      }
    }
  }

  private func link(_ id: String, _ text: String) -> Markup {
    tag("a", ["href": "#\(id)"]) {
      tag("span", ["class": "dot", "aria-hidden": "true"])
      text
    }
  }

  private var main: Markup {
    let chapters = shownChapters
    return .all([
      contents.parts.isEmpty ? contents.expectations.isEmpty ? emptiness : .nothing : today,
      expectations,
      .all(chapters.enumerated().map { chapter($0.element, number: $0.offset + 1, hue: hue(of: $0.offset)) }),
    ])
  }

  /// The chapters with content.
  var shownChapters: [ReportContents.Chapter] {
    contents.chapters.filter { !$0.parts.isEmpty || !$0.achievements.isEmpty }
  }

  func title(of chapter: ReportContents.Chapter) -> String {
    let title = words.local(chapter.title)
    return title.isEmpty ? chapter.id ?? localized("Your own") : title
  }

  /// Returns a chapter's color: teal for drinks, the others in rotation.
  func hue(of index: Int) -> String {
    let isDrunk = shownChapters.map { $0.parts.contains { Self.isDrunk($0.tracker) } }
    if isDrunk[index] { return "teal" }
    let turn = isDrunk[..<index].count { !$0 }
    return ["plum", "leaf", "amber", "rose", "slate"][turn % 5]
  }

  /// Whether the tracker's unit is one of volume.
  static func isDrunk(_ tracker: T.Tracker) -> Bool {
    tracker.kind == .amount
      && ["ml", "cl", "dl", "l", "fl oz", "floz", "oz", "cup", "cups"].contains(tracker.unit ?? "")
  }

  private var emptiness: Markup {
    tag("section", ["id": "today"]) {
      tag("div", ["class": "head"]) { tag("h2") { localized("Nothing is tracked yet") } }
      tag("div", ["class": "card empty"]) {
        tag("p") {
          localized("Set something up, log it for a day or two, and this page fills itself.")
        }
        tag("p") { tag("code") { "chime init" } }
      }
    }
  }

  private var footer: Markup {
    tag("footer") {
      tag("p") {
        localized(
          "Made by Chime on %1 at %2.", words.day(contents.madeAt.date.description),
          String(contents.madeAt.time.description.prefix(5)))
        " "
        rangeText
      }
      if contents.photosOmitted > 0 {
        tag("p") {
          localized(
            count: contents.photosOmitted,
            "%n photo was left out: it is too large for this file, or of a kind that browsers do not show.",
            "%n photos were left out: they are too large for this file, or of a kind that browsers do not show.")
        }
      }
      tag("p") {
        localized(
          """
          This one file holds everything, with notes and photos. It loads nothing and sends nothing; anyone who has \
          it can read it.
          """
        )
      }
    }
  }

  /// The title: the pack, if there is only one, and the period.
  private var title: String {
    guard contents.isOfOnePack, let chapter = shownChapters.first else { return periodText }
    return "\(title(of: chapter)), \(periodText)"
  }

  /// The period of the statistics.
  var periodText: String {
    let first = contents.range?.from ?? contents.parts.compactMap { $0.statistics.points.first?.day }.min()
    let last = contents.range?.to ?? contents.today.description
    guard let first, first <= last else { return words.date(last) }
    return localized("%1 to %2", words.date(first), words.date(last))
  }

  private var rangeText: String {
    switch (contents.range?.from, contents.range?.to) {
    case (let from?, let to?): localized("The statistics cover %1 to %2.", words.date(from), words.date(to))
    case (let from?, nil): localized("The statistics start on %1.", words.date(from))
    case (nil, let to?): localized("The statistics cover everything until %1.", words.date(to))
    case (nil, nil): localized("The statistics cover everything that was logged.")
    }
  }

  // MARK: Shared elements

  /// Returns an SVG picture with a title and a description for screen readers.
  static func picture(
    _ id: String, title: String, about: String, box: String, class name: String? = nil, isStretched: Bool = false,
    @MarkupBuilder _ content: () -> Markup
  ) -> Markup {
    tag(
      "svg",
      [
        "class": name, "viewBox": box, "preserveAspectRatio": isStretched ? "none" : nil, "role": "img",
        "aria-labelledby": "\(id)-t", "aria-describedby": "\(id)-d",
      ]
    ) {
      tag("title", ["id": "\(id)-t"]) { title }
      tag("desc", ["id": "\(id)-d"]) { about }
      content()
    }
  }

  /// Returns a decorative SVG beside a text with the same content.
  static func ornament(box: String, class name: String? = nil, @MarkupBuilder _ content: () -> Markup) -> Markup {
    tag("svg", ["class": name, "viewBox": box, "aria-hidden": "true", "focusable": "false"], content)
  }

  /// Returns a collapsible table of figures.
  static func figures(_ summary: String, head: [String], rows: [[String]]) -> Markup {
    guard !rows.isEmpty else { return .nothing }
    return tag("details") {
      tag("summary") { summary }
      // Focusable, so that keyboard users can scroll it.
      tag("div", ["class": "scroll", "tabindex": "0", "role": "group", "aria-label": summary]) {
        tag("table") {
          tag("thead") {
            tag("tr") { for title in head { tag("th", ["scope": "col"]) { title } } }
          }
          tag("tbody") {
            for row in rows {
              tag("tr") {
                for (column, text) in row.enumerated() {
                  if column == 0 { tag("th", ["scope": "row"]) { text } } else { tag("td") { text } }
                }
              }
            }
          }
        }
      }
    }
  }

  /// Returns a bar of the given fill; the text beside it has the number.
  static func bar(_ share: Double) -> Markup {
    tag("span", ["class": "bar", "aria-hidden": "true"]) {
      tag("i", ["style": "width:\(coordinate(min(max(share, 0), 1) * 100))%"])
    }
  }

  /// Returns a ring of the given fill, with a tick if the goal is met.
  static func ring(_ share: Double, isMet: Bool) -> Markup {
    ornament(box: "0 0 40 40") {
      tag("circle", ["class": "ring-back", "cx": "20", "cy": "20", "r": "16"])
      if share > 0 {
        tag(
          "circle",
          [
            "class": "ring", "cx": "20", "cy": "20", "r": "16", "pathLength": "100",
            "stroke-dasharray": "\(coordinate(min(share, 1) * 100)) 100", "transform": "rotate(-90 20 20)",
          ])
      }
      if isMet { tag("path", ["class": "tick", "d": "M13 20.5l5 5 9-10.5"]) }
    }
  }
}
