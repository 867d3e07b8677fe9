import ChimeControl
import ChimeTracking

extension PackReader {
  private static let achievementKeys = ["id", "title", "text", "category", "icon", "xp", "tracker", "when"]

  mutating func achievements(_ root: Table, in pack: Pack) -> [Achievement] {
    var seen: Set<String> = []
    return tables("achievement", in: root, atMost: PackFile.mostAchievements).compactMap { table in
      guard !isFull else { return nil }
      allow(Self.achievementKeys, in: table, called: "an achievement")
      let id = name("id", in: table, takesUnderscores: true)
      if let id, let node = table["id"], !seen.insert(id).inserted {
        fault(node, table.key("id"), "is the id of an earlier achievement too; each needs its own")
      }
      let title = text("title", in: table, atMost: 60)
      let about = text("text", in: table, atMost: 200)
      let category = name("category", of: table)
      let icon = string("icon", in: table)
      let experience = number("xp", in: table, 0...100_000) ?? 0
      let criterion = criterion(table, in: pack)
      guard let id, let title, let about, let criterion else { return nil }
      return Achievement(
        id: AchievementID(rawValue: id), title: title, text: about, category: category, icon: icon,
        experience: experience, criterion: criterion)
    }
  }

  /// The keys that may accompany a criterion in `when`.
  private static let allowedBeside: [Criterion.Kind: [String]] = [
    .streak: ["days"], .entryBefore: ["times"], .entryAfter: ["times"], .itemsOwned: ["attribute", "value"],
    .distinctValues: ["attribute", "within"], .distinctItems: ["within"], .evenRotation: ["within", "minimum"],
    .entryOnDate: ["times"], .entryOnWeekday: ["times", "day"],
  ]
  private static let neededBeside: [Criterion.Kind: [String]] = [
    .distinctValues: ["attribute"], .distinctItems: ["within"], .evenRotation: ["within"],
  ]

  private mutating func criterion(_ table: Table, in pack: Pack) -> Criterion? {
    let kinds = Criterion.Kind.allCases.map(\.rawValue)
    guard table["when"] != nil else {
      fault(table.node, table.key("when"), "is missing: what unlocks it, such as when = { streak = 7 }")
      return nil
    }
    guard let when = self.table("when", in: table) else { return nil }
    let named = when.node.children.compactMap { Criterion.Kind(rawValue: $0.entry.name) }
    guard named.count == 1, let kind = named.first, let node = when[kind.rawValue] else {
      let unknown = when.node.children.first { SpellingSuggestions.to($0.entry.name, among: kinds).first != nil }
      if named.count > 1 {
        fault(when.node, when.key, "has \(named.count) criteria; an achievement has one")
      } else if let unknown, let near = SpellingSuggestions.to(unknown.entry.name, among: kinds).first {
        fault(unknown, when.key(unknown.entry.name), "is not a criterion; did you mean \(near)?", atKey: true)
      } else {
        fault(when.node, when.key, "needs a criterion, one of \(kinds.joined(separator: ", "))")
      }
      return nil
    }
    let before = faults.count
    let beside = Self.allowedBeside[kind] ?? []
    allow([kind.rawValue] + beside, in: when, called: "a criterion of \(kind.rawValue)")
    for name in Self.neededBeside[kind] ?? [] where when[name] == nil {
      let example = name == "attribute" ? "attribute = \"brand\"" : "within = 30, in days"
      fault(when.node, when.key(name), "is missing: \(kind.rawValue) needs it, such as \(example)")
    }
    var criterion = Criterion(kind)
    let tracker = subject(table, kind)
    criterion.tracker = tracker?.id
    readValue(node, when.key(kind.rawValue), tracker, into: &criterion)
    readBeside(when, into: &criterion)
    guard faults.count == before, !isFull else { return nil }
    // Report criteria that cannot be evaluated. Criteria that refer to a faulty tracker are not checked.
    guard pack.trackers.count == trackerNames.count, !trackerNames.isEmpty else { return criterion }
    for complaint in criterion.faults(among: pack.trackers, hasLevels: pack.levels != nil) {
      let beside = complaint.key == .target ? "times" : complaint.key.rawValue
      if complaint.key == .tracker, let node = table["tracker"] {
        fault(node, table.key("tracker"), complaint.message)
      } else if kind.rawValue != beside, let node = when[beside] {
        fault(node, when.key(beside), complaint.message)
      } else {
        fault(node, when.key(kind.rawValue), complaint.message)
      }
    }
    return criterion
  }

