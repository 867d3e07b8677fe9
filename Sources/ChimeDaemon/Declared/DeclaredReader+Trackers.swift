import ChimeControl
import ChimeCore
import ChimeSchedule
import ChimeTracking

// `[[tracker]]`, and what `[pack.tracker.ID]` lays over that of a pack.
extension DeclaredReader {
  /// What may be said of any tracker, in the order in which it is laid over it.
  static let trackerKeys = [
    "title", "verb", "unit", "decimals", "goal", "presets", "usual", "days", "dayStartsAt", "slot", "skipsEachMonth",
    "milestone", "icon", "start",
  ]
  private static let ownTrackerKeys = ["id", "kind", "items", "fields", "xp"]
  private static let kindSentence = "is missing: \"check\", \"amount\" or \"measure\""

  mutating func tracker(_ table: Table) -> DeclaredSet.Counted? {
    faults.allow(Self.ownTrackerKeys + Self.trackerKeys, in: table, called: "a tracker")
    let id = faults.name("id", in: table).map(TrackerID.init(rawValue:))
    let kind = faults.choice("kind", in: table, Tracker.Kind.self)
    if table["kind"] == nil { faults.fault(table.node, table.key("kind"), Self.kindSentence) }
    var tracker = Tracker(
      id: id ?? TrackerID(rawValue: ""), owner: 0, title: LocalizedText(id?.rawValue ?? ""), kind: kind ?? .check,
      decimals: kind == .measure ? 1 : 0, startedOn: Pack.unbegun, createdAt: fields.now)
    if kind == nil {
      // What an amount is, is not known; the rest is judged all the same.
      lay(table, over: &tracker, without: ["unit", "decimals", "goal", "presets", "usual", "milestone"])
    } else {
      lay(table, over: &tracker)
      if tracker.kind != .check, table["unit"] == nil {
        faults.fault(
          table.node, table.key("unit"),
          "is missing: what it is measured in, such as ml, kg, or a word of your own such as pages")
      }
    }
    tracker.hasItems = faults.flag("items", in: table) ?? false
    if let experience = faults.number("xp", in: table, 0...1_000) { tracker.experience = experience }
    further(table, into: &tracker)
    guard id != nil, kind != nil else { return nil }
    return .init(place: .init(file: file, table: table), tracker: tracker, saysStart: table["start"] != nil)
  }

  /// Lays over a tracker what a table says; `false` takes away what it has.
  mutating func lay(_ table: Table, over tracker: inout Tracker, without left: [String] = []) {
    for key in Self.trackerKeys where !left.contains(key) {
      guard let node = table[key], fits(key, node, table, tracker) else { continue }
      if node.value == .boolean(false), reset(key, in: &tracker) { continue }
      lay(key, node, in: table, over: &tracker)
    }
  }

  /// Whether a key is for a tracker of that kind.
  private mutating func fits(_ key: String, _ node: TOMLNode, _ table: Table, _ tracker: Tracker) -> Bool {
    switch key {
    case "unit", "decimals", "presets", "usual":
      if tracker.kind == .check {
        faults.fault(
          node, table.key(key), "is not for a check, which has no amount; kind = \"amount\" has one", atKey: true)
        return false
      }
      if tracker.kind == .measure, key == "presets" || key == "usual", tracker.pack == nil {
        faults.fault(
          node, table.key(key), "is not for a measure, whose value is what was measured", atKey: true)
        return false
      }
    case "milestone" where tracker.kind != .measure:
      faults.fault(node, table.key(key), "is for a measure only", atKey: true)
      return false
    default: break
    }
    return true
  }

  private func reset(_ key: String, in tracker: inout Tracker) -> Bool {
    switch key {
    case "verb": tracker.verb = nil
    case "goal": tracker.goal = nil
    case "usual": tracker.usual = nil
    case "skipsEachMonth": tracker.skipsEachMonth = nil
    case "milestone": tracker.milestoneStep = nil
    case "icon": tracker.icon = nil
    default: return false
    }
    return true
  }

