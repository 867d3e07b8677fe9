import ChimeControl
import ChimeWords

/// Achievements as hexagons: filled when unlocked, else with an edge that shows the progress.
extension ReportPage {
  func badges(_ achievements: [T.Achievement], id: String) -> Markup {
    let unlocked = achievements.count { $0.unlockedAt != nil }
    let groups = achievements.reduce(into: [(name: String?, members: [T.Achievement])]()) { groups, one in
      if let index = groups.firstIndex(where: { $0.name == one.category }) {
        groups[index].members.append(one)
      } else {
        groups.append((one.category, [one]))
      }
    }
    return tag("div", ["class": "part"]) {
      tag("h3") { localized("Achievements") }
      tag("p", ["class": "kicker"]) {
        localized("%1 of %2 unlocked", String(unlocked), String(achievements.count))
      }
      tag("div", ["class": "card groups"]) {
        for group in groups {
          let hasOne = group.members.contains { $0.unlockedAt != nil }
          tag("div", ["class": "group \(CategoryColor(group.name ?? "").hue)\(hasOne ? "" : " locked")"]) {
            if let name = group.name, !name.isEmpty {
              tag("h4") {
                tag("i", ["class": "dot", "aria-hidden": "true"])
                title(ofCategory: name, group.members)
                " "
                tag("span") {
                  localized(
                    "%1 of %2", String(group.members.count { $0.unlockedAt != nil }), String(group.members.count))
                }
              }
            }
            tag("ul", ["class": "badges"]) { for one in group.members { badge(one) } }
          }
        }
        // Print lists the locked ones in one line: pages of empty hexagons are useless on paper.
        let locked = achievements.filter { $0.unlockedAt == nil }
        if !locked.isEmpty {
          tag("p", ["class": "to-come"]) {
            tag("strong") { localized("Still locked:") }
            " "
            locked.map { words.local($0.title) + ($0.target > 1 ? " (\(words.progress($0)))" : "") }.joined(
              separator: ", ")
          }
        }
      }
    }
  }

  /// Returns the category's title from the pack, else its capitalized id.
  private func title(ofCategory name: String, _ members: [T.Achievement]) -> String {
    let title = members.lazy.compactMap(\.categoryTitle).first.map { words.local($0) } ?? ""
    return title.isEmpty ? name.prefix(1).uppercased() + name.dropFirst() : title
  }

  private func badge(_ one: T.Achievement) -> Markup {
    let isUnlocked = one.unlockedAt != nil
    return tag("li", ["class": isUnlocked ? nil : "locked"]) {
      hexagon(one, isUnlocked: isUnlocked)
      tag("strong", ["dir": "auto"]) { words.local(one.title) }
      tag("span", ["dir": "auto"]) { words.local(one.text) }
      if let at = one.unlockedAt {
        tag("span", ["class": "when"]) {
          tag("span", ["class": "unseen"]) { localized("unlocked on") }
          " \(words.date(String(at.at.prefix(10))))"
        }
      } else {
        tag("span", ["class": "when"]) {
          tag("span", ["class": "unseen"]) { localized("locked:") }
          " \(words.progress(one))"
        }
      }
      if let points = words.experience(one.experience) { tag("span") { points } }
    }
  }

  private static let edge = "M50 6L92 30.5V79.5L50 104L8 79.5V30.5Z"
  private static let inner = "M50 15L84 35V75L50 95L16 75V35Z"

  private func hexagon(_ one: T.Achievement, isUnlocked: Bool) -> Markup {
    let share = Double(one.reached) / Double(max(one.target, 1))
    return Self.ornament(box: "0 0 100 110") {
      if isUnlocked {
        tag("path", ["class": "hex", "d": Self.edge])
        tag("path", ["class": "hex-in", "d": Self.inner])
      } else {
        tag("path", ["class": "hex-off", "d": Self.edge])
        if share > 0 {
          tag(
            "path",
            [
              "class": "hex-way", "d": Self.edge, "pathLength": "100",
              "stroke-dasharray": "\(coordinate(min(share, 1) * 100)) 100",
            ])
        }
      }
      sign(one)
    }
  }

  /// Returns the hexagon's sign: the pack's icon, else the target number, else a star.
  private func sign(_ one: T.Achievement) -> Markup {
    if let drawing = one.icon.flatMap({ ReportIcons.path($0) }) {
      return tag("g", ["class": "hex-icon", "transform": "translate(32 37) scale(1.5)"]) { tag("path", ["d": drawing]) }
    }
    if let icon = one.icon, icon.count <= 2, !icon.allSatisfy(\.isASCII) {
      return tag("text", ["class": "hex-sign", "x": "50", "y": "65"]) { icon }
    }
    if one.target > 1 {
      let text = LocalizedFormat.number(Double(one.target), grouped: false)
      let size = text.count > 3 ? "font-size:20px" : nil
      return tag("text", ["class": "hex-sign", "x": "50", "y": text.count > 3 ? "62" : "64", "style": size]) { text }
    }
    return tag("g", ["class": "hex-icon", "transform": "translate(32 36) scale(1.5)"]) {
      tag("path", ["d": ReportIcons.star])
    }
  }
}

/// Icons drawn with one line in a square of 24; packs use the desktop's icon names.
///
/// Source: freedesktop.org, Icon Naming Specification.
enum ReportIcons {
  static let star = "M12 3l2.7 5.6 6.1.8-4.5 4.3 1.1 6.1L12 16.9l-5.4 2.9 1.1-6.1L3.2 9.4l6.1-.8z"

  /// Returns the SVG path; nil for an unknown name.
  static func path(_ name: String) -> String? {
    paths[name.hasSuffix("-symbolic") ? String(name.dropLast(9)) : name]
  }

  private static let paths: [String: String] = [
    "starred": star,
    "weather-showers": "M12 3c3.6 4.4 6 7.5 6 10.5a6 6 0 0 1-12 0C6 10.5 8.4 7.4 12 3z",
    "emblem-important":
      "M12 3c1 4 5 5.5 5 10.5a5 5 0 0 1-10 0c0-2 1-3.5 2-4.5 .3 1.5 1 2.3 2 2.5C11.5 8.5 10.8 6 12 3z",
    "weather-clear":
      "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19",
    "weather-clear-night": "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z",
    "trophy": "M7 4h10v5a5 5 0 0 1-10 0zM7 5H4c0 3 1 5 3.5 5.5M17 5h3c0 3-1 5-3.5 5.5M12 14v4M8 20h8M10 18h4",
    "x-office-calendar": "M4 6h16v14H4zM4 10h16M8 3.5v4M16 3.5v4",
    "emblem-default": "M5 12.5l4.5 4.5L19 7",
    "emblem-favorite": "M12 20S4 15 4 9.3A4.3 4.3 0 0 1 12 7a4.3 4.3 0 0 1 8 2.3C20 15 12 20 12 20z",
    "preferences-system-time":
      "M12 6.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM12 9.5V12l1.7 1M9.3 7.2L10 3h4l.7 4.2M9.3 16.8L10 21h4l.7-4.2",
    "leaf": "M5 19C5 9 11 5 20 4c0 9-4 15-12 14M5 19c2-5 5-7.5 9-9",
    "mountain": "M3 19l6-11 4 7 2.5-4L21 19z",
    "crown": "M4 18h16M4 16L3 7l5 4 4-6 4 6 5-4-1 9z",
  ]
}
