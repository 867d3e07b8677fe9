import ChimeControl
import ChimeSchedule
import ChimeTracking

extension PackReader {
  private static let trackerKeys = [
    "id", "title", "verb", "kind", "unit", "decimals", "goal", "choice", "presets", "usual", "days", "dayStartsAt",
    "timeOfDay",
    "skipsEachMonth", "items", "fields", "bounds", "milestone", "milestones", "icon", "xp",
  ]

  mutating func readTrackers(_ root: Table, into pack: inout Pack) {
    let tables = tables("tracker", in: root, atMost: PackFile.mostTrackers)
    if tables.isEmpty, root["tracker"] == nil {
      fault(root.node, "tracker", "is missing: a pack needs at least one [[tracker]]")
    }
    for table in tables where !isFull {
      allow(Self.trackerKeys, in: table, called: "a tracker")
      let id = name("id", in: table).map(TrackerID.init(rawValue:))
      let title = text("title", in: table, atMost: 60)
      if let id, let node = table["id"], trackers[id] != nil {
        fault(node, table.key("id"), "is the id of an earlier tracker too; each needs its own")
        continue
      }
      let kind = choice("kind", in: table, Tracker.Kind.self)
      if table["kind"] == nil {
        fault(table.node, table.key("kind"), "is missing: \"check\", \"amount\" or \"measure\"")
      }
      var tracker = Tracker(
        id: id ?? TrackerID(rawValue: ""), owner: 0, title: title ?? "", kind: kind ?? .check,
        decimals: kind == .measure ? 1 : 0, startedOn: Pack.unbegun, createdAt: Instant(seconds: 0))
      tracker.pack = pack.id
      tracker.verb = text("verb", in: table, isRequired: false, atMost: 20)
      laySettings(table, kind, over: &tracker, without: ["title", "verb"])
      if tracker.isLimited { judge("goal", in: table) { try TrackerFields.check(tracker) } }
      tracker.hasItems = flag("items", in: table) ?? false
      if let experience = number("xp", in: table, 0...1_000) { tracker.experience = experience }
      further(table, into: &tracker, takesBounds: true)
      if kind != nil { readOffers(table, into: &tracker, &pack) }
      if let id {
        trackers[id] = tracker
        trackerNames.append(id)
        pack.trackers.append(tracker)
      }
    }
  }

  /// Applies the settings of a table to a new tracker, as far as they can be validated.
  mutating func laySettings(
    _ table: Table, _ kind: Tracker.Kind?, over tracker: inout Tracker, without left: [String] = []
  ) {
    // Amounts cannot be validated without a kind, but the other settings can.
    let amounts = kind == nil ? ["unit", "decimals", "goal", "presets", "usual", "milestone"] : []
    lay(table, over: &tracker, without: left + amounts)
    if kind != nil, kind != .check, table["unit"] == nil {
      fault(
        table.node, table.key("unit"),
        "is missing: the unit of the measure, such as ml, kg, or a word of your own such as pages")
    }
  }

  /// Applies the settings of a table to a tracker; `false` removes a setting.
  mutating func lay(_ table: Table, over tracker: inout Tracker, without left: [String] = []) {
    for setting in TrackerSetting.all {
      guard let key = setting.key, !left.contains(key), let node = table[key] else { continue }
      if node.value == .boolean(false), key != "unit", let reset = setting.reset {
        judge(key, in: table) { try reset(&tracker) }
      } else if let draft = setting.read(&self, table, tracker) {
        judge(key, in: table) { try setting.take(draft, &tracker) }
      }
    }
  }

  /// Reads a unit. For a pack's tracker it must be convertible to the pack's unit.
  mutating func unit(_ key: String, in table: Table, of tracker: Tracker) -> String? {
    guard let symbol = plain(key, in: table, as: "a unit: ml, kg, min, or a word of your own such as pages") else {
      return nil
    }
    if let old = tracker.unit, let unit = try? TrackerFields.unit(symbol, "unit"), !old.converts(to: unit),
      let node = table[key]
    {
      fault(
        node, table.key(key), "must convert to \(old.symbol), the pack's unit; found \(PackReader.shown(node))")
      return nil
    }
    return symbol
  }