  // MARK: Tracker

  /// Returns the tracker of an achievement; nil if it is about all trackers or the whole pack.
  private mutating func subject(_ table: Table, _ kind: Criterion.Kind) -> Tracker? {
    if [.level, .perfectWeek, .streakOfAny].contains(kind) {
      if let node = table["tracker"] {
        fault(
          node, table.key("tracker"), "cannot be used with \(kind.rawValue), which covers the whole pack", atKey: true)
      }
      return nil
    }
    // Amounts are read in the tracker's unit, so they need a tracker.
    return tracker(of: table, isRequired: [.amountInEntry, .crossed].contains(kind))
  }

  // MARK: Target

  private mutating func readValue(
    _ node: TOMLNode, _ key: String, _ tracker: Tracker?, into criterion: inout Criterion
  ) {
    switch criterion.kind {
    case .goalMet, .firstItem, .firstEntry, .goalValue:
      if node.value != .boolean(true) { expected("true", at: node, key) }
    case .entries, .entriesInDay, .itemsInDay, .daysMet, .entriesForItem, .daysSinceStart, .itemsOwned, .distinctValues,
      .distinctItems,
      .streak, .streakOfAny, .weekends, .itemAnniversary, .perfectWeek:
      criterion.target = number(node, key, 1...1_000_000) ?? 1
    case .shareOfGoal: criterion.target = number(node, key, 1...1_000) ?? 1
    case .evenRotation, .anniversary: criterion.target = number(node, key, 1...100) ?? 1
    case .level: criterion.target = number(node, key, 2...1_000) ?? 2
    case .amountInEntry, .crossed:
      if let tracker, tracker.unit != nil { criterion.amount = quantity(node, key, of: tracker) }
    case .entryBefore, .entryAfter:
      criterion.minute = minute(node, key)
      if criterion.kind == .entryBefore, criterion.minute == 0 {
        fault(node, key, "must be later than \"0:00\", because nothing is earlier")
      }
    case .entryOnDate:
      let date = parsed(node, key, as: "a month and a day, such as \"12-24\"", PackAmounts.dayOfYear)
      (criterion.month, criterion.day) = (date?.month, date?.day)
    case .entryOnWeekday:
      criterion.weekdays = parsed(
        node, key, as: "days of the week, such as \"fri\" or \"sat,sun\"", PackAmounts.weekdays)
    }
  }

  private mutating func readBeside(_ when: Table, into criterion: inout Criterion) {
    let allowed = Self.allowedBeside[criterion.kind] ?? []
    if allowed.contains("times"), let times = number("times", in: when, 1...1_000_000) { criterion.target = times }
    if allowed.contains("days"), let days = choice("days", in: when, Criterion.Days.self) { criterion.days = days }
    if allowed.contains("within") { criterion.within = number("within", in: when, 1...366) }
    if allowed.contains("minimum") { criterion.minimum = number("minimum", in: when, 2...1_000) ?? 2 }
    if allowed.contains("day") { criterion.day = number("day", in: when, 1...31) }
    if allowed.contains("attribute") { criterion.attribute = name("attribute", of: when) }
    if allowed.contains("value") {
      criterion.value = string("value", in: when)
      if let node = when["value"], when["attribute"] == nil {
        fault(node, when.key("value"), "needs attribute: the attribute with that value", atKey: true)
      }
    }
  }
}
