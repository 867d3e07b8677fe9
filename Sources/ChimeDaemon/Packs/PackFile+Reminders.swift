import ChimeControl
import ChimeSchedule
import ChimeTracking

extension PackReader {
  private static let reminderKeys = [
    "id", "title", "body", "when", "withoutPlace", "tracker", "quietWhenDone", "pace", "followsEntries", "logs",
    "optional",
  ]

  mutating func reminders(_ root: Table, in pack: Pack) -> [PackReminder] {
    var seen: Set<String> = []
    return tables("reminder", in: root, atMost: PackFile.mostReminders).compactMap { table in
      guard !isFull else { return nil }
      allow(Self.reminderKeys, in: table, called: "a reminder")
      let id = name("id", in: table)
      if let id, let node = table["id"], !seen.insert(id).inserted {
        fault(node, table.key("id"), "is the id of an earlier reminder too; each needs its own")
      }
      let tracker = tracker(of: table)
      let title = text("title", in: table, atMost: 200)
      let body = text("body", in: table, isRequired: false, atMost: 1_000, takesLines: true)
      checkPlaceholders(table, tracker, pack)
      let when = schedule(table)
      var reminder = PackReminder(
        key: id ?? "", title: title ?? "", body: body, when: when?.when ?? "", whenWithoutPlace: when?.other,
        tracker: tracker?.id ?? TrackerID(rawValue: ""))
      reminder.quietWhenDone = flag("quietWhenDone", in: table) ?? true
      reminder.followsEntries = flag("followsEntries", in: table) ?? false
      reminder.isOptional = flag("optional", in: table) ?? false
      reminder.pace = flag("pace", in: table) ?? false
      if let tracker { readAmounts(table, of: tracker, into: &reminder) }
      return reminder
    }
  }

  private mutating func readAmounts(_ table: Table, of tracker: Tracker, into reminder: inout PackReminder) {
    if reminder.pace, let node = table["pace"], tracker.kind != .amount || tracker.goal?.isAtMost ?? true {
      fault(node, table.key("pace"), "is allowed only for a tracker of kind \"amount\" with a goal")
    }
    guard let node = table["logs"] else { return }
    guard tracker.kind == .amount else {
      fault(node, table.key("logs"), "is allowed only for a tracker of kind \"amount\"", atKey: true)
      return
    }
    reminder.logs = quantity(node, table.key("logs"), of: tracker)
  }

  /// Returns the tracker that a table names, or the only one.
  mutating func tracker(of table: Table, isRequired: Bool = true) -> Tracker? {
    guard let node = table["tracker"] else {
      if trackerNames.count == 1 { return trackers[trackerNames[0]] }
      if isRequired, trackerNames.count > 1 {
        fault(
          table.node, table.key("tracker"),
          "is missing: one of the pack's trackers, \(trackerNames.map(\.rawValue).joined(separator: ", "))")
      }
      return nil
    }
    guard case .string(let text) = node.value, let tracker = trackers[TrackerID(rawValue: text)] else {
      let known = trackerNames.map(\.rawValue)
      var message = "must be the id of a tracker of this pack"
      if case .string(let text) = node.value, let near = SpellingSuggestions.to(text, among: known).first {
        message += "; did you mean \(near)?"
      } else if known.isEmpty {
        message += ", which has none"
      } else {
        message += ": \(known.joined(separator: ", ")); found \(Self.shown(node))"
      }
      fault(node, table.key("tracker"), message)
      return nil
    }
    return tracker
  }

  // MARK: When