  /// Reads a text, or a table of texts by language.
  mutating func texts(_ key: String, in table: Table) -> [String: String]? {
    guard let node = table[key] else { return nil }
    if case .string(let text) = node.value { return ["en": text] }
    var texts: [String: String] = [:]
    for child in node.children {
      if case .string(let text) = child.value { texts[child.entry.name] = text }
    }
    guard node.isTable, !texts.isEmpty, texts.count == node.children.count else {
      expected(
        "a text, or a table of texts by language, such as { en = \"Water\", cs = \"Voda\" }", at: node, table.key(key))
      return nil
    }
    return texts
  }

  /// Reads the days that count.
  mutating func days(_ key: String, in table: Table) -> CountedDays? {
    parsed(
      key, in: table,
      as: "the days that count, such as \"every day\", \"mon,wed,fri\", \"3 times a week\" or \"3 times in 7 days\"",
      PackAmounts.days)
  }

  /// Reads the additional fields of an entry, with their bounds if they are allowed.
  mutating func further(_ table: Table, into tracker: inout Tracker, takesBounds: Bool) {
    guard let fields = self.table("fields", in: table) else { return }
    for child in fields.node.children where !isFull {
      let place = fields.key(child.entry.name)
      if let fault = TrackerFields.fault(ofField: child.entry.name, beside: tracker.fields.count) {
        self.fault(child, place, fault, atKey: true)
        continue
      }
      let bounds = takesBounds && child.isTable ? Table(node: child, key: place) : nil
      if let bounds { allow(["unit", "least", "most"], in: bounds, called: "a field") }
      guard let symbol = bounds.map({ $0["unit"]?.value }) ?? child.value, case .string(let text) = symbol,
        let unit = try? TrackerFields.unit(text, "fields")
      else {
        expected("a unit, such as \"%\" or \"kg\"", at: child, place)
        continue
      }
      tracker.fields[child.entry.name] = unit
      if let bounds = bounds.flatMap({ self.bounds($0, in: unit) }) {
        tracker.fieldBounds = (tracker.fieldBounds ?? [:]).merging([child.entry.name: bounds]) { $1 }
      }
    }
  }

  /// Reads `least`, `most` and an optional `jump`, each with a unit.
  private mutating func bounds(_ table: Table, in unit: Unit) -> Bounds? {
    var ends: [String: Quantity] = [:]
    for name in ["least", "most", "jump"] {
      guard let node = table[name] else {
        if name != "jump" { fault(table.node, table.key(name), "is missing: bounds need least and most") }
        continue
      }
      ends[name] = parsed(
        node, table.key(name), as: "a number in \(unit.symbol), such as \"\(Self.example(unit))\""
      ) { text in
        guard let (quantity, written) = PackAmounts.quantity(text), written.converts(to: unit),
          name != "jump" || quantity > .zero
        else { return nil }
        return quantity
      }
    }
    guard let least = ends["least"], let most = ends["most"] else { return nil }
    guard least < most else {
      fault(table.node, table.key, "must go from a lower value to a higher one")
      return nil
    }
    return Bounds(least: least, most: most, jump: ends["jump"])
  }

  mutating func minute(_ name: String, in table: Table) -> Int? {
    guard let node = table[name] else { return nil }
    return minute(node, table.key(name))
  }

  mutating func minute(_ node: TOMLNode, _ key: String) -> Int? {
    parsed(node, key, as: "a time of day in quotes, such as \"8:30\"", PackAmounts.minute)
  }

  // MARK: Amounts

  /// Reads an amount as the protocol has it, in the tracker's unit.
  mutating func amount(_ node: TOMLNode, _ key: String, of tracker: Tracker) -> Double? {
    // A missing unit is reported elsewhere.
    guard let unit = tracker.unit else { return tracker.kind == .check ? 1 : nil }
    return quantity(node, key, of: tracker, isPositive: false)?.value(in: unit)
  }

  /// Reads a quantity in a unit that converts to the tracker's.
  mutating func quantity(_ node: TOMLNode, _ key: String, of tracker: Tracker, isPositive: Bool = true) -> Quantity? {
    guard let unit = tracker.unit else { return nil }
    let read = parsed(
      node, key, as: "a number with its unit, such as \"\(Self.example(unit))\"", PackAmounts.quantity)
    guard let (quantity, written) = read else { return nil }
    guard written.converts(to: unit) else {
      fault(node, key, "must be in \(unit.symbol), the tracker's unit; found \(Self.shown(node))")
      return nil
    }
    guard quantity > .zero || !isPositive else {
      fault(node, key, "must be more than zero")
      return nil
    }
    return quantity
  }