  private mutating func lay(_ key: String, _ node: TOMLNode, in table: Table, over tracker: inout Tracker) {
    switch key {
    case "title": if let texts = texts(key, in: table) { draft(key, in: table, &tracker) { $0.title = texts } }
    case "verb": if let texts = texts(key, in: table) { draft(key, in: table, &tracker) { $0.verb = texts } }
    case "icon": if let icon = string(key, in: table) { draft(key, in: table, &tracker) { $0.icon = icon } }
    case "unit": unit(node, in: table, &tracker)
    case "decimals": if let digits = faults.number(key, in: table, 0...3) { tracker.decimals = digits }
    case "goal": faults.readGoal(table, into: &tracker)
    case "presets": presets(node, in: table, &tracker)
    case "usual":
      if let usual = faults.quantity(node, table.key(key), of: tracker) { tracker.usual = usual }
    case "milestone":
      if let step = faults.quantity(node, table.key(key), of: tracker) { tracker.milestoneStep = step }
    case "days", "dayStartsAt", "slot": faults.readDays(key, table, into: &tracker)
    case "skipsEachMonth": if let most = faults.number(key, in: table, 0...31) { tracker.skipsEachMonth = most }
    case "start":
      guard case .string(let text) = node.value, let day = CivilDate(text) else {
        faults.expected("a day in quotes, such as \"2026-03-29\"", at: node, table.key(key))
        return
      }
      tracker.startedOn = day
    default: break
    }
  }

  /// As a client's wish is judged.
  private mutating func draft(
    _ key: String, in table: Table, _ tracker: inout Tracker, _ fill: (inout TrackersInterface.TrackerDraft) -> Void
  ) {
    var draft = TrackersInterface.TrackerDraft(id: tracker.id.rawValue)
    fill(&draft)
    var laid = tracker
    // What belongs together is judged by itself.
    (laid.kind, laid.unit, laid.goal, laid.presets, laid.usual) = (.check, nil, nil, [], nil)
    let fields = TrackerFields(bearings: fields.bearings, now: fields.now)
    judge(key, in: table) { try fields.apply(draft, to: &laid) }
    (tracker.title, tracker.verb, tracker.icon) = (laid.title, laid.verb, laid.icon)
  }

  private mutating func unit(_ node: TOMLNode, in table: Table, _ tracker: inout Tracker) {
    guard case .string(let symbol) = node.value, let unit = try? TrackerFields.unit(symbol, "unit") else {
      faults.expected("a unit: ml, kg, min, or a word of your own such as pages", at: node, table.key("unit"))
      return
    }
    if let old = tracker.unit, !old.converts(to: unit) {
      faults.fault(
        node, table.key("unit"),
        "has to convert to \(old.symbol), as the pack has it; here is \(PackReader.shown(node))")
      return
    }
    tracker.unit = unit
  }

  private mutating func presets(_ node: TOMLNode, in table: Table, _ tracker: inout Tracker) {
    guard let unit = tracker.unit else { return }
    guard node.value == .array, node.children.count <= TrackerFields.maxPresets else {
      faults.expected(
        "an array of at most \(TrackerFields.maxPresets) amounts, such as [\"\(PackReader.example(unit))\"]", at: node,
        table.key("presets"))
      return
    }
    tracker.presets = []
    for (index, child) in node.children.enumerated() {
      let key = "\(table.key("presets"))[\(index + 1)]"
      guard let preset = faults.quantity(child, key, of: tracker) else { continue }
      if tracker.presets.contains(preset) {
        faults.fault(child, key, "is there twice")
      } else {
        tracker.presets.append(preset)
      }
    }
    tracker.presets.sort()
  }

  /// Further measures of an entry.
  private mutating func further(_ table: Table, into tracker: inout Tracker) {
    guard let further = faults.table("fields", in: table) else { return }
    for child in further.node.children where !faults.isFull {
      let (name, place) = (child.entry.name, further.key(child.entry.name))
      if let fault = TrackerFields.fault(ofField: name, beside: tracker.fields.count) {
        faults.fault(child, place, fault, atKey: true)
        continue
      }
      guard case .string(let symbol) = child.value, let unit = try? TrackerFields.unit(symbol, "fields") else {
        faults.expected("a unit, such as \"%\" or \"kg\"", at: child, place)
        continue
      }
      tracker.fields[name] = unit
    }
  }

  /// A text, or one in each of some languages.
  private mutating func texts(_ key: String, in table: Table) -> [String: String]? {
    guard let node = table[key] else { return nil }
    if case .string(let text) = node.value { return ["en": text] }
    var texts: [String: String] = [:]
    for child in node.children {
      if case .string(let text) = child.value { texts[child.entry.name] = text }
    }
    guard node.isTable, !texts.isEmpty, texts.count == node.children.count else {
      faults.expected(
        "a text, or a table of texts by language, such as { en = \"Water\", cs = \"Voda\" }", at: node, table.key(key))
      return nil
    }
    return texts
  }
}
