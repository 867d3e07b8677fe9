import ChimeControl
package import ChimeCore
package import ChimeSchedule

/// Reads one file of a set and writes what it declares, for whoever tries texts on it: without a store or a daemon. Packs, and
/// links to trackers, need what is there already, and are left out.
package enum DeclaredTrial {
  package enum Outcome {
    case refused([PackFault])
    /// As an export has it.
    case taken(String)
  }

  package static func run(_ text: String, now: Instant, bearings: Bearings) -> Outcome {
    let fields = ReminderFields(bearings: bearings, configuration: Configuration(), now: now)
    guard let schedule = try? Schedule(canonical: "daily at 09:00") else { return .refused([]) }
    let prototype = Reminder(
      id: ReminderID(rawValue: ""), owner: 1, title: "prototype", schedule: schedule, createdAt: now)
    let set = DeclaredSet.read([.init(name: "a.toml", text: text)], prototype: prototype, fields: fields)
    guard set.faults.isEmpty else { return .refused(set.faults) }
    let endpoints = set.endpoints.map {
      let lane = Lane(owner: 1, channel: ChannelName(rawValue: $0.name))
      let endpoint = Endpoint(lane: lane, url: $0.url, settings: $0.settings, createdAt: now)
      return DeclaredText.table(endpoint, hasSecret: false, hasToken: false)
    }
    let reminders = set.reminders.enumerated().map { index, item in
      var reminder = item.reminder
      // One without an id gets one from the store.
      reminder.id = item.id ?? ReminderID(rawValue: "unnamed\(index)")
      reminder.pause = item.pause ?? .none
      return DeclaredText.table(reminder, now: now)
    }
    let trackers = set.trackers.map { DeclaredText.table($0.tracker) }
    return .taken(DeclaredText.head + (endpoints + trackers + reminders).joined())
  }
}