  static func example(_ unit: Unit) -> String { "\(unit.symbol == "ml" ? 250 : 20) \(unit.symbol)" }

  /// Reads the options that a pack offers in addition to a tracker's settings.
  private mutating func readOffers(_ table: Table, into tracker: inout Tracker, _ pack: inout Pack) {
    if tracker.kind == .check, let node = table["choice"] {
      fault(
        node, table.key("choice"), "is not allowed for a check, which has no amount; kind = \"amount\" has one",
        atKey: true)
    }
    if tracker.kind != .measure {
      for key in ["bounds", "milestones"] {
        guard let node = table[key] else { continue }
        fault(node, table.key(key), "is allowed only for a measure", atKey: true)
      }
    }
    guard let unit = tracker.unit else { return }
    readChoice(table, of: tracker, &pack)
    if let usual = tracker.usual, let node = table["usual"], !tracker.presets.isEmpty, !tracker.presets.contains(usual)
    {
      fault(node, table.key("usual"), "must be one of the presets; found \(Self.shown(node))")
    }
    readMilestones(table, into: &tracker, &pack)
    guard tracker.kind == .measure, let bounds = self.table("bounds", in: table) else { return }
    allow(["least", "most", "jump"], in: bounds, called: "bounds")
    tracker.bounds = self.bounds(bounds, in: unit)
  }

  /// Reads a goal as the protocol has it.
  mutating func goal(_ table: Table, of tracker: Tracker) -> TrackersInterface.Goal? {
    guard let node = table["goal"], tracker.kind == .check || tracker.unit != nil else { return nil }
    guard case .string(let text) = node.value else {
      expected(Self.goalSentence(tracker), at: node, table.key("goal"))
      return nil
    }
    let (limit, period) = PackAmounts.period(of: text)
    let isAtMost = limit.hasPrefix(PackAmounts.atMost)
    let rest = isAtMost ? String(limit.dropFirst(PackAmounts.atMost.count)) : limit
    let atMost = isAtMost ? true : nil
    let each = TrackersInterface.Goal.Period(rawValue: period.rawValue)
    guard let unit = tracker.unit else {
      if let times = PackAmounts.times(rest, least: isAtMost ? 0 : 1) {
        return .init(count: times, period: each, atMost: atMost)
      }
      expected(Self.goalSentence(tracker), at: node, table.key("goal"))
      return nil
    }
    // The goal of a measure is reached once, not in each period.
    guard let (quantity, written) = PackAmounts.quantity(tracker.kind == .measure ? text : rest) else {
      expected(Self.goalSentence(tracker), at: node, table.key("goal"))
      return nil
    }
    guard written.converts(to: unit), quantity > .zero || tracker.kind == .amount || Self.canBeLess(tracker) else {
      fault(
        node, table.key("goal"),
        "must be more than zero, in \(unit.symbol), the tracker's unit; found \(Self.shown(node))")
      return nil
    }
    let amount = quantity.value(in: unit)
    return tracker.kind == .measure
      ? .init(value: amount) : .init(total: amount, period: each, atMost: atMost)
  }

  /// Only a user's own measure may have a negative goal, such as a temperature.
  private static func canBeLess(_ tracker: Tracker) -> Bool { tracker.kind == .measure && tracker.pack == nil }

  private static func goalSentence(_ tracker: Tracker) -> String {
    switch tracker.kind {
    case .check: "how often, such as \"once a day\", \"3 times a week\" or \"at most 5 times\""
    case .amount:
      "how much, such as \"\(tracker.unit.map(example) ?? "20 pages")\" or the same with \"a week\" or \"at most\""
    case .measure: "the value to reach, such as \"75 \(tracker.unit?.symbol ?? "kg")\""
    }
  }

