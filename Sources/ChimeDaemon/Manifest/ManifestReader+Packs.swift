import ChimeControl
import ChimeCore
import ChimeTracking

// `[[pack]]`, with the overrides in `[pack.tracker.ID]` and `[pack.reminder.ID]`.
extension ManifestReader {
  private static let packKeys = ["name", "file", "language", "tracker", "reminder"]
  private static let packReminderKeys = ["id", "title", "body", "when", "url", "paused"] + link.dropFirst()

  mutating func pack(_ table: Table, _ prototype: Reminder) -> Manifest.Bundle? {
    var table = table
    if case .string(let name)? = table["name"]?.value, !name.isEmpty {
      table = Table(node: table.node, key: "pack[\(name.prefix(64))]")
    }
    faults.allow(Self.packKeys, in: table, called: "a pack of a set")
    let name = faults.name("name", in: table)
    let path = required(ifThere: "file", in: table, "the path of the pack's file")
    var language = string("language", in: table)
    if let tag = language, let node = table["language"], let complaint = LanguageTag.fault(tag) {
      faults.fault(node, table.key("language"), complaint)
      language = nil
    }
    return name.map {
      .init(
        place: .init(file: file, table: table), name: $0, path: path, language: language, prototype: prototype)
    }
  }

  private mutating func required(ifThere key: String, in table: Table, _ what: String) -> String? {
    table[key] == nil ? nil : required(key, in: table, what)
  }

  // MARK: Overrides of a pack

  /// Returns a pack's trackers with the set's overrides, each with whether the set gives its start.
  mutating func trackers(
    of pack: Pack, _ bundle: Manifest.Bundle
  ) -> [(tracker: Tracker, saysStart: Bool)] {
    let tables = parts("tracker", of: bundle, pack.trackers.map(\.id.rawValue)) {
      "is not a tracker of the pack \(bundle.name); \($0)"
    }
    return pack.trackers.map { declared in
      guard let node = tables[declared.id.rawValue], node.isTable else {
        if let node = tables[declared.id.rawValue] {
          faults.expected(
            "a table of changes to the pack", at: node, key("tracker", declared.id.rawValue, bundle))
        }
        return (declared, false)
      }
      let table = Table(node: node, key: key("tracker", declared.id.rawValue, bundle))
      var tracker = declared
      faults.allow(Self.trackerKeys, in: table, called: "a pack's tracker")
      if case .string(let symbol)? = table["unit"]?.value {
        // The pack may offer another milestone step for this unit.
        let choices = TrackersInterface.PackChoices(units: [declared.id.rawValue: symbol])
        tracker = (try? PackChosen(pack: pack, choices: choices).tracker(declared, known: nil)) ?? tracker
      }
      faults.lay(table, over: &tracker)
      return (tracker, table["start"] != nil)
    }
  }

  /// A pack's reminder with the set's overrides.
  struct Wish {
    var isWanted: Bool?
    var item: Manifest.Item
  }

  /// Returns a pack's reminders with the set's overrides, by key.
  ///
  /// - Parameter made: creates a reminder of the pack over a prototype.
  mutating func reminders(
    of pack: Pack, _ bundle: Manifest.Bundle, made: (PackReminder, Reminder) throws -> Reminder
  ) -> [String: Wish] {
    let tables = parts("reminder", of: bundle, pack.reminders.map(\.key)) {
      "is not a reminder of the pack \(bundle.name); \($0)"
    }
    var wishes: [String: Wish] = [:]
    for declared in pack.reminders {
      let name = key("reminder", declared.key, bundle)
      let node = tables[declared.key]
      let table = Table(node: node ?? bundle.place.table.node, key: name)
      var item = Manifest.Item(
        place: .init(file: file, table: table), reminder: bundle.prototype, when: written(declared))
      let before = faults.faults.count
      if node?.isTable == true {
        faults.allow(Self.packReminderKeys + Self.shared, in: table, called: "a pack's reminder")
        lay(table, over: &item.reminder)
      }
      guard faults.faults.count == before else { continue }
      do {
        item.reminder = try made(declared, item.reminder)
      } catch {
        faults.fault(table.node, name, "cannot be made: \(ControlFailure(error).sentence)")
        continue
      }
      switch node?.value {
      case nil: wishes[declared.key] = Wish(item: item)
      case .boolean(let isWanted): wishes[declared.key] = Wish(isWanted: isWanted, item: item)
      case .table:
        layOwn(table, over: &item)
        wishes[declared.key] = Wish(isWanted: true, item: item)
      default:
        if let node {
          faults.expected("true, false, or a table of changes to the pack", at: node, name)
        }
      }
    }
    return wishes
  }

  /// Returns the schedule of a pack's reminder as the pack has it.
  private func written(_ declared: PackReminder) -> String {
    fields.context.place == nil ? declared.whenWithoutPlace ?? declared.when : declared.when
  }

  private mutating func layOwn(_ table: Table, over item: inout Manifest.Item) {
    if table["id"] != nil { item.id = faults.name("id", in: table).map(ReminderID.init(rawValue:)) }
    if let title = string("title", in: table) { take(Change(title: title), "title", in: table, &item.reminder) }
    layTexts(table, over: &item.reminder)
    if let when = required(ifThere: "when", in: table, "a schedule, such as \"weekdays at 9:00\"") {
      item.when = when
      schedule(when, in: table, of: &item)
    }
    item.pause = pause(table)
    item.link = link(in: table)
  }

  /// Returns the tables `[pack.NAME.…]` by id, and reports those whose id the pack lacks.
  private mutating func parts(
    _ name: String, of bundle: Manifest.Bundle, _ known: [String], _ sentence: (String) -> String
  ) -> [String: TOMLNode] {
    guard let table = faults.table(name, in: bundle.place.table) else { return [:] }
    var parts: [String: TOMLNode] = [:]
    for child in table.node.children {
      let id = child.entry.name
      guard known.contains(id) else {
        let hint =
          SpellingSuggestions.to(id, among: known).first.map { "did you mean \($0)?" }
          ?? "it has \(known.joined(separator: ", "))"
        faults.fault(child, table.key(String(id.prefix(60))), sentence(hint), atKey: true)
        continue
      }
      parts[id] = child
    }
    return parts
  }

  private func key(_ kind: String, _ id: String, _ bundle: Manifest.Bundle) -> String {
    bundle.place.table.key("\(kind).\(id)")
  }
}
