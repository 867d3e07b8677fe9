import ChimeControl
import ChimeSchedule
import ChimeTracking

extension PackReader {
  private static let trackerKeys = [
    "id", "title", "verb", "kind", "unit", "decimals", "goal", "choice", "presets", "usual", "days", "dayStartsAt",
    "slot",
    "skipsEachMonth", "items", "fields", "bounds", "milestone", "milestones", "icon", "xp",
  ]

  mutating func readTrackers(_ root: Table, into pack: inout Pack) {
    let tables = tables("tracker", in: root, atMost: PackFile.mostTrackers)
    if tables.isEmpty, root["tracker"] == nil {
      fault(root.node, "tracker", "is missing: a pack has at least one [[tracker]]")
    }
    for table in tables where !isFull {
      allow(Self.trackerKeys, in: table, called: "a tracker")
      let id = name("id", in: table).map(TrackerID.init(rawValue:))
      let title = text("title", in: table, atMost: 60)
      if let id, let node = table["id"], trackers[id] != nil {
        fault(node, table.key("id"), "is the id of an earlier tracker too; each has its own")
        continue
      }
      let kind = choice("kind", in: table, Tracker.Kind.self)
      if table["kind"] == nil {
        fault(table.node, table.key("kind"), "is missing: \"check\", \"amount\" or \"measure\"")
      }
      var tracker = Tracker(
        id: id ?? TrackerID(rawValue: ""), owner: 0, title: title ?? "", kind: kind ?? .check,
        startedOn: Pack.unbegun, createdAt: Instant(seconds: 0))
      tracker.pack = pack.id
      tracker.verb = text("verb", in: table, isRequired: false, atMost: 20)
      for key in ["days", "dayStartsAt", "slot"] { readDays(key, table, into: &tracker) }
      tracker.skipsEachMonth = number("skipsEachMonth", in: table, 0...31)
      readExtras(table, into: &tracker)
      if kind != nil { readAmounts(table, into: &tracker, &pack) }
      if let id {
        trackers[id] = tracker
        trackerNames.append(id)
        pack.trackers.append(tracker)
      }
    }
  }

  /// `days`, `dayStartsAt` or `slot`, where it is there.
  mutating func readDays(_ key: String, _ table: Table, into tracker: inout Tracker) {
    if key == "days", let node = table[key] {
      if case .string(let text) = node.value, let days = PackAmounts.days(text) {
        tracker.counting = days
      } else {
        expected(
          "the days that count, such as \"every day\", \"mon,wed,fri\", \"3 times a week\" or \"3 times in 7 days\"",
          at: node, table.key("days"))
      }
    }
    if key == "dayStartsAt", let minute = minute(key, in: table) { tracker.dayStartsAt = minute }
    if key == "slot", let slot = choice(key, in: table, Tracker.Slot.self) { tracker.slot = slot }
  }

