import ChimeCore
import ChimeSchedule

/// The dependencies between the reminders of a set: chains and conditions.
struct ManifestChains {
  private var ids: [String: Int] = [:]
  private var titles: [String: Int] = [:]
  private let items: [Manifest.Item]
  private let matched: [ReminderRecord?]

  /// Indexes the reminders. `matched` has the existing reminder of each item.
  init(_ items: [Manifest.Item], matched: [ReminderRecord?]) {
    (self.items, self.matched) = (items, matched)
    for index in items.indices.reversed() {
      if let id = id(of: index) { ids[id.rawValue] = index }
      titles[items[index].reminder.title] = index
    }
  }

  /// Returns the id of a reminder of the set; nil if it gets one when it is added.
  func id(of index: Int) -> ReminderID? { matched[index]?.reminder.id ?? items[index].id }

  /// Returns the index of the reminder with an id or a title.
  func place(of name: String) -> Int? { ids[name] ?? titles[name] }

  /// Returns the reminders of the set that one of them depends on.
  func targets(of index: Int) -> [Int] {
    [items[index].reminder.schedule.chain?.reminder, items[index].onlyIfDone].compactMap { $0.flatMap(place) }
  }
}

extension ManifestTransaction {
  /// Returns the set's reminders in an order in which each follows its dependencies. Reports cycles and leaves them out.
  mutating func inOrder(of chains: ManifestChains) -> [Int] {
    enum Mark { case new, open, placed }
    var marks = [Mark](repeating: .new, count: declared.reminders.count)
    var order: [Int] = []
    for start in declared.reminders.indices where marks[start] == .new {
      var path = [(item: start, left: chains.targets(of: start))]
      marks[start] = .open
      while let (item, left) = path.last {
        guard let other = left.last else {
          marks[item] = .placed
          order.append(item)
          path.removeLast()
          continue
        }
        path[path.count - 1].left.removeLast()
        if marks[other] == .new {
          marks[other] = .open
          path.append((other, chains.targets(of: other)))
        } else if marks[other] == .open, let first = path.firstIndex(where: { $0.item == other }) {
          let round = path[first...].map(\.item) + [other]
          let titles = round.map { TrackerFields.shown(declared.reminders[$0].reminder.title) }
          declared.fault(
            declared.reminders[start].place,
            declared.reminders[start].reminder.schedule.chain == nil ? "onlyIfDone" : "when",
            "is not possible: a chain must not lead back to itself: \(titles.joined(separator: " → "))")
          for (item, _) in path { marks[item] = .placed }
          path = []
        }
      }
    }
    return order
  }

  /// Replaces the names of a reminder's dependencies by ids, where these exist already.
  ///
  /// - Returns: false, after reporting a fault, if a name is unknown.
  mutating func chain(_ item: inout Manifest.Item, at index: Int, _ chains: ManifestChains) throws -> Bool {
    let (chain, wanted) = (item.reminder.schedule.chain, item.onlyIfDone)
    guard chain != nil || wanted != nil else { return true }
    if let chain {
      guard let id = try find(chain.reminder, "when", item, chains) else { return false }
      item.reminder.schedule = Schedule(chain.following(id.rawValue))
    }
    if let wanted {
      guard let id = try find(wanted, "onlyIfDone", item, chains) else { return false }
      item.reminder.onlyIfDone = id
    }
    // Dependencies in the set were checked by `inOrder`, and the stored ones may change with the set.
    guard chains.targets(of: index).isEmpty, let id = chains.id(of: index) else { return true }
    var reminder = item.reminder
    reminder.id = id
    do {
      try handler.chains.requireNoCycle(reminder, in: transaction)
    } catch ControlFailure.invalidValue(let field, let message) {
      declared.fault(item.place, field, "was rejected: \(message)")
      return false
    }
    return true
  }

  /// Returns the id of a reminder in the set or the store, or its title if it has no id yet. Returns nil, after reporting
  /// a fault, if there is none.
  private mutating func find(
    _ name: String, _ key: String, _ item: Manifest.Item, _ chains: ManifestChains
  ) throws -> ReminderID? {
    if let other = chains.place(of: name) {
      return chains.id(of: other) ?? ReminderID(rawValue: declared.reminders[other].reminder.title)
    }
    do {
      return try handler.reminders(of: owner, in: transaction).reminder(name).reminder.id
    } catch ControlFailure.notFound(_, let name, let similar) {
      let hint = similar.isEmpty ? "" : "; did you mean \(similar.joined(separator: " or "))?"
      declared.fault(
        item.place, key,
        "names \(TOMLText.quoted(name)), but there is no such reminder in the set or outside it\(hint)")
    } catch ControlFailure.ambiguous(let name, let candidates) {
      declared.fault(
        item.place, key, "names \(TOMLText.quoted(name)), but there are several: \(candidates.joined(separator: "; "))")
    }
    return nil
  }
}
