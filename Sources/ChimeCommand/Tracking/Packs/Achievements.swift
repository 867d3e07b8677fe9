import ChimeControl
import ChimeSchedule
import ChimeWords

/// `chime achievements [PACK]`
enum Achievements {
  static let verb = Verb(
    name: "achievements", group: .track, arguments: ["[PACK]"],
    summary: "Show unlocked achievements and what comes next",
    options: [
      .flag("unlocked", nil, "Only unlocked ones"), .flag("locked", nil, "Only locked ones"),
      .value("category", nil, "CATEGORY", "Only those of a category, such as streak", repeats: true),
    ],
    examples: [
      "chime achievements", "chime achievements hydration --locked",
      "chime achievements watches --category consistency",
    ],
    alsoTried: ["achievement", "badges", "trophies", "awards", "levels", "xp"],
    json: "`achievements`, `levels`, `streaks`, and `more`, which is false", run: run)

  static func run(_ context: Context) throws -> ExitCode {
    let isUnlocked = context.line.has("unlocked")
    let isLocked = context.line.has("locked")
    if isUnlocked, isLocked { throw Failure.usage(localized("--unlocked and --locked cannot be used together")) }
    let reply: TrackersInterface.Achievements.Reply = try context.daemon().call(
      TrackersInterface.Achievements(pack: context.optionalSubject()))
    let categories = try categories(context, reply.achievements)
    let shown = reply.achievements.filter { one in
      (one.unlockedAt == nil ? !isUnlocked : !isLocked) && categories.map { $0.contains(one.category ?? "") } ?? true
    }
    switch context.format {
    case .json:
      context.print(json: ["achievements": shown, "levels": reply.levels, "streaks": reply.streaks, "more": false])
    case .plain: context.plain(shown)
    case .human: print(shown, reply, context)
    }
    return .success
  }

  /// Returns the category ids after `--category`, which takes ids, titles, or prefixes of them; nil for all.
  private static func categories(
    _ context: Context, _ achievements: [TrackersInterface.Achievement]
  ) throws -> Set<String>? {
    guard context.line.has("category") else { return nil }
    let words = context.trackerWords
    let known = Dictionary(
      achievements.compactMap { one in one.category.map { ($0, one.categoryTitle.map { words.local($0) } ?? $0) } }
    ) { first, _ in first }
    return Set(
      try context.line.values("category").map { text in
        let wanted = trimmed(text).lowercased()
        if known[wanted] != nil { return wanted }
        let fitting = known.filter {
          !wanted.isEmpty && ($0.key.lowercased().hasPrefix(wanted) || $0.value.lowercased().hasPrefix(wanted))
        }
        if fitting.count == 1, let one = fitting.first { return one.key }
        throw Failure.failed(
          localized("there is no category \"%1\"", text),
          hint: known.isEmpty ? nil : localized("there are: %1", known.keys.sorted().joined(separator: ", ")))
      })
  }

  private static func print(
    _ shown: [TrackersInterface.Achievement], _ reply: TrackersInterface.Achievements.Reply, _ context: Context
  ) {
    guard !reply.achievements.isEmpty else {
      context.note(localized("There are no achievements yet: packs bring them."))
      context.note("  " + localized("`chime pack list` shows the packs, `chime init` installs one"))
      return
    }
    guard !shown.isEmpty else {
      return context.note(
        context.line.has("locked")
          ? localized("All are unlocked. Well done!")
          : localized("None is unlocked yet; `chime achievements` shows what comes next."))
    }
    var packs: [String] = []
    for achievement in shown where !packs.contains(achievement.pack) { packs.append(achievement.pack) }
    for (index, pack) in packs.enumerated() {
      if index > 0 { context.out() }
      let all = reply.achievements.filter { $0.pack == pack }
      let count = localized(
        "%1 of %2 unlocked", String(all.count { $0.unlockedAt != nil }), String(all.count))
      context.out("\(context.style(TerminalSanitizer.line(pack), .strong))  \(context.style(count, .faint))")
      for level in reply.levels where level.pack == pack {
        context.out(LevelLine.text(level, context, name: false, bar: 12))
      }
      for streak in reply.streaks where streak.pack == pack {
        for line in context.trackerWords.packStreak(streak, isNamed: false, context.width) { context.out(line) }
      }
      let mine = shown.filter { $0.pack == pack }
      var categories: [String] = []
      for category in mine.map({ $0.category ?? "" }) where !categories.contains(category) {
        categories.append(category)
      }
      for category in categories {
        if !category.isEmpty {
          let named = mine.first { $0.category == category }?.categoryTitle.map { context.trackerWords.local($0) }
          let dot = context.style("●", CategoryColor(category).tone)
          context.out("\(dot) " + context.style(TerminalSanitizer.line(named ?? category), .faint))
        }
        for achievement in mine where (achievement.category ?? "") == category {
          for line in lines(achievement, among: mine, context) { context.out(line) }
        }
      }
    }
  }