  private mutating func readChoice(_ table: Table, of tracker: Tracker, _ pack: inout Pack) {
    guard let choice = self.table("choice", in: table) else { return }
    allow(["least", "most", "step", "presets"], in: choice, called: "a choice")
    var ends: [String: Quantity] = [:]
    for name in ["least", "most", "step"] {
      guard let node = choice[name] else {
        fault(choice.node, choice.key(name), "is missing: a choice needs least, most and step")
        continue
      }
      ends[name] = quantity(node, choice.key(name), of: tracker)
    }
    guard let least = ends["least"], let most = ends["most"], let step = ends["step"] else { return }
    guard least < most, step.grains <= most.grains - least.grains else {
      fault(choice.node, choice.key, "must go from a lower amount to a higher one, in at least one step")
      return
    }
    pack.choices[tracker.id] = Pack.Choice(
      least: least, most: most, step: step, presets: goalPresets(choice, least...most, of: tracker))
    let goal: Quantity? =
      switch tracker.goal?.target {
      case .total(let quantity), .value(let quantity): quantity
      case .count, nil: nil
      }
    guard let goal, let node = table["goal"] else { return }
    if goal < least || goal > most {
      fault(node, table.key("goal"), "lies outside its choice (least to most); found \(Self.shown(node))")
    } else if (goal.grains - least.grains) % step.grains != 0 {
      fault(
        node, table.key("goal"),
        "is not a whole number of steps from the least of its choice; found \(Self.shown(node))"
      )
    }
  }

  /// Reads the usual goals, which must be in the offered range.
  private mutating func goalPresets(
    _ choice: Table, _ range: ClosedRange<Quantity>, of tracker: Tracker
  ) -> [Quantity]? {
    guard let node = choice["presets"] else { return nil }
    guard node.value == .array, (1...12).contains(node.children.count) else {
      expected("an array of 1 to 12 goals, such as [\"2000 ml\", \"3000 ml\"]", at: node, choice.key("presets"))
      return nil
    }
    return node.children.enumerated().compactMap { index, child in
      let key = "\(choice.key("presets"))[\(index + 1)]"
      guard let preset = quantity(child, key, of: tracker) else { return nil }
      guard range.contains(preset) else {
        fault(child, key, "lies outside the choice (least to most); found \(Self.shown(child))")
        return nil
      }
      return preset
    }.sorted()
  }

  /// Reads amounts as the protocol has them.
  mutating func presets(_ table: Table, of tracker: Tracker) -> [Double]? {
    guard let node = table["presets"] else { return nil }
    guard node.value == .array else {
      expected(
        "an array of amounts, such as [\"\(tracker.unit.map(Self.example) ?? "20 pages")\"]", at: node,
        table.key("presets"))
      return nil
    }
    return node.children.enumerated().compactMap { index, child in
      amount(child, "\(table.key("presets"))[\(index + 1)]", of: tracker)
    }
  }

  private mutating func readMilestones(_ table: Table, into tracker: inout Tracker, _ pack: inout Pack) {
    guard tracker.kind == .measure else { return }
    guard let offered = self.table("milestones", in: table) else { return }
    var choices: [Pack.StepChoice] = []
    for child in offered.node.children where !isFull {
      let key = offered.key(child.entry.name)
      guard let unit = Unit(child.entry.name), let own = tracker.unit, unit.converts(to: own) else {
        fault(child, key, "must be the name of a unit that \(tracker.unit?.symbol ?? "") converts to", atKey: true)
        continue
      }
      let steps = child.children.compactMap { step -> Quantity? in
        let number: Double? =
          switch step.value {
          case .integer(let number): Double(number)
          case .float(let number): number
          default: nil
          }
        return number.flatMap { $0 > 0 ? Quantity($0, unit) : nil }
      }
      guard child.value == .array, !steps.isEmpty, steps.count == child.children.count, steps.count <= 10 else {
        expected("an array of 1 to 10 numbers, such as [2, 5, 7], in \(unit.symbol)", at: child, key)
        continue
      }
      choices.append(Pack.StepChoice(unit: unit, steps: steps))
    }
    // The tracker's own unit is offered first.
    let own = tracker.unit?.symbol
    pack.milestoneSteps[tracker.id] = choices.sorted {
      ($0.unit.symbol == own ? 0 : 1, $0.unit.symbol) < ($1.unit.symbol == own ? 0 : 1, $1.unit.symbol)
    }
    if let step = tracker.milestoneStep, let node = table["milestone"], !choices.isEmpty,
      !choices.contains(where: { $0.steps.contains(step) })
    {
      fault(
        node, table.key("milestone"), "must be one of the offered milestones; found \(Self.shown(node))")
    }
  }
}
