import ChimeControl
import ChimeCore
import ChimeSchedule

// Reminders of a set that count from others.
extension SetWork {
  /// The reminders of the set, each after the one of the set that it counts from. Finds fault with those that come back to
  /// themselves, which are left out.
  ///
  /// - Parameter matched: what is there already of each.
  mutating func inOrderOfChains(_ matched: [ReminderRecord?]) throws -> [Int] {
    var order: [Int] = []
    var isPlaced = [Bool](repeating: false, count: declared.reminders.count)
    for index in declared.reminders.indices where !isPlaced[index] {
      var path = [index]
      while let last = path.last, let other = target(of: last, matched), !isPlaced[other] {
        if let first = path.firstIndex(of: other) {
          let titles = (path[first...] + [other]).map { TrackerFields.shown(declared.reminders[$0].reminder.title) }
          declared.fault(
            declared.reminders[index].place, "when",
            "cannot be: a chain must not come back to itself: \(titles.joined(separator: " → "))")
          path.forEach { isPlaced[$0] = true }
          path = []
        } else {
          path.append(other)
        }
      }
      for place in path.reversed() where !isPlaced[place] {
        isPlaced[place] = true
        order.append(place)
      }
    }
    return order
  }

  /// The reminder of the set that one of it counts from: by its id, or by its title.
  private func target(of index: Int, _ matched: [ReminderRecord?]) -> Int? {
    guard let name = declared.reminders[index].reminder.schedule.chain?.reminder else { return nil }
    let items = declared.reminders.indices
    return items.first { declared.reminders[$0].id?.rawValue == name || matched[$0]?.reminder.id.rawValue == name }
      ?? items.first { declared.reminders[$0].reminder.title == name }
  }

  /// Has a reminder of the set count from the one that its schedule names, by that one's id where it has one already.
  ///
  /// - Returns: false when there is none, with which fault is found.
  mutating func chain(
    _ item: inout DeclaredSet.Item, at index: Int, among matched: [ReminderRecord?]
  ) throws -> Bool {
    guard let chain = item.reminder.schedule.chain else { return true }
    do {
      if let other = target(of: index, matched) {
        if let known = matched[other]?.reminder.id ?? declared.reminders[other].id {
          item.reminder.schedule = Schedule(chain.following(known.rawValue))
        }
        return true
      }
      var reminder = item.reminder
      reminder.id = matched[index]?.reminder.id ?? item.id ?? reminder.id
      reminder.owner = owner
      try desk.chain(&reminder, in: transaction)
      item.reminder.schedule = reminder.schedule
      return true
    } catch ControlFailure.notFound(_, let name, let near) {
      let hint = near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
      declared.fault(
        item.place, "when",
        "counts from \(TOMLText.quoted(name)), and there is no such reminder in the set or beside it\(hint)")
    } catch ControlFailure.ambiguous(let name, let candidates) {
      declared.fault(
        item.place, "when",
        "counts from \(TOMLText.quoted(name)), and there are several: \(candidates.joined(separator: "; "))")
    } catch ControlFailure.invalidValue(_, let message) {
      declared.fault(item.place, "when", "cannot be taken: \(message)")
    }
    return false
  }
}