  static func lines(
    _ achievement: TrackersInterface.Achievement, among all: [TrackersInterface.Achievement], _ context: Context
  ) -> [String] {
    let words = context.trackerWords
    let style = context.style
    let isUnlocked = achievement.unlockedAt != nil
    let mark = isUnlocked ? style("★", .caution) : "☆"
    let title = TerminalSanitizer.line(words.local(achievement.title))
    let text = TerminalSanitizer.line(words.local(achievement.text))
    var end: String
    if let instant = achievement.unlockedAt.flatMap({ WallClock.instant($0) }) {
      end = LocalizedFormat.date(context.clock().zone.civil(at: instant).date)
    } else {
      let share = Double(achievement.reached) / Double(max(1, achievement.target))
      end = "\(Bar.text(share, width: 8, style: style)) \(words.progress(achievement))"
    }
    let points = words.experience(achievement.experience).map { style("  \($0)", .faint) } ?? ""
    guard context.width >= 76 else {
      let names = TextWidth.wrap(title, to: context.width, indent: 4).map { $0.dropFirst(4) }
      let head = names.enumerated().map { index, name in
        (index == 0 ? "  \(mark) " : "    ") + (isUnlocked ? style(String(name), .strong) : String(name))
      }
      let about =
        text == title ? [] : TextWidth.wrap(text, to: context.width, indent: 4).map { style($0, .faint) }
      return head + about + ["    \(end)\(points)"]
    }
    // Dates and progress share a column; points have one after it.
    func width(_ one: TrackersInterface.Achievement) -> Int {
      one.unlockedAt == nil ? 9 + TextWidth.of(words.progress(one)) : TextWidth.of(LocalizedFormat.date(.earliest))
    }
    let column = all.map { width($0) }.max() ?? 0
    let worth = all.compactMap { words.experience($0.experience) }.map { TextWidth.of($0) + 2 }.max() ?? 0
    let titles = min(all.map { TextWidth.of(words.local($0.title)) }.max() ?? 0, 26)
    let texts = max(10, min(context.width, 110) - 4 - titles - 4 - column - worth)
    if !points.isEmpty { end += String(repeating: " ", count: max(0, column - width(achievement))) }
    // Wrap instead of truncating: half a condition is useless.
    let names = TextWidth.wrap(title, to: titles)
    let abouts = text == title ? [""] : TextWidth.wrap(text, to: texts)
    return (0..<max(names.count, abouts.count)).map { index in
      let name = index < names.count ? names[index] : ""
      let gap = String(repeating: " ", count: max(0, titles - TextWidth.of(name)))
      let about = index < abouts.count ? abouts[index] : ""
      let room = String(repeating: " ", count: max(0, texts - TextWidth.of(about)))
      let head = isUnlocked && !name.isEmpty ? style(name, .strong) : name
      let line = "  \(index == 0 ? mark : " ") \(head)\(gap)  " + (about.isEmpty ? "" : style(about, .faint))
      return index == 0 ? "\(line)\(room)  \(end)\(points)" : ProgressRows.trimmedEnd(line)
    }
  }
}