  private mutating func schedule(_ table: Table) -> (when: String, other: String?)? {
    guard let node = table["when"] else {
      fault(table.node, table.key("when"), "is missing: a schedule, such as \"every 90m from 8:00 to 22:00\"")
      return nil
    }
    guard case .string(let text) = node.value else {
      expected("a schedule, such as \"every 90m from 8:00 to 22:00\"", at: node, table.key("when"))
      return nil
    }
    let schedule = schedule(text, at: node, table.key("when"))
    var other: String?
    if let node = table["withoutPlace"] {
      let key = table.key("withoutPlace")
      if case .string(let text) = node.value {
        if self.schedule(text, at: node, key)?.needsPlace == true {
          fault(node, key, "follows the sun as well, but it is for users without a configured place")
        } else if schedule?.needsPlace == false {
          fault(node, key, "is allowed only with a schedule that follows the sun", atKey: true)
        }
        other = text
      } else {
        expected("a schedule, such as \"daily at 7:00\"", at: node, key)
      }
    } else if schedule?.needsPlace == true {
      fault(
        table.node, table.key("withoutPlace"),
        "is missing: when follows the sun, and some users have no configured place; such as \"daily at 7:00\"")
    }
    return (text, other)
  }

  /// Parses a schedule for validation, in UTC with a location and all calendars. It is parsed again where the pack is installed.
  private mutating func schedule(_ text: String, at node: TOMLNode, _ key: String) -> Schedule? {
    let scheduleContext = ScheduleContext(
      zone: .utc, place: Place(latitude: 50, longitude: 14), zones: { Zone.isValidIdentifier($0) ? .utc : nil },
      calendar: { _ in [] })
    do {
      let schedule = try Schedule.parse(text, now: Instant(seconds: 0), in: scheduleContext)
      if schedule.chain != nil {
        fault(node, key, "counts from another reminder; a pack needs a schedule of its own, such as \"daily at 8:00\"")
        return nil
      }
      if schedule.isOneOff {
        fault(node, key, "fires only once; a pack needs a recurring schedule, such as \"daily at 8:00\"")
        return nil
      }
      return schedule
    } catch {
      fault(node, key, "is not a schedule: \(error.message)")
      return nil
    }
  }

  // MARK: Placeholders

  private mutating func checkPlaceholders(_ table: Table, _ tracker: Tracker?, _ pack: Pack) {
    for name in ["title", "body"] {
      guard let node = table[name] else { continue }
      for text in [node] + node.children where !isFull {
        guard case .string(let words) = text.value else { continue }
        let key = text.entry.name == name ? table.key(name) : "\(table.key(name)).\(text.entry.name)"
        checkPlaceholders(words, at: text, key, tracker, pack)
      }
    }
  }

  private mutating func checkPlaceholders(
    _ text: String, at node: TOMLNode, _ key: String, _ tracker: Tracker?, _ pack: Pack
  ) {
    var rest = text[...]
    while let opening = rest.firstRange(of: "{{") {
      guard let closing = rest[opening.upperBound...].firstRange(of: "}}") else {
        fault(node, key, "has {{ without }}; a placeholder looks like {{remaining}}")
        return
      }
      let name = rest[opening.upperBound..<closing.lowerBound].filter { !$0.isWhitespace }
      rest = rest[closing.upperBound...]
      guard let placeholder = TextValues.Name(rawValue: name) else {
        let known = TextValues.Name.allCases.map(\.rawValue)
        let hint =
          SpellingSuggestions.to(name, among: known).first.map { "did you mean {{\($0)}}?" }
          ?? "there are \(known.joined(separator: ", "))"
        fault(node, key, "contains {{\(name.prefix(40))}}, which is not a placeholder; \(hint)")
        continue
      }
      if let lack = Self.lack(of: placeholder, tracker, pack) { fault(node, key, "contains {{\(name)}}, but \(lack)") }
    }
  }

  /// Returns the reason why a placeholder would stay empty; nil if it would not.
  private static func lack(of placeholder: TextValues.Name, _ tracker: Tracker?, _ pack: Pack) -> String? {
    switch placeholder {
    case .goal, .remaining, .percent:
      guard let tracker, tracker.goal == nil, tracker.kind != .check, pack.choices[tracker.id] == nil else {
        return nil
      }
      return "the tracker has no goal"
    case .quote, .quoteTranslation, .quoteSource: return pack.quotes.isEmpty ? "the pack has no [[quote]]" : nil
    case .level, .experience: return pack.levels == nil ? "the pack has no [levels]" : nil
    default: return nil
    }
  }
}
