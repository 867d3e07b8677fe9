import ChimeControl
package import ChimeCore
package import ChimeSchedule

/// Reads one file of a set and writes its declarations for tests: without a store or a daemon. Packs and links to
/// trackers are left out, because they depend on existing data.
package enum ManifestTrial {
  package enum Outcome {
    case refused([PackFault])
    /// The text in the format of an export.
    case taken(String)
  }

  package static func run(_ text: String, now: Instant, context: ReminderContext) -> Outcome {
    let fields = ReminderFields(context: context, configuration: Configuration(), now: now)
    guard let schedule = try? Schedule(canonical: "daily at 09:00") else { return .refused([]) }
    let prototype = Reminder(
      id: ReminderID(rawValue: ""), owner: 1, title: "prototype", schedule: schedule, createdAt: now)
    let set = Manifest.read([.init(name: "a.toml", text: text)], prototype: prototype, fields: fields)
    guard set.faults.isEmpty else { return .refused(set.faults) }
    let endpoints = set.endpoints.map {
      let queue = DeliveryQueue(owner: 1, channel: ChannelName(rawValue: $0.name))
      let endpoint = Endpoint(queue: queue, url: $0.url, settings: $0.settings, createdAt: now)
      return ManifestWriter.table(endpoint, hasSecret: false, hasToken: false)
    }
    let reminders = set.reminders.enumerated().map { index, item in
      var reminder = item.reminder
      // The store assigns missing ids.
      reminder.id = item.id ?? ReminderID(rawValue: "unnamed\(index)")
      reminder.pause = item.pause ?? .none
      return ManifestWriter.table(reminder, now: now)
    }
    let trackers = set.trackers.map { ManifestWriter.table($0.tracker) }
    return .taken(ManifestWriter.head + (endpoints + trackers + reminders).joined())
  }
}