  private mutating func readExtras(_ table: Table, into tracker: inout Tracker) {
    tracker.hasItems = flag("items", in: table) ?? false
    tracker.icon = string("icon", in: table)
    if let experience = number("xp", in: table, 0...1_000) { tracker.experience = experience }
    guard let fields = self.table("fields", in: table) else { return }
    for child in fields.node.children where !isFull {
      let place = fields.key(child.entry.name)
      if let fault = TrackerFields.fault(ofField: child.entry.name, beside: tracker.fields.count) {
        self.fault(child, place, fault, atKey: true)
        continue
      }
      let bounds = child.isTable ? Table(node: child, key: place) : nil
      if let bounds { allow(["unit", "least", "most"], in: bounds, called: "a field") }
      guard let symbol = bounds.map({ $0["unit"]?.value }) ?? child.value, case .string(let text) = symbol,
        let unit = Unit(text)
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

  /// `least`, `most` and perhaps `jump`, with a unit each.
  private mutating func bounds(_ table: Table, in unit: Unit) -> Bounds? {
    var ends: [String: Quantity] = [:]
    for name in ["least", "most", "jump"] {
      guard let node = table[name] else {
        if name != "jump" { fault(table.node, table.key(name), "is missing: bounds have least and most") }
        continue
      }
      guard case .string(let text) = node.value, let (quantity, written) = PackAmounts.quantity(text),
        written.converts(to: unit), name != "jump" || quantity > .zero
      else {
        expected("a number in \(unit.symbol), such as \"\(Self.example(unit))\"", at: node, table.key(name))
        continue
      }
      ends[name] = quantity
    }
    guard let least = ends["least"], let most = ends["most"] else { return nil }
    guard least < most else {
      fault(table.node, table.key, "has to go from a lesser value to a greater one")
      return nil
    }
    return Bounds(least: least, most: most, jump: ends["jump"])
  }

  mutating func minute(_ name: String, in table: Table) -> Int? {
    guard let node = table[name] else { return nil }
    return minute(node, table.key(name))
  }

  mutating func minute(_ node: TOMLNode, _ key: String) -> Int? {
    if case .string(let text) = node.value, let minute = PackAmounts.minute(text) { return minute }
    expected("a time of day in quotes, such as \"8:30\"", at: node, key)
    return nil
  }

  // MARK: Amounts

  /// A quantity in a unit that converts to the tracker's.
  mutating func quantity(_ node: TOMLNode, _ key: String, of tracker: Tracker, isPositive: Bool = true) -> Quantity? {
    guard let unit = tracker.unit else { return nil }
    guard case .string(let text) = node.value, let (quantity, written) = PackAmounts.quantity(text) else {
      expected("a number with its unit, such as \"\(Self.example(unit))\"", at: node, key)
      return nil
    }
    guard written.converts(to: unit) else {
      fault(node, key, "has to be in \(unit.symbol), as the tracker is; here is \(Self.shown(node))")
      return nil
    }
    guard quantity > .zero || !isPositive else {
      fault(node, key, "has to be more than nothing")
      return nil
    }
    return quantity
  }

  static func example(_ unit: Unit) -> String { "\(unit.symbol == "ml" ? 250 : 20) \(unit.symbol)" }

  private mutating func readAmounts(_ table: Table, into tracker: inout Tracker, _ pack: inout Pack) {
    let kind = tracker.kind
    if kind == .check {
      for key in ["unit", "decimals", "presets", "usual", "choice"] {
        guard let node = table[key] else { continue }
        fault(node, table.key(key), "is not for a check, which has no amount; kind = \"amount\" has one", atKey: true)
      }
    } else if let node = table["unit"] {
      if case .string(let symbol) = node.value, let unit = Unit(symbol) {
        tracker.unit = unit
      } else {
        expected("a unit: ml, kg, min, or a word of your own such as pages", at: node, table.key("unit"))
      }
    } else {
      fault(
        table.node, table.key("unit"),
        "is missing: what it is measured in, such as ml, kg, or a word of your own such as pages")
    }
    if kind != .measure {
      for key in ["bounds", "milestone", "milestones"] {
        guard let node = table[key] else { continue }
        fault(node, table.key(key), "is for a measure only", atKey: true)
      }
    }
    if kind != .check { tracker.decimals = number("decimals", in: table, 0...3) ?? (kind == .measure ? 1 : 0) }
    readGoal(table, into: &tracker)
    guard tracker.unit != nil else { return }
    readChoice(table, of: tracker, &pack)
    readPresets(table, into: &tracker)
    readMilestones(table, into: &tracker, &pack)
    guard tracker.kind == .measure, let unit = tracker.unit, let bounds = self.table("bounds", in: table) else {
      return
    }
    allow(["least", "most", "jump"], in: bounds, called: "bounds")
    tracker.bounds = self.bounds(bounds, in: unit)
  }

  mutating func readGoal(_ table: Table, into tracker: inout Tracker) {
    guard let node = table["goal"] else { return }
    let key = table.key("goal")
    guard tracker.kind == .check || tracker.unit != nil else { return }
    guard case .string(let text) = node.value else {
      expected(Self.goalSentence(tracker), at: node, key)
      return
    }
    let (rest, period) = PackAmounts.period(of: text)
    switch tracker.kind {
    case .check:
      guard let times = PackAmounts.times(rest), times <= 10_000 else {
        expected(Self.goalSentence(tracker), at: node, key)
        return
      }
      tracker.goal = Goal(.count(times), each: period)
    case .amount, .measure:
      // A value is reached once, not in each day.
      let amount = tracker.kind == .measure ? text : rest
      guard let (quantity, written) = PackAmounts.quantity(amount), let unit = tracker.unit else {
        expected(Self.goalSentence(tracker), at: node, key)
        return
      }
      guard written.converts(to: unit), quantity > .zero || Self.canBeLess(tracker) else {
        fault(
          node, key, "has to be more than nothing, in \(unit.symbol), as the tracker is; here is \(Self.shown(node))")
        return
      }
      tracker.goal =
        tracker.kind == .measure ? Goal(.value(quantity)) : Goal(.total(quantity), each: period)
    }
  }

  /// A measure of one's own may be a temperature, or what is left of a sum.
  private static func canBeLess(_ tracker: Tracker) -> Bool { tracker.kind == .measure && tracker.pack == nil }

  private static func goalSentence(_ tracker: Tracker) -> String {
    switch tracker.kind {
    case .check: "how often, such as \"once a day\" or \"3 times a week\""
    case .amount: "how much, such as \"\(tracker.unit.map(example) ?? "20 pages")\" or the same with \"a week\""
    case .measure: "the value to be reached, such as \"75 \(tracker.unit?.symbol ?? "kg")\""
    }
  }

  private mutating func readChoice(_ table: Table, of tracker: Tracker, _ pack: inout Pack) {
    guard let choice = self.table("choice", in: table) else { return }
    allow(["least", "most", "step", "presets"], in: choice, called: "a choice")
    var ends: [String: Quantity] = [:]
    for name in ["least", "most", "step"] {
      guard let node = choice[name] else {
        fault(choice.node, choice.key(name), "is missing: a choice has least, most and step")
        continue
      }
      ends[name] = quantity(node, choice.key(name), of: tracker)
    }
    guard let least = ends["least"], let most = ends["most"], let step = ends["step"] else { return }
    guard least < most, step.grains <= most.grains - least.grains else {
      fault(choice.node, choice.key, "has to go from a lesser amount to a greater one, in at least one step")
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
      fault(node, table.key("goal"), "lies outside its choice, which has least and most; here is \(Self.shown(node))")
    } else if (goal.grains - least.grains) % step.grains != 0 {
      fault(
        node, table.key("goal"), "is no whole number of steps from the least of its choice; here is \(Self.shown(node))"
      )
    }
  }

  /// The goals that are usual: in the range that is offered.
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
        fault(child, key, "lies outside the choice, which has least and most; here is \(Self.shown(child))")
        return nil
      }
      return preset
    }.sorted()
  }

  private mutating func readPresets(_ table: Table, into tracker: inout Tracker) {
    if let node = table["presets"] {
      if node.value == .array, (1...24).contains(node.children.count) {
        for (index, child) in node.children.enumerated() {
          let key = "\(table.key("presets"))[\(index + 1)]"
          guard let preset = quantity(child, key, of: tracker) else { continue }
          if tracker.presets.contains(preset) {
            fault(child, key, "is there twice")
          } else {
            tracker.presets.append(preset)
          }
        }
        tracker.presets.sort()
      } else {
        expected(
          "an array of 1 to 24 amounts, such as [\"\(tracker.unit.map(Self.example) ?? "20 pages")\"]", at: node,
          table.key("presets"))
      }
    }
    guard let node = table["usual"], let usual = quantity(node, table.key("usual"), of: tracker) else { return }
    tracker.usual = usual
    if table["presets"] != nil, !tracker.presets.isEmpty, !tracker.presets.contains(usual) {
      fault(node, table.key("usual"), "has to be one of the presets; here is \(Self.shown(node))")
    }
  }

  private mutating func readMilestones(_ table: Table, into tracker: inout Tracker, _ pack: inout Pack) {
    guard tracker.kind == .measure else { return }
    if let node = table["milestone"] { tracker.milestoneStep = quantity(node, table.key("milestone"), of: tracker) }
    guard let offered = self.table("milestones", in: table) else { return }
    var choices: [Pack.StepChoice] = []
    for child in offered.node.children where !isFull {
      let key = offered.key(child.entry.name)
      guard let unit = Unit(child.entry.name), let own = tracker.unit, unit.converts(to: own) else {
        fault(child, key, "has to be the name of a unit that \(tracker.unit?.symbol ?? "") converts to", atKey: true)
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
    // The tracker's own unit first, as that is what is offered first.
    let own = tracker.unit?.symbol
    pack.milestoneSteps[tracker.id] = choices.sorted {
      ($0.unit.symbol == own ? 0 : 1, $0.unit.symbol) < ($1.unit.symbol == own ? 0 : 1, $1.unit.symbol)
    }
    if let step = tracker.milestoneStep, let node = table["milestone"], !choices.isEmpty,
      !choices.contains(where: { $0.steps.contains(step) })
    {
      fault(
        node, table.key("milestone"), "has to be one of the milestones that are offered; here is \(Self.shown(node))")
    }
  }
}
